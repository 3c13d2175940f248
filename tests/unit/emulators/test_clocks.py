# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clocks: real ones wake what is due, virtual ones are moved by hand and wait for whoever they woke."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Clock, RealClock, VirtualClock

START = datetime(2026, 11, 1, 12, tzinfo=UTC)


@contextmanager
def running(clock: Clock, *coroutines: Coroutine[Any, Any, None]) -> Iterator[None]:
    """The coroutines in a loop of the clock's, in a thread of its own; cancelled at the end."""
    loop = clock.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    futures = [asyncio.run_coroutine_threadsafe(coroutine, loop) for coroutine in coroutines]

    async def cancel_all() -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(cancel_all(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        for future in futures:
            if not future.cancelled():
                future.result()


def test_virtual_timers_fire_in_the_order_in_which_they_are_due_each_at_its_own_time() -> None:
    clock = VirtualClock(START)
    fired: list[tuple[str, datetime]] = []
    clock.call_later(20, lambda: fired.append(("late", clock.now())))
    clock.call_later(10, lambda: fired.append(("early", clock.now())))
    clock.call_later(10, lambda: fired.append(("early too", clock.now())))
    clock.call_later(15, lambda: fired.append(("never", clock.now()))).cancel()
    clock.advance(5)
    assert fired == []
    clock.advance(30)
    ten, twenty = START + timedelta(seconds=10), START + timedelta(seconds=20)
    assert fired == [("early", ten), ("early too", ten), ("late", twenty)]
    assert clock.now() == START + timedelta(seconds=35)


def test_a_timer_set_by_a_timer_fires_within_the_same_advance() -> None:
    clock = VirtualClock(START)
    fired: list[datetime] = []

    def again() -> None:
        clock.call_later(10, lambda: fired.append(clock.now()))

    clock.call_later(10, again)
    clock.advance(20)
    assert fired == [START + timedelta(seconds=20)]


def test_advance_returns_only_when_every_woken_coroutine_sleeps_again() -> None:
    clock = VirtualClock(START)
    beats: list[datetime] = []

    async def heart() -> None:
        while True:
            await clock.sleep(10)
            for _time in range(50):
                await asyncio.sleep(0)
            beats.append(clock.now())

    with running(clock, *(heart() for _heart in range(20))):
        clock.advance(35)
        assert beats == [START + timedelta(seconds=10 * n) for n in (1, 2, 3) for _heart in range(20)]


def test_time_does_not_overtake_an_exchange_that_is_marked_busy() -> None:
    clock = VirtualClock(START)
    finished: list[datetime] = []

    async def exchange() -> None:
        await clock.sleep(10)
        with clock.busy():
            # An answer from outside: nothing in the loop tells that it will come.
            await asyncio.get_running_loop().run_in_executor(None, Event().wait, 0.05)
        finished.append(clock.now())

    with running(clock, exchange()):
        clock.advance(1000)
        assert finished == [START + timedelta(seconds=10)]


def test_a_long_poll_that_is_not_marked_busy_does_not_hold_time_back() -> None:
    clock = VirtualClock(START)
    answer = Event()

    async def long_poll() -> None:
        await clock.sleep(1)
        await asyncio.get_running_loop().run_in_executor(None, answer.wait)

    with running(clock, long_poll()):
        clock.advance(3600)
        answer.set()
    assert clock.now() == START + timedelta(hours=1)


def test_a_coroutine_in_a_loop_that_the_virtual_clock_does_not_watch_may_not_sleep_on_it() -> None:
    clock = VirtualClock(START)
    with pytest.raises(RuntimeError, match="new_event_loop"):
        asyncio.run(clock.sleep(1))


def test_a_thread_that_waits_on_the_virtual_clock_goes_on_when_time_is_moved_or_the_clock_closed() -> None:
    clock = VirtualClock(START)
    releases: list[Callable[[], None]] = [lambda: clock.advance(60), clock.close]
    for release in releases:
        thread = Thread(target=clock.wait, args=(60,))
        thread.start()
        while thread.is_alive():
            release()
            thread.join(0.01)


def test_a_fast_real_clock_shortens_delays_and_still_tells_the_real_time() -> None:
    clock = RealClock(speed=1000)
    fired: list[str] = []
    both = Event()
    before = datetime.now(UTC)

    def last() -> None:
        fired.append("late")
        both.set()

    clock.call_later(20, last)
    clock.call_later(10, lambda: fired.append("early"))
    assert both.wait(10)
    assert fired == ["early", "late"]
    assert clock.now() - before < timedelta(seconds=10)
    clock.close()


def test_a_real_clock_that_is_closed_calls_nobody() -> None:
    clock = RealClock()
    fired: list[str] = []
    clock.call_later(60, lambda: fired.append("no"))
    clock.close()
    assert fired == []


def test_a_callback_that_fails_does_not_stop_a_real_clock(caplog: pytest.LogCaptureFixture) -> None:
    clock = RealClock()
    later = Event()

    def fails() -> None:
        raise ZeroDivisionError

    clock.call_later(0, fails)
    clock.call_later(0, later.set)
    assert later.wait(10)
    clock.close()
    assert "callback of the emulators' clock failed" in caplog.text
