# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often one address may show a credential that is none: a small window in memory, for this process.

A whole cluster may come from one address. So a credential that was good is always looked at: nobody's heartbeats are
lost because a neighbour shows an outdated token.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from datetime import datetime, timedelta

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

from .sources import source

_WINDOW = timedelta(minutes=1)

MOST_IN_WINDOW = 60
"""Bad credentials of one address in a minute. A rack behind one address that boots with an outdated token stays below;
a guesser of 256-bit tokens gets nowhere at any rate."""

_MOST_ADDRESSES = 10_000
"""Remembered at once, so that a flood from many addresses cannot fill the memory; the longest silent goes first."""

_MOST_GOOD = 100_000
"""Good credentials remembered, by their hash: more than the nodes of any fleet; about 20 MB."""


class BadTokens:
    """Counts bad credentials by source address. Safe to use from many threads."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, deque[datetime]] = OrderedDict()
        self._good: OrderedDict[str, None] = OrderedDict()

    def must_wait(self, address: str, credential: Secret, *, now: datetime) -> bool:
        """Whether this credential is not to be looked at now, because the address has shown too many bad ones."""
        with self._lock:
            times = self._seen.get(source(address))
            if times is None:
                return False
            while times and now - times[0] >= _WINDOW:
                times.popleft()
            return len(times) >= MOST_IN_WINDOW and credential.sha256() not in self._good

    def bad(self, address: str, credential: Secret, *, now: datetime) -> None:
        """This credential of this address was none, or is none any more."""
        came_from = source(address)
        with self._lock:
            self._good.pop(credential.sha256(), None)
            times = self._seen.setdefault(came_from, deque(maxlen=MOST_IN_WINDOW))
            times.append(now)
            self._seen.move_to_end(came_from)
            while len(self._seen) > _MOST_ADDRESSES:
                self._seen.popitem(last=False)

    def good(self, credential: Secret) -> None:
        """This credential was one."""
        digest = credential.sha256()
        with self._lock:
            self._good[digest] = None
            self._good.move_to_end(digest)
            while len(self._good) > _MOST_GOOD:
                self._good.popitem(last=False)
