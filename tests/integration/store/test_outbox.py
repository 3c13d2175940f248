# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The outbox is read on from an event in order, and never past one that may still be written."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord, ToldEvent
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    clusters,
    events,
    fleet,
    open_store,
    outbox,
    pool_nodes,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.prepared_databases import empty
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock

TENANT = ids.PLATFORM_TENANT


def tell(store: Store, *types: str, subject: str = "kcl_1", number: int | None = None) -> None:
    """Publish events; with a number, one that takes its place there, as if others were under way before it."""
    with store.write() as tx:
        for type_ in types:
            if number is None:
                events.publish(tx, tenant_id=TENANT, subject=subject, type=type_, data={})
            else:
                values = {"id": ids.new_event_id(tx.now), "at": tx.now, "tenant_id": TENANT, "subject": subject}
                tx.insert(tables().events, number=number, type=type_, data={}, **values)


def read(
    store: Store, *, since: ToldEvent | None = None, limit: int = 100, pool: PoolRecord | None = None
) -> tuple[ToldEvent, ...]:
    with store.read() as tx:
        after = None if since is None else outbox.number_of(tx, since.event.id)
        return outbox.told(tx, after=after, limit=limit, pool_ids=None if pool is None else [pool.id])


def number(store: Store, told: ToldEvent) -> int:
    with store.read() as tx:
        found = outbox.number_of(tx, told.event.id)
    assert found is not None
    return found


def types(told: tuple[ToldEvent, ...]) -> list[str]:
    return [one.event.type for one in told]


@pytest.fixture
def first(store: Store, clock: HandClock) -> ToldEvent:
    """An event of long ago. On a database that was used before, its number is not 1."""
    tell(store, "first")
    clock.advance(minutes=5)
    [told] = read(store)
    return told


def test_the_latest_come_in_the_order_in_which_they_were_written(store: Store, first: ToldEvent) -> None:
    tell(store, "a", "b", "c", "d")
    assert types(read(store, limit=3)) == ["b", "c", "d"]
    assert types(read(store)) == ["first", "a", "b", "c", "d"]
    assert read(store)[0] == first


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_reading_on_leaves_nothing_out_and_gives_nothing_twice(store: Store, first: ToldEvent, limit: int) -> None:
    tell(store, "a", "b", "c")
    tell(store, "d", "e")
    found: list[str] = []
    last = first
    while some := read(store, since=last, limit=limit):
        found += types(some)
        last = some[-1]
    assert found == ["a", "b", "c", "d", "e"]


def test_what_comes_behind_a_number_that_may_still_be_written_is_held_back(store: Store, first: ToldEvent) -> None:
    place = number(store, first)
    tell(store, "one", number=place + 1)
    tell(store, "three", number=place + 3)
    tell(store, "four", number=place + 4)
    assert types(read(store)) == ["first", "one"]
    [one] = read(store, since=first)
    assert types(read(store, since=one)) == []
    tell(store, "two", number=place + 2)
    assert types(read(store)) == ["first", "one", "two", "three", "four"]
    assert types(read(store, since=one)) == ["two", "three", "four"]


def test_a_number_that_never_came_is_waited_for_no_longer_than_a_minute(
    store: Store, first: ToldEvent, clock: HandClock
) -> None:
    tell(store, "two", number=number(store, first) + 2)
    clock.advance(seconds=59)
    assert types(read(store, since=first)) == []
    clock.advance(seconds=1)
    assert types(read(store, since=first)) == ["two"]


def test_of_two_transactions_at_once_the_one_that_ends_last_is_not_left_out(
    prepared_postgresql_url: str, clock: HandClock
) -> None:
    empty(prepared_postgresql_url)
    store = open_store(prepared_postgresql_url, clock=clock)
    tell(store, "first")
    clock.advance(minutes=5)
    [first] = read(store)
    with store.write() as earlier:
        events.publish(earlier, tenant_id=TENANT, subject="kcl_1", type="ends last", data={})
        tell(store, "ends first")
        assert types(read(store, since=first)) == []
    assert types(read(store, since=first)) == ["ends last", "ends first"]
    store.close()


def test_an_event_tells_its_pool_be_it_of_a_cluster_or_a_node_and_one_pools_can_be_read_alone(
    store: Store, first: ToldEvent
) -> None:
    pool, other = rows.pool(), rows.pool(name="other")
    cluster, node = rows.cluster(pool.id), rows.node(pool.id)
    own = rows.cluster(None)
    with store.write() as tx:
        for record in (pool, other):
            fleet.put_pool(tx, record)
        clusters.add_clusters(tx, (cluster, own))
        pool_nodes.add_node(tx, node)
    for subject in (cluster.id, own.id, node.id):
        tell(store, f"of {subject[:3]}", subject=subject)
    told = read(store, since=first)
    assert [(one.event.subject, one.pool_id, one.pool) for one in told] == [
        (cluster.id, pool.id, pool.name),
        (own.id, None, ""),
        (node.id, pool.id, pool.name),
    ]
    assert types(read(store, pool=pool)) == ["of kcl", "of nod"]
    assert types(read(store, pool=pool, since=told[0])) == ["of nod"]
    assert read(store, pool=other) == ()
