# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters by the DOKS driver: made with their nodes, found again, upgraded, and gone when their droplets are."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    AlreadyExists,
    InvalidRequest,
    PermissionDenied,
    ProviderQuotaExceeded,
    StockedOut,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    Deletion,
    NodePoolSpec,
)
from ansible_collections.better_compute.fleet.tests.support.doks_subject import CLUSTER, NODE_POOL, DoksSubject

SMALL = dataclasses.replace(NODE_POOL, name="small", machine_type="s-2vcpu-4gb", nodes=1, gpus_per_node=0)


def test_a_cluster_is_made_in_one_call_with_its_first_node_pools_and_without_the_gpu_device_plugins(
    ocean: DoksSubject,
) -> None:
    made = ocean.open().ensure_cluster(CLUSTER, (NODE_POOL, SMALL))
    assert made.status is ProviderStatus.CREATING
    assert ocean.changes() == ["POST clusters"]
    shown = ocean.shown()
    assert [pool["name"] for pool in shown["node_pools"]] == ["h100", "small"]
    assert not shown["nvidia_gpu_device_plugin"]["enabled"]
    assert not shown["amd_gpu_device_plugin"]["enabled"]
    assert not shown["auto_upgrade"]
    ocean.settle()
    found = ocean.open().get_cluster(CLUSTER)
    assert found is not None
    assert found.outputs is not None
    assert found.outputs.global_id == shown["id"]


def test_a_converged_cluster_and_its_node_pools_are_one_call_and_two_with_credentials(ocean: DoksSubject) -> None:
    ocean.stand(NODE_POOL, SMALL)
    driver, before = ocean.open(), ocean.calls()
    cluster = driver.ensure_cluster(CLUSTER)
    for spec, found in zip((NODE_POOL, SMALL), driver.get_node_pools(CLUSTER), strict=True):
        assert driver.ensure_node_pool(CLUSTER, spec, found) == found
    assert ocean.calls() - before == 1
    access = driver.bootstrap_access(cluster)
    assert ocean.calls() - before == 2
    assert access.ca_pem.startswith("-----BEGIN CERTIFICATE-----")
    assert ocean.accepts(access)
    assert (access.expires_at - ocean.clock.now()).total_seconds() == pytest.approx(600, abs=1)


def test_node_pools_that_were_read_with_the_cluster_are_read_anew_after_a_while_and_after_a_write(
    ocean: DoksSubject,
) -> None:
    ocean.stand(NODE_POOL)
    driver = ocean.open()
    driver.ensure_cluster(CLUSTER)
    ocean.edit(labels={**NODE_POOL.labels, "by": "hand"}, taints=[])
    ocean.settle()
    [found] = driver.get_node_pools(CLUSTER)
    assert found.labels["by"] == "hand"
    driver.ensure_cluster(CLUSTER)
    [found] = driver.get_node_pools(CLUSTER)
    driver.ensure_cluster(CLUSTER)
    driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=5), found)
    assert [pool.nodes for pool in driver.get_node_pools(CLUSTER)] == [5]


def test_without_nodes_no_cluster_is_asked_for(ocean: DoksSubject) -> None:
    none = dataclasses.replace(NODE_POOL, nodes=0)
    for first in ((), (none,)):
        with pytest.raises(InvalidRequest):
            ocean.open().ensure_cluster(CLUSTER, first)
    assert ocean.changes() == []


def test_private_nodes_are_refused(ocean: DoksSubject) -> None:
    with pytest.raises(InvalidRequest, match="private"):
        ocean.open().ensure_cluster(dataclasses.replace(CLUSTER, private_nodes=True), (NODE_POOL,))


@pytest.mark.parametrize(
    "bad",
    [
        dataclasses.replace(NODE_POOL, name="none", nodes=0),
        dataclasses.replace(NODE_POOL, name="zoned", places=("nyc2-a",)),
        dataclasses.replace(NODE_POOL, name="unknown", machine_type="gpu-of-next-year", gpus_per_node=0),
        dataclasses.replace(NODE_POOL, name="many", nodes=90),
    ],
)
def test_a_create_with_a_node_pool_that_is_refused_makes_nothing(ocean: DoksSubject, bad: NodePoolSpec) -> None:
    ocean.cloud.capacity.limit(20)
    with pytest.raises((InvalidRequest, ProviderQuotaExceeded)):
        ocean.open().ensure_cluster(CLUSTER, (bad, SMALL))
    assert list(ocean.leftovers()) == []
    ocean.open().ensure_cluster(CLUSTER, (SMALL,))
    assert [pool["name"] for pool in ocean.shown()["node_pools"]] == ["small"]


def test_a_cluster_of_nodes_that_doks_does_not_have_is_refused_with_those_that_it_has(ocean: DoksSubject) -> None:
    with pytest.raises(InvalidRequest, match="gpu-h100x8-640gb"):
        ocean.open().ensure_cluster(CLUSTER, (dataclasses.replace(NODE_POOL, machine_type="gpu-h100x8"),))
    assert ocean.changes() == []


def test_a_cluster_of_which_every_node_pool_is_refused_says_why(ocean: DoksSubject) -> None:
    ocean.cloud.capacity.limit(3)
    with pytest.raises(ProviderQuotaExceeded, match="droplet limit"):
        ocean.open().ensure_cluster(CLUSTER, (NODE_POOL,))
    assert list(ocean.leftovers()) == []


def test_a_stockout_that_refuses_the_create_is_typed(ocean: DoksSubject) -> None:
    no = Error(status=422, code="unprocessable_entity", message="insufficient capacity for size gpu-h100x8-640gb")
    ocean.engine.faults.add("digitalocean", "POST clusters", no)
    with pytest.raises(StockedOut):
        ocean.open().ensure_cluster(CLUSTER, (NODE_POOL, SMALL))
    assert list(ocean.leftovers()) == []


def test_a_create_whose_reply_was_lost_is_found_by_its_name_and_marks(ocean: DoksSubject) -> None:
    ocean.engine.faults.add("digitalocean", "POST clusters", LostReply())
    with pytest.raises(Unavailable):
        ocean.open().ensure_cluster(CLUSTER, (NODE_POOL,))
    assert ocean.open().ensure_cluster(CLUSTER, (NODE_POOL,)).status is ProviderStatus.CREATING
    assert ocean.changes() == ["POST clusters"]


def test_of_two_of_our_clusters_the_oldest_stays_and_the_other_goes(ocean: DoksSubject) -> None:
    ocean.cloud.readings.unique_names = False
    ocean.stand(NODE_POOL)
    first = ocean.shown()
    wanted = {key: first[key] for key in ("name", "region", "version", "tags")}
    pool = {"name": "x", "size": "s-2vcpu-4gb", "count": 1}
    second = ocean.api.kubernetes.create_cluster({**wanted, "node_pools": [pool]})["kubernetes_cluster"]
    stranger = {**wanted, "tags": ["theirs"], "node_pools": [pool]}
    third = ocean.api.kubernetes.create_cluster(stranger)["kubernetes_cluster"]
    ocean.settle()
    observed = ocean.open().get_cluster(CLUSTER)
    assert observed is not None
    assert observed.outputs is not None
    assert observed.outputs.global_id == first["id"]
    ocean.open().ensure_cluster(CLUSTER)
    ocean.settle()
    listed = ocean.api.kubernetes.list_clusters(per_page=20, page=1)["kubernetes_clusters"]
    assert {cluster["id"] for cluster in listed} == {first["id"], third["id"]}
    assert second["id"] != first["id"]


def test_all_of_our_clusters_of_the_name_are_deleted_and_no_strangers(ocean: DoksSubject) -> None:
    ocean.cloud.readings.unique_names = False
    ocean.stand(NODE_POOL)
    first = ocean.shown()
    wanted = {key: first[key] for key in ("name", "region", "version")}
    pool = {"name": "x", "size": "s-2vcpu-4gb", "count": 1}
    for tags in (first["tags"], ["theirs"]):
        ocean.api.kubernetes.create_cluster({**wanted, "tags": tags, "node_pools": [pool]})
    ocean.settle()
    assert ocean.open().delete_cluster(CLUSTER) is Deletion.UNDER_WAY
    ocean.settle()
    [left] = ocean.api.kubernetes.list_clusters(per_page=20, page=1)["kubernetes_clusters"]
    assert "theirs" in left["tags"]
    with pytest.raises(AlreadyExists):
        ocean.open().delete_cluster(CLUSTER)


def test_a_cluster_of_ours_that_somebody_renamed_is_neither_made_again_nor_taken_for_gone(ocean: DoksSubject) -> None:
    ocean.stand(NODE_POOL)
    ocean.cloud.console.edit_cluster(ocean.shown()["id"], name="mine-now")
    driver = ocean.open()
    for refused in (driver.get_cluster, driver.delete_cluster):
        with pytest.raises(AlreadyExists, match="mine-now"):
            refused(CLUSTER)
    with pytest.raises(AlreadyExists, match="mine-now"):
        driver.ensure_cluster(CLUSTER, (NODE_POOL,))
    assert ocean.changes() == ["POST clusters"]


@pytest.mark.parametrize("size", ["gpu-h100x8-640gb", "s-2vcpu-4gb"])
@pytest.mark.parametrize("knows_the_id", [True, False])
def test_a_cluster_is_gone_when_it_is_not_found_and_none_of_its_droplets_is_left(
    ocean: DoksSubject, size: str, knows_the_id: bool
) -> None:
    ocean.stand(dataclasses.replace(NODE_POOL, machine_type=size, gpus_per_node=0))
    driver = ocean.open()
    assert driver.delete_cluster(CLUSTER) is Deletion.UNDER_WAY
    ocean.clock.advance(61)  # the cluster is gone; its droplets are listed half a minute longer
    asked = driver if knows_the_id else ocean.open()
    found = asked.get_cluster(CLUSTER)
    assert found is not None
    assert (found.status, found.outputs) == (ProviderStatus.DELETING, None)
    assert "h100-" in found.message
    assert asked.delete_cluster(CLUSTER) is Deletion.UNDER_WAY
    assert asked.ensure_cluster(CLUSTER, (NODE_POOL,)).status is ProviderStatus.DELETING
    ocean.settle()
    assert asked.get_cluster(CLUSTER) is None
    assert asked.delete_cluster(CLUSTER) is Deletion.GONE
    assert ocean.changes() == ["POST clusters", "DELETE clusters/{id}"]


def test_a_cluster_that_was_seen_and_is_missing_from_the_list_is_asked_for_by_its_id(
    ocean: DoksSubject, monkeypatch: pytest.MonkeyPatch
) -> None:
    ocean.stand(NODE_POOL)
    driver = ocean.open()
    driver.get_cluster(CLUSTER)
    empty = {"kubernetes_clusters": [], "links": {}, "meta": {"total": 0}}
    monkeypatch.setattr(ocean.api.kubernetes, "list_clusters", lambda **_page: empty)
    found = driver.get_cluster(CLUSTER)
    assert found is not None
    assert found.status is ProviderStatus.ACTIVE


def test_an_adopted_cluster_is_known_by_its_uuid_and_nothing_is_left_of_one_that_is_not_there(
    ocean: DoksSubject,
) -> None:
    ocean.stand()
    adopted = dataclasses.replace(CLUSTER, name=ocean.shown()["id"], tags={}, adopted=True)
    found = ocean.open().get_cluster(adopted)
    assert found is not None
    assert found.name == CLUSTER.name
    assert ocean.open().get_cluster(dataclasses.replace(adopted, name="00000000-0000-4000-8000-000000000000")) is None


def test_a_list_that_changes_while_it_is_read_proves_nothing(
    ocean: DoksSubject, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = {"kubernetes_clusters": [], "links": {}, "meta": {"total": 1}}
    monkeypatch.setattr(ocean.api.kubernetes, "list_clusters", lambda **_page: short)
    with pytest.raises(Unavailable, match="changed"):
        ocean.open().get_cluster(CLUSTER)


def test_a_token_without_a_scope_is_refused_with_digitaloceans_words(ocean: DoksSubject) -> None:
    without = ocean.cloud.tokens.issue(scopes={"kubernetes:read"})
    with pytest.raises(PermissionDenied, match="not authorized"):
        ocean.through(without).open().get_cluster(CLUSTER)
    with pytest.raises(PermissionDenied, match="Unable to authenticate"):
        ocean.through("dop_v1_nobodys").open().get_cluster(CLUSTER)


def test_an_upgrade_that_is_not_offered_is_refused_and_the_cluster_serves_as_before(ocean: DoksSubject) -> None:
    ocean.stand(NODE_POOL, version="1.34")
    with pytest.raises(InvalidRequest, match="offers none"):
        ocean.open().ensure_cluster(dataclasses.replace(CLUSTER, version="1.99"))
    found = ocean.open().get_cluster(CLUSTER)
    assert found is not None
    assert found.serves


def test_an_upgrade_shows_at_its_node_pools_at_once(ocean: DoksSubject) -> None:
    ocean.stand(NODE_POOL, version="1.32")
    driver = ocean.open()
    wanted = dataclasses.replace(CLUSTER, version="1.33")
    assert driver.ensure_cluster(wanted).status is ProviderStatus.UPDATING
    assert [pool.status for pool in driver.get_node_pools(wanted)] == [ProviderStatus.UPDATING]
    ocean.settle()
    assert ocean.standing().version.startswith("1.33.")


def test_a_cluster_that_never_got_a_control_plane_failed_and_can_be_deleted(ocean: DoksSubject) -> None:
    ocean.open().ensure_cluster(CLUSTER, (NODE_POOL,))
    ocean.cloud.console.fail(ocean.shown()["id"], "no network could be made")
    ocean.settle()
    found = ocean.open().ensure_cluster(CLUSTER, (NODE_POOL,))
    assert (found.status, found.message, found.serves) == (ProviderStatus.FAILED, "no network could be made", False)
    assert ocean.open().delete_cluster(CLUSTER) is Deletion.UNDER_WAY
    ocean.settle()
    assert ocean.open().delete_cluster(CLUSTER) is Deletion.GONE
    assert list(ocean.leftovers()) == []


def test_a_cluster_whose_upgrade_failed_serves_as_before_and_says_why(ocean: DoksSubject) -> None:
    ocean.stand(NODE_POOL, version="1.32")
    wanted = dataclasses.replace(CLUSTER, version="1.33")
    ocean.open().ensure_cluster(wanted)
    ocean.cloud.console.fail(ocean.shown()["id"], "a node could not be drained")
    ocean.settle()
    before = ocean.writes()
    with pytest.raises(InvalidRequest, match="could not be drained"):
        ocean.open().ensure_cluster(wanted)
    found = ocean.open().get_cluster(wanted)
    assert found is not None
    assert (found.status, found.serves) == (ProviderStatus.DEGRADED, True)
    assert ocean.writes() == before
    ocean.cloud.console.recover(ocean.shown()["id"])
    assert ocean.open().ensure_cluster(wanted).status is ProviderStatus.UPDATING


def test_a_deletion_that_failed_is_sent_again(ocean: DoksSubject) -> None:
    ocean.stand(NODE_POOL)
    ocean.open().delete_cluster(CLUSTER)
    ocean.cloud.console.fail(ocean.shown()["id"], "a load balancer is in the way")
    ocean.settle()
    assert ocean.open().delete_cluster(CLUSTER) is Deletion.UNDER_WAY
    ocean.settle()
    assert ocean.open().delete_cluster(CLUSTER) is Deletion.GONE


def test_a_cluster_is_gone_although_what_its_workloads_made_outlives_it(ocean: DoksSubject) -> None:
    ocean.stand(NODE_POOL)
    made = ocean.cloud.console.add_load_balancer(ocean.shown()["id"], "web")
    ocean.open().delete_cluster(CLUSTER)
    ocean.settle()
    assert ocean.open().delete_cluster(CLUSTER) is Deletion.GONE
    assert list(ocean.leftovers()) == [f"load-balancer {made}"]
