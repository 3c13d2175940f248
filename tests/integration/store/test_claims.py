# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Claims on somebody's cluster: the recorded row, and the global id; also of many at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Barrier
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import ClusterRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ClusterState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, clusters, fleet
from ansible_collections.better_compute.fleet.tests.support import rows

MANY = 4
ARN = "arn:aws:eks:us-east-1:111122223333:cluster/prod"


def adopted(number: int, **different: Any) -> ClusterRecord:
    """Pool `pool-<number>`'s row of the same cluster, each through an account of its own."""
    made = rows.cluster(
        ids.PoolId(f"pool_0000000000000000000000000{number}"), name="prod", location="us-east-1", adopted=True
    )
    return replace(made, **different)


def at_once(acts: list[Callable[[], object]]) -> list[BaseException | None]:
    """All of these at the same moment; how each ended."""
    start = Barrier(len(acts))

    def act(number: int) -> object:
        start.wait()
        return acts[number]()

    with ThreadPoolExecutor(max_workers=len(acts)) as threads:
        return [one.exception() for one in [threads.submit(act, number) for number in range(len(acts))]]


def test_what_is_recorded_of_an_adopted_cluster_comes_back(store: Store) -> None:
    made = adopted(0)
    with store.write() as tx:
        clusters.add_cluster(tx, made)
        clusters.claim_global_id(tx, made.id, ARN)
    with store.read() as tx:
        assert clusters.cluster(tx, made.id) == replace(made, global_id=ARN)
    with store.write() as tx:
        assert clusters.set_cluster_status(tx, replace(made, state=ClusterState.READY))
    with store.read() as tx:
        assert clusters.cluster(tx, made.id) == replace(made, global_id=ARN, state=ClusterState.READY)


def test_an_account_adopts_a_cluster_once_until_it_is_given_back(store: Store) -> None:
    account = ids.new_account_id(rows.START)
    first, second = (adopted(number, account_id=account) for number in range(2))
    with store.write() as tx:
        clusters.add_cluster(tx, first)
    with pytest.raises(OperationError) as refused, store.write() as tx:
        clusters.add_cluster(tx, second)
    assert refused.value.code is Code.CONFLICT
    with store.write() as tx:
        clusters.set_cluster_status(tx, replace(first, state=ClusterState.DELETED))
        clusters.add_cluster(tx, second)


def test_of_many_who_record_one_cluster_at_once_one_does(store: Store) -> None:
    account = ids.new_account_id(rows.START)

    def record(number: int) -> None:
        with store.write() as tx:
            clusters.add_cluster(tx, adopted(number, account_id=account))

    ended = at_once([partial(record, number) for number in range(MANY)])
    assert sum(one is None for one in ended) == 1
    assert all(isinstance(one, OperationError) and one.code is Code.CONFLICT for one in ended if one is not None)
    with store.read() as tx:
        assert len(clusters.clusters(tx)) == 1


def test_of_many_who_reach_one_cluster_through_their_accounts_at_once_one_claims_it(store: Store) -> None:
    made = [adopted(number) for number in range(MANY)]
    with store.write() as tx:
        for number, row in enumerate(made):
            fleet.put_pool(tx, rows.pool(id=row.substrate_pool_id, name=f"pool-{number}"))
        clusters.add_clusters(tx, made)

    def claim(row: ClusterRecord) -> None:
        with store.write() as tx:
            clusters.claim_global_id(tx, row.id, ARN)

    ended = at_once([partial(claim, row) for row in made])
    [winner] = [number for number, error in enumerate(ended) if error is None]
    for error in ended:
        if error is not None:
            assert isinstance(error, OperationError)
            assert error.code is Code.CONFLICT
            assert f"{ARN} is used by pool pool-{winner} ({made[winner].substrate_pool_id}) already" in str(error)
    with store.read() as tx:
        assert [row.substrate_pool_id for row in clusters.clusters(tx) if row.global_id == ARN] == [
            made[winner].substrate_pool_id
        ]


def test_the_one_who_has_it_may_claim_it_again_and_those_without_one_do_not_meet(store: Store) -> None:
    first, second = adopted(0), adopted(1)
    with store.write() as tx:
        clusters.add_clusters(tx, (first, second))
        for _time in range(2):
            clusters.claim_global_id(tx, first.id, ARN)
    with pytest.raises(OperationError, match=r"is used by pool pool_0+ already"), store.write() as tx:
        clusters.claim_global_id(tx, second.id, ARN)
