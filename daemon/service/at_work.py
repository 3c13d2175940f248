# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The passes that run in this process, those that hang among them, and where a thread of one stands."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Lease

_FRAMES = 16
"""Told of a stack, the innermost first: from the call that does not come back to the step that made it."""


@dataclass(eq=False, slots=True, kw_only=True)
class PassAtWork:
    """One pass in a thread of its own.

    Attributes:
        account: the provider account that it works with.
        began: in seconds that only grow.
        thread: its thread's ident, once it runs.
        hangs_since: when it was given up; None while it holds its lease.
    """

    lease: Lease
    account: str
    began: float
    thread: int | None = None
    hangs_since: float | None = None

    def where(self) -> str:
        """Files and lines on its thread's stack, the innermost first: no values, for those may be secret."""
        frame = sys._current_frames().get(self.thread) if self.thread is not None else None
        return " < ".join(_places(frame)) or "it has just ended"


class AtWork:
    """All of them. Safe to use from many threads."""

    def __init__(self, *, monotonic: Callable[[], float]) -> None:
        """Nobody works yet."""
        self._monotonic = monotonic
        # All that have not come back, whether they have a worker or hang.
        self._passes: set[PassAtWork] = set()
        self._changed = threading.Condition()

    def begin(self, lease: Lease, *, account: str) -> PassAtWork:
        """A pass takes one of the workers."""
        made = PassAtWork(lease=lease, account=account, began=self._monotonic())
        with self._changed:
            self._passes.add(made)
        return made

    def end(self, one: PassAtWork) -> float | None:
        """A pass has come back. Returns for how many seconds it had been given up; None when it had its worker."""
        with self._changed:
            self._passes.discard(one)
            self._changed.notify_all()
        return None if one.hangs_since is None else self._monotonic() - one.hangs_since

    def give_up(self, one: PassAtWork) -> bool:
        """A pass has lost its lease: its worker is free for another. Returns False when it has come back meanwhile."""
        with self._changed:
            if one not in self._working():
                return False
            one.hangs_since = self._monotonic()
            self._changed.notify_all()
            return True

    def by_account(self) -> Counter[str]:
        """How many have a worker, by account."""
        with self._changed:
            return Counter(one.account for one in self._working())

    def longer_than(self, seconds: float) -> tuple[PassAtWork, ...]:
        """Those with a worker that began so long ago."""
        with self._changed:
            return tuple(one for one in self._working() if self._monotonic() - one.began >= seconds)

    def hanging(self) -> tuple[float, ...]:
        """For how many seconds each of those that were given up has been hanging, the longest first."""
        with self._changed:
            now = self._monotonic()
            since = sorted(one.hangs_since for one in self._passes if one.hangs_since is not None)
            return tuple(now - moment for moment in since)

    def wait_until_none(self, *, seconds: float) -> bool:
        """Wait until all that have a worker have come back. Returns whether they have; those that hang do not count."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._working(), timeout=seconds)

    def _working(self) -> set[PassAtWork]:
        """Those that have a worker. Called with the lock held."""
        return {one for one in self._passes if one.hangs_since is None}


def _places(frame: FrameType | None) -> list[str]:
    places: list[str] = []
    while frame is not None and len(places) < _FRAMES:
        file = frame.f_code.co_filename.rpartition("ansible_collections/")[2].rpartition("site-packages/")[2]
        places.append(f"{'/'.join(file.split('/')[-3:])}:{frame.f_lineno}")
        frame = frame.f_back
    return places
