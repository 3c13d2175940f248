# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of node groups that EKS refuses, or takes and gives up: told once, and tried again every five minutes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

from .declared import SPOT, autoscaled
from .test_refusals import REFUSED, gaps

UPDATE = "eks.UpdateNodegroupConfig"
FIVE = timedelta(minutes=5)


def give_up(fleet: Fleet, *, code: str = "InsufficientFreeAddresses", message: str, times: int = 1) -> None:
    """EKS takes the Spot flavor's next changes and gives them up."""
    fleet.scene.world.aws.failures.add("update", code=code, message=message, target=f"*/{SPOT}", times=times)


def told(fleet: Fleet) -> dict[str, int]:
    """How often each kind of event was told."""
    kinds = ("cluster.ready", "cluster.updated", "cluster.error", "nodepool.ready", "nodepool.error")
    return {kind: len(fleet.events(f"kubernetes.{kind}")) for kind in kinds}


def test_a_change_that_was_given_up_is_an_error_with_its_reason_and_the_pool_named_until_it_succeeds(
    fleet_on_either: Fleet,
) -> None:
    fleet = fleet_on_either
    fleet.join_all(autoscaled(1, 4))
    give_up(fleet, message="no address is left")
    fleet.apply(autoscaled(1, 3))
    fleet.live(until=lambda: fleet.view().record.state == SubstrateState.ERROR, minutes=5)
    refused = fleet.node_pools()[SPOT]
    assert (refused.state, fleet.cluster().state) == (NodePoolState.ERROR, ClusterState.ERROR)
    assert "no address is left" in refused.message
    assert f"node pool {SPOT}" in fleet.cluster().message
    assert "no address is left" in fleet.view().record.message

    fleet.live(until=fleet.at_rest, minutes=15)
    assert fleet.view().ready
    assert fleet.node_pools()[SPOT].observed_version == 2
    [gap] = gaps(fleet, UPDATE)
    assert gap >= FIVE
    assert told(fleet) == {
        "cluster.ready": 1,
        "cluster.updated": 1,
        "cluster.error": 1,
        "nodepool.ready": 3,
        "nodepool.error": 1,
    }


def test_changes_that_are_given_up_again_and_again_leave_rows_and_events_flat(fleet: Fleet) -> None:
    fleet.join_all(autoscaled(1, 4))
    give_up(fleet, message="no address is left", times=100)
    fleet.apply(autoscaled(1, 3))
    fleet.live(until=lambda: fleet.view().record.state == SubstrateState.ERROR, minutes=5)
    rows = {name: len(found) for name, found in fleet.rows().items()}
    fleet.live(minutes=60)
    assert {name: len(found) for name, found in fleet.rows().items()} == rows
    tries = gaps(fleet, UPDATE)
    assert len(tries) in range(5, 12)
    assert min(tries) >= FIVE
    assert fleet.node_pools()[SPOT].state == NodePoolState.ERROR


def test_a_change_that_is_refused_at_once_is_sent_again_every_five_minutes_at_most(fleet: Fleet) -> None:
    fleet.join_all(autoscaled(1, 4))
    fleet.scene.engine.faults.add("aws", UPDATE, REFUSED, times=None)
    fleet.apply(autoscaled(1, 3))
    fleet.live(minutes=30)
    assert fleet.node_pools()[SPOT].state == NodePoolState.ERROR
    assert "not to our taste" in fleet.cluster().message
    tries = gaps(fleet, UPDATE)
    assert len(tries) in range(3, 6)
    assert min(tries) >= FIVE
    assert told(fleet)["nodepool.error"] == told(fleet)["cluster.error"] == 1


def test_another_change_is_sent_at_once_and_does_not_inherit_the_error(fleet: Fleet) -> None:
    fleet.join_all(autoscaled(1, 4))
    give_up(fleet, message="no address is left")
    fleet.settle(fleet.apply(autoscaled(1, 3)))
    assert fleet.node_pools()[SPOT].state == NodePoolState.ERROR
    began = fleet.scene.clock.now()
    [view] = fleet.settle(fleet.apply(autoscaled(1, 2)))
    assert view.ready
    assert fleet.scene.clock.now() - began < timedelta(minutes=2)


def test_a_change_that_fails_because_aws_was_throttled_is_no_error_and_is_made_again_after_five_minutes(
    fleet: Fleet,
) -> None:
    fleet.join_all(autoscaled(1, 4))
    give_up(fleet, code="Unknown", message="Rate exceeded")
    fleet.apply(autoscaled(1, 3))
    fleet.live(minutes=2)
    throttled = fleet.node_pools()[SPOT]
    assert (throttled.state, fleet.cluster().state) == (NodePoolState.UPDATING, ClusterState.UPDATING)
    assert "Rate exceeded" in throttled.message
    assert "Rate exceeded" in fleet.view().record.message
    fleet.live(until=fleet.at_rest, minutes=10)
    assert fleet.view().ready
    [gap] = gaps(fleet, UPDATE)
    assert FIVE <= gap < timedelta(minutes=7)
    assert (told(fleet)["nodepool.error"], told(fleet)["cluster.error"]) == (0, 0)


def test_a_throttled_change_is_made_by_the_next_pass(fleet: Fleet) -> None:
    fleet.join_all(autoscaled(1, 4))
    busy = Error(status=400, code="InvalidRequestException", message="Rate exceeded")
    fault = fleet.scene.engine.faults.add("aws", UPDATE, busy, times=None)
    fleet.apply(autoscaled(1, 3))
    fleet.one_pass()
    assert fleet.node_pools()[SPOT].state == NodePoolState.UPDATING
    fleet.scene.engine.faults.remove(fault)
    fleet.live(until=fleet.at_rest, minutes=3)
    assert fleet.view().ready
    assert told(fleet)["nodepool.error"] == 0


def test_a_shape_that_is_another_one_at_the_provider_is_an_error_and_nothing_is_sent(fleet: Fleet) -> None:
    fleet.join_all(document())
    with fleet.session.store.write() as tx:
        record = fleet.node_pools()[SPOT]
        other = replace(record.shape, machine_type="p4d.24xlarge")
        clusters.change_node_pool(tx, record.id, other, NodePoolState.UPDATING)
    mark = fleet.scene.engine.log.mark
    view = fleet.one_pass()
    assert view.record.state == SubstrateState.ERROR
    assert "machineType" in view.record.message
    rows = fleet.rows()
    fleet.live(minutes=11)
    assert fleet.scene.engine.log.entries(after=mark, name="eks.Update*") == ()
    assert fleet.rows() == rows, "the same refusal is written once"
