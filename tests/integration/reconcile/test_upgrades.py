# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Control planes that get a newer version, and flavors that follow them once nothing is booked on their machines."""

from __future__ import annotations

from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    NodeState,
    ReservationState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import reservations
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet

from .declared import H100, SPOT, of_version
from .test_node_pool_changes import group


def version_of(fleet: Fleet, name: str) -> str:
    """The version of a node group's machines."""
    return str(group(fleet, name)["version"])


def replaced(fleet: Fleet) -> list[str]:
    """The node groups whose machines the provider was asked to replace, in order."""
    entries = fleet.scene.engine.log.entries(name="eks.UpdateNodegroupVersion")
    return [entry.call.target.rpartition("/")[2] for entry in entries if entry.status < 400]


def cordoned(fleet: Fleet) -> set[str | None]:
    """The node pools with cordoned nodes."""
    return {node.node_pool for node in fleet.nodes().values() if node.state == NodeState.CORDONED}


def live_until_version(fleet: Fleet, version: str, **interval: float) -> None:
    """Let the daemon work until the control plane has the version and the pool is at rest."""

    def there() -> bool:
        outputs = fleet.cluster().outputs
        return fleet.at_rest() and outputs is not None and outputs.version == version

    fleet.live(until=there, **interval)


def test_a_control_plane_is_raised_one_minor_version_after_the_other_and_machines_are_left_alone(
    fleet_on_either: Fleet,
) -> None:
    fleet = fleet_on_either
    fleet.join_all(of_version("1.33"))
    before = set(fleet.nodes())
    fleet.apply(of_version("1.35"))
    assert fleet.cluster().state == ClusterState.UPDATING
    view = fleet.one_pass()
    assert (fleet.cluster().state, view.record.state) == (ClusterState.UPDATING, SubstrateState.UPDATING)
    live_until_version(fleet, "1.35", minutes=60)
    assert fleet.cluster().state == ClusterState.READY
    outputs = fleet.cluster().outputs
    assert outputs is not None
    assert outputs.version == "1.35"
    assert len(fleet.scene.engine.log.entries(name="eks.UpdateClusterVersion")) == 2
    assert len(fleet.events("kubernetes.cluster.updated")) == 1
    fleet.live(minutes=11)
    assert set(fleet.nodes()) == before
    assert replaced(fleet) == []
    assert version_of(fleet, H100) == "1.33"


def test_a_version_that_the_provider_moved_is_recorded_told_once_and_left_alone(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    fleet.join_all(of_version("1.33"))
    fleet.scene.world.aws.console.move_cluster(fleet.cluster().name, "1.34")
    fleet.live(minutes=16)
    outputs = fleet.cluster().outputs
    assert outputs is not None
    assert outputs.version == "1.34"
    assert fleet.cluster().state == ClusterState.READY
    assert len(fleet.events("kubernetes.cluster.updated")) == 1
    assert fleet.scene.engine.log.entries(name="eks.Update*") == ()


def test_a_control_plane_that_cannot_be_upgraded_is_an_error_and_its_node_pools_are_still_cared_for(
    fleet: Fleet,
) -> None:
    fleet.join_all(of_version("1.33"))
    fleet.scene.world.aws.failures.add(
        "update",
        code="IpNotAvailable",
        message="no address for the control plane",
        target=fleet.cluster().name,
        times=9,
    )
    [view] = fleet.settle(fleet.apply(of_version("1.34")))
    assert view.record.state == SubstrateState.ERROR
    assert "no address for the control plane" in view.record.message
    assert fleet.cluster().state == ClusterState.ERROR
    fleet.scene.world.aws.console.edit_node_group(fleet.cluster().name, SPOT, scaling={"maxSize": 5})
    fleet.live(until=lambda: group(fleet, SPOT)["scalingConfig"]["maxSize"] == 1, minutes=10)
    assert group(fleet, SPOT)["scalingConfig"]["maxSize"] == 1
    fleet.live(minutes=10)
    assert len(fleet.events("kubernetes.cluster.error")) == 1
    assert fleet.view().record.nodes_joined == 3


def test_flavors_that_drain_follow_one_at_a_time_each_once_its_bookings_have_ended(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    fleet.join_all(of_version("1.33", upgrades="drain"))
    before = set(fleet.nodes())
    booked = fleet.book(name="job", gpus=4)
    fleet.apply(of_version("1.34", upgrades="drain"))
    live_until_version(fleet, "1.34", minutes=30)
    shown = fleet.view().to_data()["upgrade"]
    assert shown is not None
    assert shown["version"] == "1.34"
    assert cordoned(fleet) == {H100}
    assert replaced(fleet) == []
    assert fleet.view().ready, "it waits for bookings, and everything runs"
    second = fleet.book(name="next", gpus=4)
    assert second.state == ReservationState.PENDING, "no new booking comes onto it"
    since = shown["since"]
    fleet.live(minutes=11)
    assert fleet.view().to_data()["upgrade"] == {"version": "1.34", "since": since}

    reservations.give_back(fleet.session, fleet.reservation(booked))
    fleet.live(until=lambda: replaced(fleet) == [H100], minutes=2)
    assert fleet.view().record.upgrade_version is None, "it waits for no booking any more"
    fleet.live(until=lambda: version_of(fleet, SPOT) == "1.34" and fleet.at_rest(), minutes=60)
    assert replaced(fleet) == [H100, SPOT]
    assert (version_of(fleet, H100), version_of(fleet, SPOT)) == ("1.34", "1.34")
    fleet.live(until=lambda: len(fleet.nodes()) == 3 and not cordoned(fleet), minutes=10)
    assert not before & set(fleet.nodes()), "the machines that were replaced are retired"
    assert fleet.view().record.nodes_joined == 3
    assert cordoned(fleet) == set(), "the machines that stay are open again"
    assert fleet.view().to_data()["upgrade"] is None
    assert fleet.view().ready
    assert fleet.reservation(second).state == ReservationState.BOUND, (
        "who waited stands on a machine of the new version"
    )


def test_a_fleet_without_bookings_is_brought_to_the_version_at_once_with_its_node_pools_updating(
    fleet: Fleet,
) -> None:
    fleet.join_all(of_version("1.33", upgrades="drain"))
    fleet.apply(of_version("1.34", upgrades="drain"))
    states: set[tuple[NodePoolState, NodePoolState]] = set()

    def done() -> bool:
        pools = fleet.node_pools()
        states.add((pools[H100].state, pools[SPOT].state))
        assert fleet.view().record.upgrade_version is None
        return replaced(fleet) == [H100, SPOT] and fleet.at_rest()

    fleet.live(until=done, minutes=60)
    assert (NodePoolState.UPDATING, NodePoolState.UPDATING) not in states, "one flavor at a time"
    assert {(NodePoolState.UPDATING, NodePoolState.READY), (NodePoolState.READY, NodePoolState.UPDATING)} <= states
    assert (version_of(fleet, H100), version_of(fleet, SPOT)) == ("1.34", "1.34")
    assert len(fleet.events("kubernetes.cluster.error")) == 0


def test_an_upgrade_that_is_given_up_is_an_error_halts_the_others_and_is_tried_again(fleet: Fleet) -> None:
    fleet.join_all(of_version("1.33", upgrades="drain"))
    fleet.scene.world.aws.failures.add(
        "update", code="InsufficientFreeAddresses", message="no address is left", target=f"*/{H100}", times=1
    )
    fleet.apply(of_version("1.34", upgrades="drain"))
    fleet.live(until=lambda: fleet.node_pools()[H100].state == NodePoolState.ERROR, minutes=30)
    assert "no address is left" in fleet.node_pools()[H100].message
    assert fleet.cluster().state == ClusterState.ERROR
    assert cordoned(fleet) == {H100}
    fleet.live(until=lambda: fleet.at_rest() and version_of(fleet, SPOT) == "1.34", minutes=60)
    assert replaced(fleet) == [H100, H100, SPOT]
    assert len(fleet.events("kubernetes.nodepool.error")) == 1
    assert fleet.view().ready


def test_a_drain_that_is_called_off_opens_the_nodes_again(fleet: Fleet) -> None:
    fleet.join_all(of_version("1.33", upgrades="drain"))
    fleet.book(name="job", gpus=4)
    fleet.apply(of_version("1.34", upgrades="drain"))
    live_until_version(fleet, "1.34", minutes=30)
    assert cordoned(fleet) == {H100}
    view = fleet.join_all(of_version("1.34", upgrades="manual"))
    assert view.record.upgrade_version is None
    assert cordoned(fleet) == set()
    fleet.live(minutes=6)
    assert replaced(fleet) == []


def test_a_machine_that_joins_a_flavor_which_drains_takes_no_booking(fleet: Fleet) -> None:
    fleet.join_all(of_version("1.33", upgrades="drain"))
    fleet.book(name="job", gpus=4)
    fleet.apply(of_version("1.34", upgrades="drain"))
    live_until_version(fleet, "1.34", minutes=30)
    free = next(name for name, node in fleet.nodes().items() if node.node_pool == H100 and not held(fleet, node))
    fleet.scene.world.aws.lose_instance(fleet.instance_of(free))
    fleet.book(name="next", gpus=8)
    fleet.live(until=lambda: free not in fleet.nodes() and fleet.view().record.nodes_joined == 3, minutes=10)
    fleet.live(minutes=6)
    assert {node.state for node in fleet.nodes().values() if node.node_pool == H100} == {NodeState.CORDONED}
    assert len(fleet.rows()["held_devices"]) == 4


def held(fleet: Fleet, node: Any) -> bool:
    """Whether anything is booked on a node."""
    return any(node.id in row for row in fleet.rows()["held_devices"])
