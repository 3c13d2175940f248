# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a join token is minted, resized, replaced and revoked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TokenId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import JoinToken
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.join_token import (
    KEEP,
    LIFETIME,
    RELOAD,
    REPLACE_BEFORE,
    TokenPlan,
    plan_token,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.matching import Matching
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import NOW, POOL

MINUTE = timedelta(minutes=1)
TWO_WAIT = Matching(known=True, listed=3, joined=1, waiting=("a", "b"), unconnected=2)
ALL_JOINED = Matching(known=True, listed=3, joined=3)
UNKNOWN = Matching(known=False)


def token(name: str, *, age: timedelta = MINUTE, **different: Any) -> JoinToken:
    values: dict[str, Any] = {
        "id": TokenId(f"tok_{name}"),
        "pool_id": POOL,
        "token_hash": f"hash of {name}",
        "max_uses": 2,
        "uses": 0,
        "created_at": NOW - age,
        "expires_at": NOW - age + LIFETIME,
    }
    return JoinToken(**(values | different))


def plan(*live: JoinToken, secret: str | None, matching: Matching = TWO_WAIT) -> TokenPlan:
    secret_hash = None if secret is None else f"hash of {secret}"
    return plan_token(live, secret_hash=secret_hash, matching=matching, now=NOW)


def test_the_first_waiting_nodes_get_a_token_with_one_use_each() -> None:
    assert plan(secret=None) == TokenPlan(mint=2)


def test_a_token_that_fits_is_kept() -> None:
    assert plan(token("a"), secret="a") == KEEP


def test_there_is_one_use_for_each_node_without_a_connected_bcd_joined_before_or_not() -> None:
    one_waits_one_away = Matching(known=True, listed=3, joined=2, waiting=("a",), unconnected=2)
    assert plan(secret=None, matching=one_waits_one_away) == TokenPlan(mint=2)


def test_no_token_exists_once_every_node_has_joined() -> None:
    gone = plan(token("a"), secret="a", matching=ALL_JOINED)
    assert gone == TokenPlan(revoke=(TokenId("tok_a"),), delete_secret=True)
    assert plan(secret=None, matching=ALL_JOINED) == KEEP


def test_a_disconnected_bcd_alone_brings_no_token_back() -> None:
    one_away = Matching(known=True, listed=3, joined=3, unconnected=1)
    assert plan(secret=None, matching=one_away) == KEEP


def test_a_secret_that_outlived_its_revoked_token_is_deleted() -> None:
    assert plan(secret="a", matching=ALL_JOINED) == TokenPlan(delete_secret=True)


def test_an_unknown_list_leaves_everything_as_it_is() -> None:
    assert plan(token("a", age=LIFETIME - MINUTE), secret="b", matching=UNKNOWN) == KEEP


def test_more_waiting_nodes_get_more_uses() -> None:
    used = token("a", max_uses=2, uses=1)
    assert plan(used, secret="a") == TokenPlan(resize=((used.id, 3),))


def test_uses_that_nobody_needs_any_more_are_taken_back() -> None:
    assert plan(token("a", max_uses=9), secret="a") == TokenPlan(resize=((TokenId("tok_a"), 2),))


def test_a_token_is_replaced_in_time_and_the_old_one_stays_valid() -> None:
    old = token("a", age=LIFETIME - REPLACE_BEFORE)
    assert plan(old, secret="a") == TokenPlan(mint=2)
    assert plan(token("a", age=LIFETIME - REPLACE_BEFORE - MINUTE), secret="a") == KEEP


def test_one_that_is_replaced_and_the_one_that_replaces_it_share_their_uses() -> None:
    old, new = token("a", age=LIFETIME - REPLACE_BEFORE, max_uses=5, uses=2), token("b", max_uses=3, uses=1)
    assert plan(old, new, secret="b") == TokenPlan(resize=((new.id, 5),))
    assert plan(old, secret="a") == TokenPlan(mint=4, resize=((old.id, 4),))


def test_the_uses_of_one_that_is_revoked_are_no_longer_counted() -> None:
    old = token("a", age=LIFETIME - REPLACE_BEFORE, max_uses=5, uses=2)
    new = token("b", age=RELOAD, max_uses=5, uses=1)
    assert plan(old, new, secret="b") == TokenPlan(resize=((new.id, 3),), revoke=(old.id,))


def test_a_list_that_waits_for_another_one_leaves_everything_as_it_is() -> None:
    doubtful = Matching(known=True, vanished_at=NOW, to_confirm=True)
    assert plan(token("a"), secret="a", matching=doubtful) == KEEP


def test_a_replaced_token_is_revoked_when_bcd_has_had_time_to_read_the_new_one() -> None:
    old = token("a", age=LIFETIME - REPLACE_BEFORE)
    assert plan(old, token("b", age=RELOAD - timedelta(seconds=1)), secret="b") == KEEP
    assert plan(old, token("b", age=RELOAD), secret="b") == TokenPlan(revoke=(old.id,))


def test_a_token_replaces_itself_with_time_for_two_missed_passes_and_the_kubelet() -> None:
    assert 3 * 5 * MINUTE + 2 * MINUTE <= REPLACE_BEFORE


class TestACrashBetweenTheRowAndTheSecret:
    def test_of_the_first_token_is_healed_by_a_new_one(self) -> None:
        assert plan(token("lost"), secret=None) == TokenPlan(mint=2, revoke=(TokenId("tok_lost"),))

    def test_of_a_replacement_is_healed_by_another_one(self) -> None:
        old, lost = token("a", age=LIFETIME - REPLACE_BEFORE), token("lost")
        assert plan(old, lost, secret="a") == TokenPlan(mint=2, revoke=(lost.id,))

    def test_of_a_secret_that_somebody_overwrote_too(self) -> None:
        assert plan(token("a"), secret="foreign") == TokenPlan(mint=2, revoke=(TokenId("tok_a"),))


def test_an_expired_token_in_the_secret_is_replaced() -> None:
    assert plan(secret="expired") == TokenPlan(mint=2)
