# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow pools hold up nobody else's: whoever falls due finds a worker, however many slow passes are under way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.service.dispatcher import Dispatcher
from ansible_collections.better_compute.fleet.daemon.service.outage import Outage
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ClusterState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.claiming import have_their_share
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, clusters, work
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock

from .arrivals import Arrivals

Pools = Callable[..., list[PoolRecord]]

WORKERS = 8


@pytest.fixture
def arrivals() -> Iterator[Arrivals]:
    """Accounts whose names begin with `slow` answer when a test says so, the others at once."""
    made = Arrivals(slow=lambda account: account.startswith("slow"))
    yield made
    made.let_all_go()


@pytest.fixture
def dispatcher(session: Session, arrivals: Arrivals, tmp_path: Path) -> Iterator[Dispatcher]:
    environ = {"BC_FLEET_RECONCILE_WORKERS": str(WORKERS), "BC_FLEET_GATEWAY_STATE_DIR": str(tmp_path)}
    settings = load_settings(environ=environ)
    made = Dispatcher(replace(session, open_driver=arrivals, settings=settings), outage=Outage())
    yield made
    arrivals.let_all_go()
    assert made.stop(grace_seconds=30)


def test_a_slow_account_with_many_pools_leaves_room_for_the_others(
    dispatcher: Dispatcher, due_pools: Pools, arrivals: Arrivals
) -> None:
    due_pools(3 * WORKERS, account_name="slow")
    dispatcher.tick()
    assert [arrival.account for arrival in arrivals.until(WORKERS // 2)] == ["slow"] * (WORKERS // 2)
    # The slow ones have been due for longer; all of these come to their end beside them.
    due_pools(2 * WORKERS, account_name="quick")
    dispatcher.tick()
    came = Counter(arrival.account for arrival in arrivals.until(WORKERS // 2 + 2 * WORKERS))
    assert came == {"slow": WORKERS // 2, "quick": 2 * WORKERS}


def test_so_do_several_slow_accounts_of_one_provider(
    dispatcher: Dispatcher, due_pools: Pools, arrivals: Arrivals
) -> None:
    for number in range(3):
        due_pools(WORKERS, account_name=f"slow-{number}")
    dispatcher.tick()
    came = Counter(arrival.account for arrival in arrivals.until(6))
    assert came == {"slow-0": 2, "slow-1": 2, "slow-2": 2}
    due_pools(WORKERS, account_name="quick")
    dispatcher.tick()
    assert Counter(arrival.account for arrival in arrivals.until(6 + WORKERS))["quick"] == WORKERS


def test_a_slow_pass_that_ends_makes_room_for_the_next_of_its_account(
    dispatcher: Dispatcher, due_pools: Pools, arrivals: Arrivals
) -> None:
    due_pools(WORKERS, account_name="slow")
    dispatcher.tick()
    for number in range(WORKERS // 2):
        arrivals.until(WORKERS // 2 + number)[number].let_go.set()
    arrivals.until(WORKERS)


@pytest.mark.parametrize(
    ("at_work", "full"),
    [
        ({}, set()),
        ({"a": 3}, set()),
        ({"a": 4}, {"a"}),
        ({"a": 3, "b": 2}, {"a"}),
        ({"a": 2, "b": 2, "c": 2}, {"a", "b", "c"}),
        ({"a": 2, "b": 1}, set()),
        ({"a": 0, "b": 8}, {"a", "b"}),
    ],
)
def test_an_account_has_its_share_when_it_has_as_many_workers_as_are_free(
    at_work: dict[str, int], full: set[str]
) -> None:
    assert have_their_share(at_work, workers=8) == full


def test_one_worker_serves_everybody_in_turn() -> None:
    assert have_their_share({}, workers=1) == set()
    assert have_their_share({"a": 1}, workers=1) == {"a"}


def test_units_are_claimed_the_longest_due_first_apart_from_some_accounts(store: Store) -> None:
    account, other = rows.account(name="one"), rows.account(name="other")
    pool = rows.pool()
    deleted = rows.cluster(pool.id, account_id=other.id, name="former", state=ClusterState.DELETED)
    backing, own = rows.cluster(pool.id, account_id=account.id), rows.cluster(None, account_id=other.id)
    with store.write() as tx:
        for cluster in (deleted, backing, own):
            clusters.add_cluster(tx, cluster)
        for unit in (pool.id, own.id, "pool_without"):
            work.add_unit(tx, unit, tx.now)
        assert work.claim_next(tx, "test", apart_from={account.id, other.id, ""}) is None
        found = [work.claim_next(tx, "test", apart_from=frozenset()) for _ in range(4)]
    taken = {lease.unit: account_id for lease, account_id in filter(None, found)}
    assert taken == {pool.id: account.id, own.id: other.id, "pool_without": ""}
    assert found[3] is None
    with store.read() as tx:
        assert [work.lease_of(tx, lease.unit) for lease, _account in filter(None, found)] == [
            lease for lease, _account in filter(None, found)
        ]


def test_one_that_is_not_due_or_is_held_is_not_claimed(store: Store, clock: HandClock) -> None:
    with store.write() as tx:
        work.add_unit(tx, "pool_1", tx.now)
        first = work.claim_next(tx, "test", apart_from=())
        assert first is not None
        assert work.claim_next(tx, "test", apart_from=()) is None
    clock.advance(seconds=work.LEASE_SECONDS)
    with store.write() as tx:
        second = work.claim_next(tx, "test", apart_from=())
    assert second is not None
    assert second[0].fence == first[0].fence + 1
