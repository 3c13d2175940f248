# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flavors that go into a cluster's create call and cannot be had: neither the cluster nor the others are lost."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Final

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodePoolState
from ansible_collections.better_compute.fleet.tests.support.life.clouds import DOKS, GKE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds

CREATE_CLUSTER: Final = {GKE: "gke.CreateCluster", DOKS: "POST clusters"}
CREATE_NODE_POOL: Final = {GKE: "gke.CreateNodePool", DOKS: "POST clusters/{id}/node_pools"}
STOCKOUT: Final = {GKE: "does not have enough resources available", DOKS: "insufficient capacity for size"}
NO_SUCH_TYPE: Final = {GKE: "a9-nothing", DOKS: "gpu-h100x8-1gb"}
FAULTS: Final[dict[str, LostReply | Error]] = {
    "the answer is lost": LostReply(),
    "the provider breaks": Error(status=503, code="UNAVAILABLE", message="try again later"),
    "too many calls": Error(status=429, code="RESOURCE_EXHAUSTED", message="Quota exceeded for requests per minute"),
}


def take_away(clouds: FleetOnClouds, cloud: Cloud, *, spot: bool | None = None) -> None:
    """No machine of the type can be had: none at all, or only no Spot ones."""
    if cloud is GKE:
        for zone in GKE.config["zones"]:
            clouds.place.world.gcp.capacity.take_away(cloud.machine_type, zone, spot=spot)
    else:
        clouds.place.world.digitalocean.capacity.take_away(cloud.machine_type, spot=spot)


def give_back(clouds: FleetOnClouds, cloud: Cloud) -> None:
    """There is plenty of everything again."""
    world = clouds.place.world
    (world.gcp if cloud is GKE else world.digitalocean).capacity.give_back()


def limit(clouds: FleetOnClouds, cloud: Cloud, machines: int) -> None:
    """The account's quota."""
    if cloud is GKE:
        clouds.place.world.gcp.capacity.limit(cloud.machine_type, machines)
    else:
        clouds.place.world.digitalocean.capacity.limit(machines)


def state_of(clouds: FleetOnClouds, name: str) -> NodePoolState:
    return clouds.fleet.node_pools()[name].state


def test_a_first_flavor_without_capacity_keeps_its_row_and_reason_and_the_others_go_on(
    clouds: FleetOnClouds, cloud: Cloud
) -> None:
    fleet, clock = clouds.fleet, clouds.fleet.scene.clock
    take_away(clouds, cloud, spot=True)
    began = clock.now()
    clouds.apply(cloud, cloud.flavor("h100"), cloud.spot_flavor("h100-spot"))
    fleet.live(until=lambda: state_of(clouds, "h100-spot") == NodePoolState.ERROR, minutes=5)
    fleet.live(until=lambda: fleet.view().record.nodes_joined == (2 if cloud is GKE else 1), minutes=5)
    assert state_of(clouds, "h100") == NodePoolState.READY
    assert len(fleet.nodes()) == (2 if cloud is GKE else 1)
    refused = fleet.node_pools()["h100-spot"]
    assert refused.state == NodePoolState.ERROR
    assert STOCKOUT[cloud] in refused.message
    assert f"node pool h100-spot: {refused.message}" in fleet.view().record.message
    # Later than anybody's patience: whatever was made for it is made again at most once in five minutes.
    fleet.live(minutes=8)
    sent = [
        entry
        for entry in clouds.asked(cloud, mutating=True)
        if "Create" in entry.call.name or "POST" in entry.call.name
    ]
    assert sent[0].call.name == CREATE_CLUSTER[cloud]
    assert {entry.call.name for entry in sent[1:]} <= {CREATE_NODE_POOL[cloud]}
    times = [entry.at for entry in sent]
    assert all(later - earlier >= timedelta(minutes=5) for earlier, later in itertools.pairwise(times))
    assert clock.now() - began > timedelta(minutes=8)
    assert len(fleet.events("kubernetes.nodepool.error")) == 1
    give_back(clouds, cloud)
    clouds.live_until_joined(3 if cloud is GKE else 2)
    assert clouds.carried_out(cloud)[CREATE_CLUSTER[cloud]] == 1
    assert len(fleet.events("kubernetes.cluster.ready")) == 1


def test_a_cluster_whose_only_flavor_finds_no_capacity_stands_and_is_taken_away_with_it(
    clouds: FleetOnClouds, cloud: Cloud
) -> None:
    fleet = clouds.fleet
    take_away(clouds, cloud)
    clouds.apply(cloud, cloud.flavor("h100"))
    fleet.live(until=lambda: state_of(clouds, "h100") == NodePoolState.ERROR, minutes=5)
    assert STOCKOUT[cloud] in fleet.view().record.message
    [standing] = fleet.scene.engine.inventory.items(cloud=cloud.emulated, kind="cluster")
    fleet.live(minutes=7)
    assert fleet.scene.engine.inventory.items(cloud=cloud.emulated, kind="cluster") == (standing,)
    clouds.prune()
    assert clouds.left() == []
    assert clouds.carried_out(cloud)[CREATE_CLUSTER[cloud]] == 1


def test_first_flavors_that_are_refused_keep_neither_the_cluster_nor_the_others_away(
    clouds: FleetOnClouds, cloud: Cloud
) -> None:
    fleet = clouds.fleet
    limit(clouds, cloud, 3)
    strange = cloud.flavor("strange", machineType=NO_SUCH_TYPE[cloud])
    clouds.apply(cloud, cloud.flavor("h100"), cloud.flavor("much", nodes=3), strange)
    fleet.live(until=lambda: fleet.view().record.nodes_joined == (2 if cloud is GKE else 1), minutes=5)
    assert {name: pool.state for name, pool in fleet.node_pools().items()} == {
        "h100": NodePoolState.READY,
        "much": NodePoolState.ERROR,
        "strange": NodePoolState.ERROR,
    }
    message = fleet.view().record.message
    assert "node pool much: " in message
    assert "quota" in message or "droplet limit" in message
    assert "node pool strange: " in message
    assert NO_SUCH_TYPE[cloud] in message
    assert clouds.carried_out(cloud) == {CREATE_CLUSTER[cloud]: 1}
    mark = fleet.scene.engine.log.mark
    fleet.live(minutes=3)
    assert clouds.asked(cloud, after=mark, mutating=True) == ()
    # What was refused is changed in the document, and made at once.
    give_back(clouds, cloud)
    much = cloud.spot_flavor("more")
    clouds.join_all(cloud, cloud.flavor("h100"), much, nodes=3 if cloud is GKE else 2)
    assert len(fleet.events("kubernetes.nodepool.error")) == 2


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_happens_to_the_create_call_nothing_is_made_twice(
    clouds: FleetOnClouds, cloud: Cloud, fault: str
) -> None:
    scripted = clouds.fleet.scene.engine.faults.add(cloud.emulated, CREATE_CLUSTER[cloud], FAULTS[fault])
    clouds.join_all(cloud, cloud.flavor("h100"), cloud.spot_flavor("h100-spot"), nodes=3 if cloud is GKE else 2)
    assert clouds.carried_out(cloud) == {CREATE_CLUSTER[cloud]: 1}
    assert scripted.struck == 1
    assert len(clouds.fleet.scene.engine.inventory.items(cloud=cloud.emulated, kind="node-pool")) == 2
    assert clouds.fleet.events("kubernetes.cluster.error") == ()
    assert clouds.fleet.events("kubernetes.nodepool.error") == ()


def test_the_only_flavor_gives_way_to_another_one(clouds: FleetOnClouds, cloud: Cloud) -> None:
    clouds.join_all(cloud, cloud.spot_flavor("old"), nodes=1)
    clouds.join_all(cloud, cloud.spot_flavor("another"), nodes=1)
    assert clouds.fleet.node_pools().keys() == {"another"}
    assert {node.node_pool for node in clouds.fleet.nodes().values()} == {"another"}
    [standing] = clouds.fleet.scene.engine.inventory.items(cloud=cloud.emulated, kind="node-pool")
    assert "another" in f"{standing.id} {standing.detail}"
