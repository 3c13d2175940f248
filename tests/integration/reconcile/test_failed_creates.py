# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node groups that EKS takes and fails to create: kept with their reason, cleared away, made again."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

from .conftest import MakeFleet
from .declared import SPOT, with_flavor
from .test_refusals import gaps

CREATE = "eks.CreateNodegroup"
FIVE = timedelta(minutes=5)


def only(name: str) -> dict[str, Any]:
    """The document with one flavor."""
    made = document()
    substrate = made["pools"][0]["policy"]["substrate"]
    substrate["flavors"] = [flavor for flavor in substrate["flavors"] if flavor["name"] == name]
    return made


def fail(fleet: Fleet, *, code: str, message: str, times: int = 1) -> None:
    """EKS takes the Spot flavor's next creates and fails at them."""
    fleet.scene.world.aws.failures.add("create", code=code, message=message, target=f"*/{SPOT}", times=times)


@pytest.mark.parametrize("hours", [2, pytest.param(24, marks=pytest.mark.sweep)])
def test_a_day_without_capacity_makes_a_create_every_five_minutes_at_most_and_leaves_rows_and_events_flat(
    make_fleet: MakeFleet, hours: int
) -> None:
    # Looked at less often than usual between two creates, and not at other times: a day of passes takes long.
    fleet = make_fleet(BC_FLEET_RECONCILE_CONVERGING_SECONDS="100")
    fleet.scene.world.aws.capacity.take_away("p5.48xlarge", "us-east-1a", spot=True)
    began = fleet.scene.clock.now()
    fleet.settle(fleet.apply(only(SPOT)))
    fleet.live(minutes=20)
    assert fleet.cluster().state == ClusterState.ERROR
    rows = {name: len(found) for name, found in fleet.rows().items()}
    fleet.live(minutes=hours * 60 - 20)
    assert {name: len(found) for name, found in fleet.rows().items()} == rows
    creates = [entry.at for entry in fleet.scene.engine.log.entries(name=CREATE)]
    assert hours * 4 < len(creates) <= hours * 12
    assert min(later - earlier for earlier, later in pairwise(creates)) >= FIVE
    assert fleet.scene.clock.now() - began >= timedelta(hours=hours)
    assert fleet.scene.engine.inventory.machines() == 0
    assert len(fleet.events("kubernetes.nodepool.error")) == len(fleet.events("kubernetes.cluster.error")) == 1


def test_a_create_that_fails_because_aws_was_throttled_is_no_error_and_is_made_again_after_five_minutes(
    fleet_on_either: Fleet,
) -> None:
    fleet = fleet_on_either
    fail(fleet, code="AutoScalingGroupRateLimitExceeded", message="Rate exceeded")
    fleet.apply(document())
    fleet.live(until=lambda: "Rate exceeded" in fleet.view().record.message, minutes=5)
    throttled = fleet.node_pools()[SPOT]
    assert (throttled.state, fleet.view().record.state) == (NodePoolState.PENDING, SubstrateState.PROVISIONING)
    assert "Rate exceeded" in throttled.message
    fleet.live(until=lambda: fleet.at_rest() and fleet.view().record.nodes_joined == 3, minutes=15)
    assert fleet.view().ready
    [gap] = gaps(fleet, CREATE, target=f"/{SPOT}")
    assert FIVE <= gap < timedelta(minutes=7)
    assert fleet.events("kubernetes.nodepool.error") == fleet.events("kubernetes.cluster.error") == ()
    assert fleet.node_pools()[SPOT].create_attempts == 1


def test_a_refused_flavor_that_is_changed_is_made_anew_at_once_and_does_not_inherit_the_error(fleet: Fleet) -> None:
    fail(fleet, code="InsufficientFreeAddresses", message="no address is left", times=1)
    fleet.settle(fleet.apply(document()))
    assert fleet.node_pools()[SPOT].state == NodePoolState.ERROR
    began = fleet.scene.clock.now()
    [view] = fleet.settle(fleet.apply(with_flavor(SPOT, nodes=2)))
    assert view.ready
    assert fleet.scene.clock.now() - began < FIVE
    assert len(fleet.events("kubernetes.nodepool.error")) == 1


def test_a_refused_flavor_whose_machines_run_on_is_kept_with_them_and_leaves_nothing_when_it_is_deleted(
    fleet: Fleet,
) -> None:
    fleet.scene.world.aws.capacity.take_away("p5.48xlarge", "us-east-1b")
    fleet.settle(fleet.apply(document()))
    fleet.live(minutes=12)
    assert fleet.node_pools()["h100"].state == NodePoolState.ERROR
    assert fleet.view().record.nodes_joined == 2, "the machine of the zone that had one has joined, and is not deleted"
    assert len(fleet.scene.engine.log.entries(name=CREATE)) == 2
    fleet.settle(fleet.apply(only(SPOT), prune=True))
    fleet.live(until=lambda: len(fleet.nodes()) == 1, minutes=10)
    assert [item.id for item in fleet.scene.engine.inventory.items(cloud="aws", kind="node-group")] == [
        f"{fleet.cluster().name} {SPOT}"
    ]
    assert fleet.scene.engine.inventory.machines() == 1
    assert fleet.cluster().state == ClusterState.READY
    assert fleet.view().ready


def test_a_refused_flavor_of_which_only_remains_stand_leaves_nothing_when_it_is_deleted(fleet: Fleet) -> None:
    fail(fleet, code="InsufficientFreeAddresses", message="no address is left", times=99)
    fleet.settle(fleet.apply(document()))
    fleet.live(until=lambda: fleet.view().record.nodes_joined == 2, minutes=5)
    assert len(fleet.scene.engine.inventory.items(cloud="aws", kind="node-group")) == 2
    fleet.settle(fleet.apply(only("h100"), prune=True))
    assert len(fleet.scene.engine.inventory.items(cloud="aws", kind="node-group")) == 1
    assert set(fleet.node_pools()) == {"h100"}
    assert fleet.view().ready
    assert len(fleet.events("kubernetes.nodepool.deleted")) == 1


def test_a_node_group_whose_delete_fails_at_aws_is_deleted_again_every_five_minutes_at_most(fleet: Fleet) -> None:
    fleet.join_all(document())
    refusal = Error(status=400, code="InvalidRequestException", message="a hook holds it")
    fault = fleet.scene.engine.faults.add("aws", "eks.DeleteNodegroup", refusal, times=None)
    pools = fleet.apply(only("h100"), prune=True)
    fleet.live(minutes=16)
    tries = gaps(fleet, "eks.DeleteNodegroup")
    assert len(tries) in (2, 3)
    assert min(tries) >= FIVE
    going = fleet.node_pools()[SPOT]
    assert (going.state, fleet.view().record.state) == (NodePoolState.DELETING, SubstrateState.UPDATING)
    assert "a hook holds it" in fleet.view().record.message
    fleet.scene.engine.faults.remove(fault)
    [view] = fleet.settle(pools)
    assert view.ready
    assert set(fleet.node_pools()) == {"h100"}
