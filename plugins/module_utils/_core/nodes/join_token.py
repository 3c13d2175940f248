# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pool's join token: when it is minted, resized, replaced and revoked. The decision is pure, the act is rows only.

The token itself exists only in the cluster's Secret, and for as long as the pass holds it between the two writes. The
row comes first, so a token in the Secret is always one that works; and each pass compares the Secret with the rows, so
a crash between the two heals: a Secret that fits no live row is written anew, a row that fits no Secret is revoked.
Reading and writing the Secret is the pass's business (cluster/).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..model import ids
from ..model.ids import PoolId, TokenId
from ..model.records import JoinToken
from ..model.secret import Secret
from ..store import Tx, join_tokens
from .matching import Matching

LIFETIME = timedelta(hours=1)
"""Long enough for a slow machine to boot, pull the image and retry; short enough that a leaked one is soon no use."""

REPLACE_BEFORE = timedelta(minutes=20)
"""A token with less left than this is replaced: by a pass every 5 minutes that may miss two, and still the kubelet's 2
minutes before the end, so that bcd never reads a token that has ended."""

RELOAD = timedelta(minutes=3)
"""How long a replaced token stays valid: the kubelet brings a changed Secret to a mounted volume within about two
minutes (its sync period of a minute and its cache of another), and bcd reads it at its next try."""

_TOKEN_BYTES = 32
_PREFIX = "bcj_"
"""Lets secret scanners and people know a join token when they see one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPlan:
    """What is to be done about the pool's tokens. Rows by :func:`carry_out`; then the Secret, by whoever called it.

    Attributes:
        mint: `max_uses` of a new token, which is then to be written to the Secret; None for no new one.
        resize: tokens that are kept, and the `max_uses` that each is to have.
        revoke: tokens to revoke.
        delete_secret: whether the Secret is to be deleted, after the rows.
    """

    mint: int | None = None
    resize: tuple[tuple[TokenId, int], ...] = ()
    revoke: tuple[TokenId, ...] = ()
    delete_secret: bool = False

    @property
    def changes_rows(self) -> bool:
        """Whether there is anything for :func:`carry_out` to write."""
        return self.mint is not None or bool(self.resize or self.revoke)


KEEP = TokenPlan()
"""Leave everything as it is."""


def plan_token(live: Sequence[JoinToken], *, secret_hash: str | None, matching: Matching, now: datetime) -> TokenPlan:
    """What to do about the tokens of a pool that runs.

    A token exists only while some listed Node never joined, with one use left for each listed Node without a connected
    bcd. One that was just replaced shares them with the new one: whichever a bcd shows, its use is there. An unknown
    list leaves all as it is, and so does one that nobody believes before another confirms it.

    Arguments:
        live: the pool's tokens that are neither revoked nor expired, with their uses when `matching` was made.
        secret_hash: SHA-256 (lower-case hex) of what the cluster's Secret holds; None when there is no Secret.
    """
    if not matching.known or matching.to_confirm:
        return KEEP
    if not matching.waiting:
        return withdraw_tokens(live, secret_hash=secret_hash)
    current = next((token for token in live if token.token_hash == secret_hash), None)
    if current is None:
        return TokenPlan(mint=matching.unconnected, revoke=tuple(token.id for token in live))
    # One from before the Secret's may still be in bcd's hands for a while.
    kept = [current] if now - current.created_at >= RELOAD else live
    uses = sum(token.uses for token in kept) + matching.unconnected
    return TokenPlan(
        mint=uses if current.expires_at - now <= REPLACE_BEFORE else None,
        resize=tuple((token.id, uses) for token in kept if token.max_uses != uses),
        revoke=tuple(token.id for token in live if token not in kept),
    )


def withdraw_tokens(live: Sequence[JoinToken], *, secret_hash: str | None) -> TokenPlan:
    """Revoke every token and delete the Secret: all have joined, or the pool is being torn down."""
    return TokenPlan(revoke=tuple(token.id for token in live), delete_secret=secret_hash is not None)


def carry_out(tx: Tx, plan: TokenPlan, *, pool_id: PoolId) -> Secret | None:
    """Do the plan's part in the store.

    Returns:
        The new token, which the caller writes to the Secret once this transaction is committed; None without one.
    """
    for token_id in plan.revoke:
        join_tokens.revoke_token(tx, token_id)
    for token_id, uses in plan.resize:
        join_tokens.set_max_uses(tx, token_id, uses)
    if plan.mint is None:
        return None
    token = Secret(_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES))
    join_tokens.add_token(
        tx,
        JoinToken(
            id=ids.new_token_id(tx.now),
            pool_id=pool_id,
            token_hash=token.sha256(),
            max_uses=plan.mint,
            uses=0,
            created_at=tx.now,
            expires_at=tx.now + LIFETIME,
        ),
    )
    return token
