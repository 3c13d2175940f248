# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After a quarter of an hour the message says what to check about Nodes that do not join, whatever else it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Never

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import PermissionDenied
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Verdict
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.fleet import check_fleet
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

from .conftest import MakeFleet

REFUSED: Final = Error(status=400, code="InvalidParameterException", message="not to our taste")
DOWN: Final = Error(status=503, code="ServiceUnavailableException", message="come back later")
WAITING: Final = " Nodes have no joined bcd, and none has joined since "
DAEMON_SET: Final = "look at the pods of DaemonSet better-compute/bcd"


def a_refused_flavor(fleet: Fleet) -> Fleet:
    fleet.scene.engine.faults.add("aws", "eks.CreateNodegroup", REFUSED, target="*/h100-spot", times=None)
    return fleet


def a_flavor_on_its_way(fleet: Fleet) -> Fleet:
    fleet.scene.engine.faults.add("aws", "eks.CreateNodegroup", DOWN, target="*/h100-spot", times=None)
    return fleet


@pytest.mark.parametrize(
    ("go_wrong", "state", "other"),
    [
        (a_refused_flavor, SubstrateState.ERROR, "not to our taste"),
        (a_flavor_on_its_way, SubstrateState.PROVISIONING, "node pools on their way: h100-spot"),
    ],
    ids=["error", "provisioning"],
)
def test_it_is_said_of_the_other_nodes_while_a_flavor_is_refused_or_on_its_way(
    make_fleet: MakeFleet, go_wrong: Callable[[Fleet], Fleet], state: SubstrateState, other: str
) -> None:
    fleet = go_wrong(make_fleet(BC_FLEET_AGENT_GATEWAY_URL="https://127.0.0.1:9"))
    fleet.apply(document())
    fleet.live(until=lambda: fleet.view().record.waiting_nodes == 2, minutes=10)
    fleet.live(minutes=13)
    before = fleet.view().record
    assert (before.state, WAITING in before.message) == (state, False)
    fleet.live(minutes=20)
    record = fleet.view().record
    assert record.state == state
    assert record.message.index(other) < record.message.index(WAITING)
    assert (record.message.count(WAITING), record.message.count(DAEMON_SET)) == (1, 1), "pass after pass"
    assert len(record.message) - record.message.index(f"2 of 2{WAITING}") < 300


def providers_down(fleet: Fleet) -> Fleet:
    fleet.scene.engine.faults.add("aws", "*", DOWN, times=None)
    return fleet


def clusters_down(fleet: Fleet) -> Fleet:
    fleet.scene.engine.faults.add("kubernetes", "*", DOWN, times=None)
    return fleet


def without_credential(fleet: Fleet) -> Fleet:
    def missing(_account: AccountRecord) -> Never:
        raise PermissionDenied("the variable of its credential is not set")

    return replace(fleet, session=replace(fleet.session, open_driver=missing))


@pytest.mark.parametrize(
    ("go_wrong", "state", "other"),
    [
        (providers_down, SubstrateState.READY, "come back later"),
        (clusters_down, SubstrateState.READY, "come back later"),
        (without_credential, SubstrateState.ERROR, "the variable of its credential is not set"),
    ],
)
def test_it_is_said_during_an_outage_too(
    make_fleet: MakeFleet, go_wrong: Callable[[Fleet], Fleet], state: SubstrateState, other: str
) -> None:
    fleet = make_fleet(BC_FLEET_AGENT_GATEWAY_URL="https://127.0.0.1:9")
    fleet.apply(document())
    fleet.live(until=lambda: fleet.view().record.waiting_nodes == 3, minutes=10)
    fleet = go_wrong(fleet)
    fleet.live(minutes=16)
    record = fleet.view().record
    assert (record.state, other in record.message) == (state, True)
    assert record.message.count(f"3 of 3{WAITING}") == record.message.count(DAEMON_SET) == 1
    fleet.live(minutes=6)
    assert fleet.view().record.message.count(DAEMON_SET) == 1


def test_the_doctor_says_it_once_and_the_other_trouble_by_itself(make_fleet: MakeFleet) -> None:
    fleet = a_refused_flavor(make_fleet(BC_FLEET_AGENT_GATEWAY_URL="https://127.0.0.1:9"))
    fleet.apply(document())
    fleet.live(minutes=25)
    wrong = [check for check in check_fleet(fleet.session) if check.about == "pool gpu-fleet"]
    assert [(check.verdict, WAITING in check.message) for check in wrong] == [
        (Verdict.PROBLEM, True),
        (Verdict.PROBLEM, False),
    ]
    assert wrong[0].code == "kubernetes.substrate-nodes-not-joining"
    assert wrong[1].message == (
        "in error: node pool h100-spot: CreateNodegroup: not to our taste (InvalidParameterException)"
    )
