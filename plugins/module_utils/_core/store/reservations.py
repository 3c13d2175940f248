# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reservations, the devices that they hold, and their refunds.

A reservation charges its GPUs to the tenant when it is made and refunds them when it ends, each by a row: what a tenant
holds are those of its reservations that were not refunded, which are those that have not ended. So nothing is summed
over all that ever was, and what has ended may be forgotten (forgetting.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ..model.errors import Code, OperationError
from ..model.ids import NodeId, PoolId, ReservationId, TenantId
from ..model.records import Reservation
from ..model.standing import Standing
from ..model.states import ReservationState
from .standing import not_ended
from .statements import among
from .tables import tables
from .transaction import Tx

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Row, Select

_NOT_ENDED = (ReservationState.PENDING.value, ReservationState.BOUND.value)

_NODES_AT_ONCE = 500
"""In one statement: SQLite takes 999 parameters before version 3.32."""


def add_reservation(tx: Tx, rec: Reservation) -> None:
    """Record a reservation, which charges its GPUs. It holds no devices until :func:`bind`."""
    tx.insert(
        tables().reservations,
        id=rec.id,
        tenant_id=rec.tenant_id,
        pool_id=rec.pool_id,
        gpus=rec.gpus,
        spot=rec.spot,
        binding=rec.binding,
        state=ReservationState.PENDING.value,
        created_at=rec.created_at,
        message=rec.message,
    )


def reservation(tx: Tx, reservation_id: ReservationId) -> Reservation | None:
    """One reservation, ended or not."""
    found = _chosen(tx, tables().reservations.c.id == reservation_id)
    return found[0] if found else None


def reservations(tx: Tx, pool_id: PoolId, *, ended: bool = False) -> tuple[Reservation, ...]:
    """The pool's reservations, oldest first, the ended ones only when asked for."""
    table = tables().reservations
    if ended:
        return _chosen(tx, table.c.pool_id == pool_id)
    return _chosen(tx, table.c.pool_id == pool_id, not_ended())


def reservations_in(
    tx: Tx,
    pool_ids: Iterable[PoolId],
    states: Iterable[ReservationState],
    *,
    tenant_id: TenantId | None = None,
) -> tuple[Reservation, ...]:
    """The reservations of many pools in these states, one tenant's or everybody's, oldest first, out of two reads."""
    table = tables().reservations
    where = [among(table.c.pool_id, "of_pools"), among(table.c.state, "states")]
    if tenant_id is not None:
        where.append(table.c.tenant_id == tenant_id)
    given = {"of_pools": sorted(set(pool_ids)), "states": sorted({state.value for state in states})}
    return _chosen(tx, *where, given=given)


def pools_booked_in(tx: Tx, tenant_id: TenantId, pool_ids: Iterable[PoolId]) -> frozenset[PoolId]:
    """Those of these pools in which the tenant booked something once, ended or not."""
    from sqlalchemy import select

    table = tables().reservations
    chosen = select(table.c.pool_id).where(among(table.c.pool_id, "of_pools"), table.c.tenant_id == tenant_id)
    return frozenset(PoolId(row.pool_id) for row in tx.rows(chosen.distinct(), {"of_pools": sorted(set(pool_ids))}))


def bookings_of_node(tx: Tx, node_id: NodeId) -> tuple[Reservation, ...]:
    """The reservations that are bound to the node now."""
    table = tables().reservations
    return _chosen(tx, table.c.node_id == node_id, table.c.state == ReservationState.BOUND.value)


def bookings_of_nodes(tx: Tx, node_ids: Collection[NodeId]) -> dict[NodeId, list[Reservation]]:
    """The reservations that are bound to these nodes now; a node without bookings is left out."""
    table = tables().reservations
    found: defaultdict[NodeId, list[Reservation]] = defaultdict(list)
    booked = [row.node_id for row in tx.rows(_booked(), {"of_nodes": sorted(node_ids)})]
    for first in range(0, len(booked), _NODES_AT_ONCE):
        some = table.c.node_id.in_(booked[first : first + _NODES_AT_ONCE])
        for one in _chosen(tx, some, table.c.state == ReservationState.BOUND.value):
            if one.node_id is not None:
                found[one.node_id].append(one)
    return dict(found)


@cache
def _booked() -> Select[Any]:
    """Which of many nodes have bookings: few, as a rule."""
    from sqlalchemy import select

    table = tables().reservations
    of_these = among(table.c.node_id, "of_nodes")
    return select(table.c.node_id).where(of_these, table.c.state == ReservationState.BOUND.value).distinct()


def bind(tx: Tx, reservation_id: ReservationId, node_id: NodeId, device_ids: Iterable[str]) -> None:
    """Give a pending reservation these devices of the node.

    Raises:
        OperationError: CONFLICT when another reservation holds one of them, or when this one is not pending any more.
            Then nothing of it is written, and the transaction can go on.
    """
    table, held = tables().reservations, tables().held_devices
    with tx.savepoint():
        bound = tx.execute(
            table.update()
            .where(table.c.id == reservation_id, table.c.state == ReservationState.PENDING.value)
            .values(state=ReservationState.BOUND.value, node_id=node_id)
        )
        if not bound.rowcount:
            raise OperationError(Code.CONFLICT, f"reservation {reservation_id} is not pending any more")
        # In one order everywhere, so that two bookings of the same devices wait for each other at most.
        for device_id in sorted(device_ids):
            if not tx.insert_once(held, node_id=node_id, device_id=device_id, reservation_id=reservation_id):
                raise OperationError(Code.CONFLICT, f"GPU {device_id} of {node_id} is held by another reservation")


def end_reservation(tx: Tx, reservation_id: ReservationId, state: ReservationState, message: str) -> bool:
    """End a reservation: its devices are free, its GPUs are refunded, in this transaction and once.

    Arguments:
        state: `released` or `preempted`.

    Returns:
        False when it had ended before (or there is none): then nothing happens.
    """
    table = tables().reservations
    ended = tx.execute(
        table.update()
        .where(table.c.id == reservation_id, table.c.state.in_(_NOT_ENDED))
        .values(state=state.value, message=message, ended_at=tx.now, node_id=None)
    )
    if not ended.rowcount:
        return False
    row = tx.execute(table.select().where(table.c.id == reservation_id)).one()
    tx.insert(
        tables().refunds,
        reservation_id=reservation_id,
        tenant_id=row.tenant_id,
        pool_id=row.pool_id,
        gpus=row.gpus,
        at=tx.now,
    )
    held = tables().held_devices
    tx.execute(held.delete().where(held.c.reservation_id == reservation_id))
    return True


def held(tx: Tx, tenant_id: TenantId, pool_id: PoolId) -> int:
    """How many GPUs of the pool the tenant holds: charged and not refunded, bound or not.

    In a write transaction the tenant's quota row is locked to the end: of two bookings only one gets the last GPU.
    """
    quotas = tables().quotas
    if tx.writes:
        tx.row(quotas.select().where(quotas.c.tenant_id == tenant_id, quotas.c.pool_id == pool_id).with_for_update())
    return held_by_pool(tx, tenant_id, pool_id).get((tenant_id, pool_id), 0)


def held_by_pool(
    tx: Tx, tenant_id: TenantId | None = None, pool_id: PoolId | None = None
) -> dict[tuple[TenantId, PoolId], int]:
    """How many GPUs each tenant holds of each pool, or one of one."""
    from sqlalchemy import func, select, true

    table = tables().reservations
    sums = (
        select(table.c.tenant_id, table.c.pool_id, func.sum(table.c.gpus).label("gpus"))
        .where(
            not_ended(),
            true() if tenant_id is None else table.c.tenant_id == tenant_id,
            true() if pool_id is None else table.c.pool_id == pool_id,
        )
        .group_by(table.c.pool_id, table.c.tenant_id)
    )
    return {(TenantId(row.tenant_id), PoolId(row.pool_id)): row.gpus for row in tx.rows(sums)}


def standing(tx: Tx, pool_ids: Iterable[PoolId]) -> tuple[Standing, ...]:
    """What is booked on the nodes of these pools now, summed up in one read; what is pending stands on none."""
    from sqlalchemy import func, select

    charges, nodes = tables().reservations, tables().pool_nodes
    by = (charges.c.pool_id, charges.c.tenant_id, nodes.c.node_pool)
    chosen = (
        select(*by, func.count().label("bookings"), func.sum(charges.c.gpus).label("gpus"))
        .join(nodes, nodes.c.id == charges.c.node_id)
        .where(among(charges.c.pool_id, "of_pools"), charges.c.state == ReservationState.BOUND.value)
        .group_by(*by)
    )
    return tuple(
        Standing(
            pool_id=PoolId(row.pool_id),
            tenant_id=TenantId(row.tenant_id),
            node_pool=row.node_pool,
            bookings=row.bookings,
            gpus=int(row.gpus),
        )
        for row in tx.rows(chosen, {"of_pools": sorted(pool_ids)})
    )


def held_devices(tx: Tx, pool_id: PoolId) -> dict[NodeId, set[str]]:
    """The ids of the devices that reservations of the pool hold, by node, out of one read."""
    from sqlalchemy import select

    held, charges = tables().held_devices, tables().reservations
    joined = select(held.c.node_id, held.c.device_id).join(charges, charges.c.id == held.c.reservation_id)
    devices: dict[NodeId, set[str]] = {}
    for row in tx.rows(joined.where(charges.c.pool_id == pool_id, not_ended())):
        devices.setdefault(NodeId(row.node_id), set()).add(row.device_id)
    return devices


def _chosen(tx: Tx, *where: ColumnElement[bool], given: Mapping[str, Any] | None = None) -> tuple[Reservation, ...]:
    """The reservations with their devices: two statements, however many there are.

    Arguments:
        given: the parameters of the conditions.
    """
    from sqlalchemy import select

    table, held = tables().reservations, tables().held_devices
    rows = tx.rows(table.select().where(*where).order_by(table.c.created_at, table.c.id), given)
    if not rows:
        return ()
    devices: defaultdict[str, list[str]] = defaultdict(list)
    joined = select(held.c.reservation_id, held.c.device_id).join(table, table.c.id == held.c.reservation_id)
    for row in tx.rows(joined.where(*where).order_by(held.c.device_id), given):
        devices[row.reservation_id].append(row.device_id)
    return tuple(_reservation(row, tuple(devices[row.id])) for row in rows)


def _reservation(row: Row[Any], device_ids: tuple[str, ...]) -> Reservation:
    return Reservation(
        id=ReservationId(row.id),
        tenant_id=TenantId(row.tenant_id),
        pool_id=PoolId(row.pool_id),
        gpus=row.gpus,
        spot=row.spot,
        binding=row.binding,
        state=ReservationState(row.state),
        created_at=row.created_at,
        node_id=None if row.node_id is None else NodeId(row.node_id),
        device_ids=device_ids,
        ended_at=row.ended_at,
        message=row.message,
    )
