# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time that stands still until a test moves it.

`advance` fires what is due one by one and waits after each until everything it woke is waiting again. To know that, the
clock watches the event loops that it made (`new_event_loop`): a loop is at rest when it has nothing to run but what
comes from outside. What comes from outside (an answer over a socket) is unknown to it, so a coroutine says
`with clock.busy():` around each exchange that time must not overtake; a long poll goes without.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import selectors
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Condition, Event, Lock
from typing import Any

from .clock import Callback, QueuedTimer, Timer

_SETTLE_SECONDS = 60.0
"""Real time after which a world that does not come to rest is called stuck; far above what one wake-up takes."""


class _WatchedSelector(selectors.BaseSelector):
    """The platform's selector, which tells when its event loop has nothing to run but what comes from outside.

    An event loop selects with a time-out of zero exactly as long as callbacks are ready.
    """

    def __init__(self, changed: Condition) -> None:
        self._inner = selectors.DefaultSelector()
        self._changed = changed
        self.at_rest = False

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            return self._inner.select(timeout)
        self._rest(at_rest=True)
        try:
            return self._inner.select(timeout)
        finally:
            self._rest(at_rest=False)

    def _rest(self, *, at_rest: bool) -> None:
        with self._changed:
            self.at_rest = at_rest
            self._changed.notify_all()

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._inner.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._inner.get_map()

    def close(self) -> None:
        self._inner.close()


class VirtualClock:
    """Time that stands still until a test moves it."""

    def __init__(self, start: datetime | None = None) -> None:
        """Arguments: start: the first present; the real one when none is given, so that signatures are good."""
        self._start = start if start is not None else datetime.now(UTC)
        self._elapsed = 0.0
        self._timers: list[QueuedTimer] = []
        self._order = itertools.count()
        self._changed = Condition()
        self._advancing = Lock()
        self._busy = 0
        self._closed = False
        self._waiting: set[Event] = set()
        self._loops: list[tuple[asyncio.AbstractEventLoop, _WatchedSelector]] = []

    def now(self) -> datetime:
        """The present in UTC, with its time zone."""
        with self._changed:
            return self._start + timedelta(seconds=self._elapsed)

    def call_later(self, seconds: float, callback: Callback) -> Timer:
        """Call it once time has been moved so far, in the thread that moves it."""
        with self._changed:
            timer = QueuedTimer(self._elapsed + max(0.0, seconds), next(self._order), callback)
            heapq.heappush(self._timers, timer)
        return timer

    def wait(self, seconds: float) -> None:
        """Hold this thread back until another one has moved time so far, or the clock is closed."""
        over = Event()
        with self._changed:
            if self._closed:
                return
            self._waiting.add(over)
        self.call_later(seconds, over.set)
        over.wait()
        with self._changed:
            self._waiting.discard(over)

    async def sleep(self, seconds: float) -> None:
        """Hold this coroutine back. Only in a loop made by `new_event_loop`, because time must know when it rests.

        Raises:
            RuntimeError: another loop is running.
        """
        loop = asyncio.get_running_loop()
        if all(loop is not watched for watched, _selector in self._loops):
            raise RuntimeError("a coroutine that sleeps on a VirtualClock runs in a loop made by its new_event_loop()")
        await _sleep(self, seconds)

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        """An event loop that `advance` waits for."""
        selector = _WatchedSelector(self._changed)
        loop = asyncio.SelectorEventLoop(selector)
        with self._changed:
            self._loops.append((loop, selector))
        return loop

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Around an exchange with the outside that time must not overtake. Never around a `sleep` or a long poll."""
        with self._changed:
            self._busy += 1
        try:
            yield
        finally:
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()

    def advance(self, seconds: float) -> None:
        """Move time, firing what is due on the way one by one; returns when everything woken is waiting again.

        Raises:
            TimeoutError: see `settle`.
        """
        with self._advancing:
            target = self._elapsed + seconds
            while True:
                self._settle()
                callback = self._next(target)
                if callback is None:
                    return
                callback()

    def settle(self) -> None:
        """Wait until everything that was started is waiting, without moving time.

        Raises:
            TimeoutError: it is not, after a minute of real time: somebody holds `busy` around a sleep or a long poll.
        """
        with self._advancing:
            self._settle()

    def close(self) -> None:
        """Drop all timers and let waiting threads go on."""
        with self._changed:
            self._closed = True
            self._timers.clear()
            for over in self._waiting:
                over.set()

    def _next(self, target: float) -> Callback | None:
        """Move time to the next timer up to the target and take it, or move time to the target."""
        with self._changed:
            while self._timers and self._timers[0].due <= target:
                timer = heapq.heappop(self._timers)
                if timer.callback is not None:
                    self._elapsed = max(self._elapsed, timer.due)
                    return timer.callback
            self._elapsed = target
            return None

    def _settle(self) -> None:
        deadline = time.monotonic() + _SETTLE_SECONDS
        with self._changed:
            self._loops = [(loop, selector) for loop, selector in self._loops if not loop.is_closed()]
            running = [(loop, selector) for loop, selector in self._loops if loop.is_running()]
        for loop, _selector in running:
            # Callbacks run in order: once this one has, the loop knows of everything that was handed to it before.
            passed = Event()
            loop.call_soon_threadsafe(passed.set)
            if not passed.wait(deadline - time.monotonic()):
                raise TimeoutError("an event loop on the virtual clock is blocked")
        with self._changed:
            at_rest = self._changed.wait_for(
                lambda: not self._busy and all(selector.at_rest for _loop, selector in running),
                timeout=max(0.0, deadline - time.monotonic()),
            )
            if not at_rest:
                raise TimeoutError(f"the world does not come to rest: {self._busy} exchange(s) are under way")


async def _sleep(clock: VirtualClock, seconds: float) -> None:
    """Sleep on one of the clock's timers."""
    loop = asyncio.get_running_loop()
    woken = loop.create_future()

    def finish() -> None:
        if not woken.done():
            woken.set_result(None)

    def wake() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish)

    timer = clock.call_later(seconds, wake)
    try:
        await woken
    finally:
        timer.cancel()
