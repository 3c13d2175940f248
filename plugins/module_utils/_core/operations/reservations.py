# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reservations as a caller names them: book GPUs under a name, find them again, give them back."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

from ..booking import reserve
from ..booking.reserve import Repeat
from ..model.errors import Code, InvalidInput, OperationError, Problem
from ..model.ids import PoolId, ReservationId, TenantId
from ..model.records import Reservation
from ..store import Tx, idempotency, reservations
from .session import Session
from .substrates import resolve_pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Where a name stands.

    Attributes:
        current: the reservation of that name that has not ended.
        key: the idempotency key of `current`, or of the next one: a name is free again when its reservation has ended.
    """

    pool_id: PoolId
    scope: str
    key: str
    current: Reservation | None


def find(session: Session, *, pool: str, tenant_id: TenantId, name: str) -> Named:
    """The caller's reservation of that name in the pool.

    Raises:
        InvalidInput: the name is empty or longer than 128 characters.
        OperationError: NOT_FOUND for an unknown pool.
    """
    if not 1 <= len(name) <= 128 or not name.isascii() or not name.isprintable():
        raise InvalidInput([Problem(path="name", message="expected 1 to 128 printable ASCII characters")])
    with session.store.read() as tx:
        record = resolve_pool(tx, pool=pool, tenant_id=tenant_id)
        scope = f"reservation/{tenant_id}/{session.caller}/{record.id}"
        return _find(tx, pool_id=record.id, scope=scope, name=name)


def _find(tx: Tx, *, pool_id: PoolId, scope: str, name: str) -> Named:
    for turn in count(1):
        key = f"{name}/{turn}"
        made = idempotency.result_of(tx, scope=scope, key=key)
        current = None if made is None else reservations.reservation(tx, ReservationId(made))
        if current is None or current.ended_at is None:
            return Named(pool_id=pool_id, scope=scope, key=key, current=current)
    raise AssertionError("count() never ends")


def book(session: Session, named: Named, *, tenant_id: TenantId, gpus: int, spot: bool) -> Reservation:
    """Book under a name; one that stands is returned as it is.

    Raises:
        OperationError: CONFLICT when the one that stands is of another size or kind; QUOTA_EXCEEDED; INVALID_STATE.
        InvalidInput: gpus is out of range.
    """
    current = named.current
    if current is not None and (current.gpus, current.spot) != (gpus, spot):
        kind = "Spot " if current.spot else ""
        raise OperationError(
            Code.CONFLICT,
            f"the reservation stands with {current.gpus} {kind}GPUs and never changes: release it, then book anew",
        )
    return reserve.reserve(
        session.store,
        tenant_id=tenant_id,
        pool_id=named.pool_id,
        gpus=gpus,
        spot=spot,
        repeat=Repeat(scope=named.scope, key=named.key),
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
