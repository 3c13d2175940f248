# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens of the HTTP API: issued, listed and revoked by an operator; and who a call's token says is asking.

A token is shown once, by :func:`issue`; the database has its SHA-256. When it was last used is not recorded: each call
would become a write, and on SQLite each would wait for the passes' writes. Who does what is in the API's log, by token.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import NoReturn

from ..model import ids
from ..model.errors import Code, InvalidInput, OperationError, Problem
from ..model.ids import PLATFORM_TENANT, TENANT_PATTERN, TenantId
from ..model.permissions import OF_ALL_TENANTS, ApiToken, Caller, Permission, TokenState
from ..model.secret import Secret
from ..store import Tx, api_tokens
from .session import Session

DEFAULT_LIFETIME = "90d"
"""A quarter: long enough to be no burden, short enough that renewing it stays a habit."""

_LONGEST_DAYS = 366
"""A year, leap years too: a token that nobody looks after ends some day."""

_PREFIX = "bca_"
"""Lets secret scanners and people know an API token when they see one."""

_TOKEN_BYTES = 32
_TOKEN = re.compile(r"bca_[A-Za-z0-9_-]{43}", re.ASCII)
"""The prefix and 32 bytes in URL-safe base64. What looks otherwise is refused without asking the database."""

_NAME = re.compile(r"(?!bca_|atk_)[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
"""Neither a token nor an id, so that what is to be revoked can be named by either."""

_LIFETIME = re.compile(r"([1-9][0-9]{0,5})([mhd])", re.ASCII)
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}

_BAD_TOKEN = "the API token is not valid: ask your platform's operators for a new one"  # noqa: S105 (no secret)
"""The one text for every bad token: unknown, expired and revoked look alike from outside."""


class TokenRefused(OperationError):
    """A token that opens nothing. Its text is for the caller, `reason` for our own log; neither holds the token."""

    def __init__(self, *, reason: str) -> None:
        """Keep the reason beside the public text."""
        super().__init__(Code.UNAUTHENTICATED, _BAD_TOKEN)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A new token: the only time that it is seen."""

    record: ApiToken
    token: Secret = field(repr=False)


def authenticate(session: Session, bearer: Secret) -> Caller:
    """Whose token this is. One indexed read, and no write.

    Raises:
        TokenRefused: UNAUTHENTICATED: it is unknown, expired or revoked.
    """
    if _TOKEN.fullmatch(bearer.reveal()) is None:
        raise TokenRefused(reason="not of an API token's form")
    with session.store.read() as tx:
        record = api_tokens.token_by_hash(tx, bearer.sha256())
        now = tx.now
    if record is None or not bearer.matches(record.token_hash):
        raise TokenRefused(reason="no such token")
    state = record.state(now)
    if state != TokenState.LIVE:
        raise TokenRefused(reason=f"token {record.id} ({record.name}) of tenant {record.tenant_id} is {state}")
    return Caller(token_id=record.id, name=record.name, tenant_id=record.tenant_id, permissions=record.permissions)


def issue(
    session: Session, *, name: str, tenant: str, permissions: Sequence[str], lifetime: str = DEFAULT_LIFETIME
) -> Issued:
    """Make a token. A process that dies before it has shown it leaves one that nobody has: revoke it, or let it expire.

    Arguments:
        name: up to 63 letters, digits, `.`, `_` and `-`; free again once its token is revoked or has expired.
        tenant: whose resources it acts on.
        permissions: at least one of `Permission`, as text.
        lifetime: a whole number of minutes, hours or days, such as `30d`; at most 366 days.

    Raises:
        InvalidInput: with everything that is wrong.
        OperationError: CONFLICT when the tenant has a live token of that name.
    """
    problems = [*_problems(name=name, tenant=tenant, permissions=permissions), *_lifetime_problems(lifetime)]
    if problems:
        raise InvalidInput(problems)
    token = Secret(_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES))
    with session.store.write() as tx:
        record = ApiToken(
            id=ids.new_api_token_id(tx.now),
            tenant_id=TenantId(tenant),
            name=name,
            permissions=frozenset(map(Permission, permissions)),
            token_hash=token.sha256(),
            issued_by=session.caller,
            created_at=tx.now,
            expires_at=tx.now + _duration(lifetime),
        )
        api_tokens.revoke_expired(tx, record.tenant_id, name)
        if not api_tokens.add_token(tx, record):
            raise OperationError(
                Code.CONFLICT,
                f"tenant {tenant} has a token named {name!r}: revoke that one first, or choose another name",
            )
    return Issued(record=record, token=token)


def list_tokens(session: Session, *, tenant: str | None = None) -> tuple[ApiToken, ...]:
    """Every token that was ever issued, also those that have ended: by tenant and name, the oldest of a name first."""
    with session.store.read() as tx:
        return _tokens(tx, tenant)


def revoke(session: Session, *, which: str, tenant: str | None = None) -> ApiToken:
    """Make a token open nothing from now on: a call that has been let in is still answered. Harmless to repeat.

    Arguments:
        which: the token's id, its name, or (one that leaked, say) the token itself.
        tenant: whose token it is; needed where tenants have tokens of one name.

    Returns:
        The token's record, as it is now.

    Raises:
        OperationError: NOT_FOUND; CONFLICT when several tenants have one of that name. The text never repeats a token.
    """
    with session.store.write() as tx:
        record = _named(tx, which=which, tenant=tenant)
        revoked = api_tokens.revoke_token(tx, record.id)
        return replace(record, revoked_at=tx.now) if revoked else record


def _tokens(tx: Tx, tenant: str | None) -> tuple[ApiToken, ...]:
    # Chosen here, since not every database takes any text. There are few: people issue them.
    return tuple(token for token in api_tokens.tokens(tx) if tenant is None or token.tenant_id == tenant)


def _named(tx: Tx, *, which: str, tenant: str | None) -> ApiToken:
    tokens = _tokens(tx, tenant)
    if which.startswith(_PREFIX):
        found = [token for token in tokens if Secret(which).matches(token.token_hash)]
        if not found:
            _not_found("such API token", tenant)
        return found[0]
    found = [token for token in tokens if token.id == which]
    namesakes = [token for token in tokens if token.name == which]
    # Without one that is left: the last one, so that a command which is repeated ends as well as the first time.
    found = found or [token for token in namesakes if token.revoked_at is None] or namesakes[-1:]
    if not found:
        _not_found(f"API token {which!r}", tenant)
    if len(found) > 1:
        owners = ", ".join(f"{token.tenant_id} ({token.id})" for token in found)
        raise OperationError(Code.CONFLICT, f"several tenants have a token named {which!r}: {owners}; name the tenant")
    return found[0]


def _not_found(what: str, tenant: str | None) -> NoReturn:
    place = "" if tenant is None else f" of tenant {tenant!r}"
    raise OperationError(Code.NOT_FOUND, f"there is no {what}{place}: `bc-fleetd token list` shows which there are")


def _problems(*, name: str, tenant: str, permissions: Sequence[str]) -> Iterator[Problem]:
    if _NAME.fullmatch(name) is None:
        yield Problem(
            path="name",
            message=(
                "expected up to 63 letters, digits, '.', '_' and '-', a letter or digit first, and neither a token "
                f"(bca_…) nor an id (atk_…){'' if name.startswith(_PREFIX) else f', found {name!r}'}"
            ),
        )
    if TENANT_PATTERN.fullmatch(tenant) is None:
        yield Problem(
            path="tenant", message=f"expected 1 to 128 letters, digits, '.', '_', ':' and '-', found {tenant!r}"
        )
    if not permissions:
        yield Problem(path="permission", message=f"expected at least one of {_known()}")
    for permission in permissions:
        if permission not in {*Permission}:
            yield Problem(path="permission", message=f"expected one of {_known()}, found {permission!r}")
        elif permission in OF_ALL_TENANTS and tenant != PLATFORM_TENANT:
            yield Problem(
                path="permission",
                message=f"{permission} tells of every tenant's pools: only a token of tenant {PLATFORM_TENANT} has it",
            )


def _lifetime_problems(lifetime: str) -> Iterator[Problem]:
    if _LIFETIME.fullmatch(lifetime) is None:
        yield Problem(
            path="lifetime",
            message=f"expected a whole number of minutes, hours or days, such as 30m, 12h or 30d, found {lifetime!r}",
        )
    elif _duration(lifetime) > timedelta(days=_LONGEST_DAYS):
        yield Problem(path="lifetime", message=f"expected at most {_LONGEST_DAYS}d, found {lifetime!r}")


def _duration(lifetime: str) -> timedelta:
    return int(lifetime[:-1]) * _UNITS[lifetime[-1]]


def _known() -> str:
    return ", ".join(Permission)
