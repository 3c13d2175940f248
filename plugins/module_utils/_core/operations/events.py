# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happened, for an operator: events in order, read on from the one that was read last."""

from __future__ import annotations

from typing import Any

from ..model.errors import Code, OperationError
from ..model.ids import EventId, is_id
from ..model.records import ToldEvent
from ..store import outbox
from .pool_names import SHOWN_CHARACTERS, pools_called
from .session import Session

DEFAULT_LIMIT = 100
"""Events in one reading: some screens for a person, and few enough that a fleet of years answers at once."""


def read_events(
    session: Session, *, pool: str | None = None, since: str | None = None, limit: int = DEFAULT_LIMIT
) -> tuple[ToldEvent, ...]:
    """Events in the order in which they were written.

    Arguments:
        pool: only what is about the pool of this id, or all tenants' pools of this name, those that are gone too.
        since: the id of an event: the first ones after it. None gives the latest ones.
        limit: how many at most. As long as so many come, there may be more.

    Raises:
        OperationError: NOT_FOUND for an unknown pool or event, or one that is forgotten: then nobody knows whether
            events that came after it are, too.
    """
    with session.store.read() as tx:
        pool_ids = None if pool is None else [record.id for record in pools_called(tx, pool)]
        if pool is not None and not pool_ids:
            raise OperationError(
                Code.NOT_FOUND, f"there is no pool {pool[:SHOWN_CHARACTERS]!r}, and none is remembered"
            )
        after = None
        if since is not None:
            # Not every database takes any text.
            after = outbox.number_of(tx, EventId(since)) if is_id(since) else None
            if after is None:
                days = session.settings.retention.days
                raise OperationError(
                    Code.NOT_FOUND,
                    f"there is no event {since[:SHOWN_CHARACTERS]!r}: it never was, or it is forgotten (they are kept "
                    f"for {days} days); what came right after it may be, too: begin anew, with the latest ones",
                )
        return outbox.told(tx, after=after, limit=limit, pool_ids=pool_ids)


def to_data(told: ToldEvent) -> dict[str, Any]:
    """An event as plain values. Its data is as it was told, in the spec's camelCase."""
    event = told.event
    return {
        "id": str(event.id),
        "at": event.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "type": event.type,
        "tenant_id": str(event.tenant_id),
        "subject": event.subject,
        "pool": told.pool or None,
        "pool_id": None if told.pool_id is None else str(told.pool_id),
        "data": dict(event.data),
    }
