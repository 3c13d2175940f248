# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pool nodes, join tokens and what the gateway writes: uses once, identities once, retired for good."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Thread

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Device, PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    fleet,
    join_tokens,
    pool_nodes,
)
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock


@pytest.fixture
def pool(store: Store) -> PoolRecord:
    """A recorded pool."""
    made = rows.pool()
    with store.write() as tx:
        fleet.put_pool(tx, made)
    return made


def new_node_id() -> NodeId:
    """An id of a node that is not there yet."""
    return ids.new_node_id(START)


def test_a_node_comes_back_as_it_was_added(store: Store, pool: PoolRecord) -> None:
    node = rows.node(pool.id, node_name="n", node_uid="u", spot=True, labels={"bc.dev/capacity": "spot"})
    with store.write() as tx:
        pool_nodes.add_node(tx, node)
    with store.read() as tx:
        assert pool_nodes.node(tx, node.id) == node
        assert pool_nodes.pool_nodes(tx, pool.id) == (node,)
        assert pool_nodes.nodes_by_identities(tx, [node.identity_hash, "another"]) == {node.identity_hash: node}


def test_two_nodes_never_have_one_identity(store: Store, pool: PoolRecord) -> None:
    node = rows.node(pool.id)
    with store.write() as tx:
        pool_nodes.add_node(tx, node)
    with pytest.raises(OperationError) as refusal, store.write() as tx:
        pool_nodes.add_node(tx, replace(node, id=new_node_id()))
    assert refusal.value.code is Code.CONFLICT


def test_a_match_is_written_once(store: Store, pool: PoolRecord) -> None:
    node = rows.node(pool.id)
    labels = {"bc.dev/capacity": "spot"}
    with store.write() as tx:
        pool_nodes.add_node(tx, node)
    for expected in (True, False):
        with store.write() as tx:
            written = pool_nodes.set_match(
                tx,
                node.id,
                node_name="n",
                node_uid="u",
                node_pool="h100",
                spot=True,
                labels=labels,
                state=NodeState.MATCHED,
            )
        assert written is expected
    with store.read() as tx:
        assert pool_nodes.node(tx, node.id) == replace(
            node, node_name="n", node_uid="u", node_pool="h100", spot=True, labels=labels, state=NodeState.MATCHED
        )


def test_a_replaced_identity_is_worth_nothing(store: Store, pool: PoolRecord) -> None:
    node = rows.node(pool.id)
    later = START + timedelta(minutes=1)
    with store.write() as tx:
        pool_nodes.add_node(tx, node)
        assert pool_nodes.replace_identity(
            tx,
            node.id,
            identity_hash="new",
            hostname="h2",
            reported_node_name=None,
            devices=(Device(id="GPU-9", model="H100"),),
            at=later,
        )
    with store.read() as tx:
        [(identity, found)] = pool_nodes.nodes_by_identities(tx, [node.identity_hash, "new"]).items()
    assert identity == "new"
    assert (found.id, found.hostname, found.last_seen_at) == (node.id, "h2", later)
    assert [device.id for device in found.devices] == ["GPU-9"]


def test_a_retired_node_has_no_devices_and_no_identity_and_never_comes_back(store: Store, pool: PoolRecord) -> None:
    node = rows.node(pool.id)
    with store.write() as tx:
        pool_nodes.add_node(tx, node)
        assert pool_nodes.retire_node(tx, node.id)
    with store.write() as tx:
        assert not pool_nodes.retire_node(tx, node.id)
        assert not pool_nodes.set_node_state(tx, node.id, NodeState.MATCHED)
        assert not pool_nodes.set_match(
            tx, node.id, node_name="n", node_uid="u", node_pool=None, spot=False, labels={}, state=NodeState.MATCHED
        )
        assert not pool_nodes.replace_identity(
            tx, node.id, identity_hash="new", hostname="h", reported_node_name=None, devices=(), at=START
        )
        pool_nodes.seen(tx, [node.id], START + timedelta(hours=1))
        assert not tx.wrote
    retired = replace(node, state=NodeState.RETIRED, devices=(), identity_hash="")
    with store.read() as tx:
        assert pool_nodes.nodes_by_identities(tx, [node.identity_hash]) == {}
        assert pool_nodes.pool_nodes(tx, pool.id) == ()
        assert pool_nodes.pool_nodes(tx, pool.id, retired=True) == (retired,)


def test_many_retired_nodes_have_no_identity_at_once(store: Store, pool: PoolRecord) -> None:
    with store.write() as tx:
        for _time in range(2):
            node = rows.node(pool.id)
            pool_nodes.add_node(tx, node)
            assert pool_nodes.retire_node(tx, node.id)


def test_heartbeats_of_many_nodes_are_written_together_and_never_backwards(store: Store, pool: PoolRecord) -> None:
    nodes = [rows.node(pool.id) for _node in range(502)]
    with store.write() as tx:
        for node in nodes:
            pool_nodes.add_node(tx, node)
    later = START + timedelta(seconds=10)
    with store.write() as tx:
        pool_nodes.seen(tx, [node.id for node in nodes[1:]], later)
        pool_nodes.seen(tx, [nodes[5].id], START)
    with store.read() as tx:
        seen = {node.id: node.last_seen_at for node in pool_nodes.pool_nodes(tx, pool.id)}
    assert seen == {nodes[0].id: START, **{node.id: later for node in nodes[1:]}}


def test_only_live_tokens_are_listed(store: Store, pool: PoolRecord, clock: HandClock) -> None:
    live, expired, revoked = rows.token(pool.id), rows.token(pool.id, expires_at=START), rows.token(pool.id)
    with store.write() as tx:
        for token in (live, expired, revoked):
            join_tokens.add_token(tx, token)
        assert join_tokens.revoke_token(tx, revoked.id)
        assert not join_tokens.revoke_token(tx, revoked.id)
    with store.read() as tx:
        assert join_tokens.live_tokens(tx, pool.id) == (live,)
        found = join_tokens.tokens_by_hashes(tx, [revoked.token_hash, "another"])
    assert found == {revoked.token_hash: replace(revoked, revoked_at=START)}
    clock.advance(hours=1)
    with store.read() as tx:
        assert join_tokens.live_tokens(tx, pool.id) == ()


def test_uses_are_counted_over_a_pools_live_tokens_and_found_by_token_and_nonce(store: Store, pool: PoolRecord) -> None:
    token, other = (rows.token(pool.id, max_uses=9) for _token in range(2))
    others = [rows.pool(name=name) for name in ("unused", "elsewhere")]
    unused, elsewhere = (rows.token(one.id, max_uses=9) for one in others)
    over = [rows.token(pool.id, expires_at=START), rows.token(pool.id, revoked_at=START)]
    made = {(token.id, "1"): new_node_id(), (token.id, "2"): new_node_id(), (other.id, "1"): new_node_id()}
    with store.write() as tx:
        for record in others:
            fleet.put_pool(tx, record)
        for one in (token, other, unused, elsewhere, *over):
            join_tokens.add_token(tx, one)
        join_tokens.add_uses(tx, made)
        join_tokens.add_uses(tx, {(elsewhere.id, "1"): new_node_id()})
        join_tokens.add_uses(tx, {(one.id, "1"): new_node_id() for one in over})
    with store.write() as tx:
        locked = join_tokens.lock_tokens(tx, [unused.id, token.id, other.id])
        assert locked == {token.id: replace(token, uses=3), other.id: replace(other, uses=3), unused.id: unused}
        assert join_tokens.nodes_of_uses(tx, [*made, (other.id, "2"), (unused.id, "1")]) == made
        # What two asked for is not mixed: each token with its own nonce.
        asked = [(token.id, "1"), (other.id, "2")]
        assert join_tokens.nodes_of_uses(tx, asked) == {(token.id, "1"): made[token.id, "1"]}
        assert join_tokens.nodes_of_uses(tx, []) == {}
        assert not tx.wrote


def test_a_use_is_unique_in_the_database_itself(store: Store, pool: PoolRecord) -> None:
    token = rows.token(pool.id, max_uses=9)
    with store.write() as tx:
        join_tokens.add_token(tx, token)
        join_tokens.add_uses(tx, {(token.id, "nonce 1"): new_node_id()})
    with pytest.raises(OperationError) as refusal, store.write() as tx:
        join_tokens.add_uses(tx, {(token.id, "nonce 1"): new_node_id()})
    assert refusal.value.code is Code.CONFLICT


def test_of_machines_that_join_at_once_only_as_many_get_in_as_the_token_admits(store: Store, pool: PoolRecord) -> None:
    token = rows.token(pool.id, max_uses=3)
    with store.write() as tx:
        join_tokens.add_token(tx, token)
    together = Barrier(6)
    seen: list[int] = []

    def join(nonce: str) -> None:
        together.wait()
        with store.write() as tx:
            uses = join_tokens.lock_tokens(tx, [token.id])[token.id].uses
            seen.append(uses)
            if uses < token.max_uses:
                join_tokens.add_uses(tx, {(token.id, nonce): new_node_id()})

    threads = [Thread(target=join, args=(f"nonce {number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [0, 1, 2, 3, 3, 3]


def test_nodes_are_found_by_pool_and_name_and_retired_ones_are_not(store: Store, pool: PoolRecord) -> None:
    other = rows.pool(name="other")
    reported = rows.node(pool.id, hostname="HOST-1", reported_node_name="n-1")
    unreported = rows.node(pool.id, hostname="HOST-2", reported_node_name=None)
    others = rows.node(other.id, hostname="h", reported_node_name="n-1")
    retired = rows.node(pool.id, hostname="h", reported_node_name="n-3")
    with store.write() as tx:
        fleet.put_pool(tx, other)
        pool_nodes.add_nodes(tx, [reported, unreported, others, retired])
        pool_nodes.retire_node(tx, retired.id)
    asked = [(pool.id, "n-1"), (pool.id, "host-1"), (pool.id, "host-2"), (pool.id, "n-3"), (other.id, "host-2")]
    with store.read() as tx:
        assert pool_nodes.nodes_named(tx, asked) == {(pool.id, "n-1"): [reported], (pool.id, "host-2"): [unreported]}
        assert pool_nodes.nodes_named(tx, [*asked, (other.id, "n-1")])[other.id, "n-1"] == [others]
        assert pool_nodes.nodes_named(tx, []) == {}
