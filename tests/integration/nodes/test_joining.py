# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a machine joins its pool, on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Device
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import Intent, NodeState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.joining import JoinRefused, join
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, join_tokens, pool_nodes
from ansible_collections.better_compute.fleet.tests.support.joining_machines import (
    TOKEN,
    asks,
    at_once,
    due_at,
    listen,
    new_pool,
    new_token,
    node_of,
    nodes_of,
    uses,
)
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import devices
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock


def test_a_machine_with_a_token_becomes_a_node_and_makes_its_pool_due(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool)
    joined = join(store, asks())
    node = node_of(store, joined.node_id)
    assert (joined.pool_id, node.pool_id, node.state, node.devices) == (
        pool.id,
        pool.id,
        NodeState.JOINED,
        devices("ip-1"),
    )
    assert due_at(store, pool) == START


def test_only_the_identitys_hash_is_stored(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool)
    joined = join(store, asks())
    assert node_of(store, joined.node_id).identity_hash == Secret("identity of ip-1").sha256()


def test_a_repeated_join_is_answered_with_the_same_node_and_costs_no_second_use(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool, max_uses=2)
    assert join(store, asks()) == join(store, asks())
    assert (uses(store), len(nodes_of(store, pool))) == (1, 1)


def test_a_join_sent_twice_at_once_makes_one_node(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool, max_uses=2)
    answers = at_once(*[lambda: join(store, asks())] * 4)
    assert len(set(answers)) == 1
    assert (uses(store), len(nodes_of(store, pool))) == (1, 1)


def test_of_two_machines_at_once_one_gets_the_last_use(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool)
    answers = at_once(lambda: join(store, asks("ip-1")), lambda: join(store, asks("ip-2")))
    refused = [answer for answer in answers if isinstance(answer, JoinRefused)]
    assert [error.code for error in refused] == [Code.UNAUTHENTICATED]
    assert (uses(store), len(nodes_of(store, pool))) == (1, 1)


def test_a_lost_answer_is_had_with_the_next_token_and_costs_it_nothing(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    new_token(store, pool)
    first = join(store, asks())
    clock.advance(minutes=50)
    later = new_token(store, pool, Secret("bcj_the-next-token"))
    assert join(store, asks(token=later)) == first
    assert uses(store, later) == 0


def test_a_lost_answer_is_had_though_the_token_was_revoked_since(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool)
    first = join(store, asks())
    with store.write() as tx:
        [token] = join_tokens.tokens_by_hashes(tx, [TOKEN.sha256()]).values()
        join_tokens.revoke_token(tx, token.id)
    assert join(store, asks()) == first


class TestBadTokens:
    def refusal(self, store: Store, token: Secret = TOKEN) -> JoinRefused:
        with pytest.raises(JoinRefused) as refused:
            join(store, asks("ip-9", token=token))
        return refused.value

    def test_look_alike_from_outside_and_differ_in_our_log(self, store: Store, clock: HandClock) -> None:
        pool = new_pool(store)
        used_up = new_token(store, pool, Secret("used up"))
        join(store, asks(token=used_up))
        revoked = new_token(store, pool, Secret("revoked"), revoked_at=START)
        expired = new_token(store, pool, Secret("expired"), expires_at=START + timedelta(minutes=1))
        clock.advance(minutes=1)
        refusals = [self.refusal(store, token) for token in (Secret("unknown"), used_up, revoked, expired)]
        assert {(error.code, str(error)) for error in refusals} == {(Code.UNAUTHENTICATED, str(refusals[0]))}
        assert ["no such" in refusals[0].reason, *(error.reason.split(" ")[5] for error in refusals[1:])] == [
            True,
            "is",
            "was",
            "expired",
        ]

    def test_no_refusal_holds_a_token_or_an_identity(self, store: Store) -> None:
        error = self.refusal(store, Secret("canary"))
        assert "canary" not in f"{error} {error.reason} {error!r} {asks(token=Secret('canary'))}"

    def test_a_refused_join_leaves_no_trace(self, store: Store) -> None:
        pool = new_pool(store)
        new_token(store, pool, revoked_at=START)
        self.refusal(store)
        assert (nodes_of(store, pool), due_at(store, pool)) == ((), START + timedelta(hours=1))


def test_a_pool_that_is_torn_down_takes_no_node(store: Store) -> None:
    pool = new_pool(store, intent=Intent.TEAR_DOWN)
    new_token(store, pool)
    with pytest.raises(JoinRefused) as refused:
        join(store, asks())
    assert refused.value.code == Code.FORBIDDEN
    assert nodes_of(store, pool) == ()


class TestAMachineThatIsKnown:
    def test_keeps_its_node_under_a_new_identity(self, store: Store, clock: HandClock) -> None:
        pool = new_pool(store)
        new_token(store, pool, max_uses=2)
        before = join(store, asks())
        clock.advance(minutes=5)
        listen(store)
        wiped = asks(identity=Secret("fresh"), nonce="fresh")
        assert join(store, wiped).node_id == before.node_id
        node = node_of(store, before.node_id)
        assert (node.identity_hash, node.last_seen_at) == (Secret("fresh").sha256(), clock.now())
        assert (uses(store), len(nodes_of(store, pool))) == (2, 1)

    def test_takes_no_booking_before_a_list_has_matched_it_again(self, store: Store, clock: HandClock) -> None:
        pool = new_pool(store)
        new_token(store, pool, max_uses=2)
        before = join(store, asks())
        states = []
        for state in (NodeState.MATCHED, NodeState.CORDONED):
            with store.write() as tx:
                pool_nodes.set_node_state(tx, before.node_id, state)
            clock.advance(minutes=5)
            listen(store)
            new_token(store, pool, Secret(f"bcj_{state}"), max_uses=9)
            join(store, asks(token=Secret(f"bcj_{state}"), identity=Secret(state), nonce=state))
            states.append(node_of(store, before.node_id).state)
        assert states == [NodeState.JOINED, NodeState.CORDONED]

    @pytest.mark.parametrize("away", [30, 300], ids=["connected", "unknown, for no gateway listened"])
    def test_is_not_taken_over_while_its_bcd_may_be_connected(self, store: Store, clock: HandClock, away: int) -> None:
        pool = new_pool(store)
        new_token(store, pool, max_uses=2)
        before = join(store, asks())
        clock.advance(seconds=away)
        with pytest.raises(JoinRefused) as refused:
            join(store, asks(identity=Secret("impostor"), nonce="impostor"))
        assert refused.value.code == Code.CONFLICT
        assert node_of(store, before.node_id).identity_hash == Secret("identity of ip-1").sha256()
        assert uses(store) == 1

    def test_is_another_machine_when_it_has_other_gpus_under_the_same_name(
        self, store: Store, clock: HandClock
    ) -> None:
        pool = new_pool(store)
        new_token(store, pool, max_uses=2)
        before = join(store, asks())
        clock.advance(minutes=5)
        listen(store)
        replacement = asks(identity=Secret("fresh"), nonce="fresh", devices=devices("other"))
        assert join(store, replacement).node_id != before.node_id
        assert len(nodes_of(store, pool)) == 2

    def test_is_known_by_one_gpu_that_it_still_has(self, store: Store, clock: HandClock) -> None:
        pool = new_pool(store)
        new_token(store, pool, max_uses=2)
        before = join(store, asks())
        clock.advance(minutes=5)
        listen(store)
        repaired = (devices("ip-1")[0], Device(id="GPU-new", model="H100"))
        assert join(store, asks(identity=Secret("f"), nonce="f", devices=repaired)).node_id == before.node_id
        assert node_of(store, before.node_id).devices == repaired

    def test_without_gpus_is_known_by_its_name(self, store: Store, clock: HandClock) -> None:
        pool = new_pool(store)
        new_token(store, pool, max_uses=2)
        before = join(store, asks(devices=()))
        clock.advance(minutes=5)
        listen(store)
        assert join(store, asks(identity=Secret("f"), nonce="f", devices=())).node_id == before.node_id


def test_a_nonce_shown_with_another_identity_is_refused(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool, max_uses=2)
    join(store, asks())
    with pytest.raises(JoinRefused) as refused:
        join(store, asks("ip-2", nonce="nonce of ip-1"))
    assert (refused.value.code, len(nodes_of(store, pool))) == (Code.CONFLICT, 1)


def test_a_machine_retired_before_it_heard_that_it_was_let_in_joins_with_the_use_that_it_paid(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool)
    unheard = join(store, asks())
    with store.write() as tx:
        pool_nodes.retire_node(tx, unheard.node_id)
    again = join(store, asks())
    assert (again.node_id != unheard.node_id, join(store, asks()) == again, uses(store)) == (True, True, 1)


def test_an_identity_of_another_pools_node_is_refused(store: Store) -> None:
    first, second = new_pool(store), new_pool(store, name="other")
    new_token(store, first)
    join(store, asks())
    other = new_token(store, second, Secret("bcj_other"))
    with pytest.raises(JoinRefused) as refused:
        join(store, asks(token=other))
    assert (refused.value.code, nodes_of(store, second)) == (Code.CONFLICT, ())


def test_a_repeated_join_brings_the_inventory_up_to_date(store: Store) -> None:
    pool = new_pool(store)
    new_token(store, pool)
    joined = join(store, asks(reported_node_name=None))
    join(store, asks(devices=devices("ip-1", 4)))
    node = node_of(store, joined.node_id)
    assert (node.reported_node_name, len(node.devices)) == ("ip-1", 4)
