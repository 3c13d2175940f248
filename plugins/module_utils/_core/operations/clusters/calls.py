# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API's kubernetesClusters calls, one cluster at a time. Each records what is wanted and returns at once."""

from __future__ import annotations

from ...model.ids import ClusterId, TenantId
from ...model.records import ClusterRecord
from ..node_pools.deciding import Wish
from ..session import Session
from .converging import apply_clusters
from .deciding import ClustersPlan
from .reading import find_clusters
from .views import ClusterView
from .wanted import WantedCluster


def create_cluster(session: Session, *, tenant_id: TenantId, wanted: WantedCluster) -> ClusterRecord:
    """Record a new cluster with its first node pools.

    Arguments:
        wanted: with an idempotency key a repetition is answered with the cluster that the first request made, as it
            stands now: nothing is made again, even if that was deleted meanwhile.

    Returns:
        The cluster, `pending`.

    Raises:
        InvalidInput: every problem.
        OperationError: NOT_FOUND (the account), CONFLICT (the name is taken, or the key came with another request),
            INVALID_STATE (node pools on an autopilot cluster), UNSUPPORTED, QUOTA_EXCEEDED.
    """
    return _one(apply_clusters(session, tenant_id=tenant_id, wanted=[wanted], wish=Wish.NEW))


def list_clusters(session: Session, *, tenant_id: TenantId) -> tuple[ClusterView, ...]:
    """The tenant's clusters that are not deleted, those behind its pools too, by name."""
    return find_clusters(session, tenant_id=tenant_id)


def get_cluster(session: Session, *, tenant_id: TenantId, cluster_id: ClusterId) -> ClusterView:
    """One of the tenant's clusters that are not deleted.

    Raises:
        OperationError: NOT_FOUND.
    """
    [found] = find_clusters(session, tenant_id=tenant_id, cluster_id=cluster_id)
    return found


def upgrade_cluster(session: Session, *, tenant_id: TenantId, cluster_id: ClusterId, version: str) -> ClusterRecord:
    """Raise the control plane's version in place.

    Arguments:
        version: the Kubernetes minor version, e.g. `1.34`.

    Returns:
        The cluster, `updating`; unchanged when that is what was recorded already.

    Raises:
        InvalidInput: it is no version, or below the one that is wanted or runs.
        OperationError: NOT_FOUND, INVALID_STATE (it is being deleted, or backs a pool).
    """
    wanted = WantedCluster(cluster_id=cluster_id, version=version)
    return _one(apply_clusters(session, tenant_id=tenant_id, wanted=[wanted], wish=Wish.PRESENT))


def delete_cluster(session: Session, *, tenant_id: TenantId, cluster_id: ClusterId) -> ClusterRecord:
    """Mark a cluster for deletion, its node pools with it.

    Returns:
        The cluster, `deleting`; one that is being deleted already is unchanged.

    Raises:
        OperationError: NOT_FOUND, INVALID_STATE (it backs a pool).
    """
    wanted = WantedCluster(cluster_id=cluster_id)
    return _one(apply_clusters(session, tenant_id=tenant_id, wanted=[wanted], wish=Wish.ABSENT))


def _one(plan: ClustersPlan) -> ClusterRecord:
    """The cluster that a call for one was about."""
    [entry] = plan.entries
    if entry.after is None:
        raise AssertionError("a call that names a cluster by its id, or makes one, has one to tell of")
    return entry.after
