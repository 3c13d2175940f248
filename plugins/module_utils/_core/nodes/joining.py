# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine's bcd joins its pool: what the gateway calls. One transaction, harmless to repeat, refuses without telling.

Limits: the shape of the request is the gateway's to check (wire/); minting tokens is join_token.py's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

from ..model import ids
from ..model.errors import Code, OperationError
from ..model.ids import NodeId, PoolId
from ..model.liveness import Liveness, liveness
from ..model.records import Device, JoinToken, PoolNode
from ..model.secret import Secret
from ..model.states import Intent, NodeState
from ..store import Store, Tx, fleet, gateways, join_tokens, pool_nodes, work
from .naming import expected_node_name

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
class Joined:
    """The answer to a join: the same one for each repetition of it."""

    node_id: NodeId
    pool_id: PoolId


def join(store: Store, request: JoinRequest) -> Joined:
    """Take a machine into the token's pool, and make the pool due now.

    - An identity that the pool knows is that node: a repeated join costs no use, even when its token has ended since.
    - A machine that was here before (same Node name and a GPU in common) and lost its identity keeps its node, match
      and bookings under the new identity; but only once its old bcd is disconnected.
    - The same Node name with other GPUs is another machine and becomes a node of its own: matching.py retires the old
      one, so that what was booked on it ends.
    - A repetition by a machine that was retired since makes it a node of its own at the cost of the first use.

    Returns:
        The node that this machine is.

    Raises:
        JoinRefused: UNAUTHENTICATED for a token that is unknown, expired, revoked or used up; FORBIDDEN when the pool
            is being torn down; CONFLICT when a bcd of this machine is still connected, or the nonce or identity is
            another node's.
    """
    with store.write() as tx:
        token = _recognised(tx, request)
        work.make_due(tx, token.pool_id, tx.now)  # first: whoever locks the work unit locks it before all other rows
        known = pool_nodes.node_by_identity(tx, request.identity.sha256())
        if known is not None:
            return _again(tx, token, known, request)
        _must_be_live(tx, token)
        _must_take_nodes(tx, token.pool_id)
        return Joined(node_id=_enter(tx, token, request), pool_id=token.pool_id)


def _recognised(tx: Tx, request: JoinRequest) -> JoinToken:
    token = join_tokens.token_by_hash(tx, request.token.sha256())
    if token is None or not request.token.matches(token.token_hash):
        _refuse_token(Refusal.UNKNOWN_TOKEN, "no such token")
    return token


def _must_be_live(tx: Tx, token: JoinToken) -> None:
    if token.revoked_at is not None:
        _refuse_token(
            Refusal.REVOKED_TOKEN,
            f"token {token.id} of pool {token.pool_id} was revoked at {token.revoked_at:%Y-%m-%d %H:%M:%S} UTC",
        )
    if token.expires_at <= tx.now:
        _refuse_token(
            Refusal.EXPIRED_TOKEN,
            f"token {token.id} of pool {token.pool_id} expired at {token.expires_at:%Y-%m-%d %H:%M:%S} UTC",
        )


def _must_take_nodes(tx: Tx, pool_id: PoolId) -> None:
    pool = fleet.lock_pool(tx, pool_id)
    if pool is None or pool.archived_at is not None or pool.intent != Intent.RUN:
        raise JoinRefused(
            Code.FORBIDDEN,
            "the pool takes no more nodes: it is being torn down",
            why=Refusal.TEARING_DOWN,
            reason=f"pool {pool_id} is archived or being torn down",
        )


def _again(tx: Tx, token: JoinToken, known: PoolNode, request: JoinRequest) -> Joined:
    """The answer to a machine that has joined already: whoever shows the identity is the node."""
    if known.pool_id != token.pool_id:
        raise JoinRefused(
            Code.CONFLICT,
            "this identity is a node's of another pool: clear bcd's state folder on the machine",
            why=Refusal.OTHER_POOL,
            reason=f"identity of {known.id} in pool {known.pool_id} shown with a token of pool {token.pool_id}",
        )
    report_inventory(
        tx,
        known,
        hostname=request.hostname,
        reported_node_name=request.reported_node_name,
        devices=request.devices,
    )
    return Joined(node_id=known.id, pool_id=known.pool_id)


def _enter(tx: Tx, token: JoinToken, request: JoinRequest) -> NodeId:
    name = expected_node_name(request.reported_node_name, request.hostname)
    before = _same_machine(pool_nodes.nodes_named(tx, token.pool_id, name), request)
    if before is not None:
        _must_be_disconnected(tx, before)
    node_id = before.id if before is not None else ids.new_node_id(tx.now)
    _use(tx, token, request, node_id)
    if before is not None:
        pool_nodes.replace_identity(
            tx,
            node_id,
            identity_hash=request.identity.sha256(),
            hostname=request.hostname,
            reported_node_name=request.reported_node_name,
            devices=request.devices,
            at=tx.now,
        )
        if before.state == NodeState.MATCHED:
            # Its Node may be another one by now: it takes no more bookings before a list has told.
            pool_nodes.set_node_state(tx, node_id, NodeState.JOINED)
        return node_id
    pool_nodes.add_node(
        tx,
        PoolNode(
            id=node_id,
            pool_id=token.pool_id,
            state=NodeState.JOINED,
            hostname=request.hostname,
            reported_node_name=request.reported_node_name,
            identity_hash=request.identity.sha256(),
            devices=request.devices,
            joined_at=tx.now,
            last_seen_at=tx.now,
        ),
    )
    return node_id


def _use(tx: Tx, token: JoinToken, request: JoinRequest, node_id: NodeId) -> None:
    try:
        entered = join_tokens.use_token(tx, token.id, request.nonce, node_id)
    except OperationError as error:
        if error.code == Code.FORBIDDEN:
            used_up = f"token {token.id} of pool {token.pool_id} is used up ({token.max_uses} uses)"
            _refuse_token(Refusal.USED_UP_TOKEN, used_up)
        raise
    if entered == node_id:
        return
    made = pool_nodes.node(tx, entered)
    if made is None or made.state != NodeState.RETIRED:
        raise JoinRefused(
            Code.CONFLICT,
            "this nonce was used with another identity: clear bcd's state folder on the machine",
            why=Refusal.OTHER_IDENTITY,
            reason=f"nonce of {entered} shown again with another identity, token {token.id}",
        )
    # The machine never heard that it was let in, and was given up meanwhile: the use that it paid with is its own.
    join_tokens.move_use(tx, token.id, request.nonce, node_id)


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


def _must_be_disconnected(tx: Tx, node: PoolNode) -> None:
    """Nobody takes over from a bcd that is, or may still be, connected: that could only be an impostor or a copy."""
    if liveness(node.last_seen_at, listening=gateways.listening(tx), now=tx.now) != Liveness.DISCONNECTED:
        raise JoinRefused(
            Code.CONFLICT,
            "a bcd of this machine is connected: it can join anew once that one has been silent for half a minute",
            why=Refusal.STILL_CONNECTED,
            reason=f"{node.id} is not disconnected, yet a second identity asks for it",
        )


def report_inventory(
    tx: Tx, node: PoolNode, *, hostname: str, reported_node_name: str | None, devices: tuple[Device, ...]
) -> bool:
    """Record what a node's bcd says of its machine, if it says something new. Returns whether it did."""
    if (node.hostname, node.reported_node_name, node.devices) == (hostname, reported_node_name, devices):
        return False
    pool_nodes.set_inventory(tx, node.id, hostname=hostname, reported_node_name=reported_node_name, devices=devices)
    return True


def take_inventory(
    store: Store, node_id: NodeId, *, reported_node_name: str | None, devices: tuple[Device, ...]
) -> None:
    """Record what a joined node's bcd says of its machine with a heartbeat; nothing is written when it is known."""
    with store.read() as tx:
        node = pool_nodes.node(tx, node_id)
    if node is None or (node.reported_node_name, node.devices) == (reported_node_name, devices):
        return
    with store.write() as tx:
        report_inventory(tx, node, hostname=node.hostname, reported_node_name=reported_node_name, devices=devices)


def _refuse_token(why: Refusal, reason: str) -> NoReturn:
    raise JoinRefused(Code.UNAUTHENTICATED, _BAD_TOKEN, why=why, reason=reason)
