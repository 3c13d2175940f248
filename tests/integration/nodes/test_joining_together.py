# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that join within a moment are one transaction, and each fares as if it had come alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import Intent
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.joining import (
    Joined,
    JoinRefused,
    JoinRequest,
    Outcome,
    Refusal,
    join,
    join_all,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    create_schema,
    fleet,
    join_tokens,
    open_store,
    pool_nodes,
)
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.joining_machines import (
    TOKEN,
    asks,
    at_once,
    due_at,
    listen,
    new_node,
    new_pool,
    new_token,
    node_of,
    nodes_of,
    uses,
)
from ansible_collections.better_compute.fleet.tests.support.locks import let_it_wait
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import devices
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock

OTHERS = Secret("bcj_another-pools-token")


def fared(outcome: Outcome) -> str:
    """What became of a join, in one word."""
    if isinstance(outcome, Joined):
        return "joined"
    return outcome.why if isinstance(outcome, JoinRefused) else type(outcome).__name__


def test_machines_of_several_pools_become_nodes_in_one_transaction(store: Store) -> None:
    first, second = new_pool(store), new_pool(store, name="second")
    new_token(store, first, max_uses=2)
    new_token(store, second, OTHERS)
    commits: list[str] = []
    store.on_commit.append(commits.append)
    outcomes = join_all(store, [asks("ip-1"), asks("ip-2"), asks("ip-3", token=OTHERS)])
    assert commits == ["before", "after"]
    assert [one.pool_id for one in outcomes if isinstance(one, Joined)] == [first.id, first.id, second.id]
    assert [node_of(store, one.node_id).hostname for one in outcomes if isinstance(one, Joined)] == [
        "ip-1",
        "ip-2",
        "ip-3",
    ]
    assert (due_at(store, first), due_at(store, second), uses(store), uses(store, OTHERS)) == (START, START, 2, 1)


def test_each_that_is_refused_is_refused_for_itself_and_costs_nobody_anything(store: Store, clock: HandClock) -> None:
    pool, ending, third = new_pool(store), new_pool(store, name="ending"), new_pool(store, name="third")
    listen(store)
    new_token(store, pool, max_uses=9)
    new_token(store, ending, Secret("ending"), max_uses=9)
    new_token(store, third, OTHERS, max_uses=9)
    new_token(store, third, Secret("revoked"), revoked_at=START)
    new_token(store, third, Secret("expired"), expires_at=START + timedelta(minutes=1))
    connected = new_node(store, pool, hostname="ip-8", reported_node_name="ip-8", devices=devices("ip-8"))
    strangers = new_node(store, third, identity_hash=Secret("a stranger's").sha256())
    join(store, asks("ip-7"))
    with store.write() as tx:
        fleet.put_pool(tx, rows.pool(id=ending.id, name="ending", intent=Intent.TEAR_DOWN))
    before = due_at(store, third)
    clock.advance(minutes=1)
    with store.write() as tx:
        pool_nodes.seen(tx, [connected.id], tx.now)
    outcomes = join_all(
        store,
        [
            asks("ip-1"),
            asks("ip-2", token=Secret("unknown")),
            asks("ip-3", token=Secret("revoked")),
            asks("ip-4", token=Secret("expired")),
            asks("ip-5", token=Secret("ending")),
            asks("ip-6", identity=Secret("a stranger's")),
            asks("ip-9", nonce="nonce of ip-7"),
            asks("ip-8"),
            asks("ip-10"),
        ],
    )
    assert [fared(one) for one in outcomes] == [
        "joined",
        Refusal.UNKNOWN_TOKEN,
        Refusal.REVOKED_TOKEN,
        Refusal.EXPIRED_TOKEN,
        Refusal.TEARING_DOWN,
        Refusal.OTHER_POOL,
        Refusal.OTHER_IDENTITY,
        Refusal.STILL_CONNECTED,
        "joined",
    ]
    assert uses(store) == 3
    assert nodes_of(store, third) == (strangers,)
    assert due_at(store, third) == before


def test_of_many_at_one_moment_only_as_many_get_in_as_the_token_admits(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool, max_uses=3)
    outcomes = join_all(store, [asks(f"ip-{number}") for number in range(5)])
    assert [fared(one) for one in outcomes] == ["joined"] * 3 + [Refusal.USED_UP_TOKEN] * 2
    assert (uses(store), len(nodes_of(store, pool))) == (3, 3)
    with store.write() as tx:
        [token] = join_tokens.tokens_by_hashes(tx, [TOKEN.sha256()]).values()
        join_tokens.set_max_uses(tx, token.id, 4)
    again = join_all(store, [asks(f"ip-{number}") for number in range(5)])
    assert [fared(one) for one in again] == ["joined"] * 4 + [Refusal.USED_UP_TOKEN]
    assert again[:3] == outcomes[:3]


def test_one_join_that_is_sent_several_times_is_one_node_and_one_use(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool, max_uses=9)
    outcomes = join_all(store, [asks(), asks("ip-2"), asks(), asks()])
    assert outcomes[0] == outcomes[2] == outcomes[3]
    assert (uses(store), len(nodes_of(store, pool))) == (2, 2)


def test_two_machines_that_show_one_nonce_are_told_apart(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool, max_uses=9)
    outcomes = join_all(store, [asks("ip-1"), asks("ip-2", nonce="nonce of ip-1")])
    assert [fared(one) for one in outcomes] == ["joined", Refusal.OTHER_IDENTITY]
    assert uses(store) == 1


def test_an_identity_that_another_gateway_takes_at_the_same_time_fails_nobody_else(store: Store) -> None:
    """Two pools have no lock in common: the database itself says no, and each is then tried for itself."""
    first, second = new_pool(store), new_pool(store, name="second")
    new_token(store, first, max_uses=9)
    new_token(store, second, OTHERS, max_uses=9)
    shared = Secret("one identity")
    answers = at_once(
        lambda: join_all(store, [asks("ip-1", identity=shared), asks("ip-2")]),
        lambda: join_all(store, [asks("ip-3", token=OTHERS, identity=shared), asks("ip-4", token=OTHERS)]),
    )
    ((mine, second_mine), (others, second_others)) = answers
    assert [fared(second_mine), fared(second_others)] == ["joined", "joined"]
    refused = [one for one in (mine, others) if isinstance(one, OperationError)]
    assert [error.code for error in refused] == [Code.CONFLICT]
    assert len(nodes_of(store, first)) + len(nodes_of(store, second)) == 3


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_who_is_refused_by_the_database_is_not_told_where_it_is(store: Store) -> None:
    """On PostgreSQL alone: with SQLite there is one writer."""
    first, second = new_pool(store), new_pool(store, name="second")
    new_token(store, second, OTHERS)
    shared = Secret("one identity")
    with ThreadPoolExecutor(1) as threads:
        with store.write() as tx:
            pool_nodes.add_node(tx, rows.node(first.id, identity_hash=shared.sha256()))
            refused = threads.submit(join, store, asks(token=OTHERS, identity=shared))
            let_it_wait(store, refused)
        with pytest.raises(OperationError, match="identity_hash") as told:
            refused.result()
    assert told.value.code == Code.CONFLICT
    assert store.name not in str(told.value)


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_a_bcd_that_is_heard_at_the_moment_of_anothers_join_keeps_its_node(store: Store, clock: HandClock) -> None:
    """On PostgreSQL alone: with SQLite there is one writer."""
    pool = new_pool(store)
    new_token(store, pool)
    connected = new_node(store, pool, hostname="ip-1", reported_node_name="ip-1", devices=devices("ip-1"))
    clock.advance(seconds=31)
    listen(store)
    with ThreadPoolExecutor(1) as threads:
        with store.write() as tx:
            pool_nodes.seen(tx, [connected.id], tx.now)
            joins = threads.submit(join_all, store, [asks()])
            let_it_wait(store, joins)
        [outcome] = joins.result()
    assert fared(outcome) == Refusal.STILL_CONNECTED
    assert node_of(store, connected.id).identity_hash == connected.identity_hash


@pytest.mark.parametrize("seed", range(5))
def test_whoever_else_joins_each_fares_as_one_after_the_other(
    store: Store, clock: HandClock, tmp_path: Path, seed: int
) -> None:
    """Machines with few names, nonces and identities between them, so that most are in each other's way."""
    chance = Random(seed)
    create_schema(f"sqlite:///{tmp_path}/another.db")
    another = open_store(f"sqlite:///{tmp_path}/another.db", clock=clock)
    first, second = ids.new_pool_id(START), ids.new_pool_id(START)
    for one in (store, another):
        listen(one)
        new_token(one, new_pool(one, id=first), max_uses=999)
        new_token(one, new_pool(one, id=second, name="second"), OTHERS, max_uses=999)

    def some_request() -> JoinRequest:
        number = chance.randrange(8)
        return asks(
            f"ip-{chance.randrange(8)}",
            token=chance.choice([TOKEN, TOKEN, OTHERS, Secret("unknown")]),
            nonce=f"nonce {number}",
            identity=Secret(f"identity {chance.choice([number, number, chance.randrange(8)])}"),
            devices=devices(f"ip-{number}"),
        )

    for _moment in range(8):
        requests = [some_request() for _request in range(chance.randrange(1, 6))]
        together = join_all(store, requests)
        alone = [join_all(another, [request])[0] for request in requests]
        assert [fared(one) for one in together] == [fared(one) for one in alone]
        clock.advance(seconds=chance.choice([1, 60]))
        for one in (store, another):
            listen(one)
    for token in (TOKEN, OTHERS):
        assert uses(store, token) == uses(another, token)
    another.close()
