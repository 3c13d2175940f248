# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Google's own messages in the contract's words, also what is new to us."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from google.cloud.container_v1.types import cluster_service as api

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    PermissionDenied,
    ProviderError,
    ProviderQuotaExceeded,
    StockedOut,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke import (
    clusters,
    descriptions,
    operations,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.addresses import Address
from ansible_collections.better_compute.fleet.tests.support.gke_subject import CLUSTER

GKE: Any = SimpleNamespace(list_operations=None)
WHERE = Address(project="my-project", cluster=CLUSTER)
_LINK = f"https://container.googleapis.com/v1/projects/123/locations/us-central1/clusters/{CLUSTER.name}"


def pool(status: str | int, *conditions: tuple[str, str]) -> Any:
    return api.NodePool(
        name="h100", status=status, conditions=[{"code": code, "message": text} for code, text in conditions]
    )


def cluster(status: str | int, **fields: Any) -> Any:
    return api.Cluster(name="one", status=status, **fields)


@pytest.mark.parametrize(
    ("status", "seen"),
    [
        ("PROVISIONING", ProviderStatus.CREATING),
        ("RUNNING", ProviderStatus.ACTIVE),
        ("RUNNING_WITH_ERROR", ProviderStatus.DEGRADED),
        ("RECONCILING", ProviderStatus.UPDATING),
        ("STOPPING", ProviderStatus.DELETING),
        ("ERROR", ProviderStatus.FAILED),
        ("STATUS_UNSPECIFIED", ProviderStatus.UPDATING),
    ],
)
def test_a_node_pools_status(status: str, seen: ProviderStatus) -> None:
    assert descriptions.observe(pool(status)).status is seen


@pytest.mark.filterwarnings("ignore:Unrecognized")
def test_a_status_that_is_new_to_us_means_wait() -> None:
    assert descriptions.observe(pool(99)).status is ProviderStatus.UPDATING
    assert clusters.observe(cluster(99)).status is ProviderStatus.UPDATING
    assert operations.observe(api.Operation(name="o", status=99)).fate is operations.Fate.UNDER_WAY


@pytest.mark.parametrize(
    ("conditions", "kind"),
    [
        ([("GCE_STOCKOUT", "none")], StockedOut),
        ([("GCE_QUOTA_EXCEEDED", "none")], ProviderQuotaExceeded),
        ([("GCE_QUOTA_EXCEEDED", "long ago"), ("GCE_STOCKOUT", "now")], StockedOut),
        ([("CA_EXPIRING", "soon"), ("GCE_STOCKOUT", "none"), ("UNKNOWN", "what")], StockedOut),
        ([("GKE_SERVICE_ACCOUNT_DELETED", "gone")], PermissionDenied),
        ([("CLOUD_KMS_KEY_ERROR", "no")], Unavailable),
        ([("UNKNOWN", "[GCE_STOCKOUT]: Instance creation failed")], StockedOut),
        ([], Unavailable),
    ],
)
@pytest.mark.parametrize("status", ["ERROR", "RUNNING_WITH_ERROR"])
def test_a_failure_is_typed_by_its_newest_lack(
    status: str, conditions: list[tuple[str, str]], kind: type[ProviderError]
) -> None:
    assert type(descriptions.observe(pool(status, *conditions)).failure) is kind


def test_conditions_of_what_runs_are_history() -> None:
    assert descriptions.observe(pool("RUNNING", ("GCE_STOCKOUT", "none"))).failure is None
    assert clusters.observe(cluster("RUNNING", conditions=[{"code": "GCE_STOCKOUT", "message": "none"}])).message == ""


def test_a_cluster_in_error_serves_when_it_has_an_endpoint_and_its_certificate() -> None:
    ca = {"cluster_ca_certificate": base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode()}
    up = clusters.observe(cluster("ERROR", endpoint="10.0.0.1", master_auth=ca, status_message="no machines"))
    assert (up.status, up.serves, up.message) == (ProviderStatus.DEGRADED, True, "no machines")
    for lacking in ({"endpoint": "10.0.0.1"}, {"master_auth": ca}):
        assert clusters.observe(cluster("ERROR", **lacking)).status is ProviderStatus.FAILED
    bad = clusters.observe(cluster("RUNNING", endpoint="10.0.0.1", master_auth={"cluster_ca_certificate": "???"}))
    assert bad.outputs is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 8, "message": "Not all instances running in IGM. [GCE_STOCKOUT]: no"}, StockedOut),
        ({"code": 8, "message": "Not all instances running in IGM after 35m4s."}, Unavailable),
        ({"code": 7, "message": "you may not"}, PermissionDenied),
        ({"code": 999, "message": "a code of tomorrow"}, Unavailable),
        ({"message": "no code"}, Unavailable),
    ],
)
def test_an_operation_that_is_done_with_an_error_was_given_up(
    error: Mapping[str, Any], kind: type[ProviderError]
) -> None:
    seen = operations.observe(api.Operation(name="o", status="DONE", error=error))
    assert seen.fate is operations.Fate.GIVEN_UP
    assert type(seen.reason) is kind
    assert str(error["message"]) in str(seen.reason)


def _listed(*found: tuple[str, str, str, str], missing: tuple[str, ...] = ()) -> Any:
    """A call that lists operations: kind, start, status, and what of the cluster they are about."""
    listed = api.ListOperationsResponse(
        operations=[
            {"name": start, "operation_type": kind, "start_time": start, "status": status, "target_link": _LINK + part}
            for kind, start, status, part in found
        ],
        missing_zones=missing,
    )
    return lambda _method, _request: listed


SIZED = ("SET_NODE_POOL_SIZE", "2026-11-01T12:00:00.5Z", "DONE", "/nodePools/h100")
UPDATED = ("UPGRADE_NODES", "2026-11-01T12:00:01Z", "DONE", "/nodePools/h100")
UPGRADED = ("UPGRADE_MASTER", "2026-11-01T13:00:00Z", "RUNNING", "")


def test_the_newest_operation_is_told_whatever_the_order_and_others_do_not_count() -> None:
    other = ("SET_NODE_POOL_SIZE", "2026-11-01T14:00:00Z", "DONE", "/nodePools/h100-b")
    call = _listed(UPDATED, SIZED, other, UPGRADED)
    last = operations.last_of_node_pool(call, GKE, WHERE, "h100")
    assert last is not None
    assert last.kind == "UPGRADE_NODES"
    upgrade = operations.last_upgrade(call, GKE, WHERE)
    assert upgrade is not None
    assert upgrade.fate is operations.Fate.UNDER_WAY
    assert operations.last_of_node_pool(call, GKE, WHERE, "cpu") is None


def test_a_list_that_misses_zones_tells_of_no_newest() -> None:
    call = _listed(SIZED, missing=("us-central1-b",))
    assert operations.last_of_node_pool(call, GKE, WHERE, "h100") is None
