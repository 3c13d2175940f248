# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Planning and applying a FleetConfig document, and describing what is recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..model.declared import FleetConfig
from ..model.errors import Code, OperationError
from ..model.ids import PoolId
from ..model.records import NodePoolRecord
from ..model.states import ClusterState, Intent
from ..planning import DesiredWrites, Plan, Records, desired_rows, plan
from ..store import Tx, clusters, fleet, substrates, work
from .node_pools import tell_created
from .node_pools import to_data as node_pool_data
from .observing import Zones, observe, zones_of_accounts
from .session import Session
from .substrates import list_substrates


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFleet:
    """A plan with what it was made from.

    Attributes:
        zones: of the declared accounts, as their providers say: to be recorded with them.
    """

    plan: Plan
    zones: Zones


def plan_fleet(
    session: Session, config: FleetConfig, *, prune: bool, refresh: bool, absent: bool = False
) -> PlannedFleet:
    """What applying the document would change. Writes nothing.

    Arguments:
        prune: whether what is no longer declared goes.
        refresh: whether providers are asked what they hold, so that drift is part of the plan.
        absent: plan the end of all that the document names, instead of its being.

    Raises:
        OperationError: QUOTA_EXCEEDED.
        ProviderError: what an account names does not exist at the provider, or its credential is refused.
    """
    with session.store.read() as tx:
        records, now = _records(tx), tx.now
    zones = zones_of_accounts(session, config, records, now=now, ask=refresh)
    declared = {account.name: tuple(sorted(set(account.config.get("zones", ())))) for account in config.accounts}
    made = plan(
        config,
        records,
        # What is declared is good enough to plan with, and is never recorded as the provider's word.
        zones={name: known for name, known in (declared | zones).items() if known},
        prune=prune,
        observed=observe(session, records) if refresh else None,
        state="absent" if absent else "present",
    )
    return PlannedFleet(plan=made, zones=zones)


def apply_fleet(session: Session, planned: PlannedFleet) -> tuple[PoolId, ...]:
    """Record what the plan says, in one transaction, and say which pools now want passes.

    Returns:
        The pools to converge: those that the plan touches, and the declared ones that have not settled; with prune,
        also those that are being torn down.

    Raises:
        OperationError: INVALID_STATE when something is blocked (then nothing is written); CONFLICT when the records
            moved since the plan was made.
    """
    if planned.plan.blocked:
        raise OperationError(Code.INVALID_STATE, "the plan has changes that cannot be made: nothing was recorded")
    touched: tuple[PoolId, ...] = ()
    if planned.plan.changed:
        with session.store.write() as tx:
            writes = desired_rows(planned.plan, _records(tx), now=tx.now)
            fleet.bump_serial(tx, planned.plan.serial)
            _write(tx, writes, planned.zones)
        touched = writes.due
    return tuple(dict.fromkeys([*touched, *_unsettled(session, planned.plan)]))


def _unsettled(session: Session, plan: Plan) -> list[PoolId]:
    """The pools that the plan is about and that have not settled, also from an earlier run that did not get to its end.

    With prune, those too that are being torn down: nobody else may be there to go on.
    """
    names = {pool.name for pool in plan.config.pools}
    with session.store.read() as tx:
        going = {pool.id for pool in fleet.pools(tx, archived=True) if plan.prune and pool.intent == Intent.TEAR_DOWN}
    return [
        view.record.pool_id
        for view in list_substrates(session)
        if not view.ready and (view.pool in names or view.record.pool_id in going)
    ]


def describe(session: Session) -> dict[str, Any]:
    """Everything recorded that a document declares, and the substrates, as plain values in snake_case."""
    with session.store.read() as tx:
        records = _records(tx)
    by_cluster: dict[str, list[NodePoolRecord]] = {}
    for node_pool in records.node_pools:
        by_cluster.setdefault(node_pool.cluster_id, []).append(node_pool)
    cluster_of = {cluster.substrate_pool_id: cluster for cluster in records.clusters}
    sites = {site.id: site.name for site in records.sites}
    pools = {pool.id: pool.name for pool in records.pools}
    return {
        "sites": [
            {"name": site.name, "kind": site.kind, "region": site.region, "tenant_id": str(site.tenant_id)}
            for site in records.sites
        ],
        "provider_accounts": [
            {
                "name": account.name,
                "provider": account.provider,
                "tenant_id": str(account.tenant_id),
                "config": dict(account.config),
                "zones": list(account.zones or ()),
            }
            for account in records.accounts
        ],
        "pools": [
            {
                "id": str(pool.id),
                "name": pool.name,
                "tenant_id": str(pool.tenant_id),
                "site": sites.get(pool.site_id, ""),
                "class": pool.class_,
                "gpu_model": pool.gpu_model,
                "platform_operated": pool.platform_operated,
                "node_pools": [
                    node_pool_data(node_pool)
                    for node_pool in by_cluster.get(cluster_of[pool.id].id if pool.id in cluster_of else "", [])
                ],
            }
            for pool in records.pools
            if pool.archived_at is None
        ],
        "quotas": [
            {
                "pool": pools.get(quota.pool_id, ""),
                "tenant_id": str(quota.tenant_id),
                "gpus": quota.gpus,
                "used": quota.used,
            }
            for quota in records.quotas
        ],
        "substrates": [view.to_data() for view in list_substrates(session)],
    }


def _write(tx: Tx, writes: DesiredWrites, zones: Zones) -> None:
    """Write the rows of a plan. Work units first: whoever locks one locks it before all other rows (store/fleet.py)."""
    for unit in writes.due:
        work.add_unit(tx, unit, tx.now)
        work.make_due(tx, unit, tx.now)
    for site in writes.sites:
        fleet.put_site(tx, site)
    for account in writes.accounts:
        fleet.put_account(tx, replace(account, zones=zones.get(account.name, account.zones)))
    for pool in writes.pools:
        fleet.put_pool(tx, pool)
    for cluster in writes.clusters:
        clusters.add_cluster(tx, cluster)
    for raised in writes.cluster_raises:
        clusters.raise_cluster_generation(tx, raised.id, raised.state)
    tenants = {cluster.id: cluster.tenant_id for cluster in clusters.clusters(tx)}
    for node_pool in writes.node_pools:
        clusters.add_node_pool(tx, node_pool)
        tell_created(tx, node_pool, tenant_id=tenants[node_pool.cluster_id])
    for changed in writes.node_pool_changes:
        clusters.change_node_pool(tx, changed.id, changed.shape, changed.state)
    for substrate in writes.substrates:
        substrates.put_substrate(tx, substrate)
    for quota in writes.quotas:
        fleet.put_quota(tx, tenant_id=quota.tenant_id, pool_id=quota.pool_id, gpus=quota.gpus)
    for tenant_id, pool_id in writes.dropped_quotas:
        fleet.drop_quota(tx, tenant_id=tenant_id, pool_id=pool_id)
    for account_id in writes.dropped_accounts:
        fleet.drop_account(tx, account_id)
    for site_id in writes.dropped_sites:
        fleet.drop_site(tx, site_id)


def _records(tx: Tx) -> Records:
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
