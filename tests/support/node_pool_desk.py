# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recorded cluster with one flavor, and short ways to call for its node pools. No provider, no pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import Clock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import (
    PLATFORM_TENANT,
    ClusterId,
    NodePoolId,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import (
    AccountRecord,
    ClusterRecord,
    NodePoolRecord,
    PoolRecord,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.calls import (
    delete_node_pool,
    update_node_pool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.wanted import (
    WantedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, clusters, fleet, work
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables

from . import rows

TENANT = PLATFORM_TENANT
PLACES = {"subnet-1": "eu-west-1a", "subnet-2": "eu-west-1b"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A caller's session on a store that holds pool `gpu-fleet`, its ready cluster and its flavor `h100`."""

    session: Session
    account: AccountRecord
    pool: PoolRecord
    cluster: ClusterRecord

    def wanted(self, **different: Any) -> WantedNodePool:
        """A node pool that can be created: of ordinary machines, on the cluster."""
        made = WantedNodePool(cluster_id=self.cluster.id, name="system", machine_type="m7i.large", node_count=2)
        return replace(made, **different)

    def update(self, node_pool_id: NodePoolId, **different: Any) -> NodePoolRecord:
        """A resize."""
        return update_node_pool(
            self.session, tenant_id=TENANT, cluster_id=self.cluster.id, node_pool_id=node_pool_id, **different
        )

    def delete(self, node_pool_id: NodePoolId) -> NodePoolRecord:
        """A deletion."""
        return delete_node_pool(self.session, tenant_id=TENANT, cluster_id=self.cluster.id, node_pool_id=node_pool_id)

    def calling_as(self, caller: str) -> Desk:
        """The same, for another caller."""
        return replace(self, session=replace(self.session, caller=caller))

    def recorded(self, node_pool_id: NodePoolId) -> NodePoolRecord:
        """A node pool as it stands in the records."""
        with self.session.store.read() as tx:
            found = clusters.node_pool(tx, node_pool_id)
        assert found is not None
        return found

    def node_pools(self) -> dict[str, NodePoolRecord]:
        """The cluster's node pools that are not deleted, by name."""
        with self.session.store.read() as tx:
            return {record.name: record for record in clusters.node_pools(tx, self.cluster.id)}

    def cluster_now(self) -> ClusterRecord:
        """The cluster as it stands in the records."""
        with self.session.store.read() as tx:
            found = clusters.cluster(tx, self.cluster.id)
        assert found is not None
        return found

    def set_state(self, node_pool_id: NodePoolId, state: NodePoolState) -> None:
        """What a pass would write back."""
        with self.session.store.write() as tx:
            assert clusters.set_node_pool_status(tx, replace(self.recorded(node_pool_id), state=state))

    def other_cluster(self, name: str = "other-fleet") -> ClusterId:
        """Another pool of the tenant's with a ready cluster without node pools."""
        with self.session.store.write() as tx:
            return _add_pool(tx, self.account, name)[1].id

    def rows(self) -> dict[str, list[Any]]:
        """Every row of the database but the work units'."""
        table = tables()
        with self.session.store.read() as tx:
            return {
                one.name: sorted(map(tuple, tx.rows(one.select())), key=repr)
                for one in table.metadata.sorted_tables
                if one.name != table.work.name
            }


def desk_on(store: Store, clock: Clock, *, caller: str = "ann") -> Desk:
    """A desk on an empty store."""

    def no_provider(account: AccountRecord) -> NoReturn:
        raise AssertionError(f"nobody asks the provider of account {account.name} here")

    account = rows.account(places=PLACES)
    with store.write() as tx:
        fleet.put_account(tx, account)
        pool, cluster = _add_pool(tx, account, "gpu-fleet")
        clusters.add_node_pool(tx, rows.node_pool(cluster.id, state=NodePoolState.READY, observed_version=1))
    session = Session(
        store=store,
        clock=clock,
        settings=load_settings(environ={"BC_FLEET_STORE_DATABASE_URL": "sqlite:////nowhere"}),
        caller=caller,
        holder="test",
        open_driver=no_provider,
        sleep=lambda _seconds: None,
    )
    return Desk(session=session, account=account, pool=pool, cluster=cluster)


def _add_pool(tx: Any, account: AccountRecord, name: str) -> tuple[PoolRecord, ClusterRecord]:
    pool = rows.pool(name=name)
    cluster = rows.cluster(pool.id, account_id=account.id, state=ClusterState.READY, observed_generation=1)
    fleet.put_pool(tx, pool)
    clusters.add_cluster(tx, cluster)
    work.add_unit(tx, pool.id, rows.START)
    return pool, cluster
