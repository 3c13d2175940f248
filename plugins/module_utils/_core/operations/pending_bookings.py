# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reservations that wait for room: why, and watching one until it has it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ..booking.waiting import takes_bookings, why_pending
from ..model.records import Reservation
from ..model.states import ReservationState
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
    reason = why_pending(
        found,
        pool=pool,
        nodes=pool_nodes.pool_nodes(tx, pool.id),
        held=reservations.held_devices(tx, pool.id),
        now=tx.now,
    )
    return Told(reservation=replace(found, message=reason), hopeless=not takes_bookings(pool), now=tx.now)
