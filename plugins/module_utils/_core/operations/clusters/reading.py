# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading clusters as they are recorded."""

from __future__ import annotations

from collections.abc import Collection

from ...model.errors import Code, OperationError
from ...model.ids import ClusterId, TenantId
from ...model.states import ClusterState
from ...store import clusters
from ..session import Session
from .planning import check_tenant
from .views import ClusterView, views_from, views_of


def find_clusters(
    session: Session,
    *,
    tenant_id: TenantId,
    cluster_id: ClusterId | None = None,
    names: Collection[str] | None = None,
) -> tuple[ClusterView, ...]:
    """A tenant's clusters that are not deleted, those behind its pools too, by name, in one read.

    Arguments:
        cluster_id: only that one.
        names: only those of one of these names.

    Raises:
        InvalidInput: the tenant's name is none.
        OperationError: NOT_FOUND for an id that is none of them.
    """
    check_tenant(tenant_id)
    with session.store.read() as tx:
        found = [one for one in clusters.clusters_of(tx, tenant_id) if cluster_id is None or one.id == cluster_id]
        if cluster_id is not None and not found:
            raise OperationError(Code.NOT_FOUND, f"there is no cluster {cluster_id[:60]!r}")
        return views_from(tx, [one for one in found if names is None or one.name in names])


def clusters_without_a_pool(session: Session) -> tuple[ClusterView, ...]:
    """All tenants' clusters that back no pool and are not deleted, by name."""
    with session.store.read() as tx:
        found = [one for one in clusters.clusters(tx) if one.substrate_pool_id is None]
        return views_from(tx, [one for one in found if one.state != ClusterState.DELETED])


def clusters_by_id(session: Session, cluster_ids: Collection[ClusterId]) -> tuple[ClusterView, ...]:
    """These clusters as they stand now, the deleted ones too, by name."""
    with session.store.read() as tx:
        return views_of(tx, cluster_ids)
