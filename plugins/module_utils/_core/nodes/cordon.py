# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Closes a pool's nodes to new bookings, by our own mark: Kubernetes Nodes are never patched."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.ids import PoolId
from ..model.records import PoolNode
from ..model.states import NodeState, ReservationState
from ..store import Tx, fleet, pool_nodes, reservations


def cordon_node_pool(tx: Tx, pool_id: PoolId, node_pool: str) -> int:
    """Cordon the matched nodes of one node pool and count what is booked on them. Nothing is released here.

    A booking that is being made right now is either counted or refused, because both hold the pool's row. Cordons are
    lifted by the Node list (matching.match) that comes after the node pool is closed no longer.

    Returns:
        How many bookings stand on its nodes; those on nodes of which nobody knows the node pool are among them.
    """
    fleet.lock_pool(tx, pool_id)
    own = [node for node in pool_nodes.pool_nodes(tx, pool_id) if node.node_pool in (node_pool, None)]
    _cordon(tx, [node for node in own if node.node_pool == node_pool and node.state == NodeState.MATCHED])
    closed = {node.id for node in own}
    bound = (one for one in reservations.reservations(tx, pool_id) if one.state == ReservationState.BOUND)
    return sum(one.node_id in closed for one in bound)


def cordon_pool(tx: Tx, pool_id: PoolId) -> int:
    """Cordon every node of the pool and count what is booked on them. Nothing is released here.

    Called at each pass of a teardown: nodes that joined at the last moment are cordoned by the next one. A booking that
    is being made right now is either counted or refused, because both hold the pool's row.

    Returns:
        How many bookings stand on the pool's nodes: the teardown waits until it is 0.
    """
    fleet.lock_pool(tx, pool_id)
    _cordon(tx, [node for node in pool_nodes.pool_nodes(tx, pool_id) if node.state != NodeState.CORDONED])
    return bookings(tx, pool_id)


def bookings(tx: Tx, pool_id: PoolId) -> int:
    """How many bookings stand on the pool's nodes."""
    return sum(one.state == ReservationState.BOUND for one in reservations.reservations(tx, pool_id))


def _cordon(tx: Tx, nodes: Sequence[PoolNode]) -> None:
    pool_nodes.lock_nodes(tx, (node.id for node in nodes))
    for node in nodes:
        pool_nodes.set_node_state(tx, node.id, NodeState.CORDONED)
