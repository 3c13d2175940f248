# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes what nobody can ask for any more, a batch at a time: what each kind waits for, and what goes with it.

Only what can never stand again is deleted: ended, retired, deleted, archived, expired. So it does not matter when it
was looked for, and two who do it at once, or one who is killed between two batches, do no harm. Nothing counts over
what goes: quotas count reservations that stand.

Events are the clock of what they are about: a retired node, a deleted cluster or node pool goes when no event tells of
it any more, so that who reads events finds the names in them for as long as there are events. An idempotency key goes
with what it led to. Where that would have a repeated request make machines anew, both stay (see the kinds).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..model.retention import Kind
from .statements import among
from .tables import tables
from .transaction import Tx
from .unit_of_work import Store

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Delete, Select, Table

BATCH = 500
"""Rows of one kind in one transaction: some ten milliseconds, for which other writers of a SQLite file wait."""

_TOKEN_REST = timedelta(days=7)
"""How long a join token that has expired is still known. Nobody joins with it; but the log says of a machine that shows
it, say after a long weekend, that it has expired and not that it is none."""


def forget(store: Store, kind: Kind, *, keep: timedelta, now: datetime | None = None) -> int:
    """Delete one batch of a kind.

    Arguments:
        keep: how long what is over is kept.
        now: the present, where the caller has looked at the clock; None for the store's.

    Returns:
        How many were deleted, what goes with them not counted. None is left to delete when it is 0.

    Raises:
        StoreUnavailable: nothing was deleted.
    """
    rule = _rules()[kind]
    # Looked for without a lock: what is found can only be gone, not stand again.
    with store.read() as tx:
        found = rule.find(tx, (now or tx.now) - (rule.keep or keep))
    if not found:
        return 0
    with store.write() as tx:
        mine = _locked(tx, rule.table, rule.key, found)
        for statement in rule.along:
            tx.execute(statement, {"going": mine})
        tx.execute(_deleting(rule.table, rule.key), {"going": mine})
    return len(mine)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One kind.

    Attributes:
        keep: how long this kind is kept, whatever is said of the others.
        find: the keys of up to BATCH rows that can go, as texts, by what ended before this moment.
        along: deletes what refers to the rows of the parameter `going`, before they go.
    """

    table: Table
    key: ColumnElement[Any]
    find: Callable[[Tx, datetime], list[str]]
    along: tuple[Delete, ...] = ()
    keep: timedelta | None = None


def _locked(tx: Tx, table: Table, key: ColumnElement[Any], found: list[str]) -> list[str]:
    """Those that nobody else is deleting right now, or has."""
    from sqlalchemy import select

    chosen = select(key.label("going")).where(among(key, "going")).order_by(key)
    return [row.going for row in tx.rows(chosen.with_for_update(skip_locked=True, of=table), {"going": found})]


def _deleting(table: Table, key: ColumnElement[Any]) -> Delete:
    return table.delete().where(among(key, "going"))


def _by(
    *conditions: Callable[[datetime], ColumnElement[bool]] | ColumnElement[bool], key: ColumnElement[Any]
) -> Callable[[Tx, datetime], list[str]]:
    """Finds the rows that all of these hold for, some of them of a moment."""
    from sqlalchemy import select

    def find(tx: Tx, before: datetime) -> list[str]:
        held = [one if not callable(one) else one(before) for one in conditions]
        return [row.going for row in tx.rows(select(key.label("going")).where(*held).limit(BATCH))]

    return find


def _untold(subject: ColumnElement[Any], *more: ColumnElement[bool]) -> ColumnElement[bool]:
    """No event is about this id."""
    from sqlalchemy import exists

    return ~exists().where(tables().events.c.subject == subject, *more)


@cache
def _rules() -> MappingProxyType[Kind, _Rule]:
    every = tables()
    nodes, tokens, booked, keys = every.pool_nodes, every.join_tokens, every.reservations, every.idempotency
    return MappingProxyType(
        {
            Kind.EVENTS: _Rule(table=every.events, key=every.events.c.id, find=_old_events),
            # Who asks for the booking of a name then is told that there was none, as of a name that is new. Its key
            # goes in the same transaction: a key that led to nothing would have the name be taken for ever.
            Kind.RESERVATIONS: _Rule(
                table=booked,
                key=booked.c.id,
                find=_by(lambda before: booked.c.ended_at < before, key=booked.c.id),
                along=(_deleting(every.refunds, every.refunds.c.reservation_id), _deleting(keys, keys.c.result_id)),
            ),
            Kind.JOIN_TOKENS: _Rule(
                table=tokens,
                key=tokens.c.id,
                keep=_TOKEN_REST,
                find=_by(lambda before: tokens.c.expires_at < before, key=tokens.c.id),
                along=(_deleting(every.token_uses, every.token_uses.c.token_id),),
            ),
            # Its identity was cleared when it was retired: its bcd is refused as unknown before and after.
            Kind.NODES: _Rule(
                table=nodes,
                key=nodes.c.id,
                find=_by(
                    nodes.c.state == "retired",
                    lambda before: nodes.c.last_seen_at < before,
                    _untold(nodes.c.id),
                    key=nodes.c.id,
                ),
            ),
            Kind.NODE_POOLS: _node_pools(),
            Kind.POOLS: _pools(),
            Kind.CLUSTERS: _clusters(),
        }
    )


def _node_pools() -> _Rule:
    """Deleted ones. One that an idempotency key led to stays as long as its cluster stands: a repetition of the request
    is answered with it, and nothing is made anew."""
    from sqlalchemy import exists

    every = tables()
    rows, clusters, keys, events = every.node_pools, every.clusters, every.idempotency, every.events
    told_of = events.c.data["nodePoolId"].as_string() == rows.c.id
    kept = exists().where(
        keys.c.result_id == rows.c.id, clusters.c.id == rows.c.cluster_id, clusters.c.state != "deleted"
    )
    untold = _untold(rows.c.cluster_id, events.c.type == "kubernetes.nodepool.deleted", told_of)
    return _Rule(
        table=rows,
        key=rows.c.id,
        find=_by(rows.c.state == "deleted", untold, ~kept, key=rows.c.id),
        along=(_deleting(keys, keys.c.result_id),),
    )


def _pools() -> _Rule:
    """Archived ones, once nothing of theirs is left but their substrate, deleted, and their quotas.

    A pool that is not archived keeps its deleted substrate, and that its cluster's row: it may be declared anew.
    """
    from sqlalchemy import exists

    every = tables()
    rows, clusters, substrates = every.pools, every.clusters, every.substrates
    mine = [
        exists().where(table.c.pool_id == rows.c.id)
        for table in (every.pool_nodes, every.join_tokens, every.reservations, every.refunds)
    ]
    backed = exists().where(
        clusters.c.substrate_pool_id == rows.c.id,
        (clusters.c.state != "deleted") | exists().where(every.events.c.subject == clusters.c.id),
    )
    stands = exists().where(substrates.c.pool_id == rows.c.id, substrates.c.state != "deleted")
    wanted = exists().where(every.work.c.unit == rows.c.id)
    nothing_left = [~one for one in (*mine, backed, stands, wanted)]
    return _Rule(
        table=rows,
        key=rows.c.id,
        find=_by(lambda before: rows.c.archived_at < before, *nothing_left, key=rows.c.id),
        along=(
            _deleting(every.quotas, every.quotas.c.pool_id),
            _deleting(substrates, substrates.c.pool_id),
        ),
    )


def _clusters() -> _Rule:
    """Deleted ones without node pools, and no substrate's any more. One that an idempotency key led to stays: there is
    no end to when the request may be repeated (a playbook), and then a cluster would be made anew, which costs more."""
    from sqlalchemy import exists

    every = tables()
    rows = every.clusters
    referred = [
        exists().where(every.node_pools.c.cluster_id == rows.c.id),
        exists().where(every.substrates.c.cluster_id == rows.c.id),
        exists().where(every.idempotency.c.result_id == rows.c.id),
    ]
    unreferred = [~one for one in referred]
    return _Rule(
        table=rows, key=rows.c.id, find=_by(rows.c.state == "deleted", _untold(rows.c.id), *unreferred, key=rows.c.id)
    )


def _old_events(tx: Tx, before: datetime) -> list[str]:
    """The oldest, but never the latest of those that are old.

    Who goes on from it misses nothing; and SQLite, which gives the number after the highest that it has, gives none
    twice.
    """
    table = tables().events
    if (last := tx.row(_last_old(before))) is None:
        return []
    old = table.select().with_only_columns(table.c.id.label("going")).where(table.c.at < before)
    chosen = old.where(table.c.number < last.number).order_by(table.c.number).limit(BATCH)
    return [row.going for row in tx.rows(chosen)]


def _last_old(before: datetime) -> Select[Any]:
    from sqlalchemy import select

    table = tables().events
    return select(table.c.number).where(table.c.at < before).order_by(table.c.at.desc(), table.c.number.desc()).limit(1)
