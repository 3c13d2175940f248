# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd token create|list|revoke`: who may call the HTTP API.

A new token goes to standard output alone, and what is said of it to standard error, so that a script can take it:
`TOKEN=$(bc-fleetd token create …)`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import IO, Any

from rich import box
from rich.table import Table
from rich.text import Text

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import stamp
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    FleetError,
    InvalidInput,
    OperationError,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.permissions import ApiToken
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import api_tokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session

from ..errors import NotAsAsked
from ..terminal import console_on


def create(
    session: Session, *, name: str, tenant: str, permissions: Sequence[str], lifetime: str, to: IO[str], words: IO[str]
) -> None:
    """Issue a token and write it to `to`, and what is to be said of it to `words`.

    Raises:
        NotAsAsked: the arguments are not right, all problems at once, or the name is taken.
        FleetError: the token could not be written; it was revoked.
    """
    try:
        issued = api_tokens.issue(session, name=name, tenant=tenant, permissions=permissions, lifetime=lifetime)
    except InvalidInput as error:
        problems = "".join(f"\n  {problem}" for problem in error.problems)
        raise NotAsAsked(f"no token was issued: the arguments are not right:{problems}") from error
    except OperationError as error:
        raise _not_as_asked(error) from error
    record = issued.record
    try:
        to.write(f"{issued.token.reveal()}\n")
        to.flush()
    except BaseException as error:
        # Nobody has it whole, so nobody is cut off; and its name is free for the next try.
        api_tokens.revoke(session, which=record.id)
        if isinstance(error, OSError):
            raise FleetError(f"the token could not be written ({error.strerror}), and was revoked") from error
        raise
    words.write(
        f"Token {record.name!r} ({record.id}) of tenant {record.tenant_id}: {', '.join(sorted(record.permissions))}; "
        f"until {_moment(record.expires_at)}.\nThis is the only time that it is shown: the fleet keeps its hash.\n"
    )


def revoke(session: Session, *, which: str, tenant: str | None, to: IO[str]) -> None:
    """Revoke a token, and say which.

    Raises:
        NotAsAsked: there is none, or several are meant.
    """
    try:
        record = api_tokens.revoke(session, which=which, tenant=tenant)
    except OperationError as error:
        raise _not_as_asked(error) from error
    to.write(
        f"Token {record.name!r} ({record.id}) of tenant {record.tenant_id} opens nothing since "
        f"{_moment(min(record.revoked_at or record.expires_at, record.expires_at))}.\n"
    )


def print_list(session: Session, *, tenant: str | None, every: bool, as_json: bool, to: IO[str]) -> None:
    """Write the tokens that are not revoked (with `every`, those too): a table for a person, or JSON."""
    now = session.clock.now()
    found = [token for token in api_tokens.list_tokens(session, tenant=tenant) if every or token.revoked_at is None]
    if as_json:
        to.write(json.dumps({"tokens": [_data(token, now=now) for token in found]}, indent=2) + "\n")
        return
    console = console_on(to)
    if not found:
        console.print("No token is in use." if not every else "No token was ever issued.")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("Tenant", "Name"):
        table.add_column(heading, overflow="fold")
    table.add_column("Permissions", no_wrap=True)
    table.add_column("State", no_wrap=True)
    table.add_column("Until", no_wrap=True)
    table.add_column("Issued by", overflow="fold")
    table.add_column("Id", no_wrap=True)
    for token in found:
        state = token.state(now)
        table.add_row(
            Text(token.tenant_id),
            Text(token.name),
            Text("\n".join(sorted(token.permissions))),
            Text(state, style="green" if state == "live" else "yellow"),
            Text(_moment(min(token.revoked_at or token.expires_at, token.expires_at))),
            Text(token.issued_by),
            Text(token.id),
        )
    console.print(table)


def _data(token: ApiToken, *, now: datetime) -> dict[str, Any]:
    return {
        "id": str(token.id),
        "tenant_id": str(token.tenant_id),
        "name": token.name,
        "permissions": sorted(map(str, token.permissions)),
        "state": str(token.state(now)),
        "issued_by": token.issued_by,
        "created_at": stamp(token.created_at),
        "expires_at": stamp(token.expires_at),
        "revoked_at": None if token.revoked_at is None else stamp(token.revoked_at),
    }


def _not_as_asked(error: OperationError) -> FleetError:
    known = error.code in {Code.CONFLICT, Code.NOT_FOUND}
    return NotAsAsked(str(error)) if known else error


def _moment(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")
