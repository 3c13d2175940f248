# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is recorded of node pools, for whoever may see it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ...model.ids import ClusterId, TenantId
from ...model.records import NodePoolRecord
from ...model.states import ClusterState
from ...store import clusters, fleet
from ..session import Session
from .finding import cluster_meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A node pool, and the name of the pool whose cluster it is on; None on a tenant's own cluster."""

    pool: str | None
    record: NodePoolRecord


def find_node_pools(
    session: Session,
    *,
    tenant_id: TenantId,
    pool: str | None = None,
    cluster_id: ClusterId | None = None,
    names: Collection[str] | None = None,
) -> tuple[Found, ...]:
    """Node pools that are not deleted, of a cluster or of all the tenant's, by pool and name, in one read.

    Arguments:
        pool, cluster_id: whose; neither for all of the tenant's.
        names: only those of one of these names.

    Raises:
        OperationError: NOT_FOUND for a pool or cluster that the tenant has not.
    """
    with session.store.read() as tx:
        if pool is not None or cluster_id is not None:
            owner, cluster = cluster_meant(tx, pool=pool, cluster_id=cluster_id, tenant_id=tenant_id)
            name = owner.name if owner else None
            found = [Found(pool=name, record=record) for record in clusters.node_pools(tx, cluster.id)]
        else:
            pools = {one.id: one.name for one in fleet.pools(tx, archived=True) if one.tenant_id == tenant_id}
            of_cluster = {
                one.id: pools.get(one.substrate_pool_id) if one.substrate_pool_id else None
                for one in clusters.clusters(tx)
                if one.tenant_id == tenant_id and one.state != ClusterState.DELETED
            }
            found = [
                Found(pool=of_cluster[record.cluster_id], record=record)
                for record in clusters.all_node_pools(tx)
                if record.cluster_id in of_cluster
            ]
    chosen = [one for one in found if names is None or one.record.name in names]
    return tuple(sorted(chosen, key=lambda one: (one.pool or "", one.record.cluster_id, one.record.name)))
