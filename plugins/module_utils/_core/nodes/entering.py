# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a join, decided from what the store knows of the machine: pure, and the same whoever else joins.

joining.py reads what stands here, and writes what is decided.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NoReturn

from ..model import ids
from ..model.errors import Code, OperationError
from ..model.ids import NodeId
from ..model.liveness import Listening, Liveness, liveness
from ..model.records import Device, JoinToken, PoolNode, PoolRecord
from ..model.secret import Secret
from ..model.states import Intent, NodeState

_BAD_TOKEN = "the join token is not valid: bcd reads the mounted token again and retries"  # noqa: S105 (no secret)
"""The one text for every bad token: unknown, expired, revoked and used up look alike from outside."""


class Refusal(StrEnum):
    """Why a join is refused, in one word: for counting."""

    UNKNOWN_TOKEN = "unknown_token"  # noqa: S105 (no secret)
    REVOKED_TOKEN = "revoked_token"  # noqa: S105 (no secret)
    EXPIRED_TOKEN = "expired_token"  # noqa: S105 (no secret)
    USED_UP_TOKEN = "used_up_token"  # noqa: S105 (no secret)
    TEARING_DOWN = "tearing_down"
    OTHER_POOL = "other_pool"
    OTHER_IDENTITY = "other_identity"
    STILL_CONNECTED = "still_connected"


class JoinRefused(OperationError):
    """A join that is refused. Its text is for whoever asked; `reason` is for our own log. Neither holds a token."""

    def __init__(self, code: Code, message: str, *, why: Refusal, reason: str) -> None:
        """Keep the reason beside the public text."""
        super().__init__(code, message)
        self.why = why
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest:
    """What bcd sends.

    Attributes:
        nonce: names one join, however often it is sent; bcd keeps it with the identity before it calls.
        identity: 256 random bits that bcd made itself, so a lost reply loses nothing. Only its hash is stored.
        reported_node_name: `spec.nodeName` of bcd's pod; None from a bcd that does not know it.
        devices: the machine's GPUs.
    """

    token: Secret = field(repr=False)
    nonce: str
    identity: Secret = field(repr=False)
    hostname: str
    reported_node_name: str | None
    devices: tuple[Device, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the store knows of what a machine shows, locked to the end of the transaction.

    Attributes:
        token: the join token, with the uses of all the pool's live ones.
        pool: the token's.
        by_identity: the node that shows this identity.
        named: the pool's nodes of the machine's name that are not retired.
        use: the node that the same token and nonce made before, which may be retired, or gone from the records.
        listening: the gateways' mark.
    """

    token: JoinToken
    pool: PoolRecord | None
    by_identity: PoolNode | None
    named: tuple[PoolNode, ...]
    use: tuple[NodeId, PoolNode | None] | None
    listening: Listening | None


class Use(StrEnum):
    """What an entry costs."""

    NEW = "new"
    NONE = "none"
    MOVED = "moved"
    """The use that the machine paid with before it was given up: it is its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """How a machine enters its pool.

    Attributes:
        node: as it is recorded from now on.
        before: the node that it was and is again, under another identity; None for a new one.
    """

    node: PoolNode
    before: PoolNode | None
    use: Use


def entry(request: JoinRequest, known: Known, *, now: datetime) -> Entry | PoolNode:
    """Decide.

    - An identity that the pool knows is that node: a repeated join costs no use, even when its token has ended since.
    - A machine that was here before (same Node name and a GPU in common) and lost its identity keeps its node, match
      and bookings under the new identity; but only once its old bcd is disconnected.
    - The same Node name with other GPUs is another machine and becomes a node of its own: matching.py retires the old
      one, so that what was booked on it ends.
    - A repetition by a machine that was retired since makes it a node of its own at the cost of the first use.

    Returns:
        How it enters; or the node that it is already: whoever shows the identity is the node.

    Raises:
        JoinRefused: see joining.join.
    """
    if known.by_identity is not None:
        _must_be_of_the_pool(known.by_identity, known.token)
        return known.by_identity
    _must_be_live(known.token, now=now)
    _must_take_nodes(known)
    before = _same_machine(known.named, request)
    if before is not None:
        _must_be_disconnected(before, listening=known.listening, now=now)
    node_id = before.id if before is not None else ids.new_node_id(now)
    use = _use(known, node_id)
    node = PoolNode(
        id=node_id,
        pool_id=known.token.pool_id,
        state=NodeState.JOINED,
        hostname=request.hostname,
        reported_node_name=request.reported_node_name,
        identity_hash=request.identity.sha256(),
        devices=request.devices,
        joined_at=now,
        last_seen_at=now,
    )
    return Entry(node=node, before=before, use=use)


def refuse_unknown_token() -> JoinRefused:
    """The refusal of a token that is none."""
    return JoinRefused(Code.UNAUTHENTICATED, _BAD_TOKEN, why=Refusal.UNKNOWN_TOKEN, reason="no such token")


def _must_be_of_the_pool(node: PoolNode, token: JoinToken) -> None:
    if node.pool_id != token.pool_id:
        raise JoinRefused(
            Code.CONFLICT,
            "this identity is a node's of another pool: clear bcd's state folder on the machine",
            why=Refusal.OTHER_POOL,
            reason=f"identity of {node.id} in pool {node.pool_id} shown with a token of pool {token.pool_id}",
        )


def _must_be_live(token: JoinToken, *, now: datetime) -> None:
    if token.revoked_at is not None:
        _refuse_token(
            Refusal.REVOKED_TOKEN,
            f"token {token.id} of pool {token.pool_id} was revoked at {token.revoked_at:%Y-%m-%d %H:%M:%S} UTC",
        )
    if token.expires_at <= now:
        _refuse_token(
            Refusal.EXPIRED_TOKEN,
            f"token {token.id} of pool {token.pool_id} expired at {token.expires_at:%Y-%m-%d %H:%M:%S} UTC",
        )


def _must_take_nodes(known: Known) -> None:
    pool = known.pool
    if pool is None or pool.archived_at is not None or pool.intent != Intent.RUN:
        raise JoinRefused(
            Code.FORBIDDEN,
            "the pool takes no more nodes: it is being torn down",
            why=Refusal.TEARING_DOWN,
            reason=f"pool {known.token.pool_id} is archived or being torn down",
        )


def _use(known: Known, node_id: NodeId) -> Use:
    token = known.token
    if known.use is None:
        if token.uses >= token.max_uses:
            used_up = f"token {token.id} of pool {token.pool_id} is used up ({token.max_uses} uses)"
            _refuse_token(Refusal.USED_UP_TOKEN, used_up)
        return Use.NEW
    entered, made = known.use
    if entered == node_id:
        return Use.NONE
    if made is None or made.state != NodeState.RETIRED:
        raise JoinRefused(
            Code.CONFLICT,
            "this nonce was used with another identity: clear bcd's state folder on the machine",
            why=Refusal.OTHER_IDENTITY,
            reason=f"nonce of {entered} shown again with another identity, token {token.id}",
        )
    return Use.MOVED


def _same_machine(nodes: tuple[PoolNode, ...], request: JoinRequest) -> PoolNode | None:
    """The node that this machine was before it lost its identity; the latest, should there be several.

    Arguments:
        nodes: the pool's of the machine's name.

    GPUs carry ids of their own, so a machine that has one in common with a node of the same name is that machine, and
    one that has none is another that got its name. Without GPUs nothing can be booked, and the name alone decides.
    """
    shown = {device.id for device in request.devices}
    same = [node for node in nodes if {device.id for device in node.devices} & shown or not (node.devices or shown)]
    return max(same, key=lambda node: (node.joined_at, node.id), default=None)


def _must_be_disconnected(node: PoolNode, *, listening: Listening | None, now: datetime) -> None:
    """Nobody takes over from a bcd that is, or may still be, connected: that could only be an impostor or a copy."""
    if liveness(node.last_seen_at, listening=listening, now=now) != Liveness.DISCONNECTED:
        raise JoinRefused(
            Code.CONFLICT,
            "a bcd of this machine is connected: it can join anew once that one has been silent for half a minute",
            why=Refusal.STILL_CONNECTED,
            reason=f"{node.id} is not disconnected, yet a second identity asks for it",
        )


def _refuse_token(why: Refusal, reason: str) -> NoReturn:
    raise JoinRefused(Code.UNAUTHENTICATED, _BAD_TOKEN, why=why, reason=reason)
