# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fleet's rows in one transaction: read for a plan, and written as a plan says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..model.states import ClusterState
from ..planning import Records
from ..store import Tx, clusters, fleet, substrates, work
from .node_pools.created import tell_created
from .observing import Places

if TYPE_CHECKING:
    from ..planning.writes import DesiredWrites


def write_rows(tx: Tx, writes: DesiredWrites, places: Places, *, records: Records) -> None:
    """Write the rows of a plan. Work units first: whoever locks one locks it before all other rows (store/fleet.py).

    Arguments:
        records: what was read in this transaction.
    """
    work.add_due(tx, writes.due, tx.now)
    for site in writes.sites:
        fleet.put_site(tx, site)
    for account in writes.accounts:
        fleet.put_account(tx, replace(account, places=places.get(account.name, account.places)))
    fleet.put_pools(tx, writes.pools)
    clusters.add_clusters(tx, writes.clusters)
    for raised in writes.cluster_raises:
        clusters.raise_cluster_generation(tx, raised.id, raised.state, version=raised.version)
    clusters.add_node_pools(tx, writes.node_pools)
    tenants = {cluster.id: cluster.tenant_id for cluster in (*records.clusters, *writes.clusters)}
    tell_created(tx, writes.node_pools, tenants=tenants)
    for changed in writes.node_pool_changes:
        clusters.change_node_pool(tx, changed.id, changed.shape, changed.state, sized=changed.sized)
    substrates.put_substrates(tx, writes.substrates)
    fleet.put_quotas(tx, writes.quotas)
    for tenant_id, pool_id in writes.dropped_quotas:
        fleet.drop_quota(tx, tenant_id=tenant_id, pool_id=pool_id)
    for account_id in writes.dropped_accounts:
        fleet.drop_account(tx, account_id)
    for site_id in writes.dropped_sites:
        fleet.drop_site(tx, site_id)


def read_records(tx: Tx) -> Records:
    """The rows that a plan compares with: deleted clusters and node pools left out."""
    return Records(
        serial=fleet.serial(tx),
        sites=fleet.sites(tx),
        accounts=fleet.accounts(tx),
        pools=fleet.pools(tx, archived=True),
        clusters=tuple(row for row in clusters.clusters(tx) if row.state != ClusterState.DELETED),
        node_pools=clusters.all_node_pools(tx),
        substrates=substrates.substrates(tx),
        quotas=fleet.quotas(tx),
    )
