# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recording what a call for clusters wants: all of it or nothing. The passes bring it about."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.errors import Code, OperationError
from ...model.ids import TenantId
from ...model.records import ClusterRecord
from ...model.states import ClusterState
from ...store import Tx, clusters, fleet, idempotency, work
from ..node_pools.deciding import Wish
from ..node_pools.writing import write_change as write_node_pool
from ..session import Session
from .deciding import ClusterChange, ClustersPlan
from .planning import key_scope, plan_clusters, plan_within
from .wanted import WantedCluster


def apply_clusters(
    session: Session, *, tenant_id: TenantId, wanted: Sequence[WantedCluster], wish: Wish
) -> ClustersPlan:
    """Record what the call wants, planned in the same transaction, and make the clusters' passes due.

    Raises:
        InvalidInput, OperationError: as :func:`plan_clusters`; CONFLICT also when a cluster that was to be changed went
            at this very moment. Then nothing is recorded.
    """
    plan = plan_clusters(session, tenant_id=tenant_id, wanted=wanted, wish=wish)
    if not plan.changes:
        return plan
    with session.store.write() as tx:
        if plan.makes_any:
            # Locks: names are given one after the other, and no document takes an account away under a new cluster.
            fleet.move_serial(tx)
        _lock(tx, [entry.before for entry in plan.changes if entry.before is not None])
        again = plan_within(tx, session, tenant_id=tenant_id, wanted=wanted, wish=wish)
        if again.makes_any and not plan.makes_any:
            raise OperationError(Code.CONFLICT, "a cluster of the call was just deleted: ask again")
        for change in again.changes:
            _write(tx, change, scope=key_scope(session, tenant_id))
    return again


def _lock(tx: Tx, records: Sequence[ClusterRecord]) -> None:
    """Work units first, each kind in one order: nobody waits for somebody else in a circle."""
    units = sorted(record.id for record in records)
    for unit in units:
        work.make_due(tx, unit, tx.now)
    for unit in units:
        clusters.lock_cluster(tx, unit)


def _write(tx: Tx, change: ClusterChange, *, scope: str) -> None:
    """Record one change, its node pools', and what its idempotency key led to."""
    before, after, wanted = change.before, change.after, change.wanted
    if after is None:
        return
    if before is None:
        work.add_due(tx, [after.id], tx.now)
        clusters.add_cluster(tx, after)
    for node_pool in change.node_pools:
        if node_pool.changed:
            write_node_pool(tx, node_pool, scope="")  # none of them has a key of its own
    if before is not None:
        version = after.version if after.version != before.version else None
        clusters.raise_cluster_generation(tx, after.id, after.state, version=version)
    elif wanted.idempotency_key is not None and after.state != ClusterState.DELETING:
        digest = wanted.digest()
        idempotency.remember(tx, scope=scope, key=wanted.idempotency_key, request_digest=digest, result_id=after.id)
