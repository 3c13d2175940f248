# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is recorded of node pools, for whoever may see it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from ...model.ids import ClusterId, TenantId
from ...model.records import NodePoolRecord, PoolRecord
from ...model.states import ClusterState, NodePoolState
from ...store import clusters, fleet
from ..session import Session
from .finding import cluster_behind, cluster_named


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
            owner: PoolRecord | None
            if pool is not None:
                owner, cluster = cluster_behind(tx, pool, tenant_id=tenant_id)
            else:
                owner, cluster = cluster_named(tx, ClusterId(str(cluster_id)), tenant_id=tenant_id)
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


def is_settled(record: NodePoolRecord) -> bool:
    """Whether the node pool is as it was wanted last."""
    return record.state == NodePoolState.READY and record.observed_version == record.version


def to_data(record: NodePoolRecord) -> dict[str, Any]:
    """A node pool as plain values in snake_case, for module results."""
    shape = record.shape
    return {
        "id": str(record.id),
        "cluster_id": str(record.cluster_id),
        "name": record.name,
        "machine_type": shape.machine_type,
        "node_count": shape.nodes,
        "autoscaling": asdict(shape.autoscaling) if shape.autoscaling else None,
        "spot": shape.spot,
        "disk_gib": shape.disk_gib,
        "disk_type": shape.disk_type,
        "accelerators": asdict(shape.gpus) if shape.gpus else None,
        "zones": list(shape.zones),
        "labels": dict(shape.labels or {}),
        "taints": [asdict(taint) for taint in shape.taints or ()],
        "flavor": record.of_flavor,
        "state": str(record.state),
        "message": record.message,
        "version": record.version,
    }
