# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The census: who counts and who does not, when a pass is late, and what it costs in a large fleet."""

from __future__ import annotations

from datetime import timedelta

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import new_node_id
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import CONNECTED_SECONDS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    NodeState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    clusters,
    fleet,
    pool_nodes,
    substrates,
    work,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.census import take_census
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock
from ansible_collections.better_compute.fleet.tests.support.statements import statements


def add_substrates(store: Store, count: int, *, state: SubstrateState = SubstrateState.READY) -> list[PoolRecord]:
    pools = [rows.pool(name=f"pool-{number}-{state}") for number in range(count)]
    with store.write() as tx:
        fleet.put_pools(tx, pools)
        for pool in pools:
            cluster = rows.cluster(pool.id, state=ClusterState(state))
            clusters.add_cluster(tx, cluster)
            node_pool = rows.node_pool(cluster.id, state=NodePoolState.DELETED)
            clusters.add_node_pool(tx, node_pool if state == SubstrateState.DELETED else rows.node_pool(cluster.id))
            substrates.put_substrate(tx, rows.substrate(pool.id, cluster, state=state, nodes_listed=3, nodes_joined=2))
    return pools


def test_what_is_deleted_or_retired_does_not_count(store: Store) -> None:
    [pool] = add_substrates(store, 1)
    add_substrates(store, 1, state=SubstrateState.DELETED)
    with store.write() as tx:
        for state in (NodeState.JOINED, NodeState.CORDONED, NodeState.RETIRED):
            pool_nodes.add_node(tx, rows.node(pool.id, state=state, identity_hash=str(state)))
    with store.read() as tx:
        census = take_census(tx)
    [count] = census.pools
    assert (count.pool_id, count.name, count.state) == (pool.id, pool.name, SubstrateState.READY)
    assert (count.nodes_listed, count.nodes_joined, count.nodes_connected) == (3, 2, 2)
    assert census.clusters == {ClusterState.READY: 1}
    assert census.node_pools == {NodePoolState.PENDING: 1}


def test_a_node_counts_as_connected_for_three_heartbeats(store: Store, clock: HandClock) -> None:
    [pool] = add_substrates(store, 1)
    with store.write() as tx:
        pool_nodes.add_node(tx, rows.node(pool.id))

    def connected() -> int:
        with store.read() as tx:
            return take_census(tx).pools[0].nodes_connected

    clock.advance(seconds=CONNECTED_SECONDS)
    assert connected() == 1
    clock.advance(seconds=1)
    assert connected() == 0


def test_the_lag_is_that_of_the_unit_which_waits_the_longest_and_nobody_has(store: Store, clock: HandClock) -> None:
    with store.write() as tx:
        for unit, minutes in (("taken", -5), ("late", -2), ("due", 0), ("later", 3)):
            work.add_unit(tx, unit, START + timedelta(minutes=minutes))
        assert work.acquire(tx, "taken", "somebody") is not None
    with store.read() as tx:
        census = take_census(tx)
    assert (census.units, census.due, census.leased) == (4, 2, 1)
    assert census.oldest_due == START - timedelta(minutes=2)

    clock.advance(seconds=work.LEASE_SECONDS + 30)
    with store.read() as tx:
        census = take_census(tx)
    assert (census.due, census.leased) == (3, 0), "a lease that lapsed leaves its unit due"


def test_where_no_pass_is_due_nothing_is_late(store: Store) -> None:
    with store.read() as tx:
        census = take_census(tx)
    assert (census.units, census.due, census.oldest_due, census.leased, census.pools) == (0, 0, None, 0, ())


def test_a_hundred_substrates_of_five_thousand_nodes_are_counted_in_five_statements(store: Store) -> None:
    pools = add_substrates(store, 100)
    one = {
        "state": NodeState.MATCHED.value,
        "hostname": "host",
        "devices": [],
        "joined_at": START,
        "last_seen_at": START,
        "spot": False,
        "labels": {},
    }
    with store.write() as tx:
        tx.insert_all(
            tables().pool_nodes,
            [{**one, "id": new_node_id(START), "pool_id": pools[number % 100].id} for number in range(5000)],
        )
    with statements(store) as sent, store.read() as tx:
        census = take_census(tx)
    assert len([statement for statement in sent if statement.startswith("SELECT") and "FROM" in statement]) == 5
    assert {pool.nodes_connected for pool in census.pools} == {50}
