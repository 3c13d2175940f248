# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a thread has just read of a cluster: DOKS shows its node pools with it, so that one call serves for both."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..contract import ClusterSpec
from .naming import Data

STAYS_FRESH = timedelta(seconds=5)
"""As long as the steps of one pass between its look at the cluster and its look at the node pools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    spec: ClusterSpec
    cluster: Data
    read_at: datetime


class LastReading:
    """One reading for each thread, given out once. Whoever writes forgets it."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._mine = threading.local()

    def keep(self, spec: ClusterSpec, cluster: Data, now: datetime) -> None:
        """Keep what was read now."""
        self._mine.reading = _Reading(spec=spec, cluster=cluster, read_at=now)

    def take(self, spec: ClusterSpec, now: datetime) -> Data | None:
        """What was read of this cluster a moment ago, if it was not taken yet."""
        reading: _Reading | None = getattr(self._mine, "reading", None)
        self.forget()
        if reading and reading.spec == spec and timedelta(0) <= now - reading.read_at <= STAYS_FRESH:
            return reading.cluster
        return None

    def forget(self) -> None:
        """Something was changed: what was read before is not true any more."""
        self._mine.reading = None
