# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passes that change many nodes beside gateways that write their heartbeats: nobody waits in a circle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolNode, PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.cordon import (
    cordon_node_pool,
    cordon_pool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.heartbeat import Heartbeats
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.matching import (
    Departure,
    Gone,
    Matching,
    match,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.recording import record
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.retiring import retire_all
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    Tx,
    open_store,
    pool_nodes,
)
from ansible_collections.better_compute.fleet.tests.support.joining_machines import new_node, new_pool, nodes_of
from ansible_collections.better_compute.fleet.tests.support.locks import let_it_wait
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import listed
from ansible_collections.better_compute.fleet.tests.support.prepared_databases import empty
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock


@pytest.fixture
def store(prepared_postgresql_url: str, clock: HandClock) -> Iterator[Store]:
    """On PostgreSQL alone: with SQLite there is one writer."""
    empty(prepared_postgresql_url)
    opened = open_store(prepared_postgresql_url, clock=clock)
    yield opened
    opened.close()


@contextmanager
def meanwhile(store: Store, call: Callable[[], Any]) -> Iterator[Future[Any]]:
    """Have the call made as soon as the block has changed its first node; the block goes on once the call waits."""
    began: list[Future[Any]] = []
    with ThreadPoolExecutor(1) as threads:
        done: Future[Any] = Future()

        def heard(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
            if began or not statement.startswith("UPDATE pool_nodes"):
                return
            began.append(done)
            threads.submit(call).add_done_callback(lambda ended: done.set_result(ended.exception()))
            let_it_wait(store, done)

        event.listen(store._engine, "after_cursor_execute", heard)
        try:
            yield done
        finally:
            event.remove(store._engine, "after_cursor_execute", heard)
    assert began, "nothing was changed"


def heard_nodes(nodes: Sequence[PoolNode], clock: HandClock) -> Heartbeats:
    heartbeats = Heartbeats(clock=clock)
    for node in nodes:
        heartbeats.beat(node)
    return heartbeats


def three_nodes(store: Store, pool: PoolRecord, **different: Any) -> list[PoolNode]:
    """Whose names are in another order than their ids."""
    return [
        new_node(store, pool, id=NodeId(f"node_{number}"), reported_node_name=f"ip-{9 - number}", **different)
        for number in range(3)
    ]


def test_a_pass_that_matches_many_nodes_and_the_flush_of_their_heartbeats(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    nodes = three_nodes(store, pool)
    clock.advance(seconds=10)
    heartbeats = heard_nodes(nodes, clock)
    cluster = [listed(f"ip-{9 - number}") for number in range(3)]
    matching = match(nodes, cluster, listening=None, desired_total=3, vanished_at=None, now=clock.now())
    with meanwhile(store, lambda: heartbeats.flush(store)) as flushed, store.write() as tx:
        record(tx, pool=pool, matching=matching)
    assert flushed.result() is None
    assert {(node.state, node.last_seen_at) for node in nodes_of(store, pool)} == {(NodeState.MATCHED, clock.now())}


@pytest.mark.parametrize(
    "step",
    [
        lambda tx, pool: cordon_pool(tx, pool.id),
        lambda tx, pool: cordon_node_pool(tx, pool.id, "h100"),
        lambda tx, pool: retire_all(tx, pool=pool),
    ],
    ids=["cordon_pool", "cordon_node_pool", "retire_all"],
)
def test_a_step_that_changes_all_nodes_and_the_flush_of_their_heartbeats(
    store: Store, clock: HandClock, step: Callable[[Tx, PoolRecord], Any]
) -> None:
    pool = new_pool(store)
    nodes = [
        new_node(
            store,
            pool,
            id=NodeId(f"node_{number}"),
            joined_at=START - timedelta(hours=number),
            state=NodeState.MATCHED,
            node_pool="h100",
        )
        for number in range(3)
    ]
    clock.advance(seconds=10)
    heartbeats = heard_nodes(nodes, clock)
    with meanwhile(store, lambda: heartbeats.flush(store)) as flushed, store.write() as tx:
        step(tx, pool)
    assert flushed.result() is None
    assert NodeState.MATCHED not in {node.state for node in nodes_of(store, pool)}


def test_two_gateways_that_write_what_they_heard_before_an_outage(store: Store, clock: HandClock) -> None:
    """Each has heard one of the nodes long ago, and the other one just now."""
    pool = new_pool(store)
    nodes = three_nodes(store, pool)
    clock.advance(seconds=5)
    first, second = heard_nodes(nodes[:1], clock), heard_nodes(nodes[1:], clock)
    clock.advance(seconds=15)
    first.beat(nodes[2])
    first.beat(nodes[1])
    second.beat(nodes[0])
    clock.advance(seconds=1)
    with meanwhile(store, lambda: first.flush(store)) as flushed:
        second.flush(store)
    assert flushed.result() is None
    assert {node.last_seen_at for node in nodes_of(store, pool)} == {START + timedelta(seconds=20)}


def test_a_node_that_is_heard_at_the_moment_of_its_retirement_stays(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    [node, *_others] = three_nodes(store, pool)
    clock.advance(seconds=31)
    gone = Matching(known=True, to_retire=(Departure(node=node, why=Gone.NODE_MISSING),))

    def retire() -> tuple[PoolNode, ...]:
        with store.write() as tx:
            return record(tx, pool=pool, matching=gone)

    with ThreadPoolExecutor(1) as threads:
        with store.write() as tx:
            pool_nodes.seen(tx, [node.id], tx.now)
            retired = threads.submit(retire)
            let_it_wait(store, retired)
        assert retired.result() == ()
    assert node.id in {one.id for one in nodes_of(store, pool)}
