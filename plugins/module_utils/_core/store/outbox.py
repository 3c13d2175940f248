# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The outbox, read on from an event that is known: nothing is left out, and nothing comes twice."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ..model.ids import EventId, PoolId, TenantId
from ..model.records import Event, ToldEvent
from .statements import among
from .tables import tables
from .transaction import Tx

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

_GAP_SECONDS = 60
"""How long a number that is missing may still come. PostgreSQL gives a number when a row is written, not when it is
committed, so a later one may be seen first; and one that was rolled back never comes. No transaction of ours takes so
long: none waits for anything but the database, 20 seconds a statement."""


def number_of(tx: Tx, event_id: EventId) -> int | None:
    """Where an event stands in the order in which they were written; None when there is no such event."""
    row = tx.find(tables().events, key={"id": event_id})
    return None if row is None else int(row.number)


def told(tx: Tx, *, after: int | None, limit: int, pool_ids: Collection[PoolId] | None = None) -> tuple[ToldEvent, ...]:
    """Events in the order in which they were written, each with the pool that it is about.

    Arguments:
        after: the first ones with a higher number; None for the latest ones.
        limit: how many at most.
        pool_ids: only what is about these pools: their clusters, node pools and nodes.
    """
    from sqlalchemy import func, select, true

    events, clusters, nodes, pools = tables().events, tables().clusters, tables().pool_nodes, tables().pools
    about = (
        events.outerjoin(clusters, clusters.c.id == events.c.subject)
        .outerjoin(nodes, nodes.c.id == events.c.subject)
        .outerjoin(pools, pools.c.id == func.coalesce(clusters.c.substrate_pool_id, nodes.c.pool_id))
    )
    chosen = (
        select(events, pools.c.id.label("pool_id"), pools.c.name.label("pool_name"))
        .select_from(about)
        .where(
            events.c.number > (after or 0),
            _before_a_gap(tx, after or 0),
            true() if pool_ids is None else among(pools.c.id, "of_pools"),
        )
        .order_by(events.c.number if after is not None else events.c.number.desc())
        .limit(limit)
    )
    rows = tx.rows(chosen, None if pool_ids is None else {"of_pools": sorted(pool_ids)})
    made = [_told(row._mapping) for row in rows]
    return tuple(made if after is not None else reversed(made))


def _before_a_gap(tx: Tx, after: int) -> ColumnElement[bool]:
    """Only the events before the first number that may still be written."""
    from sqlalchemy import exists, func, select, true

    table = tables().events
    earlier = table.alias("earlier")
    follows = exists().where(earlier.c.number == table.c.number - 1)
    fresh = table.c.at > tx.now - timedelta(seconds=_GAP_SECONDS)
    # The very first has nothing to follow.
    [row] = tx.rows(
        select(func.min(table.c.number).label("number")).where(
            table.c.number > max(after, 1), fresh, ~follows.correlate(table)
        )
    )
    return true() if row.number is None else table.c.number < row.number


def _told(values: Any) -> ToldEvent:
    return ToldEvent(
        event=Event(
            id=EventId(values["id"]),
            at=values["at"],
            tenant_id=TenantId(values["tenant_id"]),
            subject=values["subject"],
            type=values["type"],
            data=values["data"],
        ),
        pool_id=None if values["pool_id"] is None else PoolId(values["pool_id"]),
        pool=values["pool_name"] or "",
    )
