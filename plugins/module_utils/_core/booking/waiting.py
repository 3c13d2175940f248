# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a reservation is pending, for a person: by what stands in its pool now. Pure; nothing of it is recorded."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from ..model.ids import NodeId
from ..model.liveness import is_connected
from ..model.records import PoolNode, PoolRecord, Reservation
from ..model.states import Intent, NodeState


def takes_bookings(pool: PoolRecord) -> bool:
    """Whether anything is placed in it: not when it is on its way out."""
    return pool.intent == Intent.RUN and pool.archived_at is None


def why_pending(
    reservation: Reservation,
    *,
    pool: PoolRecord,
    nodes: Sequence[PoolNode],
    held: Mapping[NodeId, Collection[str]],
    now: datetime,
) -> str:
    """What a pending reservation waits for; it goes by what placement.place goes by.

    Its quota is never the reason: what is beyond that is not accepted at all.

    Arguments:
        nodes: the pool's, without those that are retired.
        held: the devices that are booked on each node; a node that is missing has none.
    """
    if not takes_bookings(pool):
        return f"pool {pool.name} is being torn down and places nothing any more: give the reservation back"
    of_kind = [node for node in nodes if node.state != NodeState.JOINED and node.spot == reservation.spot]
    if not of_kind:
        return _none_of_its_kind(reservation, nodes)
    ready = [node for node in of_kind if node.state == NodeState.MATCHED and is_connected(node.last_seen_at, now=now)]
    kind = "Spot nodes" if reservation.spot else "nodes that are not Spot"
    if not ready:
        cordoned = sum(node.state == NodeState.CORDONED for node in of_kind)
        return (
            f"of the pool's {kind} none takes bookings now: {cordoned} cordoned, "
            f"{len(of_kind) - cordoned} whose bcd is not connected"
        )
    largest = max(len(node.devices) for node in ready)
    if largest < reservation.gpus:
        return f"all GPUs of a reservation are on one node, and the largest of the pool's {kind} has {largest}"
    most = max(len({device.id for device in node.devices} - set(held.get(node.id, ()))) for node in ready)
    if most < reservation.gpus:
        return f"taken: {most} is the most that is free on one of the pool's {kind}, and {reservation.gpus} are needed"
    return "there is room: the pool's next pass places it"


def _none_of_its_kind(reservation: Reservation, nodes: Sequence[PoolNode]) -> str:
    unmatched = sum(node.state == NodeState.JOINED for node in nodes)
    if unmatched:
        return f"{unmatched} nodes have joined the pool and are not matched to their Kubernetes Nodes yet"
    if not nodes:
        return "no node of the pool has joined yet"
    if reservation.spot:
        return "no Spot node of the pool has joined, and a reservation with spot is placed on no other"
    return "every node of the pool that has joined is a Spot node: only a reservation with spot is placed there"
