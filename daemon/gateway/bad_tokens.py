# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often one address may show a credential that is none: a small window in memory, for this process."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from datetime import datetime, timedelta

_WINDOW = timedelta(minutes=1)

_MOST_IN_WINDOW = 60
"""Bad credentials of one address in a minute. A rack behind one address that boots with an outdated token stays below;
a guesser of 256-bit tokens gets nowhere at any rate."""

_MOST_ADDRESSES = 10_000
"""Remembered at once, so that a flood from many addresses cannot fill the memory; the longest silent goes first."""


class BadTokens:
    """Counts bad credentials by source address. Safe to use from many threads."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, deque[datetime]] = OrderedDict()

    def too_many(self, address: str, now: datetime) -> bool:
        """Whether this address has to wait before another credential of it is looked at."""
        with self._lock:
            times = self._seen.get(address)
            if times is None:
                return False
            while times and now - times[0] >= _WINDOW:
                times.popleft()
            return len(times) >= _MOST_IN_WINDOW

    def count(self, address: str, now: datetime) -> None:
        """One more bad credential of this address."""
        with self._lock:
            times = self._seen.setdefault(address, deque(maxlen=_MOST_IN_WINDOW))
            times.append(now)
            self._seen.move_to_end(address)
            while len(self._seen) > _MOST_ADDRESSES:
                self._seen.popitem(last=False)
