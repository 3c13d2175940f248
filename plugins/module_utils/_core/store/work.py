# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lease units and due times: who works on what, and what wants to be worked on when.

A unit is a pool (or a tenant's cluster without a pool), named by its id. A lease is for one holder at a time, lapses by
itself, and carries a number that only grows: the fence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from ..model.errors import StaleLease
from ..model.records import Lease
from .standing import cluster_stands
from .statements import among
from .tables import tables
from .transaction import Tx

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select, Update

Unit = TypeVar("Unit", bound=str)

LEASE_SECONDS = 60
"""Longer than any step of a pass (each outside call ends well before), short enough that a dead holder is soon gone."""


def add_unit(tx: Tx, unit: str, due_at: datetime) -> None:
    """Have the unit worked on from `due_at` on. One that is known already is left as it is."""
    tx.insert_once(tables().work, unit=unit, due_at=due_at, fence=0)


def remove_unit(tx: Tx, unit: str) -> None:
    """Forget the unit and whatever lease is on it: a pass that removes its own unit has no lease to release."""
    work = tables().work
    tx.execute(work.delete().where(work.c.unit == unit))


def make_due(tx: Tx, unit: str, at: datetime) -> None:
    """Have the unit worked on at `at` at the latest; the earlier of two wishes wins.

    A pass that is running now may have looked already: the wish stays marked, and :func:`release` keeps to it.
    A unit that is unknown stays so.
    """
    tx.execute(_making_due(), {"a_unit": unit, "at": at})


def lock_units(tx: Tx, units: Iterable[str]) -> None:
    """Keep everybody else from these units' rows to the end of the transaction: before all other rows, in one order."""
    tx.rows(_locking_units(), {"of_units": sorted(set(units))})


@cache
def _locking_units() -> Select[Any]:
    from sqlalchemy import select

    work = tables().work
    mine = among(work.c.unit, "of_units")
    return select(work.c.unit).where(mine).order_by(work.c.unit).with_for_update()


def add_due(tx: Tx, units: Iterable[str], at: datetime) -> None:
    """Have all these units worked on at `at` at the latest; those that are unknown are known from now on.

    One after the other in one order, so that two callers do not wait for one another in a circle.
    """
    wanted = sorted(set(units))
    if wanted:
        tx.insert_all_once(tables().work, [{"unit": unit, "due_at": at, "fence": 0} for unit in wanted])
        make_all_due(tx, wanted, at)


def make_all_due(tx: Tx, units: Iterable[str], at: datetime) -> None:
    """As :func:`make_due`, for all these units, in the order of :func:`add_due`."""
    wanted = [{"a_unit": unit, "at": at} for unit in sorted(set(units))]
    if wanted:
        tx.execute(_making_due(), wanted)


@cache
def _making_due() -> Update:
    from sqlalchemy import bindparam, case

    work = tables().work
    at = bindparam("at", type_=work.c.due_at.type)
    return (
        work.update()
        .where(
            work.c.unit == bindparam("a_unit"),
            (work.c.due_at > at) | work.c.asked_at.is_(None) | (work.c.asked_at > at),
        )
        .values(
            due_at=case((work.c.due_at > at, at), else_=work.c.due_at),
            asked_at=case((work.c.asked_at < at, work.c.asked_at), else_=at),
        )
    )


def acquire(tx: Tx, unit: str, holder: str) -> Lease | None:
    """Take the unit's lease for :data:`LEASE_SECONDS`.

    The unit counts as due from now until the release: a holder that dies is followed as soon as its lease lapses.

    Arguments:
        holder: names this very pass, not only its process: a live lease is refused to everybody, its holder included.

    Returns:
        The lease with a fence higher than any before; None when a lease is alive (or the unit is unknown).
    """
    until = tx.now + timedelta(seconds=LEASE_SECONDS)
    if not tx.execute(_taking(), {"a_unit": unit, "by": holder, "now": tx.now, "until": until}).rowcount:
        return None
    row = tx.find(tables().work, key={"unit": unit})
    return None if row is None else Lease(unit=unit, holder=holder, fence=row.fence, until=until)


@cache
def _taking() -> Update:
    from sqlalchemy import bindparam, case

    work = tables().work
    now = bindparam("now", type_=work.c.due_at.type)
    return (
        work.update()
        .where(work.c.unit == bindparam("a_unit"), is_free(now))
        .values(
            holder=bindparam("by"),
            fence=work.c.fence + 1,
            lease_until=bindparam("until"),
            asked_at=None,
            due_at=case((work.c.due_at > now, now), else_=work.c.due_at),
        )
    )


def claim_due(tx: Tx, holder: str, limit: int) -> tuple[Lease, ...]:
    """Take the leases of up to `limit` units that are due, the longest due first.

    On PostgreSQL it does not wait for units that somebody else is just taking.

    Arguments:
        holder: names this very claim (see :func:`acquire`).
    """
    from sqlalchemy import select

    work = tables().work
    due = tx.rows(
        select(work.c.unit, work.c.fence)
        .where(work.c.due_at <= tx.now, is_free(tx.now))
        .order_by(work.c.due_at, work.c.unit)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return _lease(tx, holder, {row.unit: row.fence for row in due}) if due else ()


def claim_next(tx: Tx, holder: str, *, apart_from: Collection[str]) -> tuple[Lease, str] | None:
    """Take the lease of the unit that can be claimed for the longest time and whose provider account is none of these.

    One whose pass hung was to be had no sooner than its lease lapsed: it comes after those that waited meanwhile. On
    PostgreSQL it passes over units that somebody else is just taking.

    Arguments:
        holder: names this very claim (see :func:`acquire`).
        apart_from: ids of accounts.

    Returns:
        The lease, and the account's id: empty for a unit without one. None when no such unit is due.
    """
    from sqlalchemy import select

    work, account = tables().work, _account()
    row = tx.row(
        select(work.c.unit, work.c.fence, account.label("account"))
        .where(work.c.due_at <= tx.now, is_free(tx.now), account.not_in(sorted(apart_from)))
        .order_by(claimable_at(), work.c.unit)
        .limit(1)
        .with_for_update(skip_locked=True, of=work)
    )
    if row is None:
        return None
    (lease,) = _lease(tx, holder, {row.unit: row.fence})
    return lease, row.account


def _lease(tx: Tx, holder: str, fences: Mapping[str, int]) -> tuple[Lease, ...]:
    """Leases on these units, whose rows this transaction has locked and found free, with the fences that they had."""
    work = tables().work
    until = tx.now + timedelta(seconds=LEASE_SECONDS)
    tx.execute(
        work.update()
        .where(work.c.unit.in_(list(fences)))
        .values(holder=holder, fence=work.c.fence + 1, lease_until=until, asked_at=None)
    )
    return tuple(Lease(unit=unit, holder=holder, fence=fence + 1, until=until) for unit, fence in fences.items())


@cache
def _account() -> ColumnElement[str]:
    """The provider account that a unit's passes work with; empty where there is none."""
    from sqlalchemy import func, select

    work, clusters = tables().work, tables().clusters
    chosen = select(clusters.c.account_id)
    own = chosen.where(clusters.c.id == work.c.unit).scalar_subquery()
    of_pool = chosen.where(clusters.c.substrate_pool_id == work.c.unit, cluster_stands())
    return func.coalesce(own, of_pool.scalar_subquery(), "")


def lost(tx: Tx, leases: Iterable[Lease]) -> frozenset[Lease]:
    """Those of these leases that lapsed, or that were taken over since; not those that were given back."""
    from sqlalchemy import select

    work = tables().work
    asked = {lease.unit: lease for lease in leases}
    chosen = select(work.c.unit, work.c.fence, work.c.lease_until)
    rows = tx.rows_of(chosen, work.c.unit, asked)
    return frozenset(
        asked[row.unit]
        for row in rows
        if row.fence > asked[row.unit].fence or (row.lease_until is not None and row.lease_until <= tx.now)
    )


def renew(tx: Tx, lease: Lease) -> Lease:
    """Hold the lease for another :data:`LEASE_SECONDS` from now. To be called between steps only.

    Raises:
        StaleLease: it lapsed, even if nobody has taken it yet, or is somebody else's.
    """
    until = tx.now + timedelta(seconds=LEASE_SECONDS)
    if not tx.execute(_renewing(), {**_of(lease, tx.now), "until": until}).rowcount:
        raise _stale(lease)
    return Lease(unit=lease.unit, holder=lease.holder, fence=lease.fence, until=until)


@cache
def _renewing() -> Update:
    from sqlalchemy import bindparam

    return tables().work.update().where(*_held()).values(lease_until=bindparam("until"))


def release(tx: Tx, lease: Lease, next_due_at: datetime) -> None:
    """Give the lease back. The unit is due at `next_due_at`, or earlier when that was asked for since it was taken.

    Raises:
        StaleLease: it lapsed or is somebody else's.
    """
    if not tx.execute(_releasing(), {**_of(lease, tx.now), "next": next_due_at}).rowcount:
        raise _stale(lease)


@cache
def _releasing() -> Update:
    from sqlalchemy import bindparam, case

    work = tables().work
    next_due_at = bindparam("next", type_=work.c.due_at.type)
    return (
        work.update()
        .where(*_held())
        .values(
            holder=None,
            lease_until=None,
            asked_at=None,
            due_at=case((work.c.asked_at < next_due_at, work.c.asked_at), else_=next_due_at),
        )
    )


def next_due(tx: Tx) -> datetime | None:
    """When the next unit can be claimed: due, and its lease given back or lapsed. None when there is no unit."""
    from sqlalchemy import func, select

    due_at = tables().work.c.due_at
    moment: datetime | None = tx.execute(select(func.min(claimable_at(), type_=due_at.type))).scalar()
    return moment


def next_unit(tx: Tx) -> tuple[str, datetime] | None:
    """The unit that can be claimed next, and when; None when there is none. See :func:`next_due`."""
    from sqlalchemy import select

    work = tables().work
    at = claimable_at()
    row = tx.row(select(work.c.unit, at.label("at")).order_by(at, work.c.unit).limit(1))
    return None if row is None else (row.unit, row.at)


@cache
def claimable_at() -> ColumnElement[datetime]:
    """From when on each unit can be taken: since it is due, or since the lease on it lapsed."""
    from sqlalchemy import case

    work = tables().work
    return case((work.c.lease_until > work.c.due_at, work.c.lease_until), else_=work.c.due_at)


def due_of(tx: Tx, unit: str) -> datetime | None:
    """When the unit is due; None when it is unknown."""
    from sqlalchemy import select

    work = tables().work
    moment: datetime | None = tx.execute(select(work.c.due_at).where(work.c.unit == unit)).scalar()
    return moment


def standing(tx: Tx, units: Iterable[Unit]) -> tuple[dict[Unit, datetime], frozenset[Unit]]:
    """When each of these units is due, and which of them have a live lease, whoever holds it: one read for all.

    Unknown units are left out.
    """
    from sqlalchemy import select

    work = tables().work
    asked = {str(unit): unit for unit in units}
    rows = tuple(tx.rows_of(select(work.c.unit, work.c.due_at, work.c.lease_until), work.c.unit, asked))
    due = {asked[row.unit]: row.due_at for row in rows}
    held = frozenset(asked[row.unit] for row in rows if row.lease_until is not None and row.lease_until > tx.now)
    return due, held


def lease_of(tx: Tx, unit: str) -> Lease | None:
    """The unit's live lease, whoever holds it."""
    from sqlalchemy import select

    work = tables().work
    row = tx.row(
        select(work.c.holder, work.c.fence, work.c.lease_until).where(work.c.unit == unit, work.c.lease_until > tx.now)
    )
    return None if row is None else Lease(unit=unit, holder=row.holder, fence=row.fence, until=row.lease_until)


def is_free(now: ColumnElement[datetime] | datetime) -> ColumnElement[bool]:
    """Whether nobody holds a unit's lease at this moment."""
    work = tables().work
    return work.c.holder.is_(None) | (work.c.lease_until <= now)


def _held() -> tuple[ColumnElement[bool], ...]:
    """The row of a lease that is alive: see _of."""
    from sqlalchemy import bindparam

    work = tables().work
    return (
        work.c.unit == bindparam("a_unit"),
        work.c.holder == bindparam("by"),
        work.c.fence == bindparam("at_fence"),
        work.c.lease_until > bindparam("now"),
    )


def _of(lease: Lease, now: datetime) -> dict[str, Any]:
    return {"a_unit": lease.unit, "by": lease.holder, "at_fence": lease.fence, "now": now}


def _stale(lease: Lease) -> StaleLease:
    return StaleLease(f"the lease on {lease.unit} is no longer {lease.holder}'s")
