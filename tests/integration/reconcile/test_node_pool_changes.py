# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node pools that change in place: by the document, by the autoscaler, by somebody's hand."""

from __future__ import annotations

from typing import Any

from ansible_collections.better_compute.fleet.emulators.engine import LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import fleet as fleet_rows
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

from .conftest import MakeFleet
from .declared import SPOT, autoscaled, with_flavor

UPDATE = "eks.UpdateNodegroupConfig"


def updates(fleet: Fleet) -> int:
    """How many changes of node groups the provider accepted."""
    return sum(entry.status < 400 for entry in fleet.scene.engine.log.entries(name=UPDATE))


def machines(fleet: Fleet, name: str) -> int:
    """How many machines run in a node group."""
    return sum(machine.node_group == name for machine in fleet.scene.world.machines.running())


def autoscale(fleet: Fleet, desired: int) -> None:
    """The autoscaler moves the Spot flavor."""
    fleet.scene.world.aws.console.autoscale(fleet.cluster().name, SPOT, desired)


def group(fleet: Fleet, name: str) -> dict[str, Any]:
    """A node group as EKS describes it."""
    with fleet.session.store.read() as tx:
        account = fleet_rows.accounts(tx)[0]
    driver: Any = fleet.session.open_driver(account)
    said = driver._clients.eks.describe_nodegroup(clusterName=fleet.cluster().name, nodegroupName=name)
    return dict(said["nodegroup"])


def test_a_count_that_the_autoscaler_moved_within_its_bounds_is_left_alone(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    fleet.join_all(autoscaled(1, 4))
    autoscale(fleet, 3)
    fleet.live(until=lambda: fleet.view().record.nodes_joined == 5, minutes=10)
    fleet.live(minutes=6)
    assert fleet.view().record.nodes_joined == 5
    assert fleet.view().ready
    assert updates(fleet) == 0

    autoscale(fleet, 1)
    fleet.live(until=lambda: len(fleet.nodes()) == 3, minutes=10)
    assert len(fleet.nodes()) == 3, "what the autoscaler took away is retired, and nothing holds that up"
    assert updates(fleet) == 0
    assert fleet.view().ready


def test_most_nodes_taken_by_the_autoscaler_are_retired_when_a_second_list_says_so_too(fleet: Fleet) -> None:
    fleet.join_all(autoscaled(0, 6, nodes=6))
    autoscale(fleet, 0)
    fleet.live(until=lambda: len(fleet.nodes()) == 2, minutes=5)
    assert len(fleet.nodes()) == 2
    assert fleet.view().record.vanished_at is None
    assert fleet.view().ready


def test_a_count_outside_the_bounds_is_brought_back_within(fleet: Fleet) -> None:
    fleet.join_all(autoscaled(1, 4, nodes=2))
    autoscale(fleet, 1)
    fleet.live(minutes=2)
    fleet.join_all(autoscaled(2, 4, nodes=2))
    assert fleet.view().record.nodes_joined == 4
    assert updates(fleet) == 1, "a minimum above the count raises both in one call"


def test_another_number_of_nodes_is_set_once_and_then_left_to_the_autoscaler(fleet: Fleet) -> None:
    fleet.join_all(autoscaled(1, 4))
    fleet.apply(autoscaled(1, 4, nodes=3))
    fleet.live(until=lambda: fleet.view().record.nodes_joined == 5, minutes=5)
    assert fleet.view().record.nodes_joined == 5
    autoscale(fleet, 2)
    fleet.live(minutes=6)
    assert machines(fleet, SPOT) == 2
    assert updates(fleet) == 1


def test_with_autoscaling_off_a_count_that_somebody_moved_is_put_back(fleet: Fleet) -> None:
    fleet.join_all(document())
    fleet.scene.world.aws.console.edit_node_group(
        fleet.cluster().name, SPOT, scaling={"minSize": 0, "maxSize": 9, "desiredSize": 3}
    )
    fleet.live(until=lambda: updates(fleet) > 0, minutes=6)
    fleet.live(until=lambda: fleet.at_rest() and len(fleet.nodes()) == 3, minutes=10)
    assert machines(fleet, SPOT) == 1
    assert updates(fleet) == 1
    assert group(fleet, SPOT)["scalingConfig"] == {"minSize": 1, "maxSize": 1, "desiredSize": 1}


def test_autoscaling_that_is_turned_off_fixes_the_size(fleet: Fleet) -> None:
    fleet.join_all(autoscaled(1, 4))
    autoscale(fleet, 3)
    fleet.live(minutes=2)
    fleet.join_all(with_flavor(SPOT, nodes=2))
    fleet.live(until=lambda: len(fleet.nodes()) == 4, minutes=10)
    assert machines(fleet, SPOT) == 2
    assert group(fleet, SPOT)["scalingConfig"] == {"minSize": 2, "maxSize": 2, "desiredSize": 2}


def test_labels_and_taints_that_somebody_changed_are_put_back_in_one_change(fleet: Fleet) -> None:
    taints = [{"key": "gpu", "value": "h100", "effect": "NoSchedule"}]
    fleet.join_all(with_flavor(SPOT, labels={"team": "ml"}, taints=taints))
    before = group(fleet, SPOT)
    strange = {**before["labels"], "team": "web", "more": "x"}
    fleet.scene.world.aws.console.edit_node_group(fleet.cluster().name, SPOT, labels=strange, taints=[])
    fleet.live(until=lambda: updates(fleet) > 0, minutes=6)
    fleet.live(until=fleet.at_rest, minutes=6)
    after = group(fleet, SPOT)
    assert (after["labels"], after["taints"]) == (before["labels"], before["taints"])
    assert updates(fleet) == 1


def test_a_change_makes_node_pool_and_cluster_updating_and_then_ready_again(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    fleet.join_all(autoscaled(1, 4))
    fleet.apply(autoscaled(1, 3))
    assert (fleet.node_pools()[SPOT].state, fleet.cluster().state) == (NodePoolState.UPDATING, ClusterState.UPDATING)
    view = fleet.one_pass()
    sent = fleet.node_pools()[SPOT]
    assert (sent.state, fleet.cluster().state) == (NodePoolState.UPDATING, ClusterState.UPDATING)
    assert (view.record.state, sent.version, sent.observed_version) == (SubstrateState.UPDATING, 2, 1)
    assert sent.update_id is not None
    fleet.live(until=fleet.at_rest, minutes=5)
    ready = fleet.node_pools()[SPOT]
    assert (ready.state, ready.observed_version, ready.update_id) == (NodePoolState.READY, 2, None)
    assert fleet.cluster().state == ClusterState.READY


def test_a_change_whose_reply_was_lost_is_made_once(make_fleet: MakeFleet, database_url: str) -> None:
    fleet = make_fleet(url=database_url)
    fleet.join_all(autoscaled(1, 4))
    fleet.scene.engine.faults.add("aws", UPDATE, LostReply(), times=None)
    fleet.apply(autoscaled(1, 3))
    fleet.one_pass()
    assert fleet.node_pools()[SPOT].update_id is None
    fleet.live(until=fleet.at_rest, minutes=10)
    assert fleet.view().ready
    assert updates(fleet) == 1
    assert len(fleet.events("kubernetes.cluster.updated")) == 1


def test_a_node_group_that_somebody_deleted_is_made_again(fleet: Fleet) -> None:
    fleet.join_all(document())
    with fleet.session.store.read() as tx:
        driver: Any = fleet.session.open_driver(fleet_rows.accounts(tx)[0])
    driver._clients.eks.delete_nodegroup(clusterName=fleet.cluster().name, nodegroupName=SPOT)
    fleet.one_pass()
    assert fleet.node_pools()[SPOT].state == NodePoolState.UPDATING
    fleet.live(until=lambda: fleet.at_rest() and fleet.view().record.nodes_joined == 3, minutes=10)
    assert fleet.view().record.nodes_joined == 3
    assert fleet.node_pools()[SPOT].state == NodePoolState.READY
