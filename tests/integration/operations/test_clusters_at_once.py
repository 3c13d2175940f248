# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several callers who want clusters at the same moment, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import FleetConfig
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId, new_account_id
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import ClusterRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.calls import (
    create_cluster,
    list_clusters,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.wanted import WantedCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.calls import (
    create_node_pool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.wanted import (
    WantedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import fleet as fleet_rows
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk

ACME = TenantId("acme")
WEB = WantedCluster(name="web", account="aws-main", location="eu-west-1")


def at_once(*calls: Callable[[], object]) -> list[object]:
    """What the calls return, or refuse with, when they begin at the same moment."""
    start = Barrier(len(calls))

    def one(call: Callable[[], object]) -> object:
        start.wait()
        try:
            return call()
        except OperationError as error:
            return error.code

    with ThreadPoolExecutor(max_workers=len(calls)) as threads:
        return list(threads.map(one, calls))


def test_of_two_tenants_who_want_one_name_one_has_it(desk: Desk) -> None:
    tenants = [TenantId(f"t{number}") for number in range(4)]
    told = at_once(
        *(lambda tenant=tenant: create_cluster(desk.session, tenant_id=tenant, wanted=WEB) for tenant in tenants)
    )
    assert sum(isinstance(one, ClusterRecord) for one in told) == 1
    assert told.count(Code.CONFLICT) == 3


def test_a_tenants_name_is_given_once_on_whichever_account(desk: Desk) -> None:
    other = rows.account(id=new_account_id(rows.START), name="other")
    with desk.session.store.write() as tx:
        fleet_rows.put_account(tx, other)
    told = at_once(
        lambda: create_cluster(desk.session, tenant_id=ACME, wanted=WEB),
        lambda: create_cluster(desk.session, tenant_id=ACME, wanted=replace(WEB, account="other")),
    )
    assert told.count(Code.CONFLICT) == 1
    assert len(list_clusters(desk.session, tenant_id=ACME)) == 1


def test_one_request_sent_twice_makes_one_cluster(desk: Desk) -> None:
    wanted = replace(WEB, idempotency_key="k")
    told = at_once(*(lambda: create_cluster(desk.session, tenant_id=ACME, wanted=wanted) for _time in range(3)))
    [made] = {one.id for one in told if isinstance(one, ClusterRecord)}
    assert [view.record.id for view in list_clusters(desk.session, tenant_id=ACME)] == [made]
    assert len(told) == 3
    assert Code.CONFLICT not in told


def test_a_cluster_never_has_more_node_pools_than_one_may(desk: Desk) -> None:
    made = create_cluster(desk.session, tenant_id=ACME, wanted=WEB)
    wanted = [
        WantedNodePool(cluster_id=made.id, name=f"n{number}", machine_type="m7i.large", node_count=1)
        for number in range(12)
    ]
    told = at_once(*(lambda one=one: create_node_pool(desk.session, tenant_id=ACME, wanted=one) for one in wanted))
    assert told.count(Code.QUOTA_EXCEEDED) == 2
    with desk.session.store.read() as tx:
        assert len(clusters.node_pools(tx, made.id)) == 10


def test_an_account_that_was_to_go_is_kept_for_a_cluster_that_came_meanwhile(desk: Desk) -> None:
    with desk.session.store.write() as tx:
        fleet_rows.put_account(tx, rows.account(id=new_account_id(rows.START), name="other"))
    planned = fleet.plan_fleet(desk.session, FleetConfig(), prune=True, refresh=False)
    create_cluster(desk.session, tenant_id=ACME, wanted=replace(WEB, account="other"))
    with pytest.raises(OperationError) as told:
        fleet.apply_fleet(desk.session, planned)
    assert told.value.code == Code.CONFLICT
    again = fleet.plan_fleet(desk.session, FleetConfig(), prune=True, refresh=False)
    assert "kept until cluster web on it is deleted (bc_cluster)" in again.plan.render()
