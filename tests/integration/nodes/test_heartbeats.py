# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is calling, and when each bcd was last heard, on both databases."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import (
    Listening,
    Liveness,
    liveness,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.heartbeat import Heartbeats, authenticate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    gateways,
    open_store,
    pool_nodes,
    work,
)
from ansible_collections.better_compute.fleet.tests.support.joining_machines import due_at, new_node, new_pool, node_of
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock

SECOND = timedelta(seconds=1)
MATCHED: Final[dict[str, Any]] = {
    "state": NodeState.MATCHED,
    "node_name": "ip-1",
    "node_uid": "uid-1",
    "node_pool": "h100",
}


def asleep(store: Store, pool: PoolRecord, *, until: datetime) -> None:
    """The pool had a pass, and wants the next one then."""
    with store.write() as tx:
        work.remove_unit(tx, pool.id)
        work.add_unit(tx, pool.id, until)


def listens(heartbeats: Heartbeats, store: Store, clock: HandClock, *, seconds: int) -> None:
    """A gateway flushes every two seconds, and hears nobody else."""
    for _flush in range(0, seconds, 2):
        heartbeats.flush(store)
        clock.advance(seconds=2)


def test_a_node_is_known_by_its_identity(store: Store) -> None:
    pool = new_pool(store)
    nodes = {name: new_node(store, pool, identity_hash=Secret(name).sha256()) for name in ("mine", "another's")}
    with store.read() as tx:
        known = authenticate(tx, [Secret("mine"), Secret("another's"), Secret("nobody's")])
    assert {identity.reveal(): node.id for identity, node in known.items()} == {
        name: node.id for name, node in nodes.items()
    }


def test_a_retired_nodes_identity_is_nobodys(store: Store) -> None:
    node = new_node(store, new_pool(store), identity_hash=Secret("mine").sha256())
    with store.write() as tx:
        pool_nodes.retire_node(tx, node.id)
        assert authenticate(tx, [Secret("mine")]) == {}


def test_heartbeats_are_written_together_at_the_flush(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    nodes = [new_node(store, pool) for _node in range(3)]
    heartbeats = Heartbeats(clock=clock)
    clock.advance(seconds=20)
    for node in nodes:
        heartbeats.beat(node)
    assert {node_of(store, node.id).last_seen_at for node in nodes} == {START}
    heartbeats.flush(store)
    assert {node_of(store, node.id).last_seen_at for node in nodes} == {START + 20 * SECOND}


def test_a_late_flush_makes_no_heartbeat_younger_than_it_is(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    early, late = new_node(store, pool), new_node(store, pool)
    heartbeats = Heartbeats(clock=clock)
    heartbeats.beat(early)
    clock.advance(seconds=60)
    heartbeats.beat(late)
    clock.advance(seconds=1)
    heartbeats.flush(store)
    seen = [node_of(store, node.id).last_seen_at for node in (early, late)]
    assert seen == [START, START + 60 * SECOND]


def test_a_flush_that_fails_loses_nothing(store: Store, clock: HandClock, tmp_path: Path) -> None:
    node = new_node(store, new_pool(store))
    broken = open_store(f"sqlite:///{tmp_path / 'gone' / 'fleet.db'}", clock=clock, make_folder=True)
    (tmp_path / "gone" / "fleet.db").unlink()
    (tmp_path / "gone" / "fleet.db").mkdir()
    heartbeats = Heartbeats(clock=clock)
    clock.advance(seconds=20)
    heartbeats.beat(node)
    with pytest.raises(StoreUnavailable):
        heartbeats.flush(broken)
    broken.close()
    heartbeats.flush(store)
    assert node_of(store, node.id).last_seen_at == START + 20 * SECOND


def test_a_node_that_returns_makes_its_pool_due(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    node = new_node(store, pool)
    heartbeats = Heartbeats(clock=clock)
    clock.advance(seconds=31)
    heartbeats.beat(node)
    heartbeats.flush(store)
    assert due_at(store, pool) == START + 31 * SECOND


def test_a_node_that_falls_silent_makes_its_pool_due(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    heartbeats = Heartbeats(clock=clock)
    heartbeats.beat(new_node(store, pool))
    heartbeats.flush(store)
    clock.advance(seconds=30)
    heartbeats.flush(store)
    assert due_at(store, pool) == START + timedelta(hours=1)
    clock.advance(seconds=1)
    heartbeats.flush(store)
    assert due_at(store, pool) == START + 31 * SECOND


def test_a_node_that_goes_on_as_ever_makes_nothing_due(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    node = new_node(store, pool)
    heartbeats = Heartbeats(clock=clock)
    for _beat in range(12):
        clock.advance(seconds=10)
        heartbeats.beat(node)
        heartbeats.flush(store)
    assert due_at(store, pool) == START + timedelta(hours=1)


class TestMachinesLostWhileNobodyListened:
    """Their silence begins to say something three intervals after a gateway began to listen."""

    def test_their_pools_are_due_then_and_no_others(self, store: Store, clock: HandClock) -> None:
        lost, there, unmatched, retired, empty = (new_pool(store, name=f"pool-{number}") for number in range(5))
        new_node(store, lost, **MATCHED)
        back = new_node(store, there, **MATCHED)
        new_node(store, unmatched)
        gone = new_node(store, retired, **MATCHED)
        with store.write() as tx:
            pool_nodes.retire_node(tx, gone.id)
        clock.advance(minutes=10)
        heartbeats = Heartbeats(clock=clock)
        later = START + timedelta(hours=1)
        for _second in range(31):
            heartbeats.flush(store)
            assert due_at(store, lost) == later
            heartbeats.beat(back)
            clock.advance(seconds=1)
        for pool in (lost, there, unmatched, retired, empty):
            asleep(store, pool, until=later)
        heartbeats.flush(store)
        assert due_at(store, lost) == START + timedelta(minutes=10, seconds=31)
        assert {due_at(store, pool) for pool in (there, unmatched, retired, empty)} == {later}

    def test_they_are_due_once(self, store: Store, clock: HandClock) -> None:
        pool = new_pool(store)
        new_node(store, pool, **MATCHED)
        clock.advance(minutes=10)
        heartbeats = Heartbeats(clock=clock)
        listens(heartbeats, store, clock, seconds=40)
        assert due_at(store, pool) < clock.now()
        asleep(store, pool, until=START + timedelta(hours=1))
        listens(heartbeats, store, clock, seconds=120)
        assert due_at(store, pool) == START + timedelta(hours=1)

    def test_it_is_looked_again_when_the_flush_failed(self, store: Store, clock: HandClock, tmp_path: Path) -> None:
        pool = new_pool(store)
        new_node(store, pool, **MATCHED)
        clock.advance(minutes=10)
        heartbeats = Heartbeats(clock=clock)
        listens(heartbeats, store, clock, seconds=30)
        broken = open_store(f"sqlite:///{tmp_path / 'gone' / 'fleet.db'}", clock=clock, make_folder=True)
        (tmp_path / "gone" / "fleet.db").unlink()
        (tmp_path / "gone" / "fleet.db").mkdir()
        clock.advance(seconds=2)
        with pytest.raises(StoreUnavailable):
            heartbeats.flush(broken)
        broken.close()
        heartbeats.flush(store)
        assert due_at(store, pool) == clock.now()

    def test_a_restart_so_short_that_the_mark_goes_on_is_followed_by_a_look_too(
        self, store: Store, clock: HandClock
    ) -> None:
        pool = new_pool(store)
        node = new_node(store, pool, **MATCHED)
        before = Heartbeats(clock=clock)
        for _minute in range(6):
            before.beat(node)
            listens(before, store, clock, seconds=10)
        after = Heartbeats(clock=clock)
        listens(after, store, clock, seconds=40)
        with store.read() as tx:
            mark = gateways.listening(tx)
        assert mark is not None
        assert mark.since == START, "nobody noticed"
        assert due_at(store, pool) < clock.now()

    def test_machines_that_were_lost_while_the_database_was_away_are_looked_at_once_their_silence_says_something(
        self, store: Store, clock: HandClock
    ) -> None:
        pool = new_pool(store)
        node = new_node(store, pool, **MATCHED)
        heartbeats = Heartbeats(clock=clock)
        for _beat in range(6):
            heartbeats.beat(node)
            listens(heartbeats, store, clock, seconds=10)
        clock.advance(seconds=60)
        heartbeats.flush(store)
        asleep(store, pool, until=START + timedelta(hours=1))
        listens(heartbeats, store, clock, seconds=30)
        assert due_at(store, pool) == START + timedelta(hours=1)
        listens(heartbeats, store, clock, seconds=4)
        assert due_at(store, pool) < clock.now()

    def test_those_that_another_gateway_hears_are_not_silent(self, store: Store, clock: HandClock) -> None:
        pool = new_pool(store)
        node = new_node(store, pool, **MATCHED)
        old, new = Heartbeats(clock=clock), Heartbeats(clock=clock)
        for _beat in range(12):
            old.beat(node)
            old.flush(store)
            new.flush(store)
            clock.advance(seconds=10)
        assert due_at(store, pool) == START + timedelta(hours=1)


def test_a_silent_node_is_disconnected_only_once_the_gateway_has_listened_long_enough(
    store: Store, clock: HandClock
) -> None:
    node = new_node(store, new_pool(store))
    clock.advance(minutes=10)
    heartbeats = Heartbeats(clock=clock)
    judged = []
    for _beat in range(5):
        heartbeats.flush(store)
        with store.read() as tx:
            judged.append(liveness(node.last_seen_at, listening=gateways.listening(tx), now=tx.now))
        clock.advance(seconds=10)
    assert judged == [*[Liveness.UNKNOWN] * 4, Liveness.DISCONNECTED]


def running(store: Store) -> list[Listening]:
    with store.read() as tx:
        return list(gateways.running(tx))


def test_a_gateway_that_stops_takes_its_own_mark_away_and_no_other(store: Store, clock: HandClock) -> None:
    first, second = Heartbeats(clock=clock), Heartbeats(clock=clock)
    first.flush(store)
    clock.advance(seconds=4)
    second.flush(store)
    first.flush(store)
    assert [mark.since for mark in running(store)] == [START, START + timedelta(seconds=4)]
    first.leave(store)
    assert [mark.since for mark in running(store)] == [START + timedelta(seconds=4)]
    second.leave(store)
    assert running(store) == []
    with store.read() as tx:
        assert gateways.listening(tx) == Listening(since=START, heard_at=clock.now()), "a short restart is no gap"


def test_a_new_gateway_forgets_the_marks_of_those_that_died(store: Store, clock: HandClock) -> None:
    Heartbeats(clock=clock).flush(store)
    clock.advance(seconds=61)
    heartbeats = Heartbeats(clock=clock)
    heartbeats.flush(store)
    heartbeats.flush(store)
    assert [mark.since for mark in running(store)] == [clock.now()]


def test_one_that_was_forgotten_and_lives_is_back_with_its_next_mark(store: Store, clock: HandClock) -> None:
    hung, other = Heartbeats(clock=clock), Heartbeats(clock=clock)
    hung.flush(store)
    clock.advance(seconds=61)
    other.flush(store)
    hung.flush(store)
    assert sorted(mark.since for mark in running(store)) == [START, clock.now()]


def test_a_retired_node_is_not_heard_any_more(store: Store, clock: HandClock) -> None:
    node = new_node(store, new_pool(store))
    heartbeats = Heartbeats(clock=clock)
    clock.advance(seconds=5)
    heartbeats.beat(node)
    with store.write() as tx:
        pool_nodes.retire_node(tx, node.id)
    heartbeats.flush(store)
    assert node_of(store, node.id).last_seen_at == START
