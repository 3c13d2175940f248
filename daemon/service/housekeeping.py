# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every hour the daemon looks for what may be forgotten. Daemons on one database need not agree whose turn it is."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.retention import Kind
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.housekeeping import forget_history
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session

from ..metrics import Metrics
from .outage import Outage

_LOG = logging.getLogger(__name__)

HOUSEKEEPING_SECONDS = 3600.0
"""Between two runs. What an hour leaves behind is little, and a run that finds nothing costs a few reads."""

FIRST_SECONDS = 60.0
"""From the start to the first look at the clock. The machines that wait for the daemon are served by then."""

_JUMP = timedelta(hours=1)
"""By how much the store's clock may differ from the time that has passed. A clock that is set right after a start, or
one that drifts, differs by less; whoever takes the present for next year would forget what is not over for long."""


def _passed() -> float:
    """Seconds, on the clock that nobody sets. Linux' goes on while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Housekeeping:
    """The daemon's runs."""

    def __init__(
        self,
        session: Session,
        outage: Outage,
        metrics: Metrics,
        *,
        passed: Callable[[], float] = _passed,
    ) -> None:
        """Begin.

        Arguments:
            passed: seconds, on a clock that nobody sets.
        """
        self._session = session
        self._outage = outage
        self._metrics = metrics
        self._passed = passed
        self._before: tuple[datetime, float] | None = None

    def run(self) -> None:
        """One run; the first only looks at the clock. What cannot be done now is done by the next one."""
        if self._outage.lasts():
            return
        forgotten: Counter[Kind] = Counter()

        def told(kind: Kind, many: int) -> None:
            forgotten[kind] += many
            self._metrics.forgotten(kind, many)

        try:
            if (now := self._steady_now()) is not None:
                forget_history(self._session, told=told, now=now)
        except StoreUnavailable as error:
            self._outage.failed(error)
        if forgotten:
            days = self._session.settings.retention.days
            counts = ", ".join(f"{many} {str(kind).replace('_', ' ')}" for kind, many in forgotten.items())
            _LOG.info("history of more than %d days ago is forgotten: %s", days, counts)

    def _steady_now(self) -> datetime | None:
        """The present, when the store's clock has gone on since the last run as much as time has; else None."""
        with self._session.store.read() as tx:
            now = tx.now
        before, self._before = self._before, (now, self._passed())
        if before is None:
            return None
        jump = (now - before[0]) - timedelta(seconds=self._before[1] - before[1])
        if abs(jump) > _JUMP:
            _LOG.warning("the clock jumped by %s: nothing is forgotten before it is steady for an hour", jump)
            return None
        return now
