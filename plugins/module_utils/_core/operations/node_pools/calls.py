# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API's four methods (spec: kubernetesNodePools). Each records what is wanted and returns at once."""

from __future__ import annotations

from typing import Literal

from ...model.declared import Autoscaling
from ...model.errors import InvalidInput, Problem
from ...model.ids import ClusterId, NodePoolId, TenantId
from ...model.records import NodePoolRecord
from ...store import clusters
from ..session import Session
from .converging import apply_node_pools
from .deciding import NodePoolsPlan, Wish
from .finding import cluster_named
from .wanted import FixedSize, WantedNodePool


def create_node_pool(session: Session, *, tenant_id: TenantId, wanted: WantedNodePool) -> NodePoolRecord:
    """Record a new node pool.

    Arguments:
        wanted: with the cluster's id, or its pool. With an idempotency key a repetition is answered with the node pool
            that the first request made, as it stands now: nothing is made again, even if that was deleted meanwhile.

    Returns:
        The node pool, `pending`.

    Raises:
        InvalidInput: every problem.
        OperationError: NOT_FOUND, INVALID_STATE (the cluster is being deleted), CONFLICT (the name is taken by one that
            is not deleted, or the key came with another request), QUOTA_EXCEEDED (ten that are not deleted).
    """
    return _one(apply_node_pools(session, tenant_id=tenant_id, wanted=[wanted], wish=Wish.NEW))


def list_node_pools(session: Session, *, tenant_id: TenantId, cluster_id: ClusterId) -> tuple[NodePoolRecord, ...]:
    """The cluster's node pools that are not deleted, by name.

    Raises:
        OperationError: NOT_FOUND.
    """
    with session.store.read() as tx:
        _pool, cluster = cluster_named(tx, cluster_id, tenant_id=tenant_id)
        return clusters.node_pools(tx, cluster.id)


def resize_problems(*, node_count: int | None, autoscaling: object | None) -> list[Problem]:
    """What is wrong with a resize that names nothing to change."""
    if node_count is None and autoscaling is None:
        return [Problem(path="", message="name at least one of node_count and autoscaling")]
    return []


def update_node_pool(
    session: Session,
    *,
    tenant_id: TenantId,
    cluster_id: ClusterId,
    node_pool_id: NodePoolId,
    node_count: int | None = None,
    autoscaling: Autoscaling | Literal[FixedSize.FIXED_SIZE] | None = None,
) -> NodePoolRecord:
    """Resize a node pool in place.

    Arguments:
        node_count: nodes per zone; None leaves it.
        autoscaling: None leaves it, FIXED_SIZE turns it off.

    Returns:
        The node pool, `updating` with its version raised; unchanged when that is what was recorded already.

    Raises:
        InvalidInput: neither is named, or one is out of range.
        OperationError: NOT_FOUND, INVALID_STATE (the node pool or its cluster is being deleted, or it is a flavor's).
    """
    problems = resize_problems(node_count=node_count, autoscaling=autoscaling)
    if problems:
        raise InvalidInput(problems)
    wanted = WantedNodePool(
        node_pool_id=node_pool_id, cluster_id=cluster_id, node_count=node_count, autoscaling=autoscaling
    )
    return _one(apply_node_pools(session, tenant_id=tenant_id, wanted=[wanted], wish=Wish.PRESENT))


def delete_node_pool(
    session: Session, *, tenant_id: TenantId, cluster_id: ClusterId, node_pool_id: NodePoolId
) -> NodePoolRecord:
    """Mark a node pool for deletion.

    Returns:
        The node pool, `deleting`; one that is being deleted already is unchanged.

    Raises:
        OperationError: NOT_FOUND, INVALID_STATE (its cluster is being deleted, or it is a flavor's).
    """
    wanted = WantedNodePool(node_pool_id=node_pool_id, cluster_id=cluster_id)
    return _one(apply_node_pools(session, tenant_id=tenant_id, wanted=[wanted], wish=Wish.ABSENT))


def _one(plan: NodePoolsPlan) -> NodePoolRecord:
    """The node pool that a call for one was about."""
    [entry] = plan.entries
    if entry.after is None:
        raise AssertionError("a call that names a node pool by its id, or makes one, has one to tell of")
    return entry.after
