# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pass that does not come back: it is told once, its worker is free, its pool too, and it writes nothing."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.service.dispatcher import LATE_SECONDS, STUCK_SECONDS, Dispatcher
from ansible_collections.better_compute.fleet.daemon.service.outage import Outage
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Lease, PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, work

from . import arrivals as at_the_door
from .arrivals import Arrivals, Seconds, lapse
from .conftest import WORKERS

Pools = Callable[..., list[PoolRecord]]


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def arrivals() -> Iterator[Arrivals]:
    made = Arrivals()
    yield made
    made.let_all_go()


@pytest.fixture
def dispatcher(session: Session, arrivals: Arrivals, seconds: Seconds) -> Iterator[Dispatcher]:
    made = Dispatcher(replace(session, open_driver=arrivals), outage=Outage(), monotonic=seconds)
    yield made
    arrivals.let_all_go()
    assert made.stop(grace_seconds=30)
    until(lambda: made.hanging == 0)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def lease_of(store: Store, pool: PoolRecord) -> Lease | None:
    with store.read() as tx:
        return work.lease_of(tx, pool.id)


def told(caplog: pytest.LogCaptureFixture, text: str) -> list[logging.LogRecord]:
    return [record for record in caplog.records if text in record.getMessage()]


def hang(dispatcher: Dispatcher, store: Store, seconds: Seconds, arrivals: Arrivals, *pools: PoolRecord) -> None:
    """The passes of as many of these pools as there are workers begin, and their leases lapse."""
    before = len(arrivals.all)
    dispatcher.tick()
    arrivals.until(before + min(len(pools), WORKERS))
    seconds.now += work.LEASE_SECONDS
    lapse(store, *(pool for pool in pools if lease_of(store, pool)))


def test_it_is_told_once_with_its_pool_and_the_lines_where_it_hangs(
    dispatcher: Dispatcher,
    clocked_store: Store,
    due_pools: Pools,
    seconds: Seconds,
    arrivals: Arrivals,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (pool,) = due_pools(1)
    hang(dispatcher, clocked_store, seconds, arrivals, pool)
    dispatcher.tick()
    dispatcher.tick()
    (record,) = told(caplog, "a pass hangs")
    assert record.levelno == logging.ERROR
    assert record.pool == pool.id  # type: ignore[attr-defined] # an `extra`
    called = next(
        number
        for number, line in enumerate(Path(at_the_door.__file__).read_text().splitlines(), start=1)
        if "event.wait()" in line
    )
    assert f"integration/daemon/arrivals.py:{called} <" in record.getMessage()
    assert "_core/reconcile/passes.py:" in record.getMessage()
    assert dispatcher.hanging == 1


def test_its_pool_has_its_pass_from_whoever_comes_this_process_too(
    dispatcher: Dispatcher, clocked_store: Store, due_pools: Pools, seconds: Seconds, arrivals: Arrivals
) -> None:
    (pool,) = due_pools(1)
    hang(dispatcher, clocked_store, seconds, arrivals, pool)
    dispatcher.tick()
    arrivals.until(2)
    lease = lease_of(clocked_store, pool)
    assert lease is not None
    assert lease.fence == 2


def test_when_every_worker_hangs_the_other_pools_go_on(
    dispatcher: Dispatcher, clocked_store: Store, due_pools: Pools, seconds: Seconds, arrivals: Arrivals
) -> None:
    hang(dispatcher, clocked_store, seconds, arrivals, *due_pools(2 * WORKERS))
    dispatcher.tick()
    came = arrivals.until(2 * WORKERS)
    assert len({arrival.account for arrival in came}) == 2 * WORKERS, "they come before those that hang for ever"
    assert dispatcher.hanging == WORKERS


def test_a_pass_that_comes_back_late_writes_nothing_and_takes_no_other(
    dispatcher: Dispatcher,
    clocked_store: Store,
    due_pools: Pools,
    seconds: Seconds,
    arrivals: Arrivals,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (pool,) = due_pools(1)
    hang(dispatcher, clocked_store, seconds, arrivals, pool)
    dispatcher.tick()
    late, _second = arrivals.until(2)
    (thread,) = [one for one in threading.enumerate() if one.name == f"pass {pool.id}"][:1]
    held = lease_of(clocked_store, pool)
    seconds.now += 30
    late.let_go.set()
    thread.join(30)
    assert lease_of(clocked_store, pool) == held, "a fault ends with the lease given back: this one's was refused"
    (record,) = told(caplog, "come back")
    assert record.getMessage() == "a pass has come back 30 s after it was given up"
    assert dispatcher.hanging == 0
    assert len(arrivals.all) == 2


def test_a_long_pass_that_renews_its_lease_is_left_alone(
    dispatcher: Dispatcher,
    clocked_store: Store,
    due_pools: Pools,
    seconds: Seconds,
    arrivals: Arrivals,
    caplog: pytest.LogCaptureFixture,
) -> None:
    due_pools(1)
    dispatcher.tick()
    arrivals.until(1)
    seconds.now += 10 * work.LEASE_SECONDS  # and its lease is alive
    dispatcher.tick()
    assert told(caplog, "a pass hangs") == []
    assert dispatcher.hanging == 0


def test_one_that_somebody_else_has_taken_over_is_given_up_too(
    dispatcher: Dispatcher, clocked_store: Store, due_pools: Pools, seconds: Seconds, arrivals: Arrivals
) -> None:
    (pool,) = due_pools(1)
    hang(dispatcher, clocked_store, seconds, arrivals, pool)
    with clocked_store.write() as tx:
        assert work.acquire(tx, pool.id, "another daemon") is not None
    dispatcher.tick()
    assert dispatcher.hanging == 1
    lease = lease_of(clocked_store, pool)
    assert lease is not None
    assert lease.holder == "another daemon"


def test_a_stop_does_not_wait_for_what_hangs(
    dispatcher: Dispatcher, clocked_store: Store, due_pools: Pools, seconds: Seconds, arrivals: Arrivals
) -> None:
    (pool,) = due_pools(1)
    hang(dispatcher, clocked_store, seconds, arrivals, pool)
    with clocked_store.write() as tx:
        work.acquire(tx, pool.id, "another daemon")
    dispatcher.tick()
    assert dispatcher.stop(grace_seconds=0)


def test_while_nobody_can_say_whose_lease_it_is_nothing_is_given_up(
    dispatcher: Dispatcher,
    clocked_store: Store,
    due_pools: Pools,
    seconds: Seconds,
    arrivals: Arrivals,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (pool,) = due_pools(1)
    hang(dispatcher, clocked_store, seconds, arrivals, pool)

    def away(*_: object) -> None:
        raise StoreUnavailable("nobody answers")

    monkeypatch.setattr("ansible_collections.better_compute.fleet.daemon.service.dispatcher.lost", away)
    dispatcher.tick()
    assert dispatcher.hanging == 0


def test_the_process_is_stuck_when_as_many_hang_as_there_are_workers_and_for_ten_minutes(
    dispatcher: Dispatcher, clocked_store: Store, due_pools: Pools, seconds: Seconds, arrivals: Arrivals
) -> None:
    pools = due_pools(WORKERS)
    hang(dispatcher, clocked_store, seconds, arrivals, *pools)
    dispatcher.tick()
    arrivals.until(2 * WORKERS)
    assert not dispatcher.is_stuck
    seconds.now += STUCK_SECONDS
    until(lambda: dispatcher.is_stuck)
    arrivals.all[0].let_go.set()
    until(lambda: not dispatcher.is_stuck)


def test_a_tick_that_does_not_come_back_from_the_database_is_noticed(
    dispatcher: Dispatcher, seconds: Seconds, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def hangs(*_: object, **__: object) -> tuple[()]:
        seconds.now += LATE_SECONDS
        seen.append(dispatcher.is_late)
        seconds.now += 1
        seen.append(dispatcher.is_late)
        return ()

    monkeypatch.setattr("ansible_collections.better_compute.fleet.daemon.service.dispatcher.claim_fairly", hangs)
    dispatcher.tick()
    assert seen == [False, True]
    assert not dispatcher.is_late


def test_the_lease_of_a_pass_that_was_given_back_is_not_lost(
    session: Session, clocked_store: Store, due_pools: Pools
) -> None:
    pools = due_pools(3)
    with clocked_store.write() as tx:
        leases = [work.acquire(tx, pool.id, "test") for pool in pools]
        given_back, lapsed, alive = [lease for lease in leases if lease is not None]
        work.release(tx, given_back, tx.now + timedelta(minutes=5))
    lapse(clocked_store, pools[1])
    with clocked_store.read() as tx:
        assert work.lost(tx, [given_back, lapsed, alive]) == {lapsed}
