# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bookings as whoever runs a fleet looks for them: by pool, tenant, name and state; each with its name and its Node."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from ..model.clock import stamp
from ..model.errors import Code, OperationError
from ..model.ids import TENANT_PATTERN, TenantId
from ..model.records import PoolRecord, Reservation
from ..model.states import ReservationState
from ..store import Tx, fleet, idempotency, pool_nodes, reservations
from .pending_bookings import with_reasons
from .pool_names import SHOWN_CHARACTERS, pools_called
from .reservations import name_of, to_data
from .session import Session

NOT_ENDED = (ReservationState.PENDING, ReservationState.BOUND)
"""What is charged to somebody now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BookingView:
    """A booking as a caller sees it.

    Attributes:
        record: while it is pending, its message says what it waits for.
        pool: the pool's name.
        name: what it is called in bc_reservation; None where that name is another reservation's by now.
        booked_by: the caller whose name it is: two of one tenant may use the same one. None with the name.
        node_name: the Kubernetes Node that it stands on while it is bound.
    """

    record: Reservation
    pool: str
    name: str | None
    booked_by: str | None
    node_name: str | None

    def to_data(self) -> dict[str, Any]:
        """Plain values in snake_case, for module results: all that bc_reservation tells, and more."""
        record = self.record
        return {
            **to_data(record),
            "name": self.name,
            "booked_by": self.booked_by,
            "pool": self.pool,
            "node_name": self.node_name,
            "since": stamp(record.created_at),
            "ended_at": None if record.ended_at is None else stamp(record.ended_at),
        }


def list_bookings(
    session: Session,
    *,
    pool: str | None = None,
    tenant_id: TenantId | None = None,
    names: Collection[str] | None = None,
    states: Collection[ReservationState] = NOT_ENDED,
) -> tuple[BookingView, ...]:
    """Bookings, oldest first, in one read of a few statements, however many there are.

    Arguments:
        pool: only of the pool of this id, or of all tenants' pools of this name, those that are gone too.
        tenant_id: only what is booked for this tenant, whoever owns the pool. A named pool must concern it: its own,
            one where it has a quota, or one where it booked once.
        names: only those of one of these names.
        states: only those in one of these states.

    Raises:
        OperationError: NOT_FOUND for a named pool that there is not, and in the same words for one that does not
            concern the tenant.
    """
    with session.store.read() as tx:
        pools = _pools(tx, pool, tenant_id)
        if not pools:
            return ()
        of_pools = [record.id for record in pools]
        found = reservations.reservations_in(tx, of_pools, states, tenant_id=tenant_id)
        views = booking_views(tx, found, pools)
    return tuple(view for view in views if names is None or view.name in names)


def booking_views(tx: Tx, records: Iterable[Reservation], pools: Iterable[PoolRecord]) -> tuple[BookingView, ...]:
    """Recorded bookings of these pools as callers see them, in the same order, in five statements at most."""
    by_id = {pool.id: pool for pool in pools}
    records = with_reasons(tx, tuple(records), by_id)
    keys = idempotency.keys_of(tx, (record.id for record in records))
    node_names = pool_nodes.names_of(tx, (record.node_id for record in records if record.node_id is not None))

    def view(record: Reservation) -> BookingView:
        name, caller = None, None
        if record.id in keys:
            scope, key = keys[record.id]
            name, caller = name_of(record, scope=scope, key=key)
        return BookingView(
            record=record,
            pool=by_id[record.pool_id].name,
            name=name,
            booked_by=caller,
            node_name=None if record.node_id is None else node_names.get(record.node_id),
        )

    return tuple(view(record) for record in records)


def _pools(tx: Tx, pool: str | None, tenant_id: TenantId | None) -> tuple[PoolRecord, ...]:
    """The pools whose bookings are meant."""
    if tenant_id is not None and not TENANT_PATTERN.fullmatch(tenant_id):  # nobody is called so
        pools: tuple[PoolRecord, ...] = ()
    elif pool is None:
        return fleet.pools(tx, archived=True)
    else:
        pools = pools_called(tx, pool)
        if tenant_id is not None:
            pools = _concerning(tx, pools, tenant_id)
    if pool is not None and not pools:
        whose = "" if tenant_id is None else f" that concerns tenant {tenant_id[:SHOWN_CHARACTERS]!r}"
        raise OperationError(
            Code.NOT_FOUND,
            f"there is no pool {pool[:SHOWN_CHARACTERS]!r}{whose}: bc_fleet_info lists the recorded ones",
        )
    return pools


def _concerning(tx: Tx, pools: Collection[PoolRecord], tenant_id: TenantId) -> tuple[PoolRecord, ...]:
    """Of other pools a tenant learns not so much as that they exist (as in booking_pools.py)."""
    open_to_it = fleet.pools_with_quota(tx, tenant_id)
    open_to_it |= reservations.pools_booked_in(tx, tenant_id, (pool.id for pool in pools))
    return tuple(pool for pool in pools if pool.tenant_id == tenant_id or pool.id in open_to_it)
