# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node pools on a tenant's own cluster, under both hosting models: on the platform's account, and on the tenant's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    InvalidInput,
    OperationError,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import (
    PLATFORM_TENANT,
    NodePoolId,
    TenantId,
    new_account_id,
    new_cluster_id,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import ClusterRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterMode,
    ClusterState,
    NodePoolState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.calls import (
    create_node_pool,
    delete_node_pool,
    list_node_pools,
    update_node_pool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.reading import (
    find_node_pools,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters, events, fleet, work
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import PLACES, Desk

ACME = TenantId("acme")
OTHER = TenantId("other")


def record_own_cluster(desk: Desk, *, owner_of_account: TenantId) -> ClusterRecord:
    """A ready cluster of acme's own."""
    account = rows.account(id=new_account_id(rows.START), tenant_id=owner_of_account, name="offered", places=PLACES)
    cluster = rows.cluster(
        None,
        id=new_cluster_id(rows.START),
        tenant_id=ACME,
        account_id=account.id,
        state=ClusterState.READY,
        observed_generation=1,
    )
    with desk.session.store.write() as tx:
        fleet.put_account(tx, account)
        clusters.add_cluster(tx, cluster)
        work.add_unit(tx, cluster.id, rows.START)
    return cluster


@pytest.fixture(params=[PLATFORM_TENANT, ACME], ids=["platforms-account", "own-account"])
def own(desk: Desk, request: pytest.FixtureRequest) -> ClusterRecord:
    """Acme's cluster, on the platform's account and on its own."""
    return record_own_cluster(desk, owner_of_account=request.param)


def test_the_tenant_creates_lists_resizes_and_deletes(desk: Desk, own: ClusterRecord) -> None:
    made = create_node_pool(desk.session, tenant_id=ACME, wanted=desk.wanted(cluster_id=own.id))
    assert (made.cluster_id, made.state, made.of_flavor) == (own.id, NodePoolState.PENDING, False)
    assert list_node_pools(desk.session, tenant_id=ACME, cluster_id=own.id) == (made,)
    resized = update_node_pool(desk.session, tenant_id=ACME, cluster_id=own.id, node_pool_id=made.id, node_count=3)
    assert (resized.shape.nodes, resized.state, resized.version) == (3, NodePoolState.UPDATING, 2)
    gone = delete_node_pool(desk.session, tenant_id=ACME, cluster_id=own.id, node_pool_id=made.id)
    assert (gone.state, gone.version) == (NodePoolState.DELETING, 3)
    with desk.session.store.read() as tx:
        after = clusters.cluster(tx, own.id)
        told = [event for event in events.events(tx) if event.subject == own.id]
        due = work.due_of(tx, own.id)
    assert after is not None
    assert (after.state, after.generation) == (ClusterState.UPDATING, own.generation + 3)
    assert [(event.type, event.tenant_id) for event in told] == [("kubernetes.nodepool.created", ACME)]
    assert due is not None, "the cluster is a work unit of its own, and due"


@pytest.mark.parametrize("tenant", [OTHER, PLATFORM_TENANT])
def test_nobody_else_finds_it_not_even_the_accounts_owner(desk: Desk, own: ClusterRecord, tenant: TenantId) -> None:
    made = create_node_pool(desk.session, tenant_id=ACME, wanted=desk.wanted(cluster_id=own.id))
    before, session = desk.rows(), desk.session
    mine = desk.wanted(cluster_id=own.id, name="mine")
    calls: tuple[Callable[[], object], ...] = (
        lambda: list_node_pools(session, tenant_id=tenant, cluster_id=own.id),
        lambda: create_node_pool(session, tenant_id=tenant, wanted=mine),
        lambda: update_node_pool(session, tenant_id=tenant, cluster_id=own.id, node_pool_id=made.id, node_count=5),
        lambda: delete_node_pool(session, tenant_id=tenant, cluster_id=own.id, node_pool_id=made.id),
    )
    for call in calls:
        with pytest.raises(OperationError) as refused:
            call()
        assert refused.value.code == Code.NOT_FOUND
    assert desk.rows() == before


def test_it_is_read_with_the_tenants_others_and_has_no_pool(desk: Desk, own: ClusterRecord) -> None:
    made = create_node_pool(desk.session, tenant_id=ACME, wanted=desk.wanted(cluster_id=own.id))
    for where in ({}, {"cluster_id": own.id}):
        found = find_node_pools(desk.session, tenant_id=ACME, **where)
        assert [(one.pool, one.record) for one in found] == [(None, made)]
    platforms = find_node_pools(desk.session, tenant_id=PLATFORM_TENANT)
    assert [(one.pool, one.record.name) for one in platforms] == [("gpu-fleet", "h100")]


def test_zones_and_sizes_are_judged_by_its_account(desk: Desk, own: ClusterRecord) -> None:
    wanted = desk.wanted(cluster_id=own.id, zones=("eu-west-1c",))
    with pytest.raises(InvalidInput, match=r"zones of account offered \(eu-west-1a, eu-west-1b\), found eu-west-1c"):
        create_node_pool(desk.session, tenant_id=ACME, wanted=wanted)
    with pytest.raises(OperationError, match="226 nodes x 2 zones"):
        create_node_pool(desk.session, tenant_id=ACME, wanted=desk.wanted(cluster_id=own.id, node_count=226))


def test_one_that_is_being_deleted_takes_no_change_and_is_named(desk: Desk, own: ClusterRecord) -> None:
    with desk.session.store.write() as tx:
        assert clusters.set_cluster_status(tx, replace(own, state=ClusterState.DELETING))
    with pytest.raises(OperationError, match=r"^cluster 'tenants-own' is being deleted$") as refused:
        create_node_pool(desk.session, tenant_id=ACME, wanted=desk.wanted(cluster_id=own.id))
    assert refused.value.code == Code.INVALID_STATE


def test_an_eleventh_node_pool_is_over_its_quota(desk: Desk, own: ClusterRecord) -> None:
    for number in range(10):
        create_node_pool(desk.session, tenant_id=ACME, wanted=desk.wanted(cluster_id=own.id, name=f"p{number}"))
    with pytest.raises(OperationError, match="on cluster 'tenants-own' 10 are there, 1 more wanted") as refused:
        create_node_pool(desk.session, tenant_id=ACME, wanted=desk.wanted(cluster_id=own.id, name="eleventh"))
    assert refused.value.code == Code.QUOTA_EXCEEDED


def test_an_idempotency_key_is_good_for_its_cluster_alone(desk: Desk, own: ClusterRecord) -> None:
    wanted = desk.wanted(cluster_id=own.id, idempotency_key="k")
    made = create_node_pool(desk.session, tenant_id=ACME, wanted=wanted)
    assert create_node_pool(desk.session, tenant_id=ACME, wanted=wanted) == made
    on_the_pools = create_node_pool(
        desk.session, tenant_id=PLATFORM_TENANT, wanted=replace(wanted, cluster_id=desk.cluster.id)
    )
    assert on_the_pools.id != made.id


def test_an_autopilot_cluster_takes_no_node_pools(desk: Desk) -> None:
    cluster = rows.cluster(
        None, id=new_cluster_id(rows.START), account_id=desk.account.id, mode=ClusterMode.AUTOPILOT, name="autopilot"
    )
    with desk.session.store.write() as tx:
        clusters.add_cluster(tx, cluster)
    before = desk.rows()
    for state in (ClusterState.PENDING, ClusterState.READY):
        with desk.session.store.write() as tx:
            assert clusters.set_cluster_status(tx, replace(cluster, state=state))
        with pytest.raises(
            OperationError, match=r"^cluster 'autopilot' is an autopilot cluster: the provider"
        ) as refused:
            create_node_pool(desk.session, tenant_id=PLATFORM_TENANT, wanted=desk.wanted(cluster_id=cluster.id))
        assert refused.value.code == Code.INVALID_STATE
    assert list_node_pools(desk.session, tenant_id=PLATFORM_TENANT, cluster_id=cluster.id) == ()
    with pytest.raises(OperationError) as missing:
        delete_node_pool(
            desk.session,
            tenant_id=PLATFORM_TENANT,
            cluster_id=cluster.id,
            node_pool_id=NodePoolId("knp_00000000000000000000000000"),
        )
    assert missing.value.code == Code.NOT_FOUND
    assert {name: held for name, held in desk.rows().items() if name != "clusters"} == {
        name: held for name, held in before.items() if name != "clusters"
    }
