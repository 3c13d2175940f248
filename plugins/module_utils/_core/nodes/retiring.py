# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends what is booked on a machine that is gone and retires it: once, in the caller's transaction, whole or not at all.

Whether a machine is gone is decided in matching.py; here it is only checked that nothing was heard of it since.
"""

from __future__ import annotations

from ..model.errors import Code, OperationError
from ..model.ids import NodeId
from ..model.records import PoolNode, PoolRecord
from ..model.states import NodeState, ReservationState
from ..store import Tx, events, fleet, pool_nodes, reservations
from .matching import Departure

NODE_RETIRED = "node.retired"
"""The event of a node's retirement, on the node's subject, once a node."""


def retire_gone(tx: Tx, *, pool: PoolRecord, departure: Departure) -> bool:
    """Retire a node whose machine is gone, unless its bcd was heard or joined anew since that was decided.

    Its bookings end: preempted when they are Spot reservations or stand on a Spot node, else released; each is refunded
    once. The node's identity is cleared, so a bcd that comes back after all is told to join again.

    Returns:
        Whether it was retired now: False when it is already, or was heard since.
    """
    fleet.lock_pool(tx, pool.id)
    node = pool_nodes.node(tx, departure.node.id)
    if node is None or node.state == NodeState.RETIRED:
        return False
    if (node.last_seen_at, node.identity_hash) != (departure.node.last_seen_at, departure.node.identity_hash):
        return False
    _retire(tx, pool, node, departure.why)
    return True


def end_bookings(tx: Tx, *, pool: PoolRecord, node_id: NodeId) -> None:
    """End what is booked on a node whose machine was made anew, as by its retirement. The node itself stays."""
    fleet.lock_pool(tx, pool.id)
    node = pool_nodes.node(tx, node_id)
    if node is not None:
        _end_bookings(tx, node, f"the machine of node {node.node_name or node.hostname} was made anew")


def retire_all(tx: Tx, *, pool: PoolRecord) -> int:
    """Retire every node of a pool whose substrate is gone: the last step of a teardown.

    Reservations that still wait for a place are released, since none will come; they never held a GPU.

    Returns:
        How many nodes were retired.

    Raises:
        OperationError: INVALID_STATE while a booking stands on one of its nodes: nothing is force-released.
    """
    fleet.lock_pool(tx, pool.id)
    open_ones = reservations.reservations(tx, pool.id)
    bound = [one for one in open_ones if one.state == ReservationState.BOUND]
    if bound:
        raise OperationError(
            Code.INVALID_STATE,
            f"pool {pool.name}: {len(bound)} bookings still stand on its nodes, {bound[0].id} first: release them",
        )
    for one in open_ones:
        reservations.end_reservation(
            tx, one.id, ReservationState.RELEASED, "the pool was torn down before it was placed"
        )
    nodes = pool_nodes.pool_nodes(tx, pool.id)
    pool_nodes.lock_nodes(tx, (node.id for node in nodes))
    for node in nodes:
        _retire(tx, pool, node, "its pool was torn down")
    return len(nodes)


def _end_bookings(tx: Tx, node: PoolNode, why: str) -> dict[ReservationState, int]:
    """End each once, with its refund: preempted or released. Returns how many ended as what."""
    ended = {ReservationState.RELEASED: 0, ReservationState.PREEMPTED: 0}
    for booking in reservations.bookings_of_node(tx, node.id):
        state = ReservationState.PREEMPTED if booking.spot or node.spot else ReservationState.RELEASED
        if reservations.end_reservation(tx, booking.id, state, why):
            ended[state] += 1
    return ended


def _retire(tx: Tx, pool: PoolRecord, node: PoolNode, why: str) -> None:
    ended = _end_bookings(tx, node, f"node {node.node_name or node.hostname} was retired: {why}")
    pool_nodes.retire_node(tx, node.id)
    events.publish(
        tx,
        tenant_id=pool.tenant_id,
        subject=node.id,
        type=NODE_RETIRED,
        key=node.id,
        data={
            "poolId": pool.id,
            "nodeName": node.node_name,
            "reason": why,
            "released": ended[ReservationState.RELEASED],
            "preempted": ended[ReservationState.PREEMPTED],
        },
    )
