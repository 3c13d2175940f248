# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens of the HTTP API: how one comes to be, opens something, and ends; on both databases."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    OperationError,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.permissions import (
    Permission,
    TokenState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.api_tokens import (
    Issued,
    TokenRefused,
    authenticate,
    issue,
    list_tokens,
    revoke,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import api_tokens, open_store
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock


@pytest.fixture
def session(desk: Desk) -> Session:
    """An operator's session: once on SQLite, once on PostgreSQL."""
    return desk.session


def issued(session: Session, **different: Any) -> Issued:
    given: dict[str, Any] = {"name": "ci", "tenant": "team-a", "permissions": ["compute:kubernetes:read"]}
    return issue(session, **{**given, **different})


def refused(session: Session, token: Secret) -> TokenRefused:
    with pytest.raises(TokenRefused) as error:
        authenticate(session, token)
    assert error.value.code == Code.UNAUTHENTICATED
    return error.value


def test_a_new_token_is_its_tenants_with_what_was_granted(session: Session) -> None:
    made = issued(session, permissions=["compute:kubernetes:update", "compute:kubernetes:read"])
    caller = authenticate(session, made.token)
    assert (caller.token_id, caller.name, caller.tenant_id) == (made.record.id, "ci", "team-a")
    assert caller.permissions == {Permission.KUBERNETES_READ, Permission.KUBERNETES_UPDATE}
    assert made.record.issued_by == "ann"


def test_a_token_is_known_by_its_prefix_has_256_bits_and_is_never_the_same(session: Session) -> None:
    first, second = (issued(session, name=name).token.reveal() for name in ("first", "second"))
    assert first != second
    assert first.startswith("bca_")
    assert len(first) == len("bca_") + 43, "32 bytes in base64"


def test_the_database_has_a_tokens_hash_and_never_the_token(desk: Desk) -> None:
    made = issued(desk.session)
    assert made.token.sha256() in repr(desk.rows())
    assert made.token.reveal() not in repr(desk.rows())
    assert made.token.reveal() not in repr(made)
    assert made.token.sha256() not in repr(made), "nor is what it is compared with shown"


def test_unknown_expired_and_revoked_tokens_look_alike_outside_and_our_log_tells_them_apart(
    session: Session, clock: HandClock
) -> None:
    expired, revoked = issued(session, name="old", lifetime="1h"), issued(session, name="bad")
    revoke(session, which="bad")
    clock.advance(hours=1)
    unknown = Secret("bca_" + "u" * 43)
    answers = [refused(session, token) for token in (unknown, expired.token, revoked.token, Secret("bca_short"))]
    assert len({str(answer) for answer in answers}) == 1
    assert [answer.reason for answer in answers] == [
        "no such token",
        f"token {expired.record.id} (old) of tenant team-a is expired",
        f"token {revoked.record.id} (bad) of tenant team-a is revoked",
        "not of an API token's form",
    ]


def test_to_recognise_a_token_writes_nothing(desk: Desk) -> None:
    made, before = issued(desk.session), desk.rows()
    writes: list[str] = []
    desk.session.store.on_commit.append(writes.append)
    authenticate(desk.session, made.token)
    assert desk.rows() == before
    assert writes == []


def test_a_token_lasts_as_long_as_was_asked_for_and_90_days_unless_asked(session: Session, clock: HandClock) -> None:
    short, usual = issued(session, name="short", lifetime="30m"), issued(session, name="usual")
    clock.advance(minutes=30, seconds=-1)
    authenticate(session, short.token)
    clock.advance(seconds=1)
    refused(session, short.token)
    clock.advance(days=90, minutes=-30, seconds=-1)
    authenticate(session, usual.token)
    clock.advance(seconds=1)
    refused(session, usual.token)


def test_one_name_is_one_live_token_of_a_tenant(session: Session) -> None:
    first = issued(session)
    with pytest.raises(OperationError, match="has a token named 'ci'") as taken:
        issued(session)
    assert taken.value.code == Code.CONFLICT
    issued(session, tenant="team-b")
    revoke(session, which=first.record.id)
    authenticate(session, issued(session).token)


def test_a_name_is_free_again_once_its_token_has_expired(session: Session, clock: HandClock) -> None:
    old = issued(session, lifetime="1h")
    clock.advance(hours=2)
    authenticate(session, issued(session).token)
    assert refused(session, old.token).reason.endswith("is expired")
    assert [token.state(clock.now()) for token in list_tokens(session)] == [TokenState.EXPIRED, TokenState.LIVE]


def test_a_token_opens_nothing_from_its_revocation_on_and_to_revoke_it_again_changes_nothing(
    session: Session, clock: HandClock
) -> None:
    made = issued(session)
    first = revoke(session, which="ci")
    refused(session, made.token)
    clock.advance(minutes=5)
    for which in ("ci", made.record.id, made.token.reveal()):
        assert revoke(session, which=which) == first
    assert first.revoked_at == made.record.created_at


def test_a_token_that_leaked_is_revoked_by_showing_it(session: Session) -> None:
    kept, leaked = issued(session, name="kept"), issued(session, name="leaked")
    assert revoke(session, which=leaked.token.reveal()).id == leaked.record.id
    refused(session, leaked.token)
    authenticate(session, kept.token)


def test_what_is_not_there_cannot_be_revoked_and_no_token_is_repeated(session: Session) -> None:
    issued(session)
    unknown = "bca_" + "u" * 43
    for which, tenant in (("other", None), ("ci", "team-b"), (unknown, None), ("c\x00i", "team\x00")):
        with pytest.raises(OperationError) as error:
            revoke(session, which=which, tenant=tenant)
        assert error.value.code == Code.NOT_FOUND
        assert unknown not in str(error.value)


def test_a_name_that_two_tenants_use_needs_the_tenant(session: Session) -> None:
    own, others = issued(session), issued(session, tenant="team-b")
    with pytest.raises(OperationError, match=r"team-a \(atk_.*\), team-b \(atk_.*name the tenant") as unclear:
        revoke(session, which="ci")
    assert unclear.value.code == Code.CONFLICT
    assert revoke(session, which="ci", tenant="team-b").id == others.record.id
    authenticate(session, own.token)


def test_every_token_is_listed_by_tenant_and_name(session: Session) -> None:
    for tenant, name in (("team-b", "ci"), ("team-a", "terraform"), ("team-a", "ci")):
        issued(session, tenant=tenant, name=name)
    revoke(session, which="terraform")
    listed = [(token.tenant_id, token.name, token.revoked_at is None) for token in list_tokens(session)]
    assert listed == [("team-a", "ci", True), ("team-a", "terraform", False), ("team-b", "ci", True)]
    assert [token.tenant_id for token in list_tokens(session, tenant="team-b")] == ["team-b"]


def test_metrics_are_read_with_a_token_of_the_platform(session: Session) -> None:
    made = issued(session, tenant="platform", permissions=["compute:metrics:read"])
    assert authenticate(session, made.token).permissions == {Permission.METRICS_READ}


def test_the_longest_and_the_shortest_that_can_be_asked_for(session: Session, clock: HandClock) -> None:
    longest, shortest = issued(session, name="a" * 63, lifetime="366d"), issued(session, name="0", lifetime="1m")
    assert (longest.record.expires_at - clock.now()).days == 366
    assert (shortest.record.expires_at - clock.now()).seconds == 60


@pytest.mark.parametrize(("moment", "names"), [("before", []), ("after", ["ci"])])
def test_a_process_that_dies_while_it_issues_leaves_no_token_or_one_that_nobody_has(
    session: Session, moment: str, names: list[str]
) -> None:
    def die(now: str) -> None:
        if now == moment:
            raise KeyboardInterrupt

    session.store.on_commit.append(die)
    with pytest.raises(KeyboardInterrupt):
        issued(session)
    session.store.on_commit.clear()
    assert [token.name for token in list_tokens(session)] == names
    if names:
        revoke(session, which="ci")
    authenticate(session, issued(session).token)


def test_of_two_processes_that_issue_one_name_at_once_one_has_it(
    session: Session, store_url: str, clock: HandClock
) -> None:
    added: list[bool] = []

    # Each has its own connections, as each of two processes would.
    def add() -> None:
        other = open_store(store_url, clock=clock)
        with other.write() as tx:
            added.append(api_tokens.add_token(tx, rows.api_token()))
        other.close()

    second = threading.Thread(target=add)
    with session.store.write() as tx:
        assert api_tokens.add_token(tx, rows.api_token())
        second.start()
        second.join(timeout=0.05)
        assert added == [], "it waits for how this one ends"
    second.join()
    assert added == [False]


def test_a_permission_that_a_later_version_granted_opens_nothing_here(session: Session) -> None:
    made = issued(session)
    with session.store.write() as tx:
        tx.change(
            tables().api_tokens,
            key={"id": made.record.id},
            values={"permissions": ["compute:kubernetes:destroy", "compute:kubernetes:read"]},
        )
    assert authenticate(session, made.token).permissions == {Permission.KUBERNETES_READ}
