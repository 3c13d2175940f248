# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many node pools of many clusters in one go: planned in one read, recorded in one transaction, all or none."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.errors import OperationError
from ...model.ids import NodePoolId, TenantId
from ...model.records import NodePoolRecord
from ...store import Tx, clusters, fleet, idempotency, work
from ..session import Session
from .constraints import input_problems
from .deciding import NodePoolsPlan, Refusals, Standing, Wish, decide
from .finding import named, standing_of
from .wanted import WantedNodePool
from .writing import key_scope, write_change, write_clusters


def plan_node_pools(
    session: Session, *, tenant_id: TenantId, wanted: Sequence[WantedNodePool], wish: Wish
) -> NodePoolsPlan:
    """What bringing these node pools about (or taking them away) changes. Writes nothing.

    Raises:
        InvalidInput: every problem of the call.
        OperationError: NOT_FOUND, INVALID_STATE (a flavor's, one that is being deleted, or its cluster is), CONFLICT
            (with an idempotency key: its name is taken, or the key came with another request), QUOTA_EXCEEDED.
    """
    with session.store.read() as tx:
        return _plan(tx, session, tenant_id=tenant_id, wanted=wanted, wish=wish)


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
        plan = _plan(tx, session, tenant_id=tenant_id, wanted=wanted, wish=wish)
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


def _plan(
    tx: Tx, session: Session, *, tenant_id: TenantId, wanted: Sequence[WantedNodePool], wish: Wish
) -> NodePoolsPlan:
    refusals = Refusals()
    standings: dict[tuple[str, str], Standing | OperationError] = {}
    found: list[tuple[WantedNodePool, Standing]] = []
    repeated: dict[int, NodePoolRecord] = {}
    for one in wanted:
        if one.where not in standings:
            standings[one.where] = _standing(tx, one, tenant_id=tenant_id)
        standing = standings[one.where]
        if isinstance(standing, OperationError):
            refusals.problems += input_problems(one)
            refusals.add(standing)
            continue
        try:
            made = None
            if wish != Wish.ABSENT:
                made = _made_before(tx, one, scope=key_scope(session, standing.cluster))
            found.append((named(one, standing), standing))
        except OperationError as error:
            refusals.add(error)
            continue
        if made is not None:
            repeated[len(found) - 1] = made
    return decide(found, wish=wish, repeated=repeated, refusals=refusals, now=tx.now)


def _standing(tx: Tx, one: WantedNodePool, *, tenant_id: TenantId) -> Standing | OperationError:
    try:
        return standing_of(tx, one, tenant_id=tenant_id)
    except OperationError as error:
        return error


def _made_before(tx: Tx, one: WantedNodePool, *, scope: str) -> NodePoolRecord | None:
    """What the same request led to before, by its idempotency key: the node pool as it stands now.

    Raises:
        OperationError: CONFLICT when the key came with another request.
    """
    if one.idempotency_key is None or input_problems(one):
        return None  # what is wrong is told later, and not every database takes any text as a key
    made = idempotency.remembered(tx, scope=scope, key=one.idempotency_key, request_digest=one.digest())
    return None if made is None else clusters.node_pool(tx, NodePoolId(made))
