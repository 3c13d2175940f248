# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Join tokens as hashes, and their uses: one row for each machine that joined, not a counter."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..model.errors import Code, OperationError
from ..model.ids import NodeId, PoolId, TokenId
from ..model.records import JoinToken
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


def token_by_hash(tx: Tx, token_hash: str) -> JoinToken | None:
    """The token of this SHA-256, live or not."""
    row = tx.row(_by_hash(), {"of_hash": token_hash})
    return None if row is None else _token(row)


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
    """Let this many machines join with the token, those that did included."""
    tx.change(tables().join_tokens, key={"id": token_id}, values={"max_uses": max_uses})


def revoke_token(tx: Tx, token_id: TokenId) -> bool:
    """No further machine joins with the token. Returns False when it was revoked before."""
    table = tables().join_tokens
    revoked = table.update().where(table.c.id == token_id, table.c.revoked_at.is_(None)).values(revoked_at=tx.now)
    return tx.execute(revoked).rowcount == 1


def use_token(tx: Tx, token_id: TokenId, nonce: str, node_id: NodeId) -> NodeId:
    """Spend one use of the token on a machine.

    The token's row is locked to the end of the transaction: of two machines only one gets the last use.

    Arguments:
        nonce: what the machine chose for its join and repeats when the answer was lost.
        node_id: the node to be made, if this is a new machine.

    Returns:
        `node_id`, or the node that the same nonce made the first time: that costs no second use, whatever became of the
        token since.

    Raises:
        OperationError: FORBIDDEN when the token is unknown, revoked, expired or used up.
    """
    uses = tables().token_uses
    token = tx.row(_locking(), {"a_token": token_id})
    if token is None:
        raise OperationError(Code.FORBIDDEN, f"there is no join token {token_id}")
    made = tx.find(uses, key={"token_id": token_id, "nonce": nonce})
    if made is not None:
        return NodeId(made.node_id)
    if token.revoked_at is not None or token.expires_at <= tx.now:
        raise OperationError(Code.FORBIDDEN, f"join token {token_id} is no longer valid")
    spent = tx.execute(_counting_uses(), {"a_token": token_id}).scalar_one()
    if spent >= token.max_uses:
        raise OperationError(Code.FORBIDDEN, f"join token {token_id} has no use left of {token.max_uses}")
    tx.insert(uses, token_id=token_id, nonce=nonce, node_id=node_id, at=tx.now)
    return node_id


@cache
def _by_hash() -> Select[Any]:
    from sqlalchemy import bindparam

    return _tokens().where(tables().join_tokens.c.token_hash == bindparam("of_hash"))


@cache
def _locking() -> Select[Any]:
    from sqlalchemy import bindparam

    tokens = tables().join_tokens
    return tokens.select().where(tokens.c.id == bindparam("a_token")).with_for_update()


@cache
def _counting_uses() -> Select[Any]:
    from sqlalchemy import bindparam, func, select

    uses = tables().token_uses
    return select(func.count()).select_from(uses).where(uses.c.token_id == bindparam("a_token"))


def move_use(tx: Tx, token_id: TokenId, nonce: str, node_id: NodeId) -> None:
    """The use that was spent with this nonce has made another node: the first one is retired."""
    tx.change(tables().token_uses, key={"token_id": token_id, "nonce": nonce}, values={"node_id": node_id})


def _tokens() -> Select[Any]:
    from sqlalchemy import func, select

    tokens, uses = tables().join_tokens, tables().token_uses
    spent = select(func.count()).select_from(uses).where(uses.c.token_id == tokens.c.id).scalar_subquery()
    return select(tokens, spent.label("uses"))


def _token(row: Row[Any]) -> JoinToken:
    return JoinToken(
        id=TokenId(row.id),
        pool_id=PoolId(row.pool_id),
        token_hash=row.token_hash,
        max_uses=row.max_uses,
        uses=row.uses,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
    )
