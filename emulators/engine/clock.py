# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time in the emulated world: what every clock does, and the one that runs on the machine's own time.

A clock runs callbacks (`call_later`) and holds back threads (`wait`) and coroutines (`sleep`). The one that tests move
by hand is in virtual_clock.py.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Condition, Event, Thread
from typing import Protocol

Callback = Callable[[], None]

_LOG = logging.getLogger(__name__)


class Timer(Protocol):
    """A callback that waits for its time."""

    def cancel(self) -> None:
        """See that it is never called; too late is no error."""


class Clock(Protocol):
    """What the emulators take for time."""

    def now(self) -> datetime:
        """The present in UTC, with its time zone."""

    def call_later(self, seconds: float, callback: Callback) -> Timer:
        """Call it after so many seconds, in the clock's own thread (VirtualClock: in the thread that advances)."""

    def wait(self, seconds: float) -> None:
        """Hold this thread back for so many seconds. Returns early when the clock is closed."""

    async def sleep(self, seconds: float) -> None:
        """Hold this coroutine back for so many seconds."""

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        """An event loop for coroutines that `sleep` here. Whoever asks for it runs and closes it."""

    def busy(self) -> AbstractContextManager[None]:
        """Around an exchange with the outside that time must not overtake."""

    def close(self) -> None:
        """Stop: no callback is called any more, and waiting threads go on."""


@dataclass(order=True, slots=True)
class QueuedTimer:
    """A timer in a clock's heap: ordered by when it is due, then by when it was made."""

    due: float
    order: int
    callback: Callback | None = field(compare=False)

    def cancel(self) -> None:
        """See that it is never called."""
        self.callback = None


class RealClock:
    """The machine's own time. Delays can be shortened; `now` is always real, because clients sign with it."""

    def __init__(self, *, speed: float = 1.0) -> None:
        """Arguments: speed: by what every delay is divided; 60 makes a minute a second."""
        self._speed = speed
        self._timers: list[QueuedTimer] = []
        self._order = itertools.count()
        self._changed = Condition()
        self._closed = Event()
        self._thread = Thread(target=self._run, name="emulator-clock", daemon=True)
        self._thread.start()

    def now(self) -> datetime:
        """The present in UTC, with its time zone."""
        return datetime.now(UTC)

    def call_later(self, seconds: float, callback: Callback) -> Timer:
        """Call it after so many seconds, divided by the speed, in the clock's thread."""
        timer = QueuedTimer(time.monotonic() + max(0.0, seconds) / self._speed, next(self._order), callback)
        with self._changed:
            heapq.heappush(self._timers, timer)
            self._changed.notify()
        return timer

    def wait(self, seconds: float) -> None:
        """Hold this thread back; returns early when the clock is closed."""
        self._closed.wait(max(0.0, seconds) / self._speed)

    async def sleep(self, seconds: float) -> None:
        """Hold this coroutine back."""
        await asyncio.sleep(max(0.0, seconds) / self._speed)

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        """An ordinary event loop."""
        return asyncio.new_event_loop()

    def busy(self) -> AbstractContextManager[None]:
        """Nothing: real time waits for nobody."""
        return nullcontext()

    def close(self) -> None:
        """Stop the clock's thread; timers that are not due are dropped."""
        with self._changed:
            self._closed.set()
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._closed.is_set() and not self._due():
                    self._changed.wait(self._timers[0].due - time.monotonic() if self._timers else None)
                if self._closed.is_set():
                    return
                callback = heapq.heappop(self._timers).callback
            if callback is not None:
                try:
                    callback()
                except Exception:  # noqa: BLE001 - whatever one callback does, time goes on for the others
                    _LOG.exception("a callback of the emulators' clock failed")

    def _due(self) -> bool:
        return bool(self._timers) and self._timers[0].due <= time.monotonic()
