# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recording many node pools of many clusters in one go: planned and written in one transaction, all or none."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.ids import NodePoolId, TenantId
from ...model.records import NodePoolRecord
from ...store import clusters, fleet, work
from ..session import Session
from .deciding import NodePoolsPlan, Wish
from .planning import key_scope, plan_node_pools, plan_within
from .wanted import WantedNodePool
from .writing import write_change, write_clusters


def apply_node_pools(
    session: Session, *, tenant_id: TenantId, wanted: Sequence[WantedNodePool], wish: Wish
) -> NodePoolsPlan:
    """Record what the call wants, planned in the same transaction, and make the pools' passes due.

    Raises:
        InvalidInput, OperationError: as :func:`plan_node_pools`; then nothing is recorded.
    """
    plan = plan_node_pools(session, tenant_id=tenant_id, wanted=wanted, wish=wish)
    if not plan.changes:
        return plan
    with session.store.write() as tx:
        # The work units and the pools are locked first, each kind in one order: two callers decide on a cluster's node
        # pools one after the other, and never wait for one another in a circle.
        standings = {entry.standing.cluster.id: entry.standing for entry in plan.changes}.values()
        pools = sorted({standing.pool.id for standing in standings if standing.pool is not None})
        own = sorted(standing.cluster.id for standing in standings if standing.pool is None)
        for unit in (*own, *pools):  # a tenant's cluster is a unit of its own
            work.make_due(tx, unit, tx.now)
        for pool_id in pools:
            fleet.lock_pool(tx, pool_id)
        for cluster_id in own:
            clusters.lock_cluster(tx, cluster_id)
        plan = plan_within(tx, session, tenant_id=tenant_id, wanted=wanted, wish=wish)
        for change in plan.changes:
            write_change(tx, change, scope=key_scope(session, change.standing.cluster))
        write_clusters(tx, plan)
    return plan


def recorded_again(session: Session, plan: NodePoolsPlan) -> dict[NodePoolId, NodePoolRecord]:
    """The plan's node pools as they stand now, the deleted ones too."""
    named = [entry.after or entry.before for entry in plan.entries]
    with session.store.read() as tx:
        found = [clusters.node_pool(tx, record.id) for record in named if record is not None]
    return {record.id: record for record in found if record is not None}
