# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Join tokens through the hours of a pool: Nodes that are late, come later, drop out, and go before they joined.

After each pass the cluster's Secret and the recorded tokens are compared with the Nodes that need them.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.emulators.neighbours import Machine
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.names import (
    AGENT_NAMESPACE,
    JOIN_SECRET,
    JOIN_SECRET_KEY,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import JoinToken
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import join_tokens, work
from ansible_collections.better_compute.fleet.tests.integration.reconcile.conftest import MakeFleet
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

FORBIDDEN = Error(status=403, code="Forbidden", message="daemonsets are none of your business")

SELDOM = {"BC_FLEET_RECONCILE_CONVERGING_SECONDS": "300"}
"""Passes come when something happened, and else every five minutes: hours go by faster."""


@pytest.fixture
def fleet(make_fleet: MakeFleet) -> Fleet:
    """A fleet of one node that has joined and was heard since."""
    made = make_fleet(**SELDOM)
    made.join_all(of_nodes(1))
    made.live(minutes=1)
    return made


def of_nodes(count: int) -> dict[str, Any]:
    """The document with one flavor of so many nodes."""
    made = document()
    flavors = made["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[:] = [{**flavors[0], "nodes": count, "zones": ["us-east-1a"]}]
    return made


def scaled_to(fleet: Fleet, count: int) -> Sequence[Machine]:
    """Declare so many nodes; the machines that the provider launches for it, which boot now."""
    machines = fleet.scene.world.machines
    before = {machine.instance_id for machine in machines.running()}
    fleet.apply(of_nodes(count))
    while len(machines.running()) < count:
        fleet.run_due()
        fleet.scene.clock.advance(1)
    return [machine for machine in machines.running() if machine.instance_id not in before]


def live_watched(
    fleet: Fleet, *, until: Callable[[], bool] = lambda: False, minutes: float, step_seconds: float = 10
) -> None:
    """Time goes by, and tokens fit after each pass."""
    end = fleet.scene.clock.now() + timedelta(minutes=minutes)
    while fleet.scene.clock.now() < end and not until():
        if due_in(fleet) <= 0:
            fleet.run_due()
            tokens_fit(fleet)
        fleet.scene.clock.advance(min(max(0.5, due_in(fleet)), step_seconds))


def due_in(fleet: Fleet) -> float:
    """Seconds until the pool's next pass."""
    with fleet.session.store.read() as tx:
        due = work.due_of(tx, fleet.pool_id)
        assert due is not None
        return (due - tx.now).total_seconds()


def tokens_fit(fleet: Fleet) -> None:
    """One token in the Secret with one use left for each listed Node without a connected bcd; none when none waits."""
    record, now = fleet.view().record, fleet.scene.clock.now()
    if not record.waiting_nodes:
        assert (tokens(fleet), secret(fleet)) == ([], None)
        return
    silent = [now - node.last_seen_at for node in fleet.nodes().values()]
    if not any(timedelta(seconds=20) < one < timedelta(seconds=50) for one in silent):  # as the last pass saw them
        away = sum(one >= timedelta(seconds=50) for one in silent)
        used = sum(token.uses for token in tokens(fleet))
        assert {token.max_uses - used for token in tokens(fleet)} == {record.waiting_nodes + away}
    assert tokens(fleet)[-1].token_hash == secret(fleet)
    assert tokens(fleet)[-1].expires_at - now > timedelta(minutes=15)


def tokens(fleet: Fleet) -> list[JoinToken]:
    """The live ones, the newest last."""
    with fleet.session.store.read() as tx:
        return list(join_tokens.live_tokens(tx, fleet.pool_id))


def secret(fleet: Fleet) -> str | None:
    """The SHA-256 of what the cluster's Secret holds."""
    cluster = fleet.scene.world.apis.cluster(fleet.cluster().name)
    assert cluster is not None
    found = cluster.read("Secret", JOIN_SECRET, AGENT_NAMESPACE)
    return None if found is None else hashlib.sha256(base64.b64decode(found["data"][JOIN_SECRET_KEY])).hexdigest()


def all_joined(fleet: Fleet, count: int) -> Callable[[], bool]:
    """Whether so many have joined and the pool is at rest."""
    return lambda: fleet.view().record.nodes_joined == count and fleet.at_rest()


def minted(fleet: Fleet) -> int:
    """How many tokens there ever were."""
    return len(fleet.rows()["join_tokens"])


def used(fleet: Fleet) -> int:
    """How many uses of tokens were spent."""
    return len(fleet.rows()["token_uses"])


def test_nodes_join_at_minute_50_with_the_token_in_the_second_place_and_after_all_joined_with_another(
    fleet: Fleet,
) -> None:
    machines = fleet.scene.world.machines
    mute, late = scaled_to(fleet, 3)
    machines.cut_off(mute.instance_id)
    machines.stop(late.instance_id)
    live_watched(fleet, minutes=50, step_seconds=120)
    assert fleet.view().record.waiting_nodes == 1, "one Node stands and cannot speak, the other has yet to boot"
    assert minted(fleet) == 1 + 2, "the first has ended, or is about to, and another is in its place"

    machines.cut_off(mute.instance_id, cut=False)
    machines.start(late.instance_id)
    live_watched(fleet, until=all_joined(fleet, 3), minutes=10)
    assert (fleet.view().record.nodes_joined, used(fleet), tokens(fleet)) == (3, 3, [])

    scaled_to(fleet, 5)
    live_watched(fleet, until=all_joined(fleet, 5), minutes=10)
    assert (fleet.view().record.nodes_joined, used(fleet), tokens(fleet)) == (5, 5, [])
    assert fleet.events("node.retired") == ()


def test_more_uses_are_there_as_soon_as_more_nodes_are(fleet: Fleet) -> None:
    machines = fleet.scene.world.machines
    [mute] = scaled_to(fleet, 2)
    machines.cut_off(mute.instance_id)
    live_watched(fleet, until=lambda: fleet.view().record.waiting_nodes == 1, minutes=6)
    before = secret(fleet)
    for machine in scaled_to(fleet, 4):
        machines.cut_off(machine.instance_id)
    live_watched(fleet, until=lambda: fleet.view().record.waiting_nodes == 3, minutes=6)
    assert ([token.max_uses for token in tokens(fleet)], secret(fleet)) == ([3], before), "the same token"
    for machine in machines.running():
        machines.cut_off(machine.instance_id, cut=False)
    live_watched(fleet, until=all_joined(fleet, 4), minutes=5)
    assert (used(fleet), minted(fleet)) == (4, 2)


def test_a_joined_bcd_that_drops_out_brings_no_token(fleet: Fleet) -> None:
    before, mark = minted(fleet), fleet.scene.engine.log.mark
    [joined] = fleet.scene.world.machines.running()
    for cut in (True, False, True, False):
        fleet.scene.world.machines.cut_off(joined.instance_id, cut=cut)
        live_watched(fleet, minutes=2)
    assert minted(fleet) == before
    assert fleet.scene.engine.log.entries(after=mark, cloud="kubernetes", name="*secrets*", mutating=True) == ()
    assert (fleet.events("node.retired"), used(fleet)) == ((), 1)


def test_a_joined_bcd_that_drops_out_while_another_waits_changes_uses_and_not_the_token(fleet: Fleet) -> None:
    machines = fleet.scene.world.machines
    [joined] = machines.running()
    [mute] = scaled_to(fleet, 2)
    machines.cut_off(mute.instance_id)
    live_watched(fleet, until=lambda: fleet.view().record.waiting_nodes == 1, minutes=6)
    before = secret(fleet)
    uses = []
    for cut in (True, False, True, False):
        machines.cut_off(joined.instance_id, cut=cut)
        live_watched(fleet, minutes=2)
        uses.append(tokens(fleet)[-1].max_uses)
    assert (uses, secret(fleet), minted(fleet)) == ([2, 1, 2, 1], before, 2)


def test_a_node_that_goes_before_it_joins_takes_its_use_along_and_retires_nobody(fleet: Fleet) -> None:
    machines = fleet.scene.world.machines
    first, second = scaled_to(fleet, 3)
    for machine in (first, second):
        machines.cut_off(machine.instance_id)
    live_watched(fleet, until=lambda: fleet.view().record.waiting_nodes == 2, minutes=6)
    for machine in (first, second):
        fleet.scene.world.aws.lose_instance(machine.instance_id)
    live_watched(fleet, until=all_joined(fleet, 3), minutes=10)
    assert (fleet.view().record.nodes_joined, used(fleet)) == (3, 3), "the machines in their place have joined"
    assert (fleet.events("node.retired"), tokens(fleet), secret(fleet)) == ((), [], None)


def test_while_bcd_cannot_be_applied_a_token_that_stands_goes_when_all_joined_and_no_first_one_is_made(
    fleet: Fleet,
) -> None:
    machines = fleet.scene.world.machines
    [mute] = scaled_to(fleet, 2)
    machines.cut_off(mute.instance_id)
    live_watched(fleet, until=lambda: fleet.view().record.waiting_nodes == 1, minutes=6)
    fleet.scene.engine.faults.add("kubernetes", "GET daemonsets", FORBIDDEN, times=None)
    machines.cut_off(mute.instance_id, cut=False)
    live_watched(fleet, until=lambda: fleet.view().record.nodes_joined == 2, minutes=6)
    assert (fleet.view().record.state, tokens(fleet), secret(fleet)) == (SubstrateState.ERROR, [], None)

    [late] = scaled_to(fleet, 3)
    machines.cut_off(late.instance_id)
    fleet.live(until=lambda: fleet.view().record.waiting_nodes == 1, minutes=6)
    assert (minted(fleet), secret(fleet)) == (2, None), "there may be no bcd to read it"
    fleet.scene.engine.faults.clear()
    machines.cut_off(late.instance_id, cut=False)
    fleet.live(until=all_joined(fleet, 3), minutes=10)
    assert (fleet.view().record.nodes_joined, used(fleet)) == (3, 3)
