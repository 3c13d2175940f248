# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding what a call names in the records: whose cluster it is, and what stands there. A stranger's is NOT_FOUND."""

from __future__ import annotations

from dataclasses import replace

from ...model.errors import Code, OperationError
from ...model.ids import ClusterId, TenantId, is_id
from ...model.records import ClusterRecord, PoolRecord
from ...model.states import ClusterState
from ...store import Tx, clusters, fleet
from ..pool_names import resolve_pool
from .deciding import Standing
from .wanted import WantedNodePool

_SHOWN_CHARACTERS = 60


def standing_of(tx: Tx, wanted: WantedNodePool, *, tenant_id: TenantId) -> Standing:
    """The cluster that a wanted node pool names, and what stands there.

    Raises:
        OperationError: NOT_FOUND.
    """
    pool, cluster = cluster_meant(tx, pool=wanted.pool, cluster_id=wanted.cluster_id, tenant_id=tenant_id)
    return Standing(
        pool=pool,
        cluster=cluster,
        account=fleet.account(tx, cluster.account_id),
        node_pools={record.name: record for record in clusters.node_pools(tx, cluster.id)},
    )


def cluster_meant(
    tx: Tx, *, pool: str | None, cluster_id: ClusterId | None, tenant_id: TenantId
) -> tuple[PoolRecord | None, ClusterRecord]:
    """A tenant's cluster, by its pool's name or id, else by its own id; and the pool that it backs, if any.

    Raises:
        OperationError: NOT_FOUND.
    """
    if pool is not None:
        return _cluster_behind(tx, pool, tenant_id=tenant_id)
    return cluster_named(tx, ClusterId(str(cluster_id)), tenant_id=tenant_id)


def _cluster_behind(tx: Tx, name: str, *, tenant_id: TenantId) -> tuple[PoolRecord, ClusterRecord]:
    pool = resolve_pool(tx, pool=name, tenant_id=tenant_id)
    cluster = clusters.cluster_of_pool(tx, pool.id)
    if cluster is None:
        raise OperationError(Code.NOT_FOUND, f"pool {name!r} has no cluster: it declares no policy.substrate")
    return pool, cluster


def cluster_named(tx: Tx, cluster_id: ClusterId, *, tenant_id: TenantId) -> tuple[PoolRecord | None, ClusterRecord]:
    """A tenant's cluster by its id, whoever's account it is on, and the pool that it backs; None for its own cluster.

    Raises:
        OperationError: NOT_FOUND.
    """
    cluster = clusters.cluster(tx, cluster_id) if is_id(cluster_id) else None  # not every database takes any text
    pool = fleet.pool(tx, cluster.substrate_pool_id) if cluster and cluster.substrate_pool_id else None
    if cluster is None or cluster.state == ClusterState.DELETED or cluster.tenant_id != tenant_id:
        raise OperationError(
            Code.NOT_FOUND,
            f"tenant {tenant_id[:_SHOWN_CHARACTERS]!r} has no cluster {cluster_id[:_SHOWN_CHARACTERS]!r}",
        )
    return pool, cluster


def named(wanted: WantedNodePool, standing: Standing) -> WantedNodePool:
    """The wanted node pool with its name, where the caller named it by its id.

    Raises:
        OperationError: NOT_FOUND; a deleted one is not found either.
    """
    if wanted.node_pool_id is None:
        return wanted
    for record in standing.node_pools.values():
        if record.id == wanted.node_pool_id:
            return replace(wanted, name=record.name)
    raise OperationError(
        Code.NOT_FOUND, f"cluster {standing.cluster.id} has no node pool {wanted.node_pool_id[:_SHOWN_CHARACTERS]!r}"
    )
