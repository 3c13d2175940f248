# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stockouts, quota, operations in the way, and upgrades at GKE: what the driver makes of them."""

from __future__ import annotations

import contextlib
import dataclasses

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error, LostReply
from ansible_collections.better_compute.fleet.emulators.gcp import QUOTA
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InvalidRequest,
    OperationInProgress,
    PermissionDenied,
    ProviderQuotaExceeded,
    StockedOut,
    Throttled,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Deletion
from ansible_collections.better_compute.fleet.tests.support.gke_subject import CLUSTER, NODE_POOL, GkeSubject

OTHER = dataclasses.replace(NODE_POOL, name="cpu", machine_type="e2-standard-4", gpus_per_node=0, gpu_type=None)
SIX = dataclasses.replace(NODE_POOL, nodes=6)
BOTH_ZONES = NODE_POOL.places


def take_away(google: GkeSubject, *zones: str, code: str = "GCE_STOCKOUT") -> None:
    for zone in zones:
        google.gcp.capacity.take_away(NODE_POOL.machine_type, zone, code=code)


def test_a_stockout_of_a_first_node_pool_does_not_lose_the_cluster(google: GkeSubject) -> None:
    take_away(google, *BOTH_ZONES)
    google.stand(NODE_POOL, OTHER)
    cluster = google.open().get_cluster(CLUSTER)
    assert cluster is not None
    assert cluster.status is ProviderStatus.ACTIVE
    assert google.standing("cpu").status is ProviderStatus.ACTIVE
    failed = google.standing()
    assert failed.status is ProviderStatus.FAILED
    assert isinstance(failed.failure, StockedOut)
    assert "GCE_STOCKOUT" in str(failed.failure)


def test_a_stockout_of_all_first_node_pools_leaves_a_control_plane_that_serves(google: GkeSubject) -> None:
    take_away(google, *BOTH_ZONES)
    google.stand()
    driver = google.open()
    cluster = driver.ensure_cluster(CLUSTER, (NODE_POOL,))
    assert (cluster.status, cluster.serves) == (ProviderStatus.DEGRADED, True)
    assert "GCE_STOCKOUT" in cluster.message
    driver.delete_node_pool(CLUSTER, NODE_POOL.name, NODE_POOL.tags)
    google.gcp.capacity.give_back()
    google.settle()
    google.open().ensure_node_pool(CLUSTER, NODE_POOL, None)
    google.settle()
    assert google.standing().status is ProviderStatus.ACTIVE
    assert google.machines_of() == 4


def test_a_failure_that_is_over_is_told_no_more(google: GkeSubject) -> None:
    take_away(google, *BOTH_ZONES)
    google.stand(NODE_POOL, OTHER)
    google.gcp.capacity.give_back()
    google.settle()
    assert list(google.shown().conditions)
    held = google.standing()
    assert (held.status, held.failure) == (ProviderStatus.ACTIVE, None)


def test_a_node_pool_with_one_zone_short_is_degraded_and_resized_all_the_same(google: GkeSubject) -> None:
    take_away(google, BOTH_ZONES[1])
    google.stand(NODE_POOL, OTHER)
    short = google.standing()
    assert short.status is ProviderStatus.DEGRADED
    assert isinstance(short.failure, StockedOut)
    google.gcp.capacity.give_back()
    assert google.open().ensure_node_pool(CLUSTER, SIX, short).status is ProviderStatus.UPDATING
    google.settle()
    assert google.converge(SIX) == ["SetNodePoolSize", "UpdateNodePool"]
    assert google.machines_of() == 6


def test_a_growth_that_finds_no_machines_is_told_and_sent_again_only_without_its_id(google: GkeSubject) -> None:
    google.stand(NODE_POOL, OTHER)
    take_away(google, *BOTH_ZONES)
    google.open().ensure_node_pool(CLUSTER, SIX, google.standing())
    google.settle()
    sent = google.open().ensure_node_pool(CLUSTER, SIX, google.standing())
    google.settle()
    found, before = google.standing(), google.changes()
    assert found.status is ProviderStatus.DEGRADED
    with pytest.raises(StockedOut, match="Not all instances running"):
        google.open().ensure_node_pool(CLUSTER, dataclasses.replace(SIX, update_id=sent.update_id), found)
    assert google.changes() == before
    google.gcp.capacity.give_back()
    google.settle()
    assert google.converge(SIX) == ["SetNodePoolSize", "UpdateNodePool"]
    assert google.machines_of() == 6


def test_quota_is_typed_whether_it_is_refused_at_once_or_shows_later(google: GkeSubject) -> None:
    google.stand(OTHER)
    google.gcp.capacity.limit(NODE_POOL.machine_type, 1)
    with pytest.raises(ProviderQuotaExceeded, match="Insufficient regional quota"):
        google.open().ensure_node_pool(CLUSTER, NODE_POOL, None)
    google.gcp.capacity.give_back()
    take_away(google, *BOTH_ZONES, code=QUOTA)
    google.open().ensure_node_pool(CLUSTER, NODE_POOL, None)
    google.settle()
    assert isinstance(google.standing().failure, ProviderQuotaExceeded)


def test_ten_node_pools_at_once_end_as_ten_and_never_in_an_error(google: GkeSubject) -> None:
    specs = [dataclasses.replace(OTHER, name=f"n{number}") for number in range(10)]
    google.stand(specs[0])
    for _pass in range(4):
        there = {pool.name for pool in google.open().get_node_pools(CLUSTER)}
        for spec in specs:
            if spec.name not in there:
                with contextlib.suppress(OperationInProgress):
                    google.open().ensure_node_pool(CLUSTER, spec, None)
        google.settle()
    assert {pool.status for pool in google.open().get_node_pools(CLUSTER)} == {ProviderStatus.ACTIVE}
    assert len(google.open().get_node_pools(CLUSTER)) == 10


def test_a_cluster_that_is_being_made_takes_no_node_pool_yet_and_is_not_deleted(google: GkeSubject) -> None:
    google.open().ensure_cluster(CLUSTER, (OTHER,))
    with pytest.raises(OperationInProgress):
        google.open().ensure_node_pool(CLUSTER, NODE_POOL, None)
    with pytest.raises(OperationInProgress):
        google.open().delete_cluster(CLUSTER)


def test_what_gke_does_by_itself_means_wait(google: GkeSubject) -> None:
    google.stand(OTHER)
    name = google.node_pool_name().partition("/nodePools")[0]
    google.gcp.console.repair_cluster(name, seconds=600)
    driver = google.open()
    for refused in (
        lambda: driver.ensure_node_pool(CLUSTER, NODE_POOL, None),
        lambda: driver.delete_node_pool(CLUSTER, OTHER.name, OTHER.tags),
        lambda: driver.delete_cluster(CLUSTER),
    ):
        with pytest.raises(OperationInProgress):
            refused()
    newer = dataclasses.replace(CLUSTER, version="1.35")
    assert driver.ensure_cluster(newer).status is ProviderStatus.UPDATING
    google.settle()
    google.engine.faults.add(
        "gcp",
        "gke.UpdateCluster",
        Error(status=400, code="FAILED_PRECONDITION", message="Cluster is running incompatible operation o-1."),
    )
    assert google.open().ensure_cluster(newer).status is ProviderStatus.UPDATING


def test_an_upgrade_that_gke_gave_up_is_told_for_a_while_and_then_sent_again(google: GkeSubject) -> None:
    google.stand(OTHER)
    newer = dataclasses.replace(CLUSTER, version="1.35")
    google.gcp.failures.add("update", canonical="PERMISSION_DENIED", message="no right to the network")
    google.open().ensure_cluster(newer)
    google.clock.advance(20 * 60)
    after = google.engine.log.mark
    for _time in range(3):
        with pytest.raises(PermissionDenied, match="no right to the network"):
            google.open().ensure_cluster(newer)
    assert google.changes(after) == []
    found = google.open().get_cluster(newer)
    assert found is not None
    assert found.status is ProviderStatus.ACTIVE
    google.settle()
    assert google.open().ensure_cluster(newer).status is ProviderStatus.UPDATING
    assert google.changes(after) == ["UpdateCluster"]


def test_a_delete_that_fails_is_sent_again_until_gke_says_that_it_is_gone(google: GkeSubject) -> None:
    google.stand()
    google.gcp.failures.add("delete", message="something holds it")
    seen = set()
    for _time in range(4):
        with contextlib.suppress(OperationInProgress):
            seen.add(google.open().delete_cluster(CLUSTER))
        google.clock.advance(200)
    google.settle()
    assert google.open().delete_cluster(CLUSTER) is Deletion.GONE
    assert Deletion.UNDER_WAY in seen
    assert google.leftovers() == []


def test_an_operation_that_was_sent_is_asked_about_and_another_is_not_sent(google: GkeSubject) -> None:
    google.stand()
    google.open().ensure_node_pool(CLUSTER, SIX, google.standing())
    google.settle()
    before = google.standing()
    google.engine.faults.add("gcp", "gke.SetNodePoolSize", LostReply())
    with pytest.raises(Unavailable):
        google.open().ensure_node_pool(CLUSTER, SIX, before)
    assert google.open().ensure_node_pool(CLUSTER, SIX, before).status is ProviderStatus.UPDATING
    google.settle()
    google.converge(SIX)
    assert google.machines_of() == 6


def test_throttling_is_waited_out_within_a_budget(google: GkeSubject) -> None:
    slow = Error(status=429, code="RESOURCE_EXHAUSTED", message="Quota exceeded for 'Requests per minute'")
    google.engine.faults.add("gcp", "gke.GetCluster", slow, times=2)
    assert google.open().get_cluster(CLUSTER) is None
    assert google.waits == [0.1875, 0.375]
    google.engine.faults.add("gcp", "gke.GetCluster", slow, times=None)
    with pytest.raises(Throttled):
        google.open().get_cluster(CLUSTER)
    assert sum(google.waits[2:]) <= 4


def test_a_cluster_is_upgraded_one_minor_at_a_time(google: GkeSubject) -> None:
    google.open().ensure_cluster(dataclasses.replace(CLUSTER, version="1.33"), (OTHER,))
    google.settle()
    wanted, after = dataclasses.replace(CLUSTER, version="1.35"), google.engine.log.mark
    for step in ("1.34", "1.35"):
        for _time in range(3):
            assert google.open().ensure_cluster(wanted).status is ProviderStatus.UPDATING
        google.settle()
        found = google.open().get_cluster(wanted)
        assert found is not None
        assert found.outputs is not None
        assert found.outputs.version.startswith(step)
    assert google.open().ensure_cluster(wanted).status is ProviderStatus.ACTIVE
    assert google.changes(after) == ["UpdateCluster", "UpdateCluster"]


def test_a_node_pool_follows_its_control_plane_and_never_leads(google: GkeSubject) -> None:
    google.open().ensure_cluster(dataclasses.replace(CLUSTER, version="1.33"), (OTHER,))
    google.settle()
    ahead = dataclasses.replace(OTHER, version="1.35")
    found = google.standing("cpu")
    assert google.open().ensure_node_pool(CLUSTER, ahead, found) == found
    google.open().ensure_cluster(dataclasses.replace(CLUSTER, version="1.34"))
    google.settle()
    assert google.open().ensure_node_pool(CLUSTER, ahead, google.standing("cpu")).status is ProviderStatus.UPDATING
    google.settle()
    after = google.standing("cpu")
    assert after.version.startswith("1.34.")
    assert google.open().ensure_node_pool(CLUSTER, ahead, after) == after


def test_an_upgrade_that_gke_refuses_says_why(google: GkeSubject) -> None:
    google.stand(OTHER)
    google.engine.faults.add(
        "gcp", "gke.UpdateCluster", Error(status=403, code="PERMISSION_DENIED", message='Required "container…"')
    )
    with pytest.raises(PermissionDenied):
        google.open().ensure_cluster(dataclasses.replace(CLUSTER, version="1.35"))


def test_a_version_that_there_is_not_is_refused(google: GkeSubject) -> None:
    with pytest.raises(InvalidRequest, match="unsupported"):
        google.open().ensure_cluster(dataclasses.replace(CLUSTER, version="1.99"), (OTHER,))
