# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Planning and applying a FleetConfig document, and describing what is recorded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..model.declared import FleetConfig
from ..model.errors import Code, OperationError
from ..model.findings import agent_missing, some_of
from ..model.ids import PoolId
from ..model.records import NodePoolRecord, PoolRecord
from ..model.states import Intent, SubstrateState
from ..planning import Plan, Records, Scope, plan
from ..planning.changes import GOING, ChangeKind, Resource
from ..planning.naming import key, titled
from ..store import fleet
from .fleet_rows import read_records, write_rows
from .node_pools.telling import to_data as node_pool_data
from .observing import Places, observe, places_of_accounts
from .session import Session
from .substrates import SubstrateView, list_substrates, views_from, views_of

if TYPE_CHECKING:
    from ..planning.drift_report import PoolDrift


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFleet:
    """A plan with what it was made from.

    Attributes:
        document: what was planned; with `absent`, what is to go.
        scope: the one pool that the plan is about; None for the whole fleet.
        records: what it was planned beside.
        places: of the declared accounts, as their providers say: to be recorded with them.
        warnings: the plan's, the accounts and pools whose provider could not be asked, and the pools that would stay
            in error for want of settings.
    """

    plan: Plan
    document: FleetConfig
    absent: bool
    scope: Scope | None
    records: Records
    places: Places
    warnings: tuple[str, ...]


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
        ProviderError: what a new or changed account names does not exist at the provider, or its credential is refused.
    """
    with session.store.read() as tx:
        records, now = read_records(tx), tx.now
    return plan_beside(session, config, records, now=now, prune=prune, refresh=refresh, absent=absent)


def plan_beside(
    session: Session,
    config: FleetConfig,
    records: Records,
    *,
    now: datetime,
    prune: bool,
    refresh: bool,
    absent: bool = False,
    scope: Scope | None = None,
) -> PlannedFleet:
    """The plan of a document beside records that were read at `now`; everything else as plan_fleet.

    Arguments:
        scope: the one pool that it is about: no other is looked at, taken away or told of.
    """
    places, unread = places_of_accounts(session, config, records, now=now, ask=refresh)
    seen, unseen = observe(session, records, names=scope.pools if scope else None) if refresh else ({}, {})
    declared = {account.name: tuple(sorted(set(account.config.get("zones", ())))) for account in config.accounts}
    told = {name: tuple(sorted(set(zone_of.values()))) for name, zone_of in places.items()}
    made = plan(
        config,
        records,
        # What is declared is good enough to plan with, and is never recorded as the provider's word.
        zones={name: known for name, known in (declared | told).items() if known},
        prune=prune,
        observed=seen,
        state="absent" if absent else "present",
        scope=scope,
    )
    made = _with_bookings(session, made, records)
    warnings = (
        *made.warnings,
        *unread,
        *_unasked({pool.id: pool.name for pool in records.pools}, unseen),
        *_for_want_of_settings(session, made.config),
    )
    return PlannedFleet(
        plan=made, document=config, absent=absent, scope=scope, records=records, places=places, warnings=warnings
    )


def _with_bookings(session: Session, made: Plan, records: Records) -> Plan:
    """The plan with whose bookings hold up what it takes away."""
    if not any(change.kind in GOING for change in made.changes):  # as of most plans
        return made
    from ..planning.held_up import pools_going, with_bookings
    from ..store import reservations

    going = pools_going(made, records)
    if not going:
        return made
    with session.store.read() as tx:
        return with_bookings(made, records, reservations.standing(tx, going))


def _unasked(names: Mapping[PoolId, str], unseen: Mapping[PoolId, str]) -> list[str]:
    """A line for each reason: a provider that is down is so for all the pools there."""
    pools: dict[str, list[str]] = {}
    for pool_id, reason in unseen.items():
        pools.setdefault(reason, []).append(names[pool_id])
    return [f"pool {some_of(sorted(of_it))}: {reason}" for reason, of_it in pools.items()]


def _for_want_of_settings(session: Session, wanted: FleetConfig) -> list[str]:
    """What the self-check will say of the settings once the plan is applied."""
    backed = (titled(key(pool)) for pool in wanted.pools if pool.substrate is not None)
    missing = agent_missing(backed, session.settings.agent)
    return [f"pool {some_of(missing.pools)}: {missing.message}"] if missing else []


def drift_of_fleet(session: Session) -> tuple[PoolDrift, ...]:
    """Whether the providers hold what is recorded, for each pool that has a substrate, by name. Reads only.

    It goes by the plan that bc_fleet makes of a document that says what is recorded.
    """
    from ..planning.declared_again import declared_again
    from ..planning.drift_report import drift_report

    with session.store.read() as tx:
        records = read_records(tx)
    seen, unseen = observe(session, records)
    made = plan(declared_again(records), records, zones={}, prune=False, observed=seen)
    return drift_report(made, records, observed=seen, unseen=unseen)


def apply_fleet(session: Session, planned: PlannedFleet) -> tuple[PoolId, ...]:
    """Record what the plan says, in one transaction, and say which pools now want passes.

    Returns:
        The pools to converge: those that the plan touches, and the declared ones that have not settled; with prune,
        also those that are being torn down.

    Raises:
        OperationError: INVALID_STATE when something is blocked (then nothing is written); CONFLICT when the records
            moved since the plan was made: where a cluster to adopt went to somebody else meanwhile, it says to whom.
    """
    touched: tuple[PoolId, ...] = ()
    if planned.plan.changed or planned.plan.blocked:
        try:
            touched = _record(session, planned)
        except OperationError as error:
            if error.code == Code.CONFLICT:
                _refuse_held(session, planned)
            raise
    unsettled = [view.record.pool_id for view in substrates_of(session, planned) if not view.ready]
    return tuple(dict.fromkeys([*touched, *unsettled]))


def _record(session: Session, planned: PlannedFleet) -> tuple[PoolId, ...]:
    from ..planning.desired import desired_rows  # most plans are looked at and no more

    with session.store.write() as tx:
        records = read_records(tx)
        writes = desired_rows(planned.plan, records, now=tx.now)
        fleet.bump_serial(tx, planned.plan.serial)
        write_rows(tx, writes, planned.places, records=records)
    return writes.due


def _refuse_held(session: Session, planned: PlannedFleet) -> None:
    """Of two that adopt one cluster at the same moment, tell the second who was first: "plan again" would say less."""
    from ..planning.adoptions import refuse_held

    with session.store.read() as tx:
        refuse_held(planned.plan.config, read_records(tx))


def substrates_of(session: Session, planned: PlannedFleet, *more: PoolId) -> tuple[SubstrateView, ...]:
    """The substrates that a plan is about, by pool name: of the declared pools, and of those that prune takes away.

    The latter also from an earlier run that did not get to its end: nobody else may be there to go on.

    Arguments:
        more: pools that are wanted as well, whatever their state.
    """
    with session.store.read() as tx:
        views = views_of(tx, _pools_about(planned, fleet.pools(tx, archived=True), more))
    return _standing(views, more)


def substrates_as_planned(planned: PlannedFleet, *more: PoolId) -> tuple[SubstrateView, ...]:
    """The same as they stood when the plan was made, for a plan that is carried no further: without another read."""
    records = planned.records
    views = views_from(_pools_about(planned, records.pools, more), records.accounts, records.substrates)
    return _standing(views, more)


def _standing(views: Iterable[SubstrateView], more: Collection[PoolId]) -> tuple[SubstrateView, ...]:
    return tuple(v for v in views if v.record.state != SubstrateState.DELETED or v.record.pool_id in more)


def _pools_about(planned: PlannedFleet, pools: Iterable[PoolRecord], more: Collection[PoolId]) -> list[PoolRecord]:
    named = {(pool.tenant_id, pool.name) for pool in planned.document.pools}
    everything = not planned.absent and planned.scope is None

    def is_about(pool: PoolRecord) -> bool:
        is_named = (pool.tenant_id, pool.name) in named
        if pool.id in more:
            return True
        if pool.intent == Intent.TEAR_DOWN:
            return planned.plan.prune and (everything or is_named)
        return is_named

    return [pool for pool in pools if is_about(pool)]


def prune_what_was_in_use(session: Session, planned: PlannedFleet) -> None:
    """Take away the accounts and sites that had to stay while pools that are gone now stood on them.

    For after a pruning plan was applied and its pools have settled. When the records have moved on meanwhile, so that
    something else is to be done as well, nothing is: that is another run's.

    Raises:
        OperationError: CONFLICT, the records moved at this very moment.
    """
    left = plan_fleet(session, planned.document, prune=True, refresh=False, absent=planned.absent)
    kinds = {(change.kind, change.resource) for change in left.plan.changes if change.kind != ChangeKind.KEEP}
    if kinds and kinds <= {(ChangeKind.DELETE, Resource.ACCOUNT), (ChangeKind.DELETE, Resource.SITE)}:
        apply_fleet(session, left)


def describe(session: Session) -> dict[str, Any]:
    """Everything recorded that a document declares, the substrates, and the self-check, as plain snake_case values."""
    from .self_check import self_check  # what passes are made of: no plan needs it

    with session.store.read() as tx:
        records, now = read_records(tx), tx.now
    views = list_substrates(session)
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
                "pool_id": str(quota.pool_id),
                "tenant_id": str(quota.tenant_id),
                "gpus": quota.gpus,
                "used": quota.used,
            }
            for quota in records.quotas
        ],
        "substrates": [view.to_data() for view in views],
        "self_check": [one.to_data() for one in self_check(views, agent=session.settings.agent, now=now)],
    }
