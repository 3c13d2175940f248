# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A credential that is refused in the middle of a pass is minted once more; a second refusal ends the work inside."""

from __future__ import annotations

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools

UNAUTHORIZED = Error(status=401, code="Unauthorized", message="Unauthorized")
MINT = "POST serviceaccounts/token"


def calls(fleet: Fleet, *, after: int) -> list[str]:
    """What the cluster was asked."""
    return [entry.call.name for entry in fleet.scene.engine.log.entries(after=after, cloud="kubernetes")]


def test_at_whatever_call_of_a_pass_it_happens_the_pass_does_all_its_work(fleet: Fleet) -> None:
    fleet.join_all(document())
    mark = fleet.scene.engine.log.mark
    fleet.one_pass()
    [mint, *wanted] = calls(fleet, after=mark)
    assert mint == MINT
    assert wanted.count("LIST nodes") == 1
    for number in range(2, len(wanted) + 2):
        fault = fleet.scene.engine.faults.add("kubernetes", "*", UNAUTHORIZED, nth=number)
        mark = fleet.scene.engine.log.mark
        view = fleet.one_pass()
        fleet.scene.engine.faults.remove(fault)
        assert (view.record.state, view.record.message) == (SubstrateState.READY, "")
        done = number - 1
        assert calls(fleet, after=mark) == [MINT, *wanted[:done], MINT, *wanted[done - 1 :]]


def test_a_second_refusal_ends_the_pass_with_its_reason_and_the_next_one_heals(fleet: Fleet) -> None:
    fleet.join_all(document())
    lost = next(iter(fleet.nodes()))
    fleet.scene.world.aws.lose_instance(fleet.instance_of(lost))
    fleet.scene.clock.advance(60)
    fault = fleet.scene.engine.faults.add("kubernetes", "GET daemonsets", UNAUTHORIZED, times=None)
    mark = fleet.scene.engine.log.mark
    view = fleet.one_pass()
    assert view.record.state == SubstrateState.ERROR
    assert view.record.message.startswith("applying bcd: GET ")
    assert "401 Unauthorized" in view.record.message
    asked = calls(fleet, after=mark)
    assert asked.count(MINT) == 2
    assert asked[-1] == "GET daemonsets", "nothing more is asked of the cluster"
    assert lost in fleet.nodes()

    fleet.scene.engine.faults.remove(fault)
    view = fleet.one_pass()
    assert (view.record.state, view.record.message) == (SubstrateState.READY, "")
    assert lost not in fleet.nodes()


def test_a_teardown_is_given_another_token_by_the_provider_and_makes_no_access(fleet: Fleet) -> None:
    fleet.join_all(document())
    pools = fleet.apply(without_pools(), prune=True)
    fleet.scene.engine.faults.add("kubernetes", "DELETE daemonsets", UNAUTHORIZED, nth=1)
    mark = fleet.scene.engine.log.mark
    [view] = fleet.settle(pools)
    assert view.record.state == SubstrateState.DELETED
    asked = calls(fleet, after=mark)
    assert asked.count("DELETE daemonsets") == 2
    assert MINT not in asked
    assert fleet.scene.engine.inventory.items() == ()
