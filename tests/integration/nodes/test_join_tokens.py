# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store's part of a join token's life, with a Secret that may be lost on the way, on both databases."""

from __future__ import annotations

from itertools import product

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import JoinToken, PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.join_token import (
    LIFETIME,
    carry_out,
    plan_token,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.joining import (
    JoinRefused,
    Refusal,
    join,
    join_all,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.matching import Matching
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, join_tokens
from ansible_collections.better_compute.fleet.tests.support.joining_machines import asks, new_pool
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock

ONE_WAITS = Matching(known=True, listed=1, waiting=("a",), unconnected=1)
NONE_WAITS = Matching(known=True, listed=1, joined=1)


def live(store: Store, pool: PoolRecord) -> tuple[JoinToken, ...]:
    with store.read() as tx:
        return join_tokens.live_tokens(tx, pool.id)


def one_pass(
    store: Store, pool: PoolRecord, clock: HandClock, secret: Secret | None, matching: Matching = ONE_WAITS
) -> Secret | None:
    """What a pass does; returns what the cluster's Secret holds after it."""
    secret_hash = None if secret is None else secret.sha256()
    plan = plan_token(live(store, pool), secret_hash=secret_hash, matching=matching, now=clock.now())
    with store.write() as tx:
        minted = carry_out(tx, plan, pool_id=pool.id)
    if plan.delete_secret:
        return None
    return minted or secret


def test_a_minted_token_lets_a_machine_join_and_only_its_hash_is_stored(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    secret = one_pass(store, pool, clock, None)
    assert secret is not None
    assert [(token.token_hash, token.max_uses) for token in live(store, pool)] == [(secret.sha256(), 1)]
    assert join(store, asks(token=secret)).pool_id == pool.id


def test_a_second_pass_changes_nothing(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    secret = one_pass(store, pool, clock, None)
    commits: list[str] = []
    store.on_commit.append(commits.append)
    assert one_pass(store, pool, clock, secret) is secret
    assert commits == []


def test_a_token_lost_before_its_secret_was_written_is_revoked_for_another(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    lost = one_pass(store, pool, clock, None)
    secret = one_pass(store, pool, clock, None)
    assert lost is not None
    assert secret is not None
    assert secret != lost
    assert [token.token_hash for token in live(store, pool)] == [secret.sha256()]


def test_through_hours_of_waiting_the_secret_always_holds_a_token_that_works(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    secret: Secret | None = None
    held_before: Secret | None = None
    for _time in range(60):
        read_by_bcd, held_before = held_before, secret
        secret = one_pass(store, pool, clock, secret)
        hashes = {token.token_hash for token in live(store, pool)}
        assert secret is not None
        assert secret.sha256() in hashes
        assert len(hashes) <= 2
        clock.advance(seconds=100)
        if read_by_bcd is not None:
            # What bcd read from the volume may be as old as the kubelet is late.
            assert read_by_bcd.sha256() in hashes
    assert clock.now() - live(store, pool)[0].created_at < LIFETIME


@pytest.mark.parametrize("shows_new", list(product([False, True], repeat=3)), ids=str)
@pytest.mark.parametrize("at_one_moment", [False, True], ids=["in-turn", "at-once"])
def test_a_token_and_the_one_that_replaces_it_let_in_exactly_those_who_wait_whichever_they_show(
    store: Store, clock: HandClock, shows_new: tuple[bool, ...], at_one_moment: bool
) -> None:
    pool = new_pool(store)
    four_wait = Matching(known=True, listed=4, waiting=("a", "b", "c", "d"), unconnected=4)
    three_wait = Matching(known=True, listed=4, joined=1, waiting=("b", "c", "d"), unconnected=3)
    old = one_pass(store, pool, clock, None, four_wait)
    assert old is not None
    join(store, asks("a", token=old))
    clock.advance(minutes=41)
    new = one_pass(store, pool, clock, old, three_wait)
    assert new is not None
    assert {token.token_hash for token in live(store, pool)} == {old.sha256(), new.sha256()}
    shown = [new if of_new else old for of_new in shows_new]
    entering = [asks(name, token=token) for name, token in zip("bcd", shown, strict=True)]
    strangers = [asks(f"stranger-{number}", token=token) for number, token in enumerate((old, new))]
    if at_one_moment:
        outcomes = join_all(store, [*entering, *strangers])
    else:
        outcomes = [join_all(store, [one])[0] for one in (*entering, *strangers)]
    refused = [one.why if isinstance(one, JoinRefused) else None for one in outcomes]
    assert refused == [None] * 3 + [Refusal.USED_UP_TOKEN] * 2
    # A Node more, and the next pass: one of them is let in again, by either.
    one_pass(store, pool, clock, new, ONE_WAITS)
    again = join_all(store, strangers)
    assert [isinstance(one, JoinRefused) for one in again] == [False, True]


def test_what_joined_with_a_replaced_token_is_not_counted_twice_when_that_is_revoked(
    store: Store, clock: HandClock
) -> None:
    pool = new_pool(store)
    old = one_pass(store, pool, clock, None)
    assert old is not None
    clock.advance(minutes=41)
    new = one_pass(store, pool, clock, old)
    assert new is not None
    join(store, asks("a", token=old))
    one_pass(store, pool, clock, new)
    clock.advance(minutes=4)
    one_pass(store, pool, clock, new)
    assert [token.token_hash for token in live(store, pool)] == [new.sha256()]
    join(store, asks("b", token=new))
    with pytest.raises(JoinRefused):
        join(store, asks("c", token=new))


def test_once_all_have_joined_the_token_and_its_secret_are_gone(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    secret = one_pass(store, pool, clock, None)
    assert one_pass(store, pool, clock, secret, NONE_WAITS) is None
    assert live(store, pool) == ()


def test_a_secret_that_outlived_a_crash_is_deleted_by_the_next_pass(store: Store, clock: HandClock) -> None:
    pool = new_pool(store)
    secret = one_pass(store, pool, clock, None)
    one_pass(store, pool, clock, secret, NONE_WAITS)
    assert one_pass(store, pool, clock, secret, NONE_WAITS) is None
