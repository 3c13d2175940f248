# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tenant's subjects, let into a cluster and out of it again."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.objects import Owner
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.tenant_access import (
    account_name,
    give_access,
    take_access,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.token_request import IssuedToken
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId

from .conftest import POOL

TENANT = TenantId("acme")
ALICE = account_name(TENANT, "alice")


def give(
    api: ClusterApi,
    *,
    namespaces: Sequence[str] = ("training",),
    subject: str = "alice",
    owner: Owner = POOL,
    seconds: int = 3600,
) -> IssuedToken:
    return give_access(api, owner=owner, tenant_id=TENANT, subject=subject, namespaces=namespaces, seconds=seconds)


def take(api: ClusterApi, *, subject: str = "alice", owner: Owner = POOL) -> bool:
    return take_access(api, owner=owner, tenant_id=TENANT, subject=subject)
