# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a unit wants its next pass, and who gets it."""

from __future__ import annotations

from datetime import timedelta
from threading import Barrier, Thread

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Lease
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    create_schema,
    open_store,
    work,
)
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock

SOON = START + timedelta(seconds=30)
LATER = START + timedelta(minutes=5)


def due_of(store: Store, unit: str) -> object:
    """When the unit is due."""
    with store.read() as tx:
        return work.due_of(tx, unit)


def started(store: Store, *units: str) -> tuple[Lease, ...]:
    """Add the units and take their leases."""
    with store.write() as tx:
        for unit in units:
            work.add_unit(tx, unit, START)
        return work.claim_due(tx, "first", len(units))


def test_a_unit_that_is_added_twice_keeps_its_time(store: Store) -> None:
    with store.write() as tx:
        work.add_unit(tx, "pool_1", SOON)
        work.add_unit(tx, "pool_1", LATER)
    assert due_of(store, "pool_1") == SOON


def test_the_earlier_of_two_wishes_wins(store: Store) -> None:
    with store.write() as tx:
        work.add_unit(tx, "pool_1", LATER)
        work.make_due(tx, "pool_1", SOON)
        work.make_due(tx, "pool_1", LATER)
    assert due_of(store, "pool_1") == SOON


def test_a_wish_that_changes_nothing_writes_nothing(store: Store) -> None:
    with store.write() as tx:
        work.add_unit(tx, "pool_1", LATER)
        work.make_due(tx, "pool_1", SOON)
    with store.write() as tx:
        work.make_due(tx, "pool_1", SOON)
        work.make_due(tx, "pool_1", LATER)
        assert not tx.wrote


def test_a_pass_ends_with_its_own_wish(store: Store) -> None:
    (lease,) = started(store, "pool_1")
    with store.write() as tx:
        work.release(tx, lease, LATER)
    assert due_of(store, "pool_1") == LATER


def test_a_wish_during_a_pass_outlives_its_end(store: Store, clock: HandClock) -> None:
    (lease,) = started(store, "pool_1")
    clock.advance(seconds=10)
    with store.write() as tx:
        work.make_due(tx, "pool_1", clock.now())
    with store.write() as tx:
        work.release(tx, lease, LATER)
    assert due_of(store, "pool_1") == START + timedelta(seconds=10)


def test_a_wish_from_before_a_pass_does_not_outlive_it(store: Store) -> None:
    with store.write() as tx:
        work.add_unit(tx, "pool_1", LATER)
        work.make_due(tx, "pool_1", START)
    with store.write() as tx:
        (lease,) = work.claim_due(tx, "first", 1)
        work.release(tx, lease, LATER)
    assert due_of(store, "pool_1") == LATER


def test_a_holder_that_dies_is_followed_when_its_lease_lapses(store: Store, clock: HandClock) -> None:
    """Also when the unit was not due when it was taken, as by a module run."""
    with store.write() as tx:
        work.add_unit(tx, "pool_1", LATER)
        lease = work.acquire(tx, "pool_1", "module")
    assert lease is not None
    with store.read() as tx:
        assert work.next_due(tx) == lease.until
    clock.advance(seconds=work.LEASE_SECONDS)
    with store.write() as tx:
        assert [taken.unit for taken in work.claim_due(tx, "daemon", 9)] == ["pool_1"]


def test_only_due_units_without_a_live_lease_are_claimed_the_longest_due_first(store: Store) -> None:
    started(store, "pool_held")
    with store.write() as tx:
        work.add_unit(tx, "pool_b", START - timedelta(seconds=1))
        work.add_unit(tx, "pool_a", START - timedelta(seconds=2))
        work.add_unit(tx, "pool_later", SOON)
        assert [lease.unit for lease in work.claim_due(tx, "second", 9)] == ["pool_a", "pool_b"]


def test_a_claim_takes_no_more_than_its_limit(store: Store) -> None:
    with store.write() as tx:
        for number in range(3):
            work.add_unit(tx, f"pool_{number}", START)
        assert len(work.claim_due(tx, "first", 2)) == 2
        assert len(work.claim_due(tx, "first", 2)) == 1
        assert work.claim_due(tx, "first", 2) == ()


def test_a_claimed_lease_opens_the_store(store: Store) -> None:
    for lease in started(store, "pool_1", "pool_2"):
        with store.write(lease=lease):
            pass


def test_dispatchers_that_claim_at_once_share_the_units(store: Store) -> None:
    with store.write() as tx:
        for number in range(20):
            work.add_unit(tx, f"pool_{number}", START)
    together = Barrier(4)
    claimed: list[Lease] = []

    def run(holder: str) -> None:
        together.wait()
        for _time in range(5):
            with store.write() as tx:
                claimed.extend(work.claim_due(tx, holder, 2))

    threads = [Thread(target=run, args=(f"daemon {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == len({lease.unit for lease in claimed}) == 20


def test_a_claim_does_not_wait_for_a_unit_that_is_being_taken_on_postgresql(
    postgresql_url: str, clock: HandClock
) -> None:
    create_schema(postgresql_url)
    store = open_store(postgresql_url, clock=clock)
    other = open_store(postgresql_url, clock=clock)
    with store.write() as tx:
        work.add_unit(tx, "pool_1", START)
        work.add_unit(tx, "pool_2", START)
    with store.write() as tx:
        assert work.acquire(tx, "pool_1", "module") is not None
        with other.write() as second:
            assert [lease.unit for lease in work.claim_due(second, "daemon", 9)] == ["pool_2"]
    store.close()
    other.close()


def test_without_units_nothing_is_due(store: Store) -> None:
    with store.read() as tx:
        assert work.next_due(tx) is None
        assert work.due_of(tx, "pool_1") is None
    with store.write() as tx:
        work.make_due(tx, "pool_1", START)
    assert due_of(store, "pool_1") is None
