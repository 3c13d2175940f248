# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Join tokens as hashes, and their uses: one row for each machine that joined, not a counter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ..model.ids import NodeId, PoolId, TokenId
from ..model.records import JoinToken
from .statements import among
from .tables import tables
from .transaction import Tx

if TYPE_CHECKING:
    from sqlalchemy import Row, Select


def live_tokens(tx: Tx, pool_id: PoolId) -> tuple[JoinToken, ...]:
    """The pool's tokens that are neither revoked nor expired, oldest first."""
    table = tables().join_tokens
    chosen = _tokens().where(table.c.pool_id == pool_id, table.c.revoked_at.is_(None), table.c.expires_at > tx.now)
    return tuple(_token(row) for row in tx.rows(chosen.order_by(table.c.created_at, table.c.id)))


def live_hashes(tx: Tx) -> frozenset[str]:
    """SHA-256 of every pool's tokens that are neither revoked nor expired."""
    from sqlalchemy import select

    table = tables().join_tokens
    chosen = select(table.c.token_hash).where(table.c.revoked_at.is_(None), table.c.expires_at > tx.now)
    return frozenset(row.token_hash for row in tx.rows(chosen))


def tokens_by_hashes(tx: Tx, token_hashes: Iterable[str]) -> dict[str, JoinToken]:
    """The tokens of these SHA-256s by them, live or not, out of one read. No token, no entry."""
    rows = tx.rows(_by_hashes(), {"of_hashes": sorted(set(token_hashes))})
    return {row.token_hash: _token(row) for row in rows}


def add_token(tx: Tx, token: JoinToken) -> None:
    """Record a token: its hash, never itself. `uses` is counted, not stored."""
    tx.insert(
        tables().join_tokens,
        id=token.id,
        pool_id=token.pool_id,
        token_hash=token.token_hash,
        max_uses=token.max_uses,
        created_at=token.created_at,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
    )


def set_max_uses(tx: Tx, token_id: TokenId, max_uses: int) -> None:
    """Let machines join with the token until this many have, with it and the pool's other live ones."""
    tx.change(tables().join_tokens, key={"id": token_id}, values={"max_uses": max_uses})


def revoke_token(tx: Tx, token_id: TokenId) -> bool:
    """No further machine joins with the token. Returns False when it was revoked before."""
    table = tables().join_tokens
    revoked = table.update().where(table.c.id == token_id, table.c.revoked_at.is_(None)).values(revoked_at=tx.now)
    return tx.execute(revoked).rowcount == 1


def lock_tokens(tx: Tx, token_ids: Iterable[TokenId]) -> dict[TokenId, JoinToken]:
    """These tokens as they are now, locked to the end of the transaction: of two machines only one gets the last use.

    Taken in one order, after work units and pools (fleet.lock_pools), so that nobody waits in a circle. Their uses are
    those of all their pool's tokens that are neither revoked nor expired: a token and the one that replaces it let no
    more machines in than one would.
    """
    rows = tx.rows(_locking(), {"of_tokens": sorted(set(token_ids))})
    # Counted by a statement of its own: one that waited for the lock would count what it saw before it.
    pools = {"of_pools": sorted({row.pool_id for row in rows}), "now": tx.now}
    spent = {row.pool_id: row.spent for row in tx.rows(_counting_uses(), pools)}
    return {TokenId(row.id): _token(row, uses=spent.get(row.pool_id, 0)) for row in rows}


def nodes_of_uses(tx: Tx, uses: Iterable[tuple[TokenId, str]]) -> dict[tuple[TokenId, str], NodeId]:
    """The node that each of these uses made, by token and nonce; none where the nonce is new."""
    wanted = set(uses)
    token_ids, nonces = (
        sorted({token_id for token_id, _nonce in wanted}),
        sorted({nonce for _token_id, nonce in wanted}),
    )
    rows = tx.rows(_used(), {"of_tokens": token_ids, "of_nonces": nonces})
    found = {(TokenId(row.token_id), str(row.nonce)): NodeId(row.node_id) for row in rows}
    return {use: node_id for use, node_id in found.items() if use in wanted}


def add_uses(tx: Tx, uses: Mapping[tuple[TokenId, str], NodeId]) -> None:
    """Spend uses: one for each machine's nonce. Whoever calls has the tokens locked and has counted.

    Raises:
        OperationError: CONFLICT when a nonce was used with its token before; the transaction can only be given up then.
    """
    rows = [
        {"token_id": token_id, "nonce": nonce, "node_id": node_id, "at": tx.now}
        for (token_id, nonce), node_id in uses.items()
    ]
    tx.insert_all(tables().token_uses, rows)


@cache
def _by_hashes() -> Select[Any]:
    return _tokens().where(among(tables().join_tokens.c.token_hash, "of_hashes"))


@cache
def _locking() -> Select[Any]:
    tokens = tables().join_tokens
    chosen = tokens.select().where(among(tokens.c.id, "of_tokens"))
    return chosen.order_by(tokens.c.id).with_for_update()


@cache
def _counting_uses() -> Select[Any]:
    from sqlalchemy import bindparam, func, select

    tokens, uses = tables().join_tokens, tables().token_uses
    live = (tokens.c.revoked_at.is_(None), tokens.c.expires_at > bindparam("now", type_=tokens.c.expires_at.type))
    joined = uses.join(tokens, uses.c.token_id == tokens.c.id)
    spent = select(tokens.c.pool_id, func.count().label("spent")).select_from(joined)
    return spent.where(among(tokens.c.pool_id, "of_pools"), *live).group_by(tokens.c.pool_id)


@cache
def _used() -> Select[Any]:
    uses = tables().token_uses
    return uses.select().where(
        among(uses.c.token_id, "of_tokens"),
        among(uses.c.nonce, "of_nonces"),
    )


def move_use(tx: Tx, token_id: TokenId, nonce: str, node_id: NodeId) -> None:
    """The use that was spent with this nonce has made another node: the first one is retired."""
    tx.change(tables().token_uses, key={"token_id": token_id, "nonce": nonce}, values={"node_id": node_id})


def _tokens() -> Select[Any]:
    from sqlalchemy import func, select

    tokens, uses = tables().join_tokens, tables().token_uses
    spent = select(func.count()).select_from(uses).where(uses.c.token_id == tokens.c.id).scalar_subquery()
    return select(tokens, spent.label("uses"))


def _token(row: Row[Any], *, uses: int | None = None) -> JoinToken:
    return JoinToken(
        id=TokenId(row.id),
        pool_id=PoolId(row.pool_id),
        token_hash=row.token_hash,
        max_uses=row.max_uses,
        uses=row.uses if uses is None else uses,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
    )
