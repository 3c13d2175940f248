# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each provider calls the states of a cluster, also those that the emulators never show."""

from __future__ import annotations

from typing import Any

import pytest
from google.cloud.container_v1.types import cluster_service as api

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks import clusters as doks
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks import clusters as eks
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke import clusters as gke


@pytest.mark.parametrize(
    ("status", "seen"),
    [
        ("PENDING", ProviderStatus.CREATING),
        ("CREATING", ProviderStatus.CREATING),
        ("ACTIVE", ProviderStatus.ACTIVE),
        ("UPDATING", ProviderStatus.UPDATING),
        ("DELETING", ProviderStatus.DELETING),
        ("FAILED", ProviderStatus.FAILED),
        ("SOMETHING_NEW", ProviderStatus.UPDATING),
    ],
)
def test_each_status_of_an_eks_cluster_has_its_word_and_its_issues_are_the_reason(
    status: str, seen: ProviderStatus
) -> None:
    issues = {"issues": [{"code": "AccessDenied", "message": "no right to the network", "resourceIds": ["vpc"]}]}
    described: Any = {"name": "one", "status": status, "health": issues}
    found = eks.observe(described, location="us-east-1")
    assert (found.status, found.message) == (seen, "AccessDenied: no right to the network")


@pytest.mark.parametrize(
    ("state", "seen"),
    [
        ("provisioning", ProviderStatus.CREATING),
        ("running", ProviderStatus.ACTIVE),
        ("degraded", ProviderStatus.DEGRADED),
        ("error", ProviderStatus.FAILED),
        ("upgrading", ProviderStatus.UPDATING),
        ("deleting", ProviderStatus.DELETING),
        ("deleted", ProviderStatus.DELETING),
        ("a state of next year", ProviderStatus.UPDATING),
    ],
)
def test_each_state_of_a_doks_cluster_has_its_word_and_deleted_is_not_yet_gone(
    state: str, seen: ProviderStatus
) -> None:
    described = {"name": "one", "endpoint": "", "tags": [], "status": {"state": state, "message": "why"}}
    found = doks.observe(described)
    assert (found.status, found.message) == (seen, "why")


@pytest.mark.parametrize(
    ("status", "seen"),
    [
        ("PROVISIONING", ProviderStatus.CREATING),
        ("RUNNING", ProviderStatus.ACTIVE),
        ("RECONCILING", ProviderStatus.UPDATING),
        ("STOPPING", ProviderStatus.DELETING),
        ("ERROR", ProviderStatus.FAILED),
        ("DEGRADED", ProviderStatus.DEGRADED),
        ("STATUS_UNSPECIFIED", ProviderStatus.UPDATING),
    ],
)
def test_each_status_of_a_gke_cluster_has_its_word(status: str, seen: ProviderStatus) -> None:
    assert gke.observe(api.Cluster(name="one", status=status)).status is seen
