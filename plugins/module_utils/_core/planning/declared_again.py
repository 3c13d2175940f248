# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records as the document that they amount to: for whoever plans without one, or with a part of one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..model.declared import Account, FleetConfig, Pool, Quota, Site
from ..model.ids import PoolId
from ..model.records import PoolRecord
from .naming import Declared, Key
from .recorded import Records


def declared_again(records: Records) -> FleetConfig:
    """What a document would have to say for these records: planned, it changes nothing. Archived pools are left out."""
    sites = {row.id: row for row in records.sites}
    pools = {row.id: row for row in records.pools if row.archived_at is None}
    return FleetConfig(
        sites=tuple(
            Site(name=row.name, kind=row.kind, region=row.region, tenant_id=row.tenant_id) for row in records.sites
        ),
        accounts=tuple(
            Account(name=row.name, provider=row.provider, config=row.config, tenant_id=row.tenant_id)
            for row in records.accounts
        ),
        pools=tuple(
            Pool(
                name=row.name,
                site=sites[row.site_id].name,
                class_=row.class_,
                gpu_model=row.gpu_model,
                platform_operated=row.platform_operated,
                substrate=row.substrate,
                tenant_id=row.tenant_id,
                site_owner=sites[row.site_id].tenant_id,
            )
            for row in pools.values()
        ),
        # Records keep them by ids, and a document that is recorded anew has others.
        quotas=tuple(sorted(_quotas(records, pools), key=lambda one: (one.pool, str(one.pool_owner), one.tenant_id))),
    )


def _quotas(records: Records, pools: Mapping[PoolId, PoolRecord]) -> Iterator[Quota]:
    """The quotas of these pools, in no order that means anything."""
    for row in records.quotas:
        if row.pool_id in pools:
            pool = pools[row.pool_id]
            yield Quota(pool=pool.name, gpus=row.gpus, tenant_id=row.tenant_id, pool_owner=pool.tenant_id)


def of_one_pool(config: FleetConfig, pool: Key, *, accounts: Collection[str] = ()) -> FleetConfig:
    """The part of a document that one pool needs: its site, its account, itself and its quotas.

    Arguments:
        accounts: names of further accounts to keep; of two with one name, its owner's.
    """
    declared = Declared.of(config)
    one = declared.pools.get(pool)
    if one is None:
        return FleetConfig(version=config.version)
    wanted = {*accounts, *([one.substrate.account] if one.substrate is not None else [])}
    return FleetConfig(
        version=config.version,
        sites=(declared.sites[declared.site_of(one)],),
        accounts=tuple(
            account
            for account in config.accounts
            if account.name in wanted
            and (account.tenant_id == one.tenant_id or (one.tenant_id, account.name) not in declared.accounts)
        ),
        pools=(one,),
        quotas=tuple(quota for quota in config.quotas if declared.pool_of(quota) == pool),
    )
