# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The database being away: told once, waited out with growing pauses, told again when it is back."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable

_LOG = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS = 1.0

_LONGEST_PAUSE_SECONDS = 30.0
"""Half a lease: long enough to leave a database that struggles alone, short enough to be back soon."""


class Outage:
    """One database's outage. Safe to use from many threads."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """The database counts as there until somebody says otherwise.

        Arguments:
            monotonic: seconds that only grow.
        """
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._pause = 0.0
        self._until = 0.0

    def lasts(self) -> bool:
        """Whether the database is to be left alone for now."""
        return self._monotonic() < self._until

    def failed(self, error: StoreUnavailable) -> float:
        """The database did not answer. Returns the seconds to leave it alone for."""
        with self._lock:
            now = self._monotonic()
            if not self._pause:
                _LOG.error("the database is not to be had: %s; trying again until it is", error)
            if now >= self._until:  # of several calls that failed at once, one counts
                self._pause = min(max(2 * self._pause, _FIRST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
                self._until = now + self._pause
            return self._until - now

    def over(self) -> None:
        """The database answered."""
        if self._pause:
            with self._lock:
                self._pause, self._until = 0.0, 0.0
            _LOG.info("the database answers again")
