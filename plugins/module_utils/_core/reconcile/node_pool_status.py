# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing what became of node pools, with the events that it is told by (spec: kubernetesNodePools)."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.ids import NodePoolId
from ..model.records import NodePoolRecord
from ..model.states import NodePoolState
from ..store import clusters, events
from .context import ClusterContext

_TOLD = (NodePoolState.READY, NodePoolState.ERROR, NodePoolState.DELETED)
"""States whose beginning is an event."""


def write_node_pools(
    ctx: ClusterContext, changes: Iterable[tuple[NodePoolRecord, NodePoolRecord]]
) -> frozenset[NodePoolId]:
    """Write those that changed, in one transaction.

    Arguments:
        changes: each as it stands in the database, and as it is to be.

    Returns:
        Those that are still wanted as they were read: of the others nothing is written.
    """
    changed = [(old, new) for old, new in changes if old != new]
    if not changed:
        return frozenset()
    with ctx.write() as tx:
        written = [(old, new) for old, new in changed if clusters.set_node_pool_status(tx, new)]
        for old, new in written:
            if old.state != new.state and new.state in _TOLD:
                events.publish(
                    tx,
                    tenant_id=ctx.cluster.tenant_id,
                    subject=ctx.cluster.id,
                    type=f"kubernetes.nodepool.{new.state}",
                    data={"nodePoolId": new.id, "name": new.name, "message": new.message},
                )
    return frozenset(new.id for _old, new in written)
