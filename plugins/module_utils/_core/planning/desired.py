# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""desired_rows(): a plan spelt out as rows. It decides nothing: it follows the plan's changes one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ..model import ids
from ..model.errors import Code, OperationError
from ..model.ids import AccountId, PoolId, SiteId, TenantId
from ..model.records import AccountRecord, QuotaRecord, SiteRecord
from .changes import EFFECTIVE, Change, ChangeKind, Resource
from .desired_pools import PoolWrites, pool_writes
from .naming import Declared, Key, key
from .plan import Plan
from .recorded import Index, Records, index
from .writes import DesiredWrites


def desired_rows(plan: Plan, records: Records, *, now: datetime) -> DesiredWrites:
    """The rows that a plan writes.

    Arguments:
        records: the same that the plan was made from, read again in the transaction that writes.
        now: goes into new ids, and is when pools are archived.

    Raises:
        OperationError: INVALID_STATE, the plan has a blocked change; CONFLICT, the records moved since it was made.
    """
    if plan.blocked:
        names = ", ".join(f"{change.resource} {change.title}" for change in plan.blocked)
        raise OperationError(Code.INVALID_STATE, f"nothing is applied, because changes are blocked: {names}")
    if records.serial != plan.serial:
        raise OperationError(
            Code.CONFLICT, "the fleet was changed by somebody else since the plan was made: plan again"
        )
    recorded, declared = index(records), Declared.of(plan.config)
    changes = [change for change in plan.changes if change.kind in EFFECTIVE]
    sites = _sites(declared, changes, recorded, now=now)
    accounts = _accounts(declared, changes, recorded, now=now)
    site_ids = {known_by: row.id for known_by, row in recorded.sites.items()} | {key(row): row.id for row in sites}
    account_ids = {k: row.id for k, row in recorded.accounts.items()} | {key(row): row.id for row in accounts}
    pools = _pools(plan, declared, changes, recorded, site_ids=site_ids, account_ids=account_ids, now=now)
    pool_ids = {known_by: facts.record.id for known_by, facts in recorded.pools.items()} | {
        key(row): row.id for item in pools for row in item.pools if row.archived_at is None
    }
    return DesiredWrites(
        sites=sites,
        accounts=accounts,
        pools=tuple(row for item in pools for row in item.pools),
        clusters=tuple(row for item in pools for row in item.clusters),
        cluster_raises=tuple(row for item in pools for row in item.cluster_raises),
        node_pools=tuple(row for item in pools for row in item.node_pools),
        node_pool_changes=tuple(row for item in pools for row in item.node_pool_changes),
        substrates=tuple(row for item in pools for row in item.substrates),
        quotas=_quotas(plan, declared, changes, recorded, pool_ids),
        dropped_quotas=tuple(
            (TenantId(change.part), recorded.pools[change.key].record.id)
            for change in changes
            if change.resource == Resource.QUOTA and change.kind == ChangeKind.DELETE
        ),
        dropped_accounts=tuple(
            recorded.accounts[known_by].id for known_by in _keys(changes, Resource.ACCOUNT, ChangeKind.DELETE)
        ),
        dropped_sites=tuple(
            recorded.sites[known_by].id for known_by in _keys(changes, Resource.SITE, ChangeKind.DELETE)
        ),
        due=_due(pools, accounts, recorded),
    )


def _keys(changes: Sequence[Change], resource: Resource, *kinds: ChangeKind) -> list[Key]:
    return [change.key for change in changes if change.resource == resource and change.kind in kinds]


def _sites(declared: Declared, changes: Sequence[Change], recorded: Index, *, now: datetime) -> tuple[SiteRecord, ...]:
    rows = []
    for known_by in _keys(changes, Resource.SITE, ChangeKind.CREATE, ChangeKind.UPDATE):
        site, record = declared.sites[known_by], recorded.sites.get(known_by)
        rows.append(
            SiteRecord(
                id=record.id if record else ids.new_site_id(now),
                tenant_id=site.tenant_id,
                name=site.name,
                kind=site.kind,
                region=site.region,
                generation=record.generation + 1 if record else 1,
            )
        )
    return tuple(rows)


def _accounts(
    declared: Declared, changes: Sequence[Change], recorded: Index, *, now: datetime
) -> tuple[AccountRecord, ...]:
    rows = []
    for change in changes:
        if change.resource != Resource.ACCOUNT or change.kind == ChangeKind.DELETE:
            continue
        account, record = declared.accounts[change.key], recorded.accounts.get(change.key)
        # Places are read from the provider once; where the account looks has changed, they are read again.
        moved = any(field.path in ("config.zones", "config.eksSubnetIds") for field in change.fields)
        rows.append(
            AccountRecord(
                id=record.id if record else ids.new_account_id(now),
                tenant_id=account.tenant_id,
                name=account.name,
                provider=account.provider,
                config=account.config,
                places=record.places if record and not moved else None,
                generation=record.generation + 1 if record else 1,
            )
        )
    return tuple(rows)


def _pools(
    plan: Plan,
    declared: Declared,
    changes: Sequence[Change],
    recorded: Index,
    *,
    site_ids: Mapping[Key, SiteId],
    account_ids: Mapping[Key, AccountId],
    now: datetime,
) -> list[PoolWrites]:
    by_pool: dict[Key, list[Change]] = {}
    kept: dict[Key, set[str]] = {}
    for change in changes:
        if change.resource in (Resource.POOL, Resource.CLUSTER, Resource.NODE_POOL):
            by_pool.setdefault(change.key, []).append(change)
    for change in plan.changes:
        if change.kind == ChangeKind.KEEP and change.resource == Resource.NODE_POOL:
            kept.setdefault(change.key, set()).add(change.part)
    written = []
    for known_by, own in by_pool.items():
        pool = declared.pools.get(known_by)
        substrate = pool.substrate if pool else None
        written.append(
            pool_writes(
                pool,
                recorded.pools.get(known_by),
                own,
                kept_flavors=frozenset(kept.get(known_by, ())),
                site_id=site_ids[declared.site_of(pool)] if pool else None,
                account_id=account_ids[known_by[0], substrate.account] if substrate else None,
                region=declared.account_of(pool, substrate).config.get("region", "") if pool and substrate else "",
                now=now,
            )
        )
    return written


def _quotas(
    plan: Plan, declared: Declared, changes: Sequence[Change], recorded: Index, pool_ids: Mapping[Key, PoolId]
) -> tuple[QuotaRecord, ...]:
    gpus = {(declared.pool_of(quota), quota.tenant_id): quota.gpus for quota in plan.config.quotas}
    rows = []
    for change in changes:
        if change.resource == Resource.QUOTA and change.kind != ChangeKind.DELETE:
            tenant = TenantId(change.part)
            record, wanted = recorded.quotas.get((change.key, tenant)), gpus[change.key, tenant]
            if record:
                rows.append(replace(record, gpus=wanted))
            else:
                rows.append(QuotaRecord(tenant_id=tenant, pool_id=pool_ids[change.key], gpus=wanted))
    return tuple(rows)


def _due(pools: Sequence[PoolWrites], accounts: Sequence[AccountRecord], recorded: Index) -> tuple[PoolId, ...]:
    """Pools whose substrate has something to do, or whose account was changed: a new credential may mend them."""
    due = dict.fromkeys(pool_id for item in pools for pool_id in item.due)
    changed = {row.id for row in accounts}
    for facts in (*recorded.pools.values(), *recorded.leaving):
        if facts.substrate is not None and facts.substrate.account_id in changed:
            due[facts.record.id] = None
    return tuple(due)
