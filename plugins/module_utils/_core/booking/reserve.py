# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reserves GPUs, places what had to wait, and gives back: each in one transaction, each harmless to repeat.

Quota, placement and the end of a booking are serialised by the pool's row, so that two callers at once cannot share a
device or a quota. A reservation is charged from the moment it is accepted, whether or not it is placed yet.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from ..model import ids
from ..model.errors import Code, InvalidInput, OperationError, Problem
from ..model.ids import PoolId, ReservationId, TenantId
from ..model.records import PoolRecord, Reservation
from ..model.states import Intent, ReservationState
from ..store import Store, Tx, fleet, idempotency, pool_nodes, reservations, work
from . import BINDING
from .placement import place

MAX_GPUS = 16
"""All GPUs of a reservation are on one node, and a node has at most 16 (spec: accelerators, 1 to 16 per node)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """What makes a repeated request the same one.

    Attributes:
        scope: whose keys these are, e.g. tenant and caller; the caller of :func:`reserve` builds it.
        key: the caller's idempotency key.
        after: the ended reservation that the key led to before, when the key is to be used anew: a name that is free
            again. Who comes second with the same gets what the first one booked.
    """

    scope: str
    key: str
    after: ReservationId | None = None


def reserve(
    store: Store, *, tenant_id: TenantId, pool_id: PoolId, gpus: int, spot: bool = False, repeat: Repeat | None = None
) -> Reservation:
    """Book GPUs of a pool for a tenant: bound when they fit on a node now, else pending until :func:`bind_pending`.

    Arguments:
        gpus: 1 to 16, all on one node.
        spot: book on Spot nodes, and on no others; such a booking can be preempted.
        repeat: with the same key and request, the reservation that the first call made.

    Raises:
        InvalidInput: gpus is out of range.
        OperationError: NOT_FOUND (no such pool), INVALID_STATE (it is archived or being torn down), QUOTA_EXCEEDED (the
            tenant's quota there, and no quota row is no quota), CONFLICT (the key belongs to another request).
    """
    _must_be_placeable(gpus)
    digest = _digest(tenant_id=tenant_id, pool_id=pool_id, gpus=gpus, spot=spot)
    with store.write() as tx:
        pool = fleet.lock_pool(tx, pool_id)
        if repeat is not None:
            made = idempotency.remembered(
                tx, scope=repeat.scope, key=repeat.key, request_digest=digest, after=repeat.after
            )
            if made is not None:
                return _existing(tx, ReservationId(made), tenant_id)
        _must_be_admissible(tx, pool, pool_id, tenant_id=tenant_id, gpus=gpus)
        reservation = Reservation(
            id=ids.new_reservation_id(tx.now),
            tenant_id=tenant_id,
            pool_id=pool_id,
            gpus=gpus,
            spot=spot,
            binding=BINDING,
            state=ReservationState.PENDING,
            created_at=tx.now,
        )
        reservations.add_reservation(tx, reservation)
        _bind(tx, pool_id, [reservation])
        if repeat is not None:
            idempotency.remember(
                tx,
                scope=repeat.scope,
                key=repeat.key,
                request_digest=digest,
                result_id=reservation.id,
                after=repeat.after,
            )
        return _existing(tx, reservation.id, tenant_id)


def check_reservable(store: Store, *, tenant_id: TenantId, pool_id: PoolId, gpus: int) -> None:
    """What :func:`reserve` would refuse now, without booking anything. Raises what it raises."""
    _must_be_placeable(gpus)
    with store.read() as tx:
        _must_be_admissible(tx, fleet.pool(tx, pool_id), pool_id, tenant_id=tenant_id, gpus=gpus)


def release(store: Store, *, tenant_id: TenantId, reservation_id: ReservationId) -> Reservation:
    """Give a reservation back: its devices are free, its GPUs refunded once, and whoever waited for them is placed.

    One that has ended already is returned as it ended.

    Raises:
        OperationError: NOT_FOUND when the tenant has no such reservation.
    """
    with store.write() as tx:
        reservation = _existing(tx, reservation_id, tenant_id)
        if reservation.ended_at is not None:
            return reservation
        # A teardown may be waiting for just this. First, because the work unit is locked before all other rows.
        work.make_due(tx, reservation.pool_id, tx.now)
        pool = fleet.lock_pool(tx, reservation.pool_id)
        reservations.end_reservation(tx, reservation_id, ReservationState.RELEASED, "")
        if pool is not None:
            bind_pending(tx, pool)
        return _existing(tx, reservation_id, tenant_id)


def bind_pending(tx: Tx, pool: PoolRecord) -> int:
    """Place what waits, the oldest first; what does not fit keeps waiting and lets later ones pass.

    Called whenever something may fit that did not: by the pass after matching, and at each release.

    Returns:
        How many reservations were bound.
    """
    if not _pending(tx, pool.id):
        return 0
    locked = fleet.lock_pool(tx, pool.id)
    if locked is None or locked.intent != Intent.RUN or locked.archived_at is not None:
        return 0
    # Read again: whoever held the lock may have placed or ended some of them.
    return _bind(tx, pool.id, _pending(tx, pool.id))


def _pending(tx: Tx, pool_id: PoolId) -> list[Reservation]:
    """What waits for a place, the oldest first."""
    pending = (one for one in reservations.reservations(tx, pool_id) if one.state == ReservationState.PENDING)
    return sorted(pending, key=lambda one: (one.created_at, one.id))


def _bind(tx: Tx, pool_id: PoolId, pending: Sequence[Reservation]) -> int:
    """Place those that fit, one after the other, with the pool locked. Returns how many."""
    nodes, held = pool_nodes.pool_nodes(tx, pool_id), reservations.held_devices(tx, pool_id)
    bound = 0
    for one in pending:
        placement = place(nodes, held, gpus=one.gpus, spot=one.spot, now=tx.now)
        if placement is not None:
            reservations.bind(tx, one.id, placement.node_id, placement.device_ids)
            held.setdefault(placement.node_id, set()).update(placement.device_ids)
            bound += 1
    return bound


def _must_be_placeable(gpus: int) -> None:
    if not 1 <= gpus <= MAX_GPUS:
        raise InvalidInput(
            [Problem(path="gpus", message=f"expected 1 to {MAX_GPUS}, because all are on one node; found {gpus}")]
        )


def _must_be_admissible(tx: Tx, pool: PoolRecord | None, pool_id: PoolId, *, tenant_id: TenantId, gpus: int) -> None:
    _must_be_within_quota(tx, _must_be_open(pool, pool_id), tenant_id, gpus)


def _must_be_open(pool: PoolRecord | None, pool_id: PoolId) -> PoolRecord:
    if pool is None:
        raise OperationError(Code.NOT_FOUND, f"there is no pool {pool_id}")
    if pool.archived_at is not None or pool.intent != Intent.RUN:
        raise OperationError(
            Code.INVALID_STATE, f"pool {pool.name} takes no bookings: it is archived or being torn down"
        )
    return pool


def _must_be_within_quota(tx: Tx, pool: PoolRecord, tenant_id: TenantId, gpus: int) -> None:
    quotas = (quota for quota in fleet.quotas(tx) if (quota.tenant_id, quota.pool_id) == (tenant_id, pool.id))
    quota = next(quotas, None)
    if quota is None:
        raise OperationError(
            Code.QUOTA_EXCEEDED, f"tenant {tenant_id} has no quota in pool {pool.name}: add one to the document"
        )
    if quota.used + gpus > quota.gpus:
        raise OperationError(
            Code.QUOTA_EXCEEDED,
            f"tenant {tenant_id} holds {quota.used} of its {quota.gpus} GPUs in pool {pool.name}: no {gpus} are left",
        )


def _existing(tx: Tx, reservation_id: ReservationId, tenant_id: TenantId) -> Reservation:
    reservation = reservations.reservation(tx, reservation_id)
    if reservation is None or reservation.tenant_id != tenant_id:
        raise OperationError(Code.NOT_FOUND, f"tenant {tenant_id} has no reservation {reservation_id}")
    return reservation


def _digest(**request: str | int | bool) -> str:
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
