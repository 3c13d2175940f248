# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Imported once by the fork server, so that a child begins with everything loaded in a single-threaded process."""

from __future__ import annotations

import gc
import os

import boto3  # noqa: F401 -- for the children
import kubernetes.client.rest  # noqa: F401 -- for the children
import psycopg  # noqa: F401 -- for the children
import sqlalchemy.dialects.postgresql
import sqlalchemy.dialects.sqlite  # noqa: F401 -- for the children

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.accounts import ACCOUNT_MODELS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.fleet_config import (
    FrameModel,
    PoolModel,
    QuotaModel,
    SiteModel,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.clients import Clients
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.settings import EksSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables

from . import child  # noqa: F401 -- for the children


def _read_api_models() -> None:
    """Have boto3 read its models of the services that the driver calls: a fifth of a second for each process."""
    os.environ |= {"PRELOAD_ACCESS_KEY_ID": "none", "PRELOAD_SECRET_ACCESS_KEY": "none"}
    clients = Clients.open(
        EksSettings(
            region="us-east-1",
            cluster_role_arn="",
            node_role_arn="",
            subnet_ids=(),
            credential={"env": "PRELOAD"},
            endpoint_url="http://127.0.0.1:9",
        )
    )
    for name in ("eks", "ec2", "iam", "sts"):
        getattr(clients, name)


def _build_models_of_documents() -> None:
    """Have pydantic build what a life's document is checked with, which it would do at the first document."""
    for model in (FrameModel, SiteModel, ACCOUNT_MODELS["aws"], PoolModel, QuotaModel):
        model.model_rebuild()


tables()
_read_api_models()
_build_models_of_documents()
# A child that looks for garbage leaves these alone, and so shares their memory with this process instead of copying it.
gc.freeze()
