# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool lives on GKE and on DOKS as it does on EKS: from its cluster, made with its first flavors, to nothing left."""

from __future__ import annotations

from typing import Any, Final

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    NodePoolState,
    ReservationState,
)
from ansible_collections.better_compute.fleet.tests.support.life import remains
from ansible_collections.better_compute.fleet.tests.support.life.clouds import DOKS, GKE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds

ZONES: Final = {GKE: 2, DOKS: 1}
"""How often a flavor's `nodes` counts."""

FIRST_CREATE: Final = {GKE: {"gke.CreateCluster": 1}, DOKS: {"POST clusters": 1}}

LOOKS: Final = {GKE: ["gke.GetCluster"], DOKS: ["GET clusters", "GET clusters/{id}/credentials"]}
"""What a pass asks the provider of a fleet at rest."""

RESIZE: Final = {
    GKE: {"gke.SetNodePoolSize": 1, "gke.UpdateNodePool": 2},
    DOKS: {"PUT clusters/{id}/node_pools/{id}": 1},
}
"""One change of size. GKE's descriptions have no current size: a label says it, which is unsure during the change."""

REMAINS: Final = {
    "inventory": [],
    "live tokens": 0,
    "clusters": {("deleted", ""): 1},
    "node pools": {("h100", "deleted"): 1, ("h100-spot", "deleted"): 1},
    "substrates": {("deleted", 0, 0, ""): 1},
    "work": 0,
    "held devices": 0,
    "reservations": {},
    "refunds": {},
    "idempotency keys": 0,
}
"""What there is of a pool that nobody booked when it is gone: rows that say so."""

VERSIONS: Final = ("1.33", "1.34")


def both(cloud: Cloud, **spot: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An ordinary flavor, and a Spot flavor of one node."""
    return cloud.flavor("h100"), cloud.spot_flavor("h100-spot", **spot)


def autoscale(clouds: FleetOnClouds, cloud: Cloud, name: str, nodes: int) -> None:
    """The provider's autoscaler brings a node pool to a size."""
    world, cluster = clouds.place.world, clouds.fleet.cluster().name
    if cloud is GKE:
        place = f"projects/{world.gcp.project}/locations/{cloud.location}/clusters/{cluster}/nodePools/{name}"
        world.gcp.console.autoscale(place, nodes)
    else:
        pools = clouds.fleet.scene.engine.inventory.items(cloud="digitalocean", kind="node-pool")
        found = next(item for item in pools if item.detail["name"] == name)
        [standing] = clouds.fleet.scene.engine.inventory.items(cloud="digitalocean", kind="cluster")
        world.digitalocean.console.autoscale(standing.id, found.id, nodes)


def test_a_pool_is_made_with_its_cluster_in_one_call_rests_and_leaves_nothing(
    clouds: FleetOnClouds, cloud: Cloud
) -> None:
    fleet, engine = clouds.fleet, clouds.fleet.scene.engine
    clouds.join_all(cloud, *both(cloud), nodes=ZONES[cloud] + 1)
    assert clouds.carried_out(cloud) == FIRST_CREATE[cloud]
    assert clouds.machines() == ZONES[cloud] + 1
    assert len(fleet.events("kubernetes.cluster.ready")) == 1
    assert len(fleet.events("kubernetes.nodepool.ready")) == 2

    fleet.scene.clock.advance(300)
    rows, mark = fleet.rows(), engine.log.mark
    commits: list[str] = []
    fleet.session.store.on_commit.append(commits.append)
    fleet.one_pass()
    fleet.session.store.on_commit.clear()
    assert [entry.call.name for entry in clouds.asked(cloud, after=mark)] == LOOKS[cloud]
    assert engine.log.writes(after=mark) == ()
    assert fleet.rows() == rows
    assert commits == ["before", "after"] * 2, "the lease is taken and given back, and nothing else is committed"

    mark = engine.log.mark
    planned = fleet.plan(clouds.document(cloud, *both(cloud)))
    assert not planned.changed
    assert len(clouds.asked(cloud, after=mark)) == 1
    assert engine.log.writes(after=mark) == ()

    clouds.prune()
    left = remains(fleet.scene)
    told = left.pop("events")
    assert left == REMAINS | {"nodes": {"retired": ZONES[cloud] + 1}, "serial": {2: 1}}
    assert told == {
        "kubernetes.cluster.ready": 1,
        "kubernetes.cluster.deleted": 1,
        "kubernetes.nodepool.created": 2,
        "kubernetes.nodepool.ready": 2,
        "kubernetes.nodepool.deleted": 2,
        "node.retired": ZONES[cloud] + 1,
    }
    assert clouds.machines() == 0


def test_flavors_are_resized_added_and_taken_away_and_the_autoscalers_count_is_its_own(
    clouds: FleetOnClouds, cloud: Cloud
) -> None:
    fleet, log = clouds.fleet, clouds.fleet.scene.engine.log
    ordinary, spot = both(cloud, autoscaling={"minNodes": 1, "maxNodes": 3})
    clouds.join_all(cloud, ordinary, spot, nodes=ZONES[cloud] + 1)

    clouds.join_all(cloud, {**ordinary, "nodes": 2}, spot, nodes=2 * ZONES[cloud] + 1)
    assert clouds.carried_out(cloud) == {**FIRST_CREATE[cloud], **RESIZE[cloud]}

    mark = log.mark
    autoscale(clouds, cloud, "h100-spot", 2)
    clouds.live_until_joined(2 * ZONES[cloud] + 2)
    for _look in range(2):
        fleet.scene.clock.advance(300)
        fleet.one_pass()
    assert clouds.carried_out(cloud, after=mark) == {}
    assert clouds.machines() == 2 * ZONES[cloud] + 2

    clouds.join_all(cloud, ordinary, spot, cloud.spot_flavor("more"), nodes=ZONES[cloud] + 3)
    assert {name: pool.state for name, pool in fleet.node_pools().items()} == dict.fromkeys(
        ("h100", "h100-spot", "more"), NodePoolState.READY
    )
    clouds.join_all(cloud, ordinary, cloud.spot_flavor("more"), nodes=ZONES[cloud] + 1)
    assert fleet.node_pools().keys() == {"h100", "more"}
    assert clouds.machines() == ZONES[cloud] + 1
    assert fleet.events("kubernetes.nodepool.error") == ()


def test_a_spot_machine_that_is_taken_back_ends_its_bookings_and_another_one_joins(
    clouds: FleetOnClouds, cloud: Cloud
) -> None:
    fleet = clouds.fleet
    clouds.join_all(cloud, *both(cloud), nodes=ZONES[cloud] + 1)
    booked = fleet.book(name="job", gpus=4, spot=True)
    kept = fleet.book(name="kept", gpus=8)
    name = next(name for name, node in fleet.nodes().items() if node.id == booked.node_id)
    fleet.scene.world.machines.preempt(fleet.instance_of(name))
    fleet.live(until=lambda: fleet.reservation(booked).ended_at is not None, minutes=10)
    assert fleet.reservation(booked).state == ReservationState.PREEMPTED
    clouds.live_until_joined(ZONES[cloud] + 1)
    assert len(fleet.rows()["refunds"]) == 1
    assert len(fleet.events("node.retired")) == 1
    assert fleet.reservation(kept).ended_at is None
    # GKE's next machine has the same name, DOKS' another.
    assert (name in fleet.nodes()) is (cloud is GKE)
    assert booked.node_id not in {node.id for node in fleet.nodes().values()}
    assert fleet.book(name="next", gpus=8, spot=True).node_id is not None


def test_a_control_plane_is_raised_in_place_and_every_flavor_is_ready_again(
    clouds: FleetOnClouds, cloud: Cloud
) -> None:
    fleet = clouds.fleet
    before, after = VERSIONS
    clouds.join_all(cloud, *both(cloud), nodes=ZONES[cloud] + 1, version=before)
    made = clouds.left()
    clouds.apply(cloud, *both(cloud), version=after)

    def there() -> bool:
        outputs = fleet.cluster().outputs
        return fleet.at_rest() and outputs is not None and outputs.version.startswith(after)

    fleet.live(until=there, minutes=40)
    outputs = fleet.cluster().outputs
    assert outputs is not None
    assert outputs.version.startswith(f"{after}.")
    clouds.live_until_joined(ZONES[cloud] + 1)
    assert [one for one in clouds.left() if "machine" not in one] == [one for one in made if "machine" not in one]
    assert len(fleet.events("kubernetes.cluster.updated")) == 1
    assert fleet.events("kubernetes.cluster.error") == ()
