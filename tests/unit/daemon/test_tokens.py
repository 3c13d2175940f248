# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd token`: what is shown, where it goes, and what the command ends with."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.command_line import main
from ansible_collections.better_compute.fleet.daemon.commands import tokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import FleetError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.api_tokens import (
    TokenRefused,
    authenticate,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session, open_session

Capture = pytest.CaptureFixture[str]

READ = ("--permission", "compute:kubernetes:read")
TEAM_A = ("--tenant", "team-a")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A session on the database that the commands use."""
    for name in [name for name in os.environ if name.startswith("BC_FLEET_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("BC_FLEET_STORE_DATABASE_URL", f"sqlite:///{tmp_path / 'fleet.db'}")
    monkeypatch.setenv("BC_FLEET_OPERATOR", "ann")
    with open_session(load_settings()) as opened:
        yield opened


def created(capsys: Capture, *arguments: str) -> Secret:
    assert main(["token", "create", *arguments]) == 0
    return Secret(capsys.readouterr().out.removesuffix("\n"))


def listed(capsys: Capture, *arguments: str) -> list[tuple[str, str, str]]:
    assert main(["token", "list", "--json", *arguments]) == 0
    found = json.loads(capsys.readouterr().out)["tokens"]
    return [(one["tenant_id"], one["name"], one["state"]) for one in found]


def test_create_prints_the_token_alone_and_its_words_beside_it(session: Session, capsys: Capture) -> None:
    assert main(["token", "create", "ci", *TEAM_A, *READ, "--permission", "compute:kubernetes:update"]) == 0
    told = capsys.readouterr()
    token = told.out.removesuffix("\n")
    caller = authenticate(session, Secret(token))
    assert (caller.tenant_id, len(caller.permissions)) == ("team-a", 2)
    assert "only time" in told.err
    assert caller.token_id in told.err
    assert token not in told.err


def test_create_tells_everything_that_is_wrong_at_once(session: Session, capsys: Capture) -> None:
    wrong = ["a b", "--tenant", "team a", "--permission", "read", "--lifetime", "forever"]
    assert main(["token", "create", *wrong]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert [line.partition(":")[0].strip() for line in told.err.splitlines()[1:]] == [
        "name",
        "tenant",
        "permission",
        "lifetime",
    ]
    assert "settings" not in told.err


def test_a_name_that_is_taken_has_to_be_set_right_first(session: Session, capsys: Capture) -> None:
    created(capsys, "ci", *TEAM_A, *READ)
    assert main(["token", "create", "ci", *TEAM_A, *READ]) == 2
    told = capsys.readouterr()
    assert (told.out, "has a token named 'ci'" in told.err) == ("", True)


def test_list_shows_who_may_what_and_no_hash(session: Session, capsys: Capture) -> None:
    token = created(capsys, "ci", *TEAM_A, *READ, "--lifetime", "30d")
    assert main(["token", "list"]) == 0
    table = capsys.readouterr().out
    for text in ("team-a", "ci", "compute:kubernetes:read", "live", "ann", "atk_"):
        assert text in table
    assert main(["token", "list", "--json"]) == 0
    [one] = json.loads(capsys.readouterr().out)["tokens"]
    assert one.keys() == {
        "id", "tenant_id", "name", "permissions", "state", "issued_by", "created_at", "expires_at", "revoked_at"
    }  # fmt: skip
    assert (one["permissions"], one["issued_by"], one["revoked_at"]) == (["compute:kubernetes:read"], "ann", None)
    for secret in (token.reveal(), token.sha256()):
        assert secret not in table
        assert secret not in json.dumps(one)


def test_list_shows_what_was_revoked_when_asked_for_all_and_one_tenants_when_asked_for_that(
    session: Session, capsys: Capture
) -> None:
    for name, tenant in (("ci", "team-a"), ("old", "team-a"), ("ci", "team-b")):
        created(capsys, name, "--tenant", tenant, *READ)
    assert main(["token", "revoke", "old"]) == 0
    capsys.readouterr()
    assert listed(capsys) == [("team-a", "ci", "live"), ("team-b", "ci", "live")]
    assert listed(capsys, "--all", *TEAM_A) == [("team-a", "ci", "live"), ("team-a", "old", "revoked")]


def test_list_of_a_fleet_without_tokens(session: Session, capsys: Capture) -> None:
    assert main(["token", "list"]) == 0
    assert "No token is in use" in capsys.readouterr().out
    assert main(["token", "list", "--all"]) == 0
    assert "No token was ever issued" in capsys.readouterr().out


def test_revoke_says_which_and_can_be_repeated(session: Session, capsys: Capture) -> None:
    token = created(capsys, "ci", *TEAM_A, *READ)
    for _again in range(2):
        assert main(["token", "revoke", "ci", *TEAM_A]) == 0
        assert "Token 'ci' (atk_" in capsys.readouterr().out
    with pytest.raises(TokenRefused):
        authenticate(session, token)


def test_revoke_of_what_is_not_there_has_to_be_set_right_first(session: Session, capsys: Capture) -> None:
    unknown = "bca_" + "u" * 43
    for which in ("ci", unknown):
        assert main(["token", "revoke", which]) == 2
        told = capsys.readouterr()
        assert (told.out, "there is no" in told.err, unknown in told.err) == ("", True, False)


def test_a_token_that_could_not_be_written_is_revoked(session: Session, capsys: Capture) -> None:
    wish: dict[str, Any] = {
        "name": "ci",
        "tenant": "team-a",
        "permissions": ["compute:kubernetes:read"],
        "lifetime": "1h",
    }
    full = Path("/dev/full").open("w")  # noqa: SIM115 -- closing it fails like each write to it, and for this test it may
    with pytest.raises(FleetError, match=r"No space left on device.*was revoked"):
        tokens.create(session, **wish, to=full, words=io.StringIO())
    with suppress(OSError):
        full.close()
    assert listed(capsys, "--all") == [("team-a", "ci", "revoked")]
    created(capsys, "ci", *TEAM_A, *READ)


def test_a_subcommand_is_needed(capsys: Capture) -> None:
    for arguments in (["token"], ["token", "sing"], ["token", "create", "ci"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
    assert "--tenant" in capsys.readouterr().err
