# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document's rows, clusters, node pools, substrates: what goes in comes out, and what is equal is not written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import (
    ClusterRecord,
    NodePoolRecord,
    PoolRecord,
    QuotaRecord,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    Intent,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, clusters, fleet, substrates
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import H100, OUTPUTS, START


@pytest.fixture
def pool(store: Store) -> PoolRecord:
    """A recorded pool."""
    made = rows.pool()
    with store.write() as tx:
        fleet.put_pool(tx, made)
    return made


@pytest.fixture
def cluster(store: Store, pool: PoolRecord) -> ClusterRecord:
    """The pool's recorded cluster."""
    made = rows.cluster(pool.id)
    with store.write() as tx:
        clusters.add_cluster(tx, made)
    return made


@pytest.fixture
def node_pool(store: Store, cluster: ClusterRecord) -> NodePoolRecord:
    """A recorded node pool of the cluster."""
    made = rows.node_pool(cluster.id)
    with store.write() as tx:
        clusters.add_node_pool(tx, made)
    return made


def test_the_documents_rows_come_back_as_they_were_put(store: Store) -> None:
    site, account, pool = (
        rows.site(),
        rows.account(places={"subnet-a": "eu-west-1a", "subnet-b": "eu-west-1b"}),
        rows.pool(),
    )
    bare = rows.pool(name="bare", substrate=None, intent=Intent.TEAR_DOWN, tenant_id=ids.TenantId("acme"))
    with store.write() as tx:
        for pool_record in (pool, bare):
            assert fleet.put_pool(tx, pool_record)
        assert fleet.put_site(tx, site)
        assert fleet.put_account(tx, account)
    with store.read() as tx:
        assert fleet.sites(tx) == (site,)
        assert fleet.accounts(tx) == (account,)
        assert fleet.account(tx, account.id) == account
        assert fleet.pools(tx) == (bare, pool)
        assert fleet.pool(tx, pool.id) == pool
        assert fleet.pool_named(tx, ids.TenantId("acme"), "bare") == bare


def test_what_is_put_again_replaces_what_was(store: Store, pool: PoolRecord) -> None:
    changed = replace(pool, substrate=None, generation=2)
    with store.write() as tx:
        assert fleet.put_pool(tx, changed)
    with store.read() as tx:
        assert fleet.pools(tx) == (changed,)


def test_what_is_put_again_unchanged_is_not_written(
    store: Store, pool: PoolRecord, cluster: ClusterRecord, node_pool: NodePoolRecord
) -> None:
    places = {"subnet-a": "eu-west-1a"}
    site, account, substrate = rows.site(), rows.account(places=places), rows.substrate(pool.id, cluster)
    status = replace(cluster, state=ClusterState.READY, outputs=OUTPUTS, observed_generation=1, ready_before=True)
    ready = replace(node_pool, state=NodePoolState.READY, last_create_at=START, create_attempts=1)
    wrote: list[bool] = []
    for _time in range(2):
        with store.write() as tx:
            fleet.put_site(tx, site)
            fleet.put_account(tx, account)
            fleet.set_account_places(tx, account.id, places)
            fleet.put_pool(tx, pool)
            fleet.put_quota(tx, tenant_id=ids.PLATFORM_TENANT, pool_id=pool.id, gpus=16)
            substrates.put_substrate(tx, substrate)
            assert clusters.set_cluster_status(tx, status)
            assert clusters.set_node_pool_status(tx, ready)
            clusters.claim_global_id(tx, cluster.id, "arn")
            wrote.append(tx.wrote)
    assert wrote == [True, False]


def test_what_is_dropped_is_gone(store: Store, pool: PoolRecord) -> None:
    site, account = rows.site(), rows.account()
    with store.write() as tx:
        fleet.put_site(tx, site)
        fleet.put_account(tx, account)
        fleet.put_quota(tx, tenant_id=ids.PLATFORM_TENANT, pool_id=pool.id, gpus=16)
    with store.write() as tx:
        fleet.drop_site(tx, site.id)
        fleet.drop_account(tx, account.id)
        fleet.drop_quota(tx, tenant_id=ids.PLATFORM_TENANT, pool_id=pool.id)
    with store.read() as tx:
        assert (fleet.sites(tx), fleet.accounts(tx), fleet.quotas(tx)) == ((), (), ())


def test_an_archived_pool_stays_and_its_name_is_free(store: Store, pool: PoolRecord) -> None:
    archived, second = replace(pool, archived_at=START), rows.pool()
    with pytest.raises(OperationError) as refusal, store.write() as tx:
        fleet.put_pool(tx, second)
    assert refusal.value.code is Code.CONFLICT
    with store.write() as tx:
        fleet.put_pool(tx, archived)
        fleet.put_pool(tx, second)
    with store.read() as tx:
        assert fleet.pools(tx) == (second,)
        assert set(fleet.pools(tx, archived=True)) == {archived, second}
        assert fleet.pool_named(tx, pool.tenant_id, pool.name) == second
        assert fleet.pool(tx, pool.id) == archived


def test_the_serial_rises_by_one_and_only_from_where_it_was_expected(store: Store) -> None:
    with store.write() as tx:
        assert fleet.serial(tx) == 0
        assert fleet.bump_serial(tx, 0) == 1
    with pytest.raises(OperationError, match="from serial 0 to 1") as refusal, store.write() as tx:
        fleet.bump_serial(tx, 0)
    assert refusal.value.code is Code.CONFLICT


def test_quotas_tell_what_is_used(store: Store, pool: PoolRecord) -> None:
    with store.write() as tx:
        fleet.put_quota(tx, tenant_id=ids.PLATFORM_TENANT, pool_id=pool.id, gpus=16)
    with store.read() as tx:
        assert fleet.quotas(tx) == (QuotaRecord(tenant_id=ids.PLATFORM_TENANT, pool_id=pool.id, gpus=16, used=0),)


def test_a_cluster_and_its_node_pools_come_back_as_they_were_added(
    store: Store, cluster: ClusterRecord, node_pool: NodePoolRecord
) -> None:
    with store.read() as tx:
        assert clusters.cluster(tx, cluster.id) == cluster
        assert clusters.clusters(tx) == (cluster,)
        assert clusters.node_pool(tx, node_pool.id) == node_pool
        assert clusters.node_pools(tx, cluster.id) == (node_pool,)
        assert cluster.substrate_pool_id is not None
        assert clusters.cluster_of_pool(tx, cluster.substrate_pool_id) == cluster


def test_a_clusters_status_is_recorded(store: Store, cluster: ClusterRecord) -> None:
    ready = replace(
        cluster,
        state=ClusterState.READY,
        message="fine",
        observed_generation=1,
        outputs=OUTPUTS,
        ready_before=True,
        delete_attempts=3,
    )
    with store.write() as tx:
        assert clusters.set_cluster_status(tx, ready)
    with store.read() as tx:
        assert clusters.cluster(tx, cluster.id) == ready


def test_a_status_that_was_found_for_a_former_generation_is_not_written(store: Store, cluster: ClusterRecord) -> None:
    with store.write() as tx:
        clusters.raise_cluster_generation(tx, cluster.id, ClusterState.UPDATING)
    with store.write() as tx:
        assert not clusters.set_cluster_status(tx, replace(cluster, state=ClusterState.READY))
    with store.read() as tx:
        assert clusters.cluster(tx, cluster.id) == replace(cluster, state=ClusterState.UPDATING, generation=2)


def test_a_status_that_was_found_for_a_former_version_is_not_written(store: Store, node_pool: NodePoolRecord) -> None:
    bigger = replace(H100, nodes=3)
    with store.write() as tx:
        clusters.change_node_pool(tx, node_pool.id, bigger, NodePoolState.UPDATING)
    with store.write() as tx:
        assert not clusters.set_node_pool_status(tx, replace(node_pool, state=NodePoolState.READY))
    with store.read() as tx:
        assert clusters.node_pool(tx, node_pool.id) == replace(
            node_pool, shape=bigger, version=2, sized_version=2, state=NodePoolState.UPDATING
        )


def test_a_node_pools_status_is_recorded(store: Store, node_pool: NodePoolRecord) -> None:
    ready = replace(
        node_pool,
        state=NodePoolState.ERROR,
        message="no capacity",
        observed_version=1,
        update_id="an update",
        last_update_at=START,
        create_attempts=2,
        last_create_at=START + timedelta(microseconds=1),
        ever_joined=True,
    )
    with store.write() as tx:
        assert clusters.set_node_pool_status(tx, ready)
    with store.read() as tx:
        assert clusters.node_pool(tx, node_pool.id) == ready


def test_a_pool_has_one_cluster_until_it_is_deleted(store: Store, pool: PoolRecord, cluster: ClusterRecord) -> None:
    second = rows.cluster(pool.id, name="another")
    with pytest.raises(OperationError) as refusal, store.write() as tx:
        clusters.add_cluster(tx, second)
    assert refusal.value.code is Code.CONFLICT
    with store.write() as tx:
        clusters.set_cluster_status(tx, replace(cluster, state=ClusterState.DELETED))
        clusters.add_cluster(tx, second)
    with store.read() as tx:
        assert clusters.cluster_of_pool(tx, pool.id) == second
        assert len(clusters.clusters(tx)) == 2


def test_an_account_has_one_cluster_of_a_name_at_a_place(store: Store, cluster: ClusterRecord) -> None:
    same = rows.cluster(None, account_id=cluster.account_id, name=cluster.name)
    with pytest.raises(OperationError), store.write() as tx:
        clusters.add_cluster(tx, same)
    with store.write() as tx:
        clusters.add_cluster(tx, replace(same, location="eu-central-1"))


def test_a_providers_cluster_is_claimed_once_whichever_account_reads_it(store: Store, cluster: ClusterRecord) -> None:
    tenants = rows.cluster(None)
    with store.write() as tx:
        clusters.add_cluster(tx, tenants)
        clusters.claim_global_id(tx, cluster.id, "arn:1")
    with store.write() as tx:
        with pytest.raises(
            OperationError,
            match=rf"arn:1 is used by pool gpu-fleet \({cluster.substrate_pool_id}\) already: one cluster",
        ) as refusal:
            clusters.claim_global_id(tx, tenants.id, "arn:1")
        clusters.claim_global_id(tx, tenants.id, "arn:2")
    assert refusal.value.code is Code.CONFLICT


def test_a_deleted_clusters_claim_is_free(store: Store, cluster: ClusterRecord) -> None:
    tenants = rows.cluster(None)
    with store.write() as tx:
        clusters.add_cluster(tx, tenants)
        clusters.claim_global_id(tx, cluster.id, "arn:1")
        clusters.set_cluster_status(tx, replace(cluster, state=ClusterState.DELETED))
        clusters.claim_global_id(tx, tenants.id, "arn:1")


def test_a_deleted_node_pools_name_is_free_and_its_row_stays(
    store: Store, cluster: ClusterRecord, node_pool: NodePoolRecord
) -> None:
    second = rows.node_pool(cluster.id)
    with pytest.raises(OperationError), store.write() as tx:
        clusters.add_node_pool(tx, second)
    deleted = replace(node_pool, state=NodePoolState.DELETED)
    with store.write() as tx:
        clusters.set_node_pool_status(tx, deleted)
        clusters.add_node_pool(tx, second)
    with store.read() as tx:
        assert clusters.node_pools(tx, cluster.id) == (second,)
        assert set(clusters.node_pools(tx, cluster.id, deleted=True)) == {deleted, second}


def test_a_substrate_comes_back_as_it_was_put(store: Store, pool: PoolRecord, cluster: ClusterRecord) -> None:
    waiting = rows.substrate(
        pool.id,
        cluster,
        state=SubstrateState.READY,
        message="waiting",
        claim_held=True,
        nodes_listed=2,
        nodes_joined=1,
        waiting_nodes=1,
        waiting_since=START,
        vanished_at=START,
    )
    for substrate in (rows.substrate(pool.id, cluster), waiting):
        with store.write() as tx:
            assert substrates.put_substrate(tx, substrate)
        with store.read() as tx:
            assert substrates.substrate(tx, pool.id) == substrate
            assert substrates.substrates(tx) == (substrate,)


def test_what_is_unknown_is_none(store: Store) -> None:
    with store.read() as tx:
        assert fleet.pool(tx, ids.new_pool_id(START)) is None
        assert fleet.account(tx, ids.new_account_id(START)) is None
        assert clusters.cluster(tx, ids.new_cluster_id(START)) is None
        assert clusters.node_pool(tx, ids.new_node_pool_id(START)) is None
        assert substrates.substrate(tx, ids.new_pool_id(START)) is None
    with store.write() as tx:
        assert not clusters.set_cluster_status(tx, rows.cluster(None))
