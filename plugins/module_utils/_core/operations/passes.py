# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running passes: until named pools have settled (a module), or whatever is due (the daemon)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import datetime, timedelta

from ..model.errors import StaleLease, StoreUnavailable
from ..model.ids import PoolId
from ..model.records import Lease
from ..reconcile.passes import run_pass
from ..store import work
from .session import Session
from .substrates import SubstrateView, list_substrates

_LOG = logging.getLogger(__name__)

_LOOK_AGAIN_SECONDS = 0.5
"""Between looks at the records while others' passes or due times are waited for: one cheap read."""

_AFTER_A_FAULT = timedelta(minutes=5)
"""A pass that failed for a reason of our own is not run again at once."""

Watcher = Callable[[tuple[SubstrateView, ...]], None]


def run_until_settled(
    session: Session, pool_ids: Iterable[PoolId], *, timeout: timedelta, watch: Watcher | None = None
) -> tuple[SubstrateView, ...]:
    """Run passes of these pools, as they fall due, until each is ready, failed or gone.

    A pool whose lease another process holds is watched, not fought for.

    Arguments:
        timeout: when to give up waiting; what is declared stays declared, and the daemon goes on.
        watch: told the substrates after each look, for progress.

    Returns:
        The substrates as they stand; `settled` is False on those that were not ready in time.
    """
    units = frozenset(pool_ids)
    with session.store.write() as tx:
        began = tx.now
        for unit in units:
            work.make_due(tx, unit, began)
    with ThreadPoolExecutor(max_workers=session.settings.reconcile.workers, thread_name_prefix="pass") as threads:
        running: dict[PoolId, Future[bool]] = {}
        while True:
            running = {unit: future for unit, future in running.items() if not _ended(future)}
            views = list_substrates(session, pool_ids=units)
            if watch is not None:
                watch(views)
            now, due, held = _due(session, units)
            open_units = {unit for unit in units if not _is_settled(unit, views, due.get(unit), began)}
            late = now - began >= timeout
            if not running and (not open_units or late):
                return views
            if not late:
                for unit in open_units - running.keys() - held:
                    if (moment := due.get(unit)) is not None and moment <= now:
                        running[unit] = threads.submit(_attempt, session, unit)
            if running:
                wait(running.values(), timeout=_LOOK_AGAIN_SECONDS, return_when="FIRST_COMPLETED")
            else:
                session.sleep(_LOOK_AGAIN_SECONDS)


def run_once(session: Session, pool_ids: Iterable[PoolId]) -> None:
    """One pass over each of these pools that nobody else holds."""
    for unit in pool_ids:
        _attempt(session, unit)


def claim_due(session: Session, *, limit: int) -> tuple[Lease, ...]:
    """Leases on up to `limit` pools whose pass is due and that nobody holds: each must be given to run_leased."""
    with session.store.read() as tx:
        moment = work.next_due(tx)
        if moment is None or moment > tx.now:
            return ()
    with session.store.write() as tx:
        return work.claim_due(tx, session.holder, limit)


def run_leased(session: Session, lease: Lease) -> None:
    """Run one pass under a lease. A fault of our own is logged, the pool comes again in five minutes, and it is raised.

    Raises:
        StoreUnavailable: the database went away; the lease lapses by itself.
    """
    try:
        run_pass(session.doors, lease)
    except StaleLease:
        _LOG.warning("pool %s: the lease was lost; somebody else goes on", lease.unit)
    except StoreUnavailable:
        raise
    except Exception:
        _LOG.exception("pool %s: the pass failed", lease.unit)
        with session.store.write(lease=lease) as tx:
            work.release(tx, lease, tx.now + _AFTER_A_FAULT)
        raise


def give_back(session: Session, leases: Iterable[Lease]) -> None:
    """Give leases back whose pass was not begun, due at once: for a daemon that is told to stop."""
    for lease in leases:
        try:
            with session.store.write(lease=lease) as tx:
                work.release(tx, lease, tx.now)
        except StaleLease:
            continue


def _attempt(session: Session, unit: PoolId) -> bool:
    with session.store.write() as tx:
        lease = work.acquire(tx, unit, session.holder)
    if lease is None:
        return False
    run_leased(session, lease)
    return True


def _ended(future: Future[bool]) -> bool:
    """Whether a pass has ended; what it raised is raised here, in the caller's thread."""
    if future.done():
        future.result()
    return future.done()


def _due(
    session: Session, units: frozenset[PoolId]
) -> tuple[datetime, dict[PoolId, datetime], frozenset[PoolId]]:
    """The present, when each unit is due, and the units whose lease somebody holds."""
    with session.store.read() as tx:
        due = {unit: work.due_of(tx, unit) for unit in units}
        held = frozenset(unit for unit in units if work.lease_of(tx, unit) is not None)
        return tx.now, {unit: moment for unit, moment in due.items() if moment is not None}, held


def _is_settled(unit: PoolId, views: tuple[SubstrateView, ...], due: datetime | None, began: datetime) -> bool:
    """Settled: no passes wanted any more; or a pass has ended since we began, and the state it left is a final one."""
    if due is None:
        return True
    return due > began and all(view.settled for view in views if view.record.pool_id == unit)
