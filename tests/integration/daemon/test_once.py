# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd once`: each due pass once, and what it says of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.daemon.commands.once import run_due, run_pool
from ansible_collections.better_compute.fleet.daemon.errors import NotAsAsked
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId, TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.pass_end import PassEnd, PassOutcome
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import (
    ClusterRecord,
    Lease,
    PoolRecord,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    clusters,
    fleet,
    substrates,
    work,
)
from ansible_collections.better_compute.fleet.tests.support import rows

from .conftest import Door

Pools = Callable[[int], list[PoolRecord]]

RUN_PASS = "ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.passes.run_pass"


def taken_by_another(store: Store, pool: PoolRecord) -> Lease:
    """Another daemon's lease on the pool."""
    with store.write() as tx:
        lease = work.acquire(tx, pool.id, "other/7")
    assert lease is not None
    return lease


def due_cluster(store: Store, state: ClusterState) -> ClusterRecord:
    """A tenant's cluster without a pool, due now."""
    account = rows.account()
    cluster = rows.cluster(None, account_id=account.id, tenant_id=TenantId("acme"), state=state)
    with store.write() as tx:
        fleet.put_account(tx, account)
        clusters.add_cluster(tx, cluster)
        work.add_unit(tx, cluster.id, tx.now)
    return cluster


def test_a_pass_that_fails_is_named_and_the_others_have_theirs(session: Session, due_pools: Pools, door: Door) -> None:
    pools = due_pools(3)
    door.open.set()
    said: list[str] = []
    assert not run_due(session, say=said.append)
    assert {line.partition(":")[0] for line in said} == {pool.id for pool in pools}
    assert all("the pass failed: RuntimeError at" in line for line in said)
    assert "jammed" not in "".join(said)


def test_a_pool_that_is_due_again_at_once_has_one_pass(
    session: Session, clocked_store: Store, due_pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools = due_pools(2)
    ran: list[str] = []

    def due_again(_doors: object, lease: Lease) -> PassEnd:
        ran.append(lease.unit)
        with clocked_store.write(lease=lease) as tx:
            work.release(tx, lease, tx.now)
        return PassEnd(outcome=PassOutcome.OVERTAKEN)

    monkeypatch.setattr(RUN_PASS, due_again)
    said: list[str] = []
    assert run_due(session, say=said.append)
    assert sorted(ran) == sorted(pool.id for pool in pools)
    assert sorted(said) == [f"pool-{number} ({pool.id}): pending" for number, pool in enumerate(pools)]
    with clocked_store.read() as tx:
        assert [work.lease_of(tx, pool.id) for pool in pools] == [None, None]


def test_a_pool_in_error_is_not_well(
    session: Session, clocked_store: Store, due_pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    due_pools(1)

    def fails(_doors: object, lease: Lease) -> PassEnd:
        with clocked_store.write(lease=lease) as tx:
            (record,) = substrates.substrates(tx)
            substrates.put_substrate(tx, replace(record, state=SubstrateState.ERROR, message="no such zone"))
            work.release(tx, lease, tx.now + timedelta(minutes=5))
        return PassEnd(outcome=PassOutcome.ERROR)

    monkeypatch.setattr(RUN_PASS, fails)
    said: list[str] = []
    assert not run_due(session, say=said.append)
    assert said[0].endswith(": error: no such zone")


@pytest.mark.parametrize(
    ("state", "message", "said_of_it", "well"),
    [
        (ClusterState.ERROR, "no such zone", "error: no such zone", False),
        (ClusterState.DELETING, "waits for a volume", "deleting: waits for a volume", True),
        (ClusterState.READY, "", "ready", True),
    ],
)
def test_a_cluster_without_a_pool_is_told_as_its_pass_left_it(
    session: Session,
    clocked_store: Store,
    monkeypatch: pytest.MonkeyPatch,
    state: ClusterState,
    message: str,
    said_of_it: str,
    well: bool,
) -> None:
    cluster = due_cluster(clocked_store, ClusterState.PENDING)

    def ends(_doors: object, lease: Lease) -> PassEnd:
        with clocked_store.write(lease=lease) as tx:
            clusters.set_cluster_status(tx, replace(cluster, state=state, message=message))
            work.release(tx, lease, tx.now + timedelta(minutes=5))
        return PassEnd(outcome=PassOutcome.SETTLED)

    monkeypatch.setattr(RUN_PASS, ends)
    said: list[str] = []
    assert run_due(session, say=said.append) == well
    assert said == [f"{cluster.name} ({cluster.id}): {said_of_it}"]


def test_a_cluster_that_is_gone_is_told_as_gone(
    session: Session, clocked_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = due_cluster(clocked_store, ClusterState.DELETED)

    def ends(_doors: object, lease: Lease) -> PassEnd:
        with clocked_store.write(lease=lease) as tx:
            work.remove_unit(tx, lease.unit)
        return PassEnd(outcome=PassOutcome.GONE)

    monkeypatch.setattr(RUN_PASS, ends)
    said: list[str] = []
    assert run_due(session, say=said.append)
    assert said == [f"{cluster.id}: nothing is left to do"]


def test_nothing_due_is_said(session: Session) -> None:
    said: list[str] = []
    assert run_due(session, say=said.append)
    assert said == ["no pass is due"]


@pytest.fixture
def ran(clocked_store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The units whose passes ran; each pass does nothing, and its pool is due again in five minutes."""
    units: list[str] = []

    def ends(_doors: object, lease: Lease) -> PassEnd:
        units.append(lease.unit)
        with clocked_store.write(lease=lease) as tx:
            work.release(tx, lease, tx.now + timedelta(minutes=5, seconds=30))
        return PassEnd(outcome=PassOutcome.SETTLED)

    monkeypatch.setattr(RUN_PASS, ends)
    return units


def test_when_nothing_is_due_it_says_what_is_due_next(session: Session, due_pools: Pools, ran: list[str]) -> None:
    pools = {pool.id: pool for pool in due_pools(2)}
    assert run_due(session, say=lambda _: None)
    first = pools[PoolId(ran[0])]
    said: list[str] = []
    assert run_due(session, say=said.append)
    (line,) = said
    assert re.fullmatch(rf"no pass is due; the next one is in 5 min( \d+ s)?: {first.name} \({first.id}\)", line)
    assert len(ran) == 2


def test_what_is_due_next_may_have_somebody_at_work(
    session: Session, clocked_store: Store, due_pools: Pools, ran: list[str]
) -> None:
    (pool,) = due_pools(1)
    lease = taken_by_another(clocked_store, pool)
    said: list[str] = []
    assert run_due(session, say=said.append)
    assert said == [
        f"no pass is due; {pool.name} ({pool.id}): other/7 is at work on it, "
        f"and has its lease until {lease.until:%H:%M:%S} UTC"
    ]


@pytest.mark.parametrize("by", ["name", "id"])
def test_one_pools_pass_is_run_alone_and_though_it_is_not_due(
    session: Session, due_pools: Pools, ran: list[str], by: str
) -> None:
    _first, second = due_pools(2)
    for _ in range(2):  # the second time it is not due
        said: list[str] = []
        assert run_pool(session, getattr(second, by), say=said.append)
        assert said == [f"{second.name} ({second.id}): pending"]
    assert ran == [second.id, second.id]


def test_a_pool_that_somebody_works_on_is_left_alone(
    session: Session, clocked_store: Store, due_pools: Pools, ran: list[str]
) -> None:
    (pool,) = due_pools(1)
    lease = taken_by_another(clocked_store, pool)
    said: list[str] = []
    assert not run_pool(session, pool.name, say=said.append)
    assert ran == []
    assert said == [
        f"{pool.name} ({pool.id}): other/7 is at work on it, and has its lease until {lease.until:%H:%M:%S} UTC"
    ]


def test_one_pools_pass_that_fails_is_not_well(session: Session, due_pools: Pools, door: Door) -> None:
    (pool,) = due_pools(1)
    door.open.set()
    said: list[str] = []
    assert not run_pool(session, pool.name, say=said.append)
    assert said[0].startswith(f"{pool.id}: the pass failed: RuntimeError at")


def test_a_pool_that_nobody_knows_is_refused(session: Session) -> None:
    with pytest.raises(NotAsAsked, match="there is no pool 'gpu'"):
        run_pool(session, "gpu", say=lambda _: None)


def test_of_two_tenants_pools_of_one_name_one_is_to_be_named(
    session: Session, clocked_store: Store, due_pools: Pools, ran: list[str]
) -> None:
    (pool,) = due_pools(1)
    other = rows.pool(name=pool.name, tenant_id=TenantId("acme"))
    with clocked_store.write() as tx:
        fleet.put_pool(tx, other)
        work.add_unit(tx, other.id, tx.now)
    with pytest.raises(NotAsAsked, match=rf"name one by its id: .*{other.id} of acme"):
        run_pool(session, pool.name, say=lambda _: None)
    assert ran == []


def test_a_pool_without_a_substrate_has_no_pass(session: Session, clocked_store: Store, ran: list[str]) -> None:
    pool = rows.pool(name="bare")
    with clocked_store.write() as tx:
        fleet.put_pool(tx, pool)
    said: list[str] = []
    assert run_pool(session, "bare", say=said.append)
    assert said == [f"bare ({pool.id}): nothing stands behind it, so there is no pass to run"]
    assert ran == []
