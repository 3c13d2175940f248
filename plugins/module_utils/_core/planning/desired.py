# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""desired_rows(): a plan spelt out as rows. It decides nothing: it follows the plan's changes one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ..model import ids
from ..model.declared import Account, Site
from ..model.errors import Code, OperationError
from ..model.ids import AccountId, PoolId, SiteId, TenantId
from ..model.records import AccountRecord, QuotaRecord, SiteRecord
from .changes import EFFECTIVE, Change, ChangeKind, Resource
from .desired_pools import PoolWrites, pool_writes
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
    recorded = index(records)
    changes = [change for change in plan.changes if change.kind in EFFECTIVE]
    sites = _sites({site.name: site for site in plan.config.sites}, changes, recorded, now=now)
    accounts = _accounts({account.name: account for account in plan.config.accounts}, changes, recorded, now=now)
    site_ids = {name: row.id for name, row in recorded.sites.items()} | {row.name: row.id for row in sites}
    account_ids = {name: row.id for name, row in recorded.accounts.items()} | {row.name: row.id for row in accounts}
    pools = _pools(plan, changes, recorded, site_ids=site_ids, account_ids=account_ids, now=now)
    pool_ids = {name: facts.record.id for name, facts in recorded.pools.items()} | {
        row.name: row.id for item in pools for row in item.pools if row.archived_at is None
    }
    dropped_accounts = _named(changes, Resource.ACCOUNT, ChangeKind.DELETE)
    dropped_sites = _named(changes, Resource.SITE, ChangeKind.DELETE)
    return DesiredWrites(
        sites=sites,
        accounts=accounts,
        pools=tuple(row for item in pools for row in item.pools),
        clusters=tuple(row for item in pools for row in item.clusters),
        cluster_raises=tuple(row for item in pools for row in item.cluster_raises),
        node_pools=tuple(row for item in pools for row in item.node_pools),
        node_pool_changes=tuple(row for item in pools for row in item.node_pool_changes),
        substrates=tuple(row for item in pools for row in item.substrates),
        quotas=_quotas(plan, changes, recorded, pool_ids),
        dropped_quotas=tuple(
            (TenantId(change.part), recorded.pools[change.name].record.id)
            for change in changes
            if change.resource == Resource.QUOTA and change.kind == ChangeKind.DELETE
        ),
        dropped_accounts=tuple(recorded.accounts[name].id for name in dropped_accounts),
        dropped_sites=tuple(recorded.sites[name].id for name in dropped_sites),
        due=_due(pools, accounts, recorded),
    )


def _named(changes: Sequence[Change], resource: Resource, *kinds: ChangeKind) -> list[str]:
    return [change.name for change in changes if change.resource == resource and change.kind in kinds]


def _sites(
    declared: Mapping[str, Site], changes: Sequence[Change], recorded: Index, *, now: datetime
) -> tuple[SiteRecord, ...]:
    rows = []
    for name in _named(changes, Resource.SITE, ChangeKind.CREATE, ChangeKind.UPDATE):
        site, record = declared[name], recorded.sites.get(name)
        rows.append(
            SiteRecord(
                id=record.id if record else ids.new_site_id(now),
                tenant_id=site.tenant_id,
                name=name,
                kind=site.kind,
                region=site.region,
                generation=record.generation + 1 if record else 1,
            )
        )
    return tuple(rows)


def _accounts(
    declared: Mapping[str, Account], changes: Sequence[Change], recorded: Index, *, now: datetime
) -> tuple[AccountRecord, ...]:
    rows = []
    for change in changes:
        if change.resource != Resource.ACCOUNT or change.kind == ChangeKind.DELETE:
            continue
        account, record = declared[change.name], recorded.accounts.get(change.name)
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
    changes: Sequence[Change],
    recorded: Index,
    *,
    site_ids: Mapping[str, SiteId],
    account_ids: Mapping[str, AccountId],
    now: datetime,
) -> list[PoolWrites]:
    declared = {pool.name: pool for pool in plan.config.pools}
    by_pool: dict[str, list[Change]] = {}
    kept: dict[str, set[str]] = {}
    for change in changes:
        if change.resource in (Resource.POOL, Resource.CLUSTER, Resource.NODE_POOL):
            by_pool.setdefault(change.name, []).append(change)
    for change in plan.changes:
        if change.kind == ChangeKind.KEEP and change.resource == Resource.NODE_POOL:
            kept.setdefault(change.name, set()).add(change.part)
    return [
        pool_writes(
            declared.get(name),
            recorded.pools.get(name),
            own,
            kept_flavors=frozenset(kept.get(name, ())),
            site_ids=site_ids,
            account_ids=account_ids,
            now=now,
        )
        for name, own in by_pool.items()
    ]


def _quotas(
    plan: Plan, changes: Sequence[Change], recorded: Index, pool_ids: Mapping[str, PoolId]
) -> tuple[QuotaRecord, ...]:
    gpus = {(quota.pool, quota.tenant_id): quota.gpus for quota in plan.config.quotas}
    rows = []
    for change in changes:
        if change.resource == Resource.QUOTA and change.kind != ChangeKind.DELETE:
            key = (change.name, TenantId(change.part))
            record = recorded.quotas.get(key)
            if record:
                rows.append(replace(record, gpus=gpus[key]))
            else:
                rows.append(QuotaRecord(tenant_id=key[1], pool_id=pool_ids[change.name], gpus=gpus[key]))
    return tuple(rows)


def _due(pools: Sequence[PoolWrites], accounts: Sequence[AccountRecord], recorded: Index) -> tuple[PoolId, ...]:
    """Pools whose substrate has something to do, or whose account was changed: a new credential may mend them."""
    due = dict.fromkeys(pool_id for item in pools for pool_id in item.due)
    changed = {row.id for row in accounts}
    for facts in (*recorded.pools.values(), *recorded.leaving):
        if facts.substrate is not None and facts.substrate.account_id in changed:
            due[facts.record.id] = None
    return tuple(due)
