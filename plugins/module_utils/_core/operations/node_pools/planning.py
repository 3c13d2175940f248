# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a call for many node pools of many clusters changes: one read, and nothing written."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.errors import OperationError
from ...model.ids import NodePoolId, TenantId
from ...model.records import ClusterRecord, NodePoolRecord
from ...store import Tx, clusters, idempotency
from ..session import Session
from .constraints import input_problems
from .deciding import NodePoolsPlan, Refusals, Standing, Wish, decide
from .finding import named, standing_of
from .wanted import WantedNodePool


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
        return plan_within(tx, session, tenant_id=tenant_id, wanted=wanted, wish=wish)


def plan_within(
    tx: Tx, session: Session, *, tenant_id: TenantId, wanted: Sequence[WantedNodePool], wish: Wish
) -> NodePoolsPlan:
    """The plan, in a transaction of the caller's. Raises as :func:`plan_node_pools`."""
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


def key_scope(session: Session, cluster: ClusterRecord) -> str:
    """Within what an idempotency key is unique: the tenant, the caller and the cluster (spec)."""
    return f"node-pool/{cluster.tenant_id}/{session.caller}/{cluster.id}"
