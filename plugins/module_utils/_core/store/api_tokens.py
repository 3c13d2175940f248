# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""API tokens as hashes. A name is free again once its token is revoked, which a unique index sees to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.ids import ApiTokenId, TenantId
from ..model.permissions import ApiToken, Permission
from .tables import tables
from .transaction import Tx

if TYPE_CHECKING:
    from sqlalchemy import Row


def add_token(tx: Tx, token: ApiToken) -> bool:
    """Record a token: its hash, never itself. Returns False when the tenant's token of that name is not revoked."""
    return tx.insert_once(
        tables().api_tokens,
        id=token.id,
        tenant_id=token.tenant_id,
        name=token.name,
        permissions=sorted(token.permissions),
        token_hash=token.token_hash,
        issued_by=token.issued_by,
        created_at=token.created_at,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
    )


def token_by_hash(tx: Tx, token_hash: str) -> ApiToken | None:
    """The token of this SHA-256, live or not."""
    row = tx.find(tables().api_tokens, key={"token_hash": token_hash})
    return None if row is None else _token(row)


def tokens(tx: Tx) -> tuple[ApiToken, ...]:
    """Every token that was ever issued: by tenant and name, the oldest of a name first."""
    table = tables().api_tokens
    rows = tx.rows(table.select().order_by(table.c.tenant_id, table.c.name, table.c.created_at, table.c.id))
    return tuple(_token(row) for row in rows)


def revoke_token(tx: Tx, token_id: ApiTokenId) -> bool:
    """The token opens nothing from now on. Returns False when it was revoked before."""
    table = tables().api_tokens
    revoked = table.update().where(table.c.id == token_id, table.c.revoked_at.is_(None)).values(revoked_at=tx.now)
    return tx.execute(revoked).rowcount == 1


def revoke_expired(tx: Tx, tenant_id: TenantId, name: str) -> None:
    """Free a name whose token has expired."""
    table = tables().api_tokens
    named = (table.c.tenant_id == tenant_id, table.c.name == name, table.c.revoked_at.is_(None))
    tx.execute(table.update().where(*named, table.c.expires_at <= tx.now).values(revoked_at=tx.now))


def _token(row: Row[Any]) -> ApiToken:
    return ApiToken(
        id=ApiTokenId(row.id),
        tenant_id=TenantId(row.tenant_id),
        name=row.name,
        # One that a later version granted, and this one does not know, opens nothing here.
        permissions=frozenset(permission for permission in Permission if permission in row.permissions),
        token_hash=row.token_hash,
        issued_by=row.issued_by,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
    )
