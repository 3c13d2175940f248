# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs whatever pass is due, a bounded number at once: what the scheduler ticks.

Only as many leases are claimed as there are free workers, the longest due first, so no lease waits unused and no pool
is passed over; and no provider account gets more than its share (operations/claiming.py), so slow ones hold up nobody
else. A worker that ends takes the next due pass at once; ticks are for passes that fall due while all rest.

A pass that does not come back loses its lease, because that is renewed between its steps only. It is given up then: its
worker is free for another pass, its pool for whoever comes, and what it still writes is refused by the lease's fence.
A thread cannot be ended from outside, so it stays; when too many have, the process is to begin anew (`is_stuck`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.telemetry import current_pass_of
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.claiming import claim_fairly, lost
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.passes import (
    LEASE_SECONDS,
    give_back,
    run_leased,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session

from .at_work import AtWork, PassAtWork
from .outage import Outage

_LOG = logging.getLogger(__name__)

STUCK_SECONDS = 600.0
"""For so long the oldest of as many hanging passes as there are workers has hung, when the process is to begin anew: a
provider at which everything hangs does not have it begin anew more often, and the other accounts' passes go on."""

LATE_SECONDS = 120.0
"""A tick that takes longer hangs in the database: its statements end after 20 s, waits for its locks after 10 s."""


class Dispatcher:
    """The workers of one process."""

    def __init__(self, session: Session, *, outage: Outage, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Nothing is claimed before the first tick.

        Arguments:
            outage: the database's, shared with whoever else asks it.
            monotonic: seconds that only grow.
        """
        self._session = session
        self._outage = outage
        self._monotonic = monotonic
        self._at_work = AtWork(monotonic=monotonic)
        self._claiming = threading.Lock()
        self._tick_began: float | None = None

    def tick(self) -> None:
        """Give up what hangs, claim what is due as far as there are free workers, and set them to work."""
        self._tick_began = self._monotonic()
        try:
            if not self._outage.lasts():
                self._give_up_what_hangs()
                for one in self._claim(self._session.settings.reconcile.workers):
                    self._set_to_work(one)
        finally:
            self._tick_began = None

    @property
    def is_late(self) -> bool:
        """Whether a tick does not come back: nothing is claimed, and nobody looks for passes that hang."""
        began = self._tick_began
        return began is not None and self._monotonic() - began > LATE_SECONDS

    @property
    def is_stuck(self) -> bool:
        """Whether so many passes have hung for so long that only a new process helps."""
        hanging = self._at_work.hanging()
        return len(hanging) >= self._session.settings.reconcile.workers and hanging[0] >= STUCK_SECONDS

    @property
    def hanging(self) -> int:
        """How many passes of this process hang: they were given up, and have not come back."""
        return len(self._at_work.hanging())

    def stop(self, *, grace_seconds: float) -> bool:
        """Claim nothing more, and have running passes end after the step in hand and give their leases back.

        Returns:
            Whether all did so in time. The leases of the others lapse by themselves.
        """
        self._session.stopping.set()
        end = self._monotonic() + grace_seconds
        # A claim that is under way is waited for: its leases are given back.
        if not self._claiming.acquire(timeout=grace_seconds):
            return False
        self._claiming.release()
        return self._at_work.wait_until_none(seconds=max(0.0, end - self._monotonic()))

    def _set_to_work(self, one: PassAtWork) -> None:
        # Daemon threads: one that hangs in an outside call must not keep the process from ending.
        thread = threading.Thread(target=self._work, args=(one,), name=f"pass {one.lease.unit}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system gives no more threads: the lease lapses
            self._at_work.end(one)
            _LOG.exception("a pass cannot begin", extra=current_pass_of(one.lease).log_fields)

    def _work(self, first: PassAtWork) -> None:
        one: PassAtWork | None = first
        try:
            while one is not None:
                one = self._next(one)
        except Exception:  # noqa: BLE001 -- a thread's last edge: the next tick starts another worker
            _LOG.exception("a worker has ended early")

    def _next(self, one: PassAtWork) -> PassAtWork | None:
        """Run a pass. Returns the next one for this thread, if any is due and the thread has still a worker's place."""
        one.thread = threading.get_ident()
        try:
            self._run(one)
        finally:
            late = self._at_work.end(one)
        if late is not None:
            _LOG.warning(
                "a pass has come back %.0f s after it was given up", late, extra=current_pass_of(one.lease).log_fields
            )
            return None
        return next(iter(self._claim(1)), None)

    def _claim(self, limit: int) -> tuple[PassAtWork, ...]:
        """One thread claims at a time: each knows what the others have taken."""
        with self._claiming:
            if self._session.stopping.is_set():
                return ()
            try:
                claimed = claim_fairly(self._session, self._at_work.by_account(), limit=limit)
            except StoreUnavailable as error:
                self._outage.failed(error)
                return ()
            self._outage.over()
            return tuple(self._at_work.begin(one.lease, account=one.account) for one in claimed)

    def _run(self, one: PassAtWork) -> None:
        try:
            if self._session.stopping.is_set():
                give_back(self._session, [one.lease])
            else:
                run_leased(self._session, one.lease)
        except StoreUnavailable as error:
            self._outage.failed(error)
        except Exception:  # noqa: BLE001 -- run_leased has logged it; the other pools are not to suffer from it
            return

    def _give_up_what_hangs(self) -> None:
        """A pass as old as a lease may still hold it, renewed: the store is asked."""
        old = {one.lease: one for one in self._at_work.longer_than(LEASE_SECONDS)}
        if not old:
            return
        try:
            gone = lost(self._session, old)
        except StoreUnavailable as error:
            self._outage.failed(error)
            return
        for one in (old[lease] for lease in gone):
            where = one.where()
            if self._at_work.give_up(one):
                _LOG.error(
                    "a pass hangs and has lost its lease; it is given up, and whoever comes goes on with the pool: %s",
                    where,
                    extra=current_pass_of(one.lease).log_fields,
                )
