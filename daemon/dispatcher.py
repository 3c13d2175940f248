# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs whatever pass is due, a bounded number at once: what the scheduler ticks.

Only as many leases are claimed as there are free workers, the longest due first, so no lease waits unused and no pool
is passed over. A worker that ends takes the next due pass at once; ticks are for passes that fall due while all rest.
"""

from __future__ import annotations

import logging
import threading

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Lease
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.passes import (
    claim_due,
    give_back,
    run_leased,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session

from .outage import Outage

_LOG = logging.getLogger(__name__)


class Dispatcher:
    """The workers of one process."""

    def __init__(self, session: Session, *, outage: Outage) -> None:
        """Nothing is claimed before the first tick.

        Arguments:
            outage: the database's, shared with whoever else asks it.
        """
        self._session = session
        self._outage = outage
        self._at_work = 0
        self._changed = threading.Condition()

    def tick(self) -> None:
        """Claim what is due, as far as there are free workers, and set them to work."""
        with self._changed:
            free = self._session.settings.reconcile.workers - self._at_work
            if free <= 0 or self._session.stopping.is_set() or self._outage.lasts():
                return
            self._at_work += free
        leases: tuple[Lease, ...] = ()
        try:
            leases = self._claim(free)
        finally:
            self._rest(free - len(leases))
        for lease in leases:
            # Daemon threads: one that hangs in an outside call must not keep the process from ending.
            threading.Thread(target=self._work, args=(lease,), name=f"pass {lease.unit}", daemon=True).start()

    def stop(self, *, grace_seconds: float) -> bool:
        """Claim nothing more, and have running passes end after the step in hand and give their leases back.

        Returns:
            Whether all did so in time. The leases of the others lapse by themselves.
        """
        self._session.stopping.set()
        with self._changed:
            return self._changed.wait_for(lambda: not self._at_work, timeout=grace_seconds)

    def _work(self, lease: Lease) -> None:
        try:
            self._run(lease)
            while not self._session.stopping.is_set() and (more := self._claim(1)):
                self._run(more[0])
        except Exception:  # noqa: BLE001 -- a thread's last edge: the next tick starts another worker
            _LOG.exception("a worker has ended early")
        finally:
            self._rest(1)

    def _claim(self, limit: int) -> tuple[Lease, ...]:
        try:
            leases = claim_due(self._session, limit=limit)
        except StoreUnavailable as error:
            self._outage.failed(error)
            return ()
        self._outage.over()
        return leases

    def _run(self, lease: Lease) -> None:
        try:
            if self._session.stopping.is_set():
                give_back(self._session, [lease])
            else:
                _LOG.debug("a pass begins", extra={"pool": lease.unit})
                run_leased(self._session, lease)
        except StoreUnavailable as error:
            self._outage.failed(error)
        except Exception:  # noqa: BLE001 -- run_leased has logged it; the other pools are not to suffer from it
            return

    def _rest(self, workers: int) -> None:
        with self._changed:
            self._at_work -= workers
            self._changed.notify_all()
