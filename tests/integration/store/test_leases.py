# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may work on a unit, when, and that nobody else can write meanwhile."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Thread

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StaleLease
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Lease
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, fleet, open_store, work
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock

UNIT = "pool_1"


@pytest.fixture
def lease(store: Store) -> Lease:
    """The first lease on the unit."""
    with store.write() as tx:
        work.add_unit(tx, UNIT, START)
        taken = work.acquire(tx, UNIT, "first")
    assert taken is not None
    return taken


def take(store: Store, holder: str) -> Lease | None:
    """Try to take the unit's lease."""
    with store.write() as tx:
        return work.acquire(tx, UNIT, holder)


def test_a_live_lease_is_refused_to_everybody(store: Store, lease: Lease) -> None:
    assert take(store, "second") is None
    assert take(store, "first") is None
    with store.read() as tx:
        assert work.lease_of(tx, UNIT) == lease


def test_a_lapsed_lease_is_taken_with_a_higher_fence(store: Store, lease: Lease, clock: HandClock) -> None:
    clock.advance(seconds=work.LEASE_SECONDS)
    second = take(store, "second")
    assert second is not None
    assert second.fence > lease.fence
    assert second.until == clock.now() + timedelta(seconds=work.LEASE_SECONDS)


def test_a_released_lease_is_taken_with_a_higher_fence(store: Store, lease: Lease) -> None:
    with store.write() as tx:
        work.release(tx, lease, START)
    second = take(store, "first")
    assert second is not None
    assert second.fence > lease.fence


def test_an_unknown_unit_has_no_lease(store: Store) -> None:
    assert take(store, "first") is None


def test_the_holder_writes_under_its_lease(store: Store, lease: Lease) -> None:
    with store.write(lease=lease) as tx:
        fleet.put_site(tx, rows.site())
    with store.read() as tx:
        assert len(fleet.sites(tx)) == 1


def test_a_holder_whose_lease_was_taken_over_writes_nothing(store: Store, lease: Lease, clock: HandClock) -> None:
    clock.advance(seconds=work.LEASE_SECONDS + 1)
    assert take(store, "second") is not None
    with pytest.raises(StaleLease), store.write(lease=lease) as tx:
        fleet.put_site(tx, rows.site())
    with store.read() as tx:
        assert fleet.sites(tx) == ()


def test_a_takeover_by_the_same_holder_fences_its_former_lease_too(
    store: Store, lease: Lease, clock: HandClock
) -> None:
    clock.advance(seconds=work.LEASE_SECONDS + 1)
    assert take(store, lease.holder) is not None
    with pytest.raises(StaleLease), store.write(lease=lease):
        pass


def test_a_fence_of_somebody_else_opens_nothing(store: Store, lease: Lease) -> None:
    with pytest.raises(StaleLease), store.write(lease=replace(lease, holder="second")):
        pass


def test_a_lapsed_lease_writes_nothing_even_if_nobody_took_it(store: Store, lease: Lease, clock: HandClock) -> None:
    clock.advance(seconds=work.LEASE_SECONDS)
    with pytest.raises(StaleLease), store.write(lease=lease):
        pass
    with pytest.raises(StaleLease), store.write() as tx:
        work.renew(tx, lease)
    with pytest.raises(StaleLease), store.write() as tx:
        work.release(tx, lease, START)


def test_a_renewed_lease_lives_from_the_renewal_on(store: Store, lease: Lease, clock: HandClock) -> None:
    clock.advance(seconds=work.LEASE_SECONDS - 1)
    with store.write() as tx:
        renewed = work.renew(tx, lease)
    clock.advance(seconds=work.LEASE_SECONDS - 1)
    with store.write(lease=renewed):
        pass
    assert take(store, "second") is None


def test_a_removed_unit_fences_its_holder(store: Store, lease: Lease) -> None:
    with store.write(lease=lease) as tx:
        work.remove_unit(tx, UNIT)
    with pytest.raises(StaleLease), store.write(lease=lease):
        pass


def test_of_many_that_take_a_lease_at_once_one_gets_it(store: Store) -> None:
    with store.write() as tx:
        work.add_unit(tx, UNIT, START)
    together = Barrier(8)
    taken: list[Lease | None] = []

    def run(number: int) -> None:
        together.wait()
        taken.append(take(store, f"holder {number}"))

    threads = [Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 8
    assert len([lease for lease in taken if lease is not None]) == 1


def test_nobody_takes_over_while_the_holder_is_writing(
    store: Store, store_url: str, lease: Lease, clock: HandClock
) -> None:
    """The fence locks the unit's row (or the file): a takeover waits for the commit and cannot slip in before it."""
    later = HandClock(clock.now() + timedelta(seconds=work.LEASE_SECONDS + 1))
    other = open_store(store_url, clock=later)
    order: list[str] = []
    store.on_commit.append(lambda moment: order.append(f"commit {moment}"))

    def take_over() -> None:
        started.wait()
        with other.write() as tx:
            assert work.acquire(tx, UNIT, "second") is not None
            order.append("taken over")

    started = Barrier(2)
    thread = Thread(target=take_over)
    thread.start()
    with store.write(lease=lease) as tx:
        started.wait()
        thread.join(timeout=0.3)
        assert thread.is_alive()
        fleet.put_site(tx, rows.site())
    thread.join()
    other.close()
    assert order.index("commit before") < order.index("taken over")


def test_a_pass_that_writes_nothing_commits_nothing(store: Store, lease: Lease) -> None:
    commits: list[str] = []
    store.on_commit.append(commits.append)
    with store.write(lease=lease) as tx:
        assert tx.now == START
    assert commits == []
    with store.write(lease=lease) as tx:
        fleet.put_site(tx, rows.site())
    assert commits == ["before", "after"]
