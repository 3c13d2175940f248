# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that go: their bookings end once and as they should; and one list alone never empties a pool."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ReservationState
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

from .declared import SPOT, autoscaled


@pytest.mark.parametrize(
    ("spot", "ends_as"), [(True, ReservationState.PREEMPTED), (False, ReservationState.RELEASED)], ids=["spot", "other"]
)
def test_a_booking_ends_with_its_machine_once_and_with_one_refund(
    fleet_on_either: Fleet, spot: bool, ends_as: ReservationState
) -> None:
    fleet = fleet_on_either
    fleet.join_all(document())
    booked = fleet.book(name="job", gpus=4, spot=spot)
    name = next(name for name, node in fleet.nodes().items() if node.id == booked.node_id)
    fleet.scene.world.aws.lose_instance(fleet.instance_of(name))
    fleet.live(until=lambda: fleet.reservation(booked).ended_at is not None, minutes=10)
    ended = fleet.reservation(booked)
    assert ended.state == ends_as
    assert name in ended.message
    fleet.live(until=lambda: fleet.view().record.nodes_joined == 3, minutes=6)
    rows = fleet.rows()
    assert len(rows["refunds"]) == 1
    assert rows["held_devices"] == []
    assert len(fleet.events("node.retired")) == 1
    assert fleet.view().record.nodes_joined == 3, "the provider put another machine in its place, and it joined"
    assert fleet.book(name="next", gpus=8, spot=spot).node_id is not None


def test_when_most_nodes_vanish_at_once_a_second_list_must_say_so_too(fleet: Fleet) -> None:
    fleet.join_all(document())
    cluster = fleet.scene.world.apis.cluster(fleet.cluster().name)
    assert cluster is not None
    for name in fleet.nodes():
        fleet.scene.world.machines.cut_off(fleet.instance_of(name))
        cluster.remove_node(name)
    fleet.scene.clock.advance(45)
    first = fleet.one_pass()
    assert "most Nodes vanished at once" in first.record.message
    assert len(fleet.nodes()) == 3
    fleet.scene.clock.advance(10)
    fleet.one_pass()
    assert len(fleet.nodes()) == 3, "a list ten seconds later may come from the same bad moment"
    fleet.live(minutes=1)
    assert fleet.nodes() == {}
    assert len(fleet.events("node.retired")) == 3


def test_an_empty_list_of_an_autoscaled_pool_must_be_confirmed_too_and_soon(fleet: Fleet) -> None:
    made = autoscaled(0, 3, nodes=2)
    flavors = made["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[:] = [flavor for flavor in flavors if flavor["name"] == SPOT]
    fleet.join_all(made)
    cluster = fleet.scene.world.apis.cluster(fleet.cluster().name)
    assert cluster is not None
    for name in fleet.nodes():
        fleet.scene.world.machines.cut_off(fleet.instance_of(name))
        cluster.remove_node(name)
    fleet.scene.clock.advance(45)
    record = fleet.one_pass().record
    assert (record.nodes_listed, len(fleet.nodes())) == (0, 2), (
        "the autoscaler may have done it, but nobody declared it"
    )
    fleet.scene.clock.advance(26)
    fleet.run_due()
    assert fleet.nodes() == {}


def test_nodes_that_are_back_on_the_second_list_were_never_gone(fleet: Fleet) -> None:
    fleet.join_all(document())
    cluster = fleet.scene.world.apis.cluster(fleet.cluster().name)
    assert cluster is not None
    before = fleet.nodes()
    standing = {node["metadata"]["name"]: node["metadata"] for node in cluster.nodes()}
    for name in before:
        fleet.scene.world.machines.cut_off(fleet.instance_of(name))
        cluster.remove_node(name)
    fleet.scene.clock.advance(45)
    fleet.one_pass()
    for name in before:
        fleet.scene.world.machines.cut_off(fleet.instance_of(name), cut=False)
        cluster.put_node(name, labels=standing[name]["labels"], uid=standing[name]["uid"])
    fleet.live(minutes=2)
    assert {name: node.id for name, node in fleet.nodes().items()} == {name: node.id for name, node in before.items()}
    assert fleet.events("node.retired") == ()
    assert fleet.view().record.message == ""
