# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool lives on a cluster that a tenant runs already, and leaves it as it was: on each of the three providers.

Every verb that was sent is looked at: none of them is about anything that the tenant made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Entry
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import adopted_node_pool_name
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.tests.support.life import remains
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, DOKS, GKE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds
from ansible_collections.better_compute.fleet.tests.support.life.tenants_cluster import (
    TenantsCluster,
    adopting,
    made_by_a_tenant,
)

MAKES: Final = {AWS: "eks.CreateNodegroup", GKE: "gke.CreateNodePool", DOKS: "POST clusters/{id}/node_pools"}
RESIZES: Final = {
    AWS: ("eks.UpdateNodegroupConfig",),
    GKE: ("gke.UpdateNodePool", "gke.SetNodePoolSize", "gke.UpdateNodePool"),
    DOKS: ("PUT clusters/{id}/node_pools/{id}",),
}
DELETES: Final = {AWS: "eks.DeleteNodegroup", GKE: "gke.DeleteNodePool", DOKS: "DELETE clusters/{id}/node_pools/{id}"}

CLAIMED: Final = ("POST configmaps kube-system/better-compute-substrate",)
ENTERED: Final = (
    "POST namespaces bc-access",
    "POST clusterrolebindings bc-substrate",
    "POST serviceaccounts bc-access/bc-substrate",
)
BCD: Final = (
    "POST namespaces better-compute",
    "POST configmaps better-compute/bcd",
    "POST daemonsets better-compute/bcd",
)
JOINED: Final = ("POST secrets better-compute/bcd-join", "DELETE secrets better-compute/bcd-join")
BCD_GOES: Final = (
    "DELETE daemonsets better-compute/bcd",
    "DELETE configmaps better-compute/bcd",
    "DELETE namespaces better-compute",
)
ACCESS_GOES: Final = (
    "DELETE serviceaccounts bc-access/bc-substrate",
    "DELETE clusterrolebindings bc-substrate",
    "DELETE namespaces bc-access",
)
CLAIM_GOES: Final = ("DELETE configmaps kube-system/better-compute-substrate",)


@pytest.fixture(params=[AWS, GKE, DOKS], ids=["eks", "gke", "doks"])
def cluster(request: pytest.FixtureRequest, clouds: FleetOnClouds) -> TenantsCluster:
    """A tenant's cluster that our account may administer."""
    cloud: Cloud = request.param
    made = made_by_a_tenant(clouds.fleet, clouds.place, cloud)
    made.admit()
    return made


def told(entry: Entry) -> str:
    """A request in a line: inside of the cluster with the object, at the provider without."""
    call = entry.call
    return f"{call.name} {call.target.partition('/')[2]}" if call.cloud == "kubernetes" else call.name


def sent(clouds: FleetOnClouds, *, after: int) -> list[str]:
    """Every request that may change something, in order, refused ones too."""
    return [told(entry) for entry in clouds.fleet.scene.engine.log.entries(after=after, mutating=True)]


def targets(clouds: FleetOnClouds, cloud: Cloud, *, after: int) -> Sequence[str]:
    """Which node pools the provider was asked to change; not which one it was asked to make at DigitalOcean."""
    return [
        entry.call.target.rpartition("/")[2]
        for entry in clouds.asked(cloud, after=after, mutating=True)
        if entry.call.name != MAKES[DOKS]
    ]


def test_a_tenants_cluster_gets_our_node_pool_and_bcd_and_is_given_back_as_it_was(
    clouds: FleetOnClouds, cluster: TenantsCluster
) -> None:
    fleet, log, cloud = clouds.fleet, clouds.fleet.scene.engine.log, cluster.cloud
    there, own, seen, mark = clouds.left(), cluster.node_pools, cluster.observed, log.mark
    flavor = cloud.flavor("h100", **({"zones": [cloud.zone]} if cloud.zone else {}))
    fleet.join_all(adopting(clouds.place, cluster, flavor))
    ours = adopted_node_pool_name(fleet.pool_id, "h100")
    assert {name: pool.state for name, pool in fleet.node_pools().items()} == {ours: NodePoolState.READY}
    assert fleet.view().record.nodes_joined == 1, "the nodes of the tenant's h100 are not ours"
    assert sent(clouds, after=mark) == [*CLAIMED, *ENTERED, MAKES[cloud], *BCD, *JOINED]
    rested = log.mark
    fleet.scene.clock.advance(300)
    fleet.one_pass()
    assert sent(clouds, after=rested) == []

    booked = fleet.book(name="job", gpus=8)
    fleet.apply(adopting(clouds.place, cluster, {**flavor, "nodes": 2}))
    clouds.live_until_joined(2)
    assert cluster.node_pools == own

    fleet.apply(clouds.place.document({}), prune=True)
    fleet.live(minutes=2)
    assert clouds.fleet.reservation(booked).ended_at is None, "it is waited for"
    assert BCD_GOES[0] not in sent(clouds, after=mark)
    fleet.release(booked)
    fleet.live(until=fleet.has_nothing_to_do, minutes=15)
    assert sent(clouds, after=rested) == [
        *RESIZES[cloud],
        *JOINED,
        *BCD_GOES,
        DELETES[cloud],
        *ACCESS_GOES,
        *CLAIM_GOES,
    ]
    assert len(set(targets(clouds, cloud, after=mark))) == 1, "one node pool, and it is ours"
    assert clouds.left() == there
    assert (cluster.node_pools, cluster.observed) == (own, seen)
    left = remains(fleet.scene)
    assert (left["substrates"], left["clusters"]) == ({("deleted", 0, 0, ""): 1}, {("deleted", ""): 1})
    assert (left["nodes"], left["live tokens"], left["work"]) == ({"retired": 2}, 0, 0)


def test_a_node_pool_that_has_our_name_and_is_not_ours_is_told_and_never_touched(
    clouds: FleetOnClouds, cluster: TenantsCluster
) -> None:
    fleet, cloud = clouds.fleet, cluster.cloud
    fleet.apply(adopting(clouds.place, cluster, cloud.flavor("h100"), cloud.spot_flavor("more")))
    taken = adopted_node_pool_name(fleet.pool_id, "h100")
    cluster.add_node_pool(taken)
    there, mark = clouds.left(), fleet.scene.engine.log.mark
    fleet.live(until=lambda: fleet.view().record.nodes_joined == 1, minutes=15)
    view, states = fleet.view(), {name: pool.state for name, pool in fleet.node_pools().items()}
    assert view.record.state == SubstrateState.ERROR
    assert f"node pool {taken}" in view.record.message
    assert "not ours" in view.record.message or "not made for this pool" in view.record.message
    assert fleet.cluster().state == ClusterState.ERROR
    assert states == {taken: NodePoolState.ERROR, adopted_node_pool_name(fleet.pool_id, "more"): NodePoolState.READY}
    assert view.record.nodes_joined == 1, "the other flavor is looked after"

    fleet.apply(clouds.place.document({}), prune=True)
    fleet.live(until=fleet.has_nothing_to_do, minutes=15)
    assert clouds.left() == there
    made = [line for line in sent(clouds, after=mark) if line in (MAKES[cloud], DELETES[cloud])]
    assert made == [MAKES[cloud], DELETES[cloud]]


def test_gpus_wait_until_digitaloceans_own_device_plugins_are_off(clouds: FleetOnClouds) -> None:
    fleet, console = clouds.fleet, clouds.place.world.digitalocean.console
    cluster = made_by_a_tenant(fleet, clouds.place, DOKS)
    console.edit_cluster(cluster.id, nvidia_gpu_device_plugin={"enabled": True})
    mark = fleet.scene.engine.log.mark
    fleet.apply(adopting(clouds.place, cluster, DOKS.flavor("h100")))
    fleet.live(minutes=3)
    record = fleet.view().record
    assert record.state == SubstrateState.ERROR
    assert "devicePluginOn" in record.message
    assert "switch off its nvidia_gpu_device_plugin" in record.message
    fleet.live(minutes=6)
    assert sent(clouds, after=mark) == []
    console.edit_cluster(cluster.id, nvidia_gpu_device_plugin={"enabled": False})
    clouds.live_until_joined(1)
