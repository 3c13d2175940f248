# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outages: what cannot be asked is unknown, and nothing is concluded from it; what can be done goes on."""

from __future__ import annotations

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools

from .conftest import MakeFleet

DOWN = Error(status=503, code="ServiceUnavailableException", message="come back later")


def test_while_the_provider_is_out_of_reach_ready_nodes_are_cared_for(fleet: Fleet) -> None:
    fleet.join_all(document())
    lost = next(name for name, node in fleet.nodes().items() if not node.spot)
    fleet.scene.world.aws.lose_instance(fleet.instance_of(lost))
    fleet.scene.engine.faults.add("aws", "*", DOWN, times=None)
    fleet.live(until=lambda: lost not in fleet.nodes() and fleet.view().record.nodes_joined == 3, minutes=6)
    view = fleet.view()
    assert lost not in fleet.nodes()
    assert view.record.nodes_joined == view.record.nodes_listed == 3, "the machine in its place has joined"
    assert view.record.state == SubstrateState.READY
    assert "come back later" in view.record.message

    fleet.scene.engine.faults.clear()
    assert fleet.one_pass().record.message == ""


def test_while_the_clusters_api_is_out_of_reach_for_an_hour_nobody_is_retired_and_the_state_says_why(
    make_fleet: MakeFleet,
) -> None:
    fleet = make_fleet(BC_FLEET_RECONCILE_CONVERGING_SECONDS="120")  # for a test that takes less time
    fleet.join_all(document())
    before = fleet.nodes()
    lost = next(iter(before))
    fault = fleet.scene.engine.faults.add("kubernetes", "*", DOWN, times=None)
    machines = fleet.scene.world.machines
    # They fall silent as well, so that the list of Nodes is all that could speak for them.
    for machine in machines.running():
        machines.cut_off(machine.instance_id)
    for minutes in (50, 10):
        fleet.live(minutes=minutes)
        assert fleet.nodes().keys() == before.keys(), "nobody can say that their Nodes are gone"
        view = fleet.view().record
        assert view.state == SubstrateState.READY
        assert "reaching cluster" in view.message
        assert "503" in view.message
        if minutes == 50:
            fleet.scene.world.aws.lose_instance(fleet.instance_of(lost))
    for machine in machines.running():
        machines.cut_off(machine.instance_id, cut=False)
    assert fleet.events("node.retired") == ()

    fleet.scene.engine.faults.remove(fault)
    fleet.live(until=fleet.at_rest, minutes=10)
    view = fleet.view().record
    assert (view.state, view.message) == (SubstrateState.READY, "")
    assert lost not in fleet.nodes()
    assert view.nodes_joined == view.nodes_listed == 3, "the machine in its place has joined"
    kept = {name: node.identity_hash for name, node in fleet.nodes().items() if name in before}
    assert kept == {name: node.identity_hash for name, node in before.items() if name != lost}


def test_a_node_list_that_breaks_off_retires_nobody(fleet: Fleet) -> None:
    fleet.join_all(document())
    lost = next(iter(fleet.nodes()))
    fault = fleet.scene.engine.faults.add("kubernetes", "LIST nodes", DOWN, times=None)
    fleet.scene.world.aws.lose_instance(fleet.instance_of(lost))
    fleet.live(minutes=2)
    assert lost in fleet.nodes()
    assert "listing the Nodes" in fleet.view().record.message

    fleet.scene.engine.faults.remove(fault)
    fleet.live(until=lambda: lost not in fleet.nodes(), minutes=6)
    assert lost not in fleet.nodes()


def test_a_teardown_waits_for_a_provider_that_does_not_answer(fleet: Fleet) -> None:
    fleet.join_all(document())
    pools = fleet.apply(without_pools(), prune=True)
    fleet.scene.engine.faults.add("aws", "*", DOWN, times=None)
    fleet.live(minutes=10)
    [cluster] = fleet.scene.engine.inventory.items(kind="cluster")
    assert cluster.cloud == "aws"

    fleet.scene.engine.faults.clear()
    [view] = fleet.settle(pools)
    assert view.record.state == SubstrateState.DELETED
    assert fleet.scene.engine.inventory.items() == ()
