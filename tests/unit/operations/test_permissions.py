# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a token's holder may do, and for whom; and what no token can be: all of it told without a database."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    InvalidInput,
    OperationError,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.permissions import Caller, Permission
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.api_tokens import (
    TokenRefused,
    authenticate,
    issue,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session, acting_for
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock

TEAM_A, TEAM_B = TenantId("team-a"), TenantId("team-b")


def caller(*permissions: Permission) -> Caller:
    return Caller(token_id=ids.new_api_token_id(START), name="ci", tenant_id=TEAM_A, permissions=frozenset(permissions))


def forbidden(who: Caller, permission: Permission, tenant_id: TenantId) -> str:
    with pytest.raises(OperationError) as refused:
        who.require(permission, tenant_id=tenant_id)
    assert refused.value.code == Code.FORBIDDEN
    return str(refused.value)


def test_a_caller_may_do_what_its_token_says_on_its_tenants_own() -> None:
    caller(Permission.KUBERNETES_READ).require(Permission.KUBERNETES_READ, tenant_id=TEAM_A)


@pytest.mark.parametrize("granted", Permission)
def test_no_permission_follows_from_another(granted: Permission) -> None:
    for other in set(Permission) - {granted}:
        assert str(other) in forbidden(caller(granted), other, TEAM_A)


def test_another_tenants_is_forbidden_whatever_the_token_may_do_and_without_a_word_on_whose_it_is() -> None:
    for owner in (TEAM_B, ids.PLATFORM_TENANT):
        assert owner not in forbidden(caller(*Permission), Permission.KUBERNETES_READ, owner)


def session() -> Session:
    """One that has no database to ask."""
    nothing: dict[str, Any] = {"store": None, "open_driver": None, "sleep": None}
    settings = load_settings(environ={"BC_FLEET_STORE_DATABASE_URL": "sqlite:////nowhere"})
    return Session(clock=HandClock(), settings=settings, caller="ann", holder="test", **nothing)


def test_a_call_is_done_in_the_name_of_its_token_which_is_no_operators() -> None:
    reader, needs = caller(Permission.KUBERNETES_READ), Permission.KUBERNETES_READ
    assert acting_for(session(), reader, needs=needs, tenant_id=TEAM_A).caller == "api/ci"
    assert ids.TENANT_PATTERN.fullmatch("api/ci") is None, "what an operator may be called in the settings"


def test_there_is_no_session_for_what_a_caller_may_not_do() -> None:
    with pytest.raises(OperationError) as refused:
        acting_for(session(), caller(), needs=Permission.KUBERNETES_READ, tenant_id=TEAM_A)
    assert refused.value.code == Code.FORBIDDEN


def test_what_cannot_be_a_token_is_refused_without_asking_the_database() -> None:
    whole = "bca_" + "u" * 43
    for text in ("", "bca_", whole.replace("bca_", "bcj_"), whole + "u", whole[:-1] + "ü", whole + "\n", "\udcff"):
        with pytest.raises(TokenRefused) as refused:
            authenticate(session(), Secret(text))
        assert refused.value.reason == "not of an API token's form"


def problems(**different: Any) -> list[str]:
    """Where a wish for a token is wrong."""
    wish: dict[str, Any] = {"name": "ci", "tenant": "team-a", "permissions": ["compute:kubernetes:read"]}
    with pytest.raises(InvalidInput) as wrong:
        issue(session(), **{**wish, **different})
    return [problem.path for problem in wrong.value.problems]


def test_every_problem_of_a_wish_is_told_at_once() -> None:
    told = problems(name="-x", tenant="team a", permissions=["read", "compute:metrics:read"], lifetime="forever")
    assert told == ["name", "tenant", "permission", "permission", "lifetime"]


@pytest.mark.parametrize(
    ("path", "wishes"),
    [
        ("name", [{"name": each} for each in ("", "a" * 64, "a b", "a/b", "atk_01", "bca_x", ".a", "ä", "a\n")]),
        (
            "lifetime",
            [{"lifetime": each} for each in ("", "0d", "30", "1.5h", "-1d", "30 d", "367d", "9999999d", "٣d")],
        ),
        ("permission", [{"permissions": each} for each in ([], ["compute:kubernetes:READ"])]),
        ("tenant", [{"tenant": each} for each in ("", "a b", "a" * 129)]),
    ],
)
def test_what_no_token_can_be_is_refused(path: str, wishes: list[dict[str, Any]]) -> None:
    for wish in wishes:
        assert problems(**wish) == [path], wish


def test_no_tenants_token_reads_metrics_which_tell_of_every_tenants_pools() -> None:
    assert problems(permissions=["compute:metrics:read"]) == ["permission"]
