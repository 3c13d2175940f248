# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reservations as a caller names them: book GPUs under a name, find them again, give them back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..booking import reserve
from ..booking.reserve import Repeat
from ..model.errors import Code, InvalidInput, OperationError, Problem
from ..model.ids import TENANT_PATTERN, PoolId, ReservationId, TenantId
from ..model.records import Reservation
from ..store import Tx, fleet, idempotency, reservations
from .booking_pools import Candidate, pool_meant
from .pool_names import SHOWN_CHARACTERS, pools_called
from .session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Where a name stands.

    Attributes:
        repeat: the name as an idempotency key. It is free again when its reservation has ended.
        last: the latest reservation of that name, also one that has ended: so its owner learns that it was preempted.
    """

    pool_id: PoolId
    repeat: Repeat
    last: Reservation | None

    @property
    def current(self) -> Reservation | None:
        """The reservation of that name that has not ended."""
        return self.last if self.last is not None and self.last.ended_at is None else None


def find(session: Session, *, pool: str, tenant_id: TenantId, name: str) -> Named:
    """The caller's reservation of that name in the pool.

    A pool that left the document is found by its name too, as long as it is torn down: that waits for its bookings.

    Arguments:
        pool: name or id of a pool: the tenant's own, or another's where it has a quota (see pool_meant).

    Raises:
        InvalidInput: the name is empty, longer than 128 characters or not printable ASCII; or pools of several other
            tenants are meant alike.
        OperationError: NOT_FOUND for an unknown pool, and in the same words for another's without a quota there.
    """
    if not 1 <= len(name) <= 128 or not name.isascii() or not name.isprintable():
        raise InvalidInput([Problem(path="name", message="expected 1 to 128 printable ASCII characters")])
    with session.store.read() as tx:
        meant = pool_meant(_candidates(tx, session, pool, tenant_id=tenant_id, name=name), tenant_id=tenant_id)
    if meant is None:
        raise OperationError(
            Code.NOT_FOUND,
            f"tenant {tenant_id[:SHOWN_CHARACTERS]!r} can book in no pool {pool[:SHOWN_CHARACTERS]!r}: it has none, "
            "and no quota in another's; a document declares both (bc_fleet), and bc_fleet_info lists the recorded ones",
        )
    last, scope = meant.last, _scope(session, tenant_id, meant.pool.id)
    ended = last is not None and last.ended_at is not None
    return Named(
        pool_id=meant.pool.id,
        repeat=Repeat(scope=scope, key=name, after=last.id if last is not None and ended else None),
        last=last,
    )


def _candidates(tx: Tx, session: Session, pool: str, *, tenant_id: TenantId, name: str) -> list[Candidate]:
    if not TENANT_PATTERN.fullmatch(tenant_id):  # nobody is called so; and with a slash it could be read as a caller
        return []
    records = pools_called(tx, pool)
    scopes = {record.id: _scope(session, tenant_id, record.id) for record in records}
    made = idempotency.results_of(tx, scopes=scopes.values(), key=name)
    last = {scope: reservations.reservation(tx, ReservationId(found)) for scope, found in made.items()}
    with_quota = fleet.pools_with_quota(tx, tenant_id)
    return [
        Candidate(pool=record, has_quota=record.id in with_quota, last=last.get(scopes[record.id]))
        for record in records
    ]


def _scope(session: Session, tenant_id: TenantId, pool_id: PoolId) -> str:
    """Whose names they are: the tenant's and the caller's, in the pool."""
    return f"reservation/{tenant_id}/{session.caller}/{pool_id}"


def name_of(reservation: Reservation, *, scope: str, key: str) -> tuple[str, str]:
    """Out of an idempotency key that led to it: the name of a reservation, and the caller whose name it is."""
    caller = scope.removeprefix(f"reservation/{reservation.tenant_id}/").removesuffix(f"/{reservation.pool_id}")
    return key, caller


def book(session: Session, named: Named, *, tenant_id: TenantId, gpus: int, spot: bool) -> Reservation:
    """Book under a name; one that stands is returned as it is.

    Raises:
        OperationError: CONFLICT when the one that stands is of another size or kind; QUOTA_EXCEEDED; INVALID_STATE.
        InvalidInput: gpus is out of range.
    """
    if named.current is not None:
        return _as_asked(named.current, gpus=gpus, spot=spot)
    return reserve.reserve(
        session.store, tenant_id=tenant_id, pool_id=named.pool_id, gpus=gpus, spot=spot, repeat=named.repeat
    )


def check(session: Session, named: Named, *, tenant_id: TenantId, gpus: int, spot: bool) -> Reservation | None:
    """What :func:`book` would do now, without doing it: raises what it raises.

    Returns:
        The reservation that stands; None where one would be made.
    """
    if named.current is not None:
        return _as_asked(named.current, gpus=gpus, spot=spot)
    reserve.check_reservable(session.store, tenant_id=tenant_id, pool_id=named.pool_id, gpus=gpus)
    return None


def _as_asked(current: Reservation, *, gpus: int, spot: bool) -> Reservation:
    if (current.gpus, current.spot) == (gpus, spot):
        return current
    kind = "Spot " if current.spot else ""
    raise OperationError(
        Code.CONFLICT,
        f"the reservation stands with {current.gpus} {kind}GPUs and never changes: release it, then book anew",
    )


def give_back(session: Session, reservation: Reservation) -> Reservation:
    """Release a reservation: its GPUs are refunded once. One that has ended is returned as it ended."""
    return reserve.release(session.store, tenant_id=reservation.tenant_id, reservation_id=reservation.id)


def to_data(reservation: Reservation) -> dict[str, Any]:
    """A reservation as plain values in snake_case, for module results."""
    return {
        "id": str(reservation.id),
        "pool_id": str(reservation.pool_id),
        "tenant_id": str(reservation.tenant_id),
        "state": str(reservation.state),
        "gpus": reservation.gpus,
        "spot": reservation.spot,
        "node_id": str(reservation.node_id) if reservation.node_id else None,
        "device_ids": sorted(reservation.device_ids),
        "message": reservation.message,
    }
