# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The dispatcher: as many passes as there are workers, none lost, none waiting with a lease, and a clean stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import cast

import pytest

from ansible_collections.better_compute.fleet.daemon.service.dispatcher import Dispatcher
from ansible_collections.better_compute.fleet.daemon.service.outage import Outage
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Lease, PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Driver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, work

from .conftest import WORKERS, Door

Pools = Callable[[int], list[PoolRecord]]


@pytest.fixture
def dispatcher(session: Session, door: Door) -> Iterator[Dispatcher]:
    made = Dispatcher(session, outage=Outage())
    yield made
    door.open.set()
    assert made.stop(grace_seconds=30)


class NeverAsked:
    """The driver of a pass that is stopped before its first step."""


def leases(store: Store, pools: list[PoolRecord]) -> list[Lease]:
    """The live leases on these pools."""
    with store.read() as tx:
        found = [work.lease_of(tx, pool.id) for pool in pools]
    return [lease for lease in found if lease is not None]


def due(store: Store, pools: list[PoolRecord]) -> list[PoolId]:
    """The pools that could be claimed now."""
    with store.read() as tx:
        moments = {pool.id: work.due_of(tx, pool.id) for pool in pools}
        free = [pool.id for pool in pools if work.lease_of(tx, pool.id) is None]
        return [pool_id for pool_id in free if (moment := moments[pool_id]) is not None and moment <= tx.now]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_no_more_leases_are_taken_than_there_are_workers(
    dispatcher: Dispatcher, clocked_store: Store, due_pools: Pools, door: Door
) -> None:
    pools = due_pools(WORKERS + 2)
    dispatcher.tick()
    door.until_came(WORKERS)
    dispatcher.tick()
    assert len(leases(clocked_store, pools)) == WORKERS
    assert len(due(clocked_store, pools)) == 2


def test_a_worker_that_ends_takes_the_next_pass_without_a_tick(
    dispatcher: Dispatcher, clocked_store: Store, due_pools: Pools, door: Door
) -> None:
    pools = due_pools(WORKERS + 3)
    door.open.set()
    dispatcher.tick()
    door.until_came(WORKERS + 3)
    until(lambda: not leases(clocked_store, pools))
    assert due(clocked_store, pools) == []


def test_a_pass_that_fails_harms_no_other_and_comes_again_later(
    dispatcher: Dispatcher, clocked_store: Store, due_pools: Pools, door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    pools = due_pools(2)
    door.open.set()
    dispatcher.tick()
    door.until_came(2)
    until(lambda: not leases(clocked_store, pools))
    with clocked_store.read() as tx:
        waits = [moment - tx.now for pool in pools if (moment := work.due_of(tx, pool.id))]
    assert all(250 < wait.total_seconds() <= 300 for wait in waits)
    assert len([record for record in caplog.records if "the pass failed" in record.getMessage()]) == 2


def test_a_pass_that_is_due_for_nothing_ends_its_unit(
    dispatcher: Dispatcher, clocked_store: Store, session: Session
) -> None:
    pool_id = PoolId("pool_00000000000000000000000000")
    with clocked_store.write() as tx:
        work.add_unit(tx, pool_id, tx.now)
    dispatcher.tick()

    def is_gone() -> bool:
        with clocked_store.read() as tx:
            return work.due_of(tx, pool_id) is None

    until(is_gone)


def test_told_to_stop_it_gives_every_lease_back_after_the_step_in_hand(
    dispatcher: Dispatcher, session: Session, clocked_store: Store, due_pools: Pools, door: Door
) -> None:
    pools = due_pools(WORKERS + 1)
    door.driver = cast("Driver", NeverAsked())
    dispatcher.tick()
    door.until_came(WORKERS)
    session.stopping.set()
    door.open.set()
    assert dispatcher.stop(grace_seconds=30)
    assert len(due(clocked_store, pools)) == WORKERS + 1


def test_a_stop_waits_no_longer_than_its_grace_and_leaves_the_lease_to_lapse(
    dispatcher: Dispatcher, clocked_store: Store, due_pools: Pools, door: Door
) -> None:
    pools = due_pools(1)
    dispatcher.tick()
    door.until_came(1)
    assert not dispatcher.stop(grace_seconds=0.1)
    assert len(leases(clocked_store, pools)) == 1


def test_after_a_stop_nothing_is_claimed(
    dispatcher: Dispatcher, clocked_store: Store, due_pools: Pools, door: Door
) -> None:
    pools = due_pools(1)
    assert dispatcher.stop(grace_seconds=1)
    dispatcher.tick()
    assert len(due(clocked_store, pools)) == 1


def test_a_database_that_is_away_is_asked_again_after_a_pause(
    session: Session, due_pools: Pools, door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    seconds = [100.0]
    dispatcher = Dispatcher(session, outage=Outage(monotonic=lambda: seconds[0]))
    due_pools(1)
    asked: list[int] = []

    def away(*_: object, **__: object) -> None:
        asked.append(1)
        raise StoreUnavailable("nobody answers")

    with monkeypatch.context() as patch:
        patch.setattr("ansible_collections.better_compute.fleet.daemon.service.dispatcher.claim_fairly", away)
        for _ in range(3):
            dispatcher.tick()
        assert len(asked) == 1
        seconds[0] += 1
        dispatcher.tick()
        assert len(asked) == 2
    seconds[0] += 2
    dispatcher.tick()
    door.until_came(1)
    door.open.set()
    assert dispatcher.stop(grace_seconds=30)
    told = [record.getMessage() for record in caplog.records if "database" in record.getMessage()]
    assert told == [
        "the database is not to be had: nobody answers; trying again until it is",
        "the database answers again",
    ]
