# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many rows at once: what is written, what is refused, and how many statements it takes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord, QuotaRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    clusters,
    events,
    fleet,
    substrates,
    work,
)
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import START
from ansible_collections.better_compute.fleet.tests.support.statements import statements

LATER = START + timedelta(minutes=5)


def many(count: int) -> list[PoolRecord]:
    """That many pools, in the order of their names."""
    return [rows.pool(name=f"pool-{number:03}") for number in range(count)]


def test_many_new_pools_are_written_as_one_would_be(store: Store) -> None:
    pools = many(3)
    with store.write() as tx:
        assert fleet.put_pools(tx, pools)
    with store.read() as tx:
        assert list(fleet.pools(tx)) == pools
    with store.write() as tx:
        assert not fleet.put_pools(tx, pools)


def test_among_many_only_what_is_new_or_differs_is_written(store: Store) -> None:
    pools = many(4)
    with store.write() as tx:
        fleet.put_pools(tx, pools[:3])
    wanted = [pools[0], replace(pools[1], gpu_model="H200"), pools[2], pools[3]]
    with statements(store) as sent, store.write() as tx:
        assert fleet.put_pools(tx, wanted)
    with store.read() as tx:
        assert list(fleet.pools(tx)) == wanted
    assert [one.split()[0] for one in sent if one.startswith(("INSERT", "UPDATE"))] == ["UPDATE", "INSERT"]


def test_a_name_that_one_row_gives_up_is_free_for_another(store: Store) -> None:
    before, after = rows.pool(), rows.pool()
    with store.write() as tx:
        fleet.put_pool(tx, before)
    with store.write() as tx:
        fleet.put_pools(tx, [after, replace(before, archived_at=START)])
    with store.read() as tx:
        assert fleet.pools(tx) == (after,)


def test_one_of_many_that_a_unique_key_stands_against_is_a_conflict_and_leaves_nothing(store: Store) -> None:
    with store.write() as tx:
        fleet.put_pool(tx, rows.pool(name="pool-002"))
    with pytest.raises(OperationError) as refused, store.write() as tx:
        fleet.put_pools(tx, many(3))
    assert refused.value.code == Code.CONFLICT
    with store.read() as tx:
        assert [pool.name for pool in fleet.pools(tx)] == ["pool-002"]


def test_quotas_are_kept_apart_by_pool_and_tenant(store: Store) -> None:
    pools = many(2)
    quotas = [QuotaRecord(tenant_id=PLATFORM_TENANT, pool_id=pool.id, gpus=8, used=0) for pool in pools]
    with store.write() as tx:
        fleet.put_pools(tx, pools)
        assert fleet.put_quotas(tx, quotas)
    raised = [quotas[0], replace(quotas[1], gpus=16)]
    with store.write() as tx:
        assert fleet.put_quotas(tx, raised)
        assert not fleet.put_quotas(tx, raised)
    with store.read() as tx:
        assert {quota.pool_id: quota.gpus for quota in fleet.quotas(tx)} == {pools[0].id: 8, pools[1].id: 16}


def test_units_that_are_known_stay_and_all_are_due(store: Store) -> None:
    with store.write() as tx:
        work.add_unit(tx, "pool_known", LATER)
    with store.write() as tx:
        lease = work.acquire(tx, "pool_known", "first")
        work.add_due(tx, ["pool_new", "pool_known"], START)
    assert lease is not None
    with store.read() as tx:
        due, held = work.standing(tx, ["pool_new", "pool_known", "pool_unknown"])
    assert due == {"pool_new": START, "pool_known": START}
    assert held == {"pool_known"}


def test_events_of_many_are_told_in_order(store: Store) -> None:
    told = [(PLATFORM_TENANT, f"cls_{number}", {"number": number}) for number in range(3)]
    with store.write() as tx:
        events.publish_all(tx, type="kubernetes.nodepool.created", told=told)
    with store.read() as tx:
        assert [(one.tenant_id, one.subject, one.data) for one in events.events(tx)] == told


@pytest.mark.parametrize("count", [20, 200])
def test_however_many_there_are_they_take_the_same_few_statements(store: Store, count: int) -> None:
    pools = many(count)
    made = [rows.cluster(pool.id) for pool in pools]
    backed = [rows.substrate(pool.id, cluster) for pool, cluster in zip(pools, made, strict=True)]
    with statements(store) as sent, store.write() as tx:
        work.add_due(tx, [pool.id for pool in pools], tx.now)
        fleet.put_pools(tx, pools)
        clusters.add_clusters(tx, made)
        clusters.add_node_pools(tx, [rows.node_pool(cluster.id) for cluster in made])
        substrates.put_substrates(tx, backed)
    assert len([one for one in sent if not one.startswith("BEGIN")]) == 8


def test_more_rows_are_asked_for_than_go_into_one_statement(store: Store) -> None:
    pools = many(1001)
    with store.write() as tx:
        fleet.put_pools(tx, pools)
    with store.read() as tx:
        assert {pool.id for pool in fleet.pools_of(tx, [pool.id for pool in pools])} == {pool.id for pool in pools}
