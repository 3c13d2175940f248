# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is over for long is deleted, and nothing else: in batches, by whoever comes, killed or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Thread

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.reserve import Repeat, reserve
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import ClusterRecord, PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.retention import Kind
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    Intent,
    NodePoolState,
    NodeState,
    ReservationState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    clusters,
    events,
    fleet,
    forgetting,
    idempotency,
    join_tokens,
    outbox,
    pool_nodes,
    reservations,
    substrates,
    work,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.long_history import add_history
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock

KEEP = timedelta(days=90)
TENANT = ids.PLATFORM_TENANT
RELEASED = ReservationState.RELEASED


@pytest.fixture
def pool(store: Store) -> PoolRecord:
    """A pool that stands, with a cluster, a node pool and a quota."""
    made = rows.pool()
    with store.write() as tx:
        fleet.put_pool(tx, made)
        fleet.put_quota(tx, tenant_id=TENANT, pool_id=made.id, gpus=16)
        cluster = rows.cluster(made.id, state=ClusterState.READY)
        clusters.add_cluster(tx, cluster)
        clusters.add_node_pool(tx, rows.node_pool(cluster.id))
        substrates.put_substrate(tx, rows.substrate(made.id, cluster, state=SubstrateState.READY))
    return made


def forget(store: Store, kinds: Iterable[Kind] = Kind) -> Counter[Kind]:
    """Everything that can go; of each kind how many went."""
    gone: Counter[Kind] = Counter()
    for kind in kinds:
        while many := forgetting.forget(store, kind, keep=KEEP):
            gone[kind] += many
    return gone


def counted(store: Store) -> dict[str, int]:
    """How many rows each table has."""
    with store.read() as tx:
        return {table.name: len(tx.rows(table.select())) for table in tables().metadata.sorted_tables}


def test_all_that_is_over_goes_and_all_that_stands_stays(store: Store, pool: PoolRecord, clock: HandClock) -> None:
    with store.write() as tx:
        # Silent for years, and yet not retired; never placed, and yet not ended.
        pool_nodes.add_node(tx, rows.node(pool.id))
        reservations.add_reservation(tx, rows.reservation(pool.id))
        join_tokens.add_token(tx, rows.token(pool.id, expires_at=START + timedelta(days=999)))
    before = counted(store)
    add_history(store, pool.id, years_ago=START, many=6)
    assert forget(store) == {}, "nothing is over for long"
    clock.advance(days=91)
    gone = forget(store)
    # The latest event that is old stays, and with it the node of which it tells.
    assert gone == {
        Kind.EVENTS: 17,
        Kind.RESERVATIONS: 6,
        Kind.JOIN_TOKENS: 6,
        Kind.NODES: 5,
        Kind.NODE_POOLS: 6,
        Kind.CLUSTERS: 6,
    }
    assert counted(store) == {**before, "events": 1, "pool_nodes": before["pool_nodes"] + 1}
    assert forget(store) == {}


def test_what_is_over_is_kept_for_as_long_as_is_said(store: Store, pool: PoolRecord, clock: HandClock) -> None:
    made = rows.reservation(pool.id)
    with store.write() as tx:
        reservations.add_reservation(tx, made)
        reservations.end_reservation(tx, made.id, RELEASED, "")
    clock.advance(days=90)
    assert forget(store, [Kind.RESERVATIONS]) == {}
    clock.advance(seconds=1)
    assert forget(store, [Kind.RESERVATIONS]) == {Kind.RESERVATIONS: 1}
    with store.read() as tx:
        assert reservations.reservation(tx, made.id) is None
    assert counted(store)["refunds"] == 0


def test_a_tenant_holds_the_same_before_and_after(store: Store, pool: PoolRecord, clock: HandClock) -> None:
    stands = rows.reservation(pool.id, gpus=3)
    with store.write() as tx:
        reservations.add_reservation(tx, stands)
    add_history(store, pool.id, years_ago=START, many=3)
    clock.advance(days=91)
    for _when in ("before", "after"):
        with store.read() as tx:
            assert reservations.held(tx, TENANT, pool.id) == 3
            assert reservations.held_by_pool(tx) == {(TENANT, pool.id): 3}
        forget(store)
    with store.write() as tx:
        assert reservations.end_reservation(tx, stands.id, RELEASED, "")
    with store.read() as tx:
        assert reservations.held_by_pool(tx) == {}


@pytest.mark.parametrize("looked", ["before", "after"])
def test_a_name_whose_booking_is_forgotten_is_free(
    store: Store, pool: PoolRecord, clock: HandClock, looked: str
) -> None:
    name = Repeat(scope="ann", key="train")
    first = reserve(store, tenant_id=TENANT, pool_id=pool.id, gpus=1, repeat=name)
    with store.write() as tx:
        reservations.end_reservation(tx, first.id, RELEASED, "")
    clock.advance(days=91)
    assert forget(store, [Kind.RESERVATIONS]) == {Kind.RESERVATIONS: 1}
    # Whoever looked before it was forgotten still names it.
    anew = replace(name, after=first.id) if looked == "before" else name
    second = reserve(store, tenant_id=TENANT, pool_id=pool.id, gpus=1, repeat=anew)
    assert second.id != first.id
    assert reserve(store, tenant_id=TENANT, pool_id=pool.id, gpus=1, repeat=anew) == second, "booked once"


def test_a_name_that_is_booked_anew_keeps_its_key(store: Store, pool: PoolRecord, clock: HandClock) -> None:
    name = Repeat(scope="ann", key="train")
    first = reserve(store, tenant_id=TENANT, pool_id=pool.id, gpus=1, repeat=name)
    with store.write() as tx:
        reservations.end_reservation(tx, first.id, RELEASED, "")
    second = reserve(store, tenant_id=TENANT, pool_id=pool.id, gpus=1, repeat=replace(name, after=first.id))
    clock.advance(days=91)
    assert forget(store, [Kind.RESERVATIONS]) == {Kind.RESERVATIONS: 1}
    assert reserve(store, tenant_id=TENANT, pool_id=pool.id, gpus=1, repeat=name) == second


def keyed(store: Store, result_id: str) -> None:
    with store.write() as tx:
        idempotency.remember(tx, scope="ann", key=result_id, request_digest="d", result_id=result_id)


def test_a_key_stays_for_as_long_as_its_repetition_would_make_something_anew(
    store: Store, pool: PoolRecord, clock: HandClock
) -> None:
    own = rows.cluster(None, state=ClusterState.READY)
    other = rows.cluster(None, name="other", state=ClusterState.DELETED)
    gone = rows.node_pool(own.id, state=NodePoolState.DELETED)
    with store.write() as tx:
        clusters.add_clusters(tx, (own, other))
        clusters.add_node_pool(tx, gone)
    for result_id in (gone.id, other.id):
        keyed(store, result_id)
    clock.advance(days=91)
    assert forget(store) == {}
    with store.write() as tx:
        clusters.set_cluster_status(tx, replace(own, state=ClusterState.DELETED))
    assert forget(store) == {Kind.NODE_POOLS: 1, Kind.CLUSTERS: 1}
    with store.read() as tx:
        assert clusters.cluster(tx, other.id) == other
        assert idempotency.results_of(tx, scopes=["ann"], key=other.id) == {"ann": other.id}
        assert idempotency.results_of(tx, scopes=["ann"], key=gone.id) == {}


def test_what_an_event_tells_of_stays_until_the_event_goes(store: Store, pool: PoolRecord, clock: HandClock) -> None:
    clock.advance(days=91)
    node = rows.node(pool.id, state=NodeState.RETIRED, identity_hash="h")
    cluster = rows.cluster(None, state=ClusterState.DELETED)
    node_pool = rows.node_pool(cluster.id, state=NodePoolState.DELETED)
    with store.write() as tx:
        pool_nodes.add_node(tx, node)
        clusters.add_cluster(tx, cluster)
        clusters.add_node_pool(tx, node_pool)
        for subject, kind, data in (
            (cluster.id, "kubernetes.nodepool.deleted", {"nodePoolId": node_pool.id}),
            (cluster.id, "kubernetes.cluster.deleted", {}),
            (node.id, "node.retired", {}),
            ("kcl_other", "kubernetes.cluster.ready", {}),
        ):
            events.publish(tx, tenant_id=TENANT, subject=subject, type=kind, data=data)
    assert forget(store) == {}
    clock.advance(days=91)
    assert forget(store) == {Kind.EVENTS: 3, Kind.NODES: 1, Kind.NODE_POOLS: 1, Kind.CLUSTERS: 1}


def archive(store: Store, pool: PoolRecord, *, state: SubstrateState = SubstrateState.DELETED) -> ClusterRecord:
    """Have the pool be over, its cluster too."""
    with store.write() as tx:
        cluster = clusters.cluster_of_pool(tx, pool.id)
        assert cluster is not None
        for one in clusters.node_pools(tx, cluster.id):
            clusters.set_node_pool_status(tx, replace(one, state=NodePoolState.DELETED))
        clusters.set_cluster_status(tx, replace(cluster, state=ClusterState(state)))
        substrates.put_substrate(tx, rows.substrate(pool.id, cluster, state=state))
        fleet.put_pool(tx, replace(pool, intent=Intent.TEAR_DOWN, substrate=None, archived_at=tx.now))
    return cluster


def test_an_archived_pool_goes_whole_once_nothing_of_it_is_left(
    store: Store, pool: PoolRecord, clock: HandClock
) -> None:
    archive(store, pool)
    with store.write() as tx:
        pool_nodes.add_node(tx, rows.node(pool.id))
        work.add_unit(tx, pool.id, tx.now)
    clock.advance(days=91)
    assert forget(store) == {Kind.NODE_POOLS: 1}, "a node is left, and a pass is wanted"
    with store.write() as tx:
        [node] = pool_nodes.pool_nodes(tx, pool.id)
        pool_nodes.retire_node(tx, node.id)
    assert forget(store) == {Kind.NODES: 1}, "a pass is wanted"
    with store.write() as tx:
        work.remove_unit(tx, pool.id)
    assert forget(store) == {Kind.POOLS: 1, Kind.CLUSTERS: 1}
    assert set(counted(store).values()) == {0}


def test_a_pool_that_is_being_torn_down_stays(store: Store, pool: PoolRecord, clock: HandClock) -> None:
    archive(store, pool, state=SubstrateState.DELETING)
    clock.advance(days=999)
    assert forget(store) == {Kind.NODE_POOLS: 1}


def test_a_pool_that_stands_keeps_its_deleted_substrate(store: Store, pool: PoolRecord, clock: HandClock) -> None:
    cluster = archive(store, pool)
    with store.write() as tx:
        fleet.put_pool(tx, replace(pool, substrate=None))
    clock.advance(days=91)
    assert forget(store) == {Kind.NODE_POOLS: 1}
    with store.read() as tx:
        assert substrates.substrate(tx, pool.id) is not None
        assert clusters.cluster(tx, cluster.id) is not None


def test_a_join_token_is_known_for_a_week_after_it_expired(store: Store, pool: PoolRecord, clock: HandClock) -> None:
    token = rows.token(pool.id)
    with store.write() as tx:
        join_tokens.add_token(tx, token)
        join_tokens.add_uses(tx, {(token.id, "nonce"): ids.new_node_id(tx.now)})
        # Revoked, and yet not forgotten before its hour is over: its bcd may still show it.
        join_tokens.revoke_token(tx, token.id)
    clock.advance(days=7, hours=1)
    assert forget(store) == {}
    clock.advance(seconds=1)
    assert forget(store) == {Kind.JOIN_TOKENS: 1}
    assert counted(store)["token_uses"] == 0


def test_numbers_of_events_are_never_given_twice(store: Store, clock: HandClock) -> None:
    def tell() -> int:
        with store.write() as tx:
            events.publish(tx, tenant_id=TENANT, subject="kcl_x", type="kubernetes.cluster.ready", data={})
            number = outbox.number_of(tx, events.events(tx)[-1].id)
        assert number is not None
        return number

    numbers = [tell(), tell()]
    clock.advance(days=91)
    assert forget(store) == {Kind.EVENTS: 1}
    numbers.append(tell())
    assert sorted(set(numbers)) == numbers
    with store.read() as tx:
        latest = outbox.told(tx, after=numbers[1], limit=9)
    assert len(latest) == 1, "who has read all of them goes on from the latest, and waits for no gap"


def test_each_batch_is_a_transaction_of_its_own(
    store: Store, pool: PoolRecord, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetting, "BATCH", 2)
    add_history(store, pool.id, years_ago=START, many=5)
    clock.advance(days=91)
    assert [forgetting.forget(store, Kind.RESERVATIONS, keep=KEEP) for _batch in range(4)] == [2, 2, 1, 0]


def test_who_is_killed_leaves_whole_batches_and_the_next_one_goes_on(
    store: Store, pool: PoolRecord, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    monkeypatch.setattr(forgetting, "BATCH", 2)
    add_history(store, pool.id, years_ago=START, many=4)
    clock.advance(days=91)
    moments = iter(range(1_000))
    number = 0

    def come(_moment: str) -> None:
        if next(moments) == number:
            raise Killed

    gone: Counter[Kind] = Counter()
    store.on_commit.append(come)
    for number in range(100):  # noqa: B007 -- `come` reads it
        moments = iter(range(1_000))
        try:
            gone += forget(store)
        except Killed:
            with store.read() as tx:
                kept = {row.reservation_id for row in tx.rows(tables().refunds.select())}
                assert kept == {row.id for row in tx.rows(tables().reservations.select())}
                assert {row.result_id for row in tx.rows(tables().idempotency.select())} == kept
        else:
            break
    store.on_commit.clear()
    assert 1 < number < 100
    assert forget(store) == {}
    assert counted(store)["reservations"] == counted(store)["join_tokens"] == 0


def test_two_who_do_it_at_once_delete_each_row_once(store: Store, pool: PoolRecord, clock: HandClock) -> None:
    add_history(store, pool.id, years_ago=START, many=1_200)
    clock.advance(days=91)
    together = Barrier(2)
    gone: list[Counter[Kind]] = []

    def keep_house() -> None:
        together.wait()
        gone.append(forget(store))

    threads = [Thread(target=keep_house) for _daemon in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(gone) == 2
    assert gone[0][Kind.RESERVATIONS] + gone[1][Kind.RESERVATIONS] == 1_200
    left = forget(store)
    assert left == {}
    assert counted(store)["reservations"] == 0
