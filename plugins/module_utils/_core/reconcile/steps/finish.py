# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Last step of a teardown: the provider holds nothing of ours any more, so the rows say it too."""

from __future__ import annotations

from dataclasses import replace

from ...model.states import ClusterState, Intent, NodePoolState, SubstrateState
from ...nodes import retiring
from ...store import Tx, clusters, events, fleet, substrates, work
from ..context import ClusterContext, PassContext
from ..outcome import DONE, Outcome, waiting


def finish(ctx: PassContext) -> Outcome:
    """Retire the nodes, mark node pools, cluster and substrate deleted, and end the pool's passes: one transaction."""
    with ctx.write() as tx:
        pool = fleet.pool(tx, ctx.pool.id)
        if pool is None or pool.intent != Intent.TEAR_DOWN:
            return waiting("the pool was declared anew while it was torn down")
        if not _mark_deleted(tx, ctx):
            return waiting("something else was wanted of the cluster while it was torn down")
        retiring.retire_all(tx, pool=pool)
        substrates.put_substrate(
            tx,
            replace(
                ctx.substrate,
                state=SubstrateState.DELETED,
                message="",
                nodes_listed=0,
                nodes_joined=0,
                waiting_nodes=0,
                waiting_since=None,
            ),
        )
        fleet.put_pool(tx, replace(pool, substrate=None))
        work.remove_unit(tx, ctx.lease.unit)
    ctx.finished = True
    return DONE


def finish_cluster(ctx: ClusterContext) -> Outcome:
    """Mark a tenant's own cluster and its node pools deleted, and end its passes: one transaction."""
    with ctx.write() as tx:
        if not _mark_deleted(tx, ctx):
            return waiting("something else was wanted of the cluster while it was deleted")
        work.remove_unit(tx, ctx.lease.unit)
    ctx.finished = True
    return DONE


def _mark_deleted(tx: Tx, ctx: ClusterContext) -> bool:
    """Mark the cluster and its node pools; False, with nothing written, when something else is wanted of it by now."""
    if not clusters.set_cluster_status(tx, replace(ctx.cluster, state=ClusterState.DELETED, message="")):
        return False
    for record in ctx.node_pools:
        clusters.set_node_pool_status(tx, replace(record, state=NodePoolState.DELETED, message=""))
        _tell(tx, ctx, "nodepool.deleted", {"nodePoolId": record.id, "name": record.name})
    _tell(tx, ctx, "cluster.deleted", {"name": ctx.cluster.name})
    return True


def _tell(tx: Tx, ctx: ClusterContext, name: str, data: dict[str, str]) -> None:
    events.publish(tx, tenant_id=ctx.cluster.tenant_id, subject=ctx.cluster.id, type=f"kubernetes.{name}", data=data)
