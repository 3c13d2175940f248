# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an accepted call writes, within the transaction that decided it."""

from __future__ import annotations

from ...store import Tx, clusters, idempotency
from .created import tell_created
from .deciding import NodePoolChange, NodePoolsPlan


def write_change(tx: Tx, change: NodePoolChange, *, scope: str) -> None:
    """Record one change, and what its idempotency key led to."""
    after, wanted = change.after, change.wanted
    if after is None:
        return
    if change.before is not None:
        clusters.change_node_pool(tx, after.id, after.shape, after.state, sized=change.sized)
        return
    clusters.add_node_pool(tx, after)
    tell_created(tx, [after], tenants={after.cluster_id: change.standing.cluster.tenant_id})
    if wanted.idempotency_key is not None:
        idempotency.remember(
            tx, scope=scope, key=wanted.idempotency_key, request_digest=wanted.digest(), result_id=after.id
        )


def write_clusters(tx: Tx, plan: NodePoolsPlan) -> None:
    """Record that each changed cluster has something to converge."""
    changed = {change.standing.cluster.id: change.standing.cluster for change in plan.changes}
    for cluster_id, cluster in sorted(changed.items()):
        clusters.raise_cluster_generation(tx, cluster_id, cluster.state.after_a_change)
