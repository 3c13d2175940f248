# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines' bcds join their pools: what the gateway calls. Harmless to repeat, refuses without telling.

All who join within a moment are one transaction of a dozen statements: each is decided for itself (entering.py), as if
it had come alone. Limits: the shape of a request is the gateway's to check (wire/); minting tokens is join_token.py's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..model.errors import OperationError, StoreUnavailable
from ..model.ids import NodeId, PoolId, TokenId
from ..model.records import Device, JoinToken, PoolNode
from ..model.states import NodeState
from ..store import Store, Tx, fleet, gateways, join_tokens, pool_nodes, work
from .entering import Entry, JoinRefused, JoinRequest, Known, Refusal, Use, entry, refuse_unknown_token
from .naming import expected_node_name

__all__ = ["JoinRefused", "JoinRequest", "Joined", "Outcome", "Refusal", "join", "join_all", "take_inventory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The answer to a join: the same one for each repetition of it."""

    node_id: NodeId
    pool_id: PoolId


Outcome: TypeAlias = "Joined | OperationError | StoreUnavailable"
"""Of one join."""


def join(store: Store, request: JoinRequest) -> Joined:
    """Take a machine into the token's pool, and make the pool due now. What becomes of it: entering.entry.

    Returns:
        The node that this machine is.

    Raises:
        JoinRefused: UNAUTHENTICATED for a token that is unknown, expired, revoked or used up; FORBIDDEN when the pool
            is being torn down; CONFLICT when a bcd of this machine is still connected, or the nonce or identity is
            another node's.
        OperationError: CONFLICT when another transaction has just taken the nonce or identity.
        StoreUnavailable: the database cannot be reached.
    """
    [outcome] = join_all(store, (request,))
    if isinstance(outcome, Joined):
        return outcome
    raise outcome


def join_all(store: Store, requests: Sequence[JoinRequest]) -> list[Outcome]:
    """As :func:`join`, for all who ask at one moment: what becomes of each, in order.

    Those that ask for the same (a nonce, an identity, a name) are taken one after the other.
    """
    outcomes: dict[int, Outcome] = {}
    for together in _apart(requests):
        outcomes |= _join_together(store, {number: requests[number] for number in together})
    return [outcomes[number] for number in range(len(requests))]


def _apart(requests: Sequence[JoinRequest]) -> Iterator[list[int]]:
    """Requests by number, in groups within which no two ask for the same; those that do stay in order."""
    waiting = list(range(len(requests)))
    while waiting:
        asked: set[tuple[str, str]] = set()
        group: list[int] = []
        later: list[int] = []
        for number in waiting:
            one = requests[number]
            name = expected_node_name(one.reported_node_name, one.hostname)
            wanted = {("nonce", one.nonce), ("identity", one.identity.sha256()), ("name", name)}
            (later if asked & wanted else group).append(number)
            asked |= wanted
        yield group
        waiting = later


def _join_together(store: Store, requests: dict[int, JoinRequest]) -> dict[int, Outcome]:
    try:
        with store.write() as tx:
            return _joined(tx, requests)
    except StoreUnavailable as error:
        return dict.fromkeys(requests, error)
    except OperationError as error:
        if len(requests) == 1:
            return dict.fromkeys(requests, error)
    # Another gateway's transaction stands against one of them, and nothing was written for any: each for itself.
    outcomes: dict[int, Outcome] = {}
    for number, request in requests.items():
        outcomes |= _join_together(store, {number: request})
    return outcomes


def _joined(tx: Tx, requests: dict[int, JoinRequest]) -> dict[int, Outcome]:
    outcomes: dict[int, Outcome] = {}
    entries: dict[int, Entry] = {}
    due: set[PoolId] = set()
    tokens = _recognised(tx, requests)
    known = _known(tx, {number: (requests[number], token) for number, token in tokens.items()})
    spent: Counter[PoolId] = Counter()
    for number, request in requests.items():
        if number not in known:
            outcomes[number] = refuse_unknown_token()
            continue
        shown = known[number]
        token = replace(shown.token, uses=shown.token.uses + spent[shown.token.pool_id])
        try:
            entering = entry(request, replace(shown, token=token), now=tx.now)
        except JoinRefused as refused:
            outcomes[number] = refused
            continue
        due.add(token.pool_id)
        if isinstance(entering, Entry):
            entries[number] = entering
            spent[token.pool_id] += entering.use == Use.NEW
            outcomes[number] = Joined(node_id=entering.node.id, pool_id=token.pool_id)
        else:
            _report(tx, entering, request)
            outcomes[number] = Joined(node_id=entering.id, pool_id=token.pool_id)
    _enter(tx, [(tokens[number], requests[number], entering) for number, entering in entries.items()])
    work.make_all_due(tx, due, tx.now)
    return outcomes


def _recognised(tx: Tx, requests: dict[int, JoinRequest]) -> dict[int, JoinToken]:
    """The tokens that are some; nothing is locked yet."""
    found = join_tokens.tokens_by_hashes(tx, (one.token.sha256() for one in requests.values()))
    tokens = {number: found.get(one.token.sha256()) for number, one in requests.items()}
    return {
        number: token
        for number, token in tokens.items()
        if token is not None and requests[number].token.matches(token.token_hash)
    }


def _known(tx: Tx, shown: dict[int, tuple[JoinRequest, JoinToken]]) -> dict[int, Known]:
    """What is known of each, read once for all; locked in the order that all of the store's writers keep."""
    if not shown:
        return {}
    names = {
        number: (token.pool_id, expected_node_name(request.reported_node_name, request.hostname))
        for number, (request, token) in shown.items()
    }
    work.lock_units(tx, {token.pool_id for _request, token in shown.values()})
    pools = fleet.lock_pools(tx, {token.pool_id for _request, token in shown.values()})
    tokens = join_tokens.lock_tokens(tx, {token.id for _request, token in shown.values()})
    identities = {one.identity.sha256() for one, _token in shown.values()}
    by_identity, named = pool_nodes.nodes_by_identities(tx, identities), pool_nodes.nodes_named(tx, names.values())
    if by_identity or named:
        standing = [*by_identity.values(), *(node for nodes in named.values() for node in nodes)]
        pool_nodes.lock_nodes(tx, (node.id for node in standing))
        # Read again: a bcd may have been heard meanwhile, and nobody takes over from one that is connected.
        by_identity, named = pool_nodes.nodes_by_identities(tx, identities), pool_nodes.nodes_named(tx, names.values())
    uses = join_tokens.nodes_of_uses(tx, ((token.id, request.nonce) for request, token in shown.values()))
    made = {node_id: pool_nodes.node(tx, node_id) for node_id in set(uses.values())}
    listening = gateways.listening(tx) if named else None
    found: dict[int, Known] = {}
    for number, (request, token) in shown.items():
        if token.id not in tokens:
            continue
        use = uses.get((token.id, request.nonce))
        found[number] = Known(
            token=tokens[token.id],
            pool=pools.get(token.pool_id),
            by_identity=by_identity.get(request.identity.sha256()),
            named=tuple(named.get(names[number], ())),
            use=None if use is None else (use, made[use]),
            listening=listening,
        )
    return found


def _enter(tx: Tx, entries: Iterable[tuple[JoinToken, JoinRequest, Entry]]) -> None:
    """Write who enters."""
    uses: dict[tuple[TokenId, str], NodeId] = {}
    new: list[PoolNode] = []
    for token, request, entering in entries:
        node = entering.node
        if entering.use == Use.NEW:
            uses[token.id, request.nonce] = node.id
        elif entering.use == Use.MOVED:
            join_tokens.move_use(tx, token.id, request.nonce, node.id)
        if entering.before is None:
            new.append(node)
        else:
            _come_back(tx, entering.before, node)
    join_tokens.add_uses(tx, uses)
    pool_nodes.add_nodes(tx, new)


def _come_back(tx: Tx, before: PoolNode, node: PoolNode) -> None:
    pool_nodes.replace_identity(
        tx,
        node.id,
        identity_hash=node.identity_hash,
        hostname=node.hostname,
        reported_node_name=node.reported_node_name,
        devices=node.devices,
        at=tx.now,
    )
    if before.state == NodeState.MATCHED:
        # Its Node may be another one by now: it takes no more bookings before a list has told.
        pool_nodes.set_node_state(tx, node.id, NodeState.JOINED)


def _report(tx: Tx, node: PoolNode, request: JoinRequest) -> None:
    report_inventory(
        tx,
        node,
        hostname=request.hostname,
        reported_node_name=request.reported_node_name,
        devices=request.devices,
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
