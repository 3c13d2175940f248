# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reservations that wait for room: why, and watching one until it has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ..booking.waiting import takes_bookings, why_pending
from ..model.ids import NodeId, PoolId
from ..model.records import PoolNode, PoolRecord, Reservation
from ..model.states import NodeState, ReservationState
from ..store import Tx, fleet, pool_nodes, reservations
from .session import Session

_LOOK_AGAIN_SECONDS = 1.0
"""Between looks, which are a few reads each. Room comes with a node that joins or a booking that ends: not sooner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A reservation as it stands now.

    Attributes:
        reservation: while it is pending, its message says what it waits for.
        hopeless: whether it is pending, and will never be placed.
    """

    reservation: Reservation
    hopeless: bool
    now: datetime

    @property
    def waits(self) -> bool:
        """Whether somebody who waits for room waits on."""
        return self.reservation.state == ReservationState.PENDING and not self.hopeless


def with_reason(session: Session, reservation: Reservation) -> Reservation:
    """The reservation as it stands now; while it is pending, its message says what it waits for."""
    return _look(session, reservation).reservation


def with_reasons(tx: Tx, records: Sequence[Reservation], pools: Mapping[PoolId, PoolRecord]) -> tuple[Reservation, ...]:
    """Reservations of these pools, in the same order; the pending ones' messages say what they wait for.

    Three more statements where one is pending, and one answer for all of a pool that ask for the same.
    """
    waited_in = {one.pool_id for one in records if one.state == ReservationState.PENDING}
    if not waited_in:
        return tuple(records)
    nodes: dict[PoolId, list[PoolNode]] = {}
    for node in pool_nodes.nodes_in(tx, waited_in, [state for state in NodeState if state != NodeState.RETIRED]):
        nodes.setdefault(node.pool_id, []).append(node)
    held: dict[NodeId, set[str]] = {}
    for one in reservations.reservations_in(tx, waited_in, [ReservationState.BOUND]):
        if one.node_id is not None:
            held.setdefault(one.node_id, set()).update(one.device_ids)
    known: dict[tuple[PoolId, bool, int], str] = {}

    def told(one: Reservation) -> Reservation:
        if one.state != ReservationState.PENDING:
            return one
        asked = (one.pool_id, one.spot, one.gpus)
        if asked not in known:
            own = nodes.get(one.pool_id, [])
            known[asked] = why_pending(one, pool=pools[one.pool_id], nodes=own, held=held, now=tx.now)
        return replace(one, message=known[asked])

    return tuple(told(one) for one in records)


def wait_for_room(session: Session, reservation: Reservation, *, timeout: timedelta) -> Told:
    """Watch a reservation until it is placed, has ended, can never be placed, or the time is over.

    Placing it is others' work: the passes of bc-fleetd, or of a run that converges the pool, and whoever gives back.
    """
    told = _look(session, reservation)
    began = told.now
    while told.waits and told.now - began < timeout:
        session.sleep(_LOOK_AGAIN_SECONDS)
        told = _look(session, reservation)
    return told


def _look(session: Session, reservation: Reservation) -> Told:
    with session.store.read() as tx:
        found = reservations.reservation(tx, reservation.id) or reservation
        if found.state != ReservationState.PENDING:
            return Told(reservation=found, hopeless=False, now=tx.now)
        return _pending(tx, found)


def _pending(tx: Tx, found: Reservation) -> Told:
    pool = fleet.pool(tx, found.pool_id)
    if pool is None:
        return Told(reservation=found, hopeless=True, now=tx.now)
    [told] = with_reasons(tx, [found], {pool.id: pool})
    return Told(reservation=told, hopeless=not takes_bookings(pool), now=tx.now)
