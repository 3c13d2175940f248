# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The outbox: an event is a row, written in the transaction of the change that it tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..model.ids import EventId, TenantId, new_event_id
from ..model.records import Event
from .tables import tables
from .transaction import Tx


def publish(
    tx: Tx,
    *,
    tenant_id: TenantId,
    subject: str,
    type: str,  # noqa: A002 -- the event's own field
    data: Mapping[str, Any],
    key: str | None = None,
) -> bool:
    """Tell that something changed.

    Arguments:
        subject: the id it is about.
        type: e.g. `kubernetes.cluster.ready`.
        data: a few plain values; never a secret.
        key: what happens once: the same (subject, type, key) is told only the first time. None is told each time.

    Returns:
        Whether it is told now.
    """
    return tx.insert_once(
        tables().events,
        id=new_event_id(tx.now),
        at=tx.now,
        tenant_id=tenant_id,
        subject=subject,
        type=type,
        key=key,
        data=dict(data),
    )


def publish_all(tx: Tx, *, type: str, told: Iterable[tuple[TenantId, str, Mapping[str, Any]]]) -> None:  # noqa: A002 -- as above
    """Tell that the same happened to many, each time: of each its tenant, its subject and the data (see publish)."""
    rows = [
        {
            "id": new_event_id(tx.now),
            "at": tx.now,
            "tenant_id": tenant_id,
            "subject": subject,
            "type": type,
            "key": None,
            "data": dict(data),
        }
        for tenant_id, subject, data in told
    ]
    tx.insert_all(tables().events, rows)


def events(tx: Tx, subject: str | None = None, after: EventId | None = None) -> tuple[Event, ...]:
    """The events in the order in which they were written, of one subject or all.

    Arguments:
        after: only what was written after this event.
    """
    from sqlalchemy import select

    table = tables().events
    chosen = table.select().order_by(table.c.number)
    if subject is not None:
        chosen = chosen.where(table.c.subject == subject)
    if after is not None:
        chosen = chosen.where(table.c.number > select(table.c.number).where(table.c.id == after).scalar_subquery())
    return tuple(
        Event(
            id=EventId(row.id),
            at=row.at,
            tenant_id=TenantId(row.tenant_id),
            subject=row.subject,
            type=row.type,
            data=row.data,
        )
        for row in tx.rows(chosen)
    )
