# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running passes: until named pools have settled (a module), or whatever is due (the daemon)."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

from ..cluster.api import require_client
from ..model.errors import StaleLease, StoreUnavailable
from ..model.ids import ClusterId, PoolId
from ..model.pass_end import PassEnd, PassOutcome
from ..model.records import Lease
from ..reconcile.doors import Doors
from ..reconcile.passes import run_pass
from ..reconcile.timing import Intervals
from ..store import fleet, work
from .clusters.views import ClusterView
from .clusters.views import views_of as clusters_of
from .session import Session
from .substrates import SubstrateView, views_of
from .told_passes import tell_of

_LOG = logging.getLogger(__name__)

_LOOK_AGAIN_SECONDS = 0.5
"""Between looks at the records, which are one read; the end of the last pass under way is looked at at once."""

_AFTER_A_FAULT = timedelta(minutes=5)
"""A pass that failed for a reason of our own is not run again at once."""

LEASE_SECONDS = work.LEASE_SECONDS
"""A pass that takes longer without renewing its lease, which it does between its steps, has lost it."""

Unit: TypeAlias = PoolId | ClusterId
"""What is leased: a pool, or a cluster that backs none."""

Watcher = Callable[[tuple[SubstrateView, ...]], None]


def require_libraries() -> None:
    """Check that passes can be run here at all, before anything is recorded for them to do.

    Raises:
        ModuleNotFoundError: the kubernetes package is missing. A provider's own shows when its account is looked at.
    """
    require_client()


def doors(session: Session) -> Doors:
    """What a pass needs of the outside."""
    return Doors(
        store=session.store,
        clock=session.clock,
        open_driver=session.open_driver,
        agent=session.settings.agent,
        stopping=session.stopping.is_set,
        intervals=Intervals(
            converging=timedelta(seconds=session.settings.reconcile.converging_seconds),
            settled=timedelta(seconds=session.settings.reconcile.settled_seconds),
            deleting=timedelta(seconds=session.settings.reconcile.deleting_seconds),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What was brought to its end, as it stands: `settled` is False on those that were not settled in time."""

    substrates: tuple[SubstrateView, ...]
    clusters: tuple[ClusterView, ...]


def run_until_settled(
    session: Session, pool_ids: Iterable[PoolId], *, timeout: timedelta, watch: Watcher | None = None
) -> tuple[SubstrateView, ...]:
    """As :func:`run_all_until_settled`, for pools.

    Arguments:
        watch: told the substrates after each look, for progress.

    Returns:
        The substrates as they stand; `settled` is False on those that were not settled in time.
    """
    return run_all_until_settled(session, pool_ids, (), timeout=timeout, watch=watch).substrates


def run_all_until_settled(
    session: Session,
    pool_ids: Iterable[PoolId],
    cluster_ids: Iterable[ClusterId],
    *,
    timeout: timedelta,
    watch: Watcher | None = None,
) -> Settled:
    """Run passes of these pools and clusters without a pool, as they fall due, until each is ready, failed or gone.

    A state counts when a pass has ended since this began: an error of yesterday is looked into first. A pool whose
    lease another process holds is watched, not fought for. A pass that the database failed is run again.

    Arguments:
        timeout: when to give up waiting; what is declared stays declared, and the daemon goes on.
        watch: told the substrates after each look, for progress.

    Raises:
        StoreUnavailable: the records cannot be read.
        Exception: a fault of our own in one pool's pass; the others were brought to their end before.
    """
    pools, own = frozenset(pool_ids), frozenset(cluster_ids)
    units: frozenset[Unit] = pools | own
    began = _make_due(session, units)
    faults: dict[Unit, Exception] = {}
    running: dict[Unit, Future[bool]] = {}
    with ThreadPoolExecutor(max_workers=session.settings.reconcile.workers, thread_name_prefix="pass") as threads:
        while True:
            running = _still_running(running, faults)
            look = _look(session, pools, own)
            if watch is not None:
                watch(look.views)
            moving: set[Unit] = {view.record.pool_id for view in look.views if not view.settled}
            moving |= {cluster.record.id for cluster in look.clusters if not cluster.settled}
            # Settled: a pass has ended since we began, and the state that it left is a final one.
            unsettled = {unit for unit, due in look.due.items() if due <= began or unit in moving} - faults.keys()
            late = look.now - began >= timeout
            if not running and (not unsettled or late):
                break
            if not late:
                for unit in unsettled - running.keys() - look.held:
                    if look.due[unit] <= look.now:
                        running[unit] = threads.submit(_attempt, session, unit)
            if running:
                wait(running.values(), timeout=_LOOK_AGAIN_SECONDS)
            else:
                session.sleep(_LOOK_AGAIN_SECONDS)
    _raise_first(faults)
    return Settled(
        substrates=tuple(replace(view, in_time=view.record.pool_id not in unsettled) for view in look.views),
        clusters=tuple(replace(view, in_time=view.record.id not in unsettled) for view in look.clusters),
    )


def run_once(session: Session, units: Iterable[Unit]) -> None:
    """One pass over each of these pools and clusters that nobody else holds, several at once.

    Raises:
        Exception: a fault of our own in one pool's pass; the others had theirs.
    """
    faults: dict[Unit, Exception] = {}
    with ThreadPoolExecutor(max_workers=session.settings.reconcile.workers, thread_name_prefix="pass") as threads:
        running = {unit: threads.submit(_attempt, session, unit) for unit in units}
        wait(running.values())
        _still_running(running, faults)
    _raise_first(faults)


def claim_due(session: Session, *, limit: int) -> tuple[Lease, ...]:
    """Leases on up to `limit` pools whose pass is due and that nobody holds: each must be given to run_leased."""
    with session.store.read() as tx:
        moment = work.next_due(tx)
        if moment is None or moment > tx.now:
            return ()
    with session.store.write() as tx:
        return work.claim_due(tx, session.holder, limit)


def claim_one(session: Session, unit: Unit) -> Lease | None:
    """The lease on this one, due or not: it must be given to run_leased. None when somebody works on it."""
    with session.store.write() as tx:
        return work.acquire(tx, unit, session.holder)


def run_leased(session: Session, lease: Lease) -> None:
    """Run one pass under a lease. A fault of our own is logged, the pool comes again in five minutes, and it is raised.

    Raises:
        StoreUnavailable: the database went away; the lease lapses by itself.
    """
    tell_of(session.telemetry, lease, partial(_run_leased, session, lease))


def _run_leased(session: Session, lease: Lease) -> PassEnd:
    try:
        return run_pass(doors(session), lease)
    except StaleLease:
        _LOG.warning("%s: the lease was lost; somebody else goes on", lease.unit)
        return PassEnd(outcome=PassOutcome.LEASE_LOST)
    except StoreUnavailable:
        raise
    except Exception:
        _LOG.exception("%s: the pass failed", lease.unit)
        with contextlib.suppress(StaleLease), session.store.write(lease=lease) as tx:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What there is to do at one moment.

    Attributes:
        views, clusters: the substrates and clusters as they stand.
        due: when each unit is due; one that wants no passes any more is not in it.
        held: units whose lease is alive, whoever holds it.
    """

    now: datetime
    views: tuple[SubstrateView, ...]
    clusters: tuple[ClusterView, ...]
    due: dict[Unit, datetime]
    held: frozenset[Unit]


def _look(session: Session, pools: frozenset[PoolId], own: frozenset[ClusterId]) -> _Look:
    units: frozenset[Unit] = pools | own
    with session.store.read() as tx:
        due, held = work.standing(tx, units)
        return _Look(
            now=tx.now,
            views=views_of(tx, fleet.pools_of(tx, pools)),
            clusters=clusters_of(tx, own),
            due=due,
            held=held,
        )


def _make_due(session: Session, units: Iterable[Unit]) -> datetime:
    with session.store.write() as tx:
        work.make_all_due(tx, units, tx.now)
        return tx.now


def _attempt(session: Session, unit: Unit) -> bool:
    """One pass, unless somebody else holds the pool or this process was told to end."""
    if session.stopping.is_set():
        return False
    lease = claim_one(session, unit)
    if lease is None:
        return False
    run_leased(session, lease)
    return True


def _still_running(running: dict[Unit, Future[bool]], faults: dict[Unit, Exception]) -> dict[Unit, Future[bool]]:
    """The passes that have not ended. Faults of the others are kept, and hold up nobody else's pass."""
    for unit, future in running.items():
        error = future.exception() if future.done() else None
        # When the database went away, the pass is due again; if it stays away, the next look says so.
        if isinstance(error, Exception) and not isinstance(error, StoreUnavailable):
            faults[unit] = error
    return {unit: future for unit, future in running.items() if not future.done()}


def _raise_first(faults: dict[Unit, Exception]) -> None:
    if faults:
        raise faults[min(faults)]
