# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the API may be called: so many calls an hour and, as a burst, so many a minute."""

from __future__ import annotations

import math
from collections import deque
from threading import Lock
from typing import Final

from ..engine import Clock
from .refusals import too_many_requests

CALLS_AN_HOUR: Final = 5000
CALLS_A_MINUTE: Final = 250
_HOUR_SECONDS: Final = 3600
_MINUTE_SECONDS: Final = 60


class RateLimit:
    """Counts the calls of the last hour, on the engine's clock. Thread-safe.

    Attributes:
        an_hour, a_minute: how many may be; tests and hasty worlds change them.
    """

    def __init__(self, clock: Clock) -> None:
        """Nobody has called yet; DigitalOcean's own numbers."""
        self.an_hour = CALLS_AN_HOUR
        self.a_minute = CALLS_A_MINUTE
        self._clock = clock
        self._calls: deque[float] = deque()
        self._lock = Lock()

    def speed_up(self, haste: float) -> None:
        """Allow so many times as many, where all goes so many times as fast."""
        self.an_hour, self.a_minute = int(self.an_hour * haste), int(self.a_minute * haste)

    def count(self) -> None:
        """Count a call.

        Raises:
            Refusal: 429: too many. Only a burst says how long to wait (`retry-after`).
        """
        now = self._clock.now().timestamp()
        with self._lock:
            self._forget(now)
            if len(self._calls) >= self.an_hour:
                raise too_many_requests(None)
            recent = [moment for moment in self._calls if moment > now - _MINUTE_SECONDS]
            if len(recent) >= self.a_minute:
                raise too_many_requests(max(1, math.ceil(recent[0] + _MINUTE_SECONDS - now)))
            self._calls.append(now)

    def headers(self) -> dict[str, str]:
        """The header fields of every answer; `reset` is when the oldest call of the hour is forgotten."""
        now = self._clock.now().timestamp()
        with self._lock:
            self._forget(now)
            oldest = self._calls[0] if self._calls else now
            return {
                "ratelimit-limit": str(self.an_hour),
                "ratelimit-remaining": str(max(0, self.an_hour - len(self._calls))),
                "ratelimit-reset": str(int(oldest + _HOUR_SECONDS)),
            }

    def _forget(self, now: float) -> None:
        while self._calls and self._calls[0] <= now - _HOUR_SECONDS:
            self._calls.popleft()
