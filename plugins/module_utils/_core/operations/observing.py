# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking at the providers for a plan: which zones accounts have, what stands there now. Reads only."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from ..model.declared import Account, FleetConfig
from ..model.errors import ProviderError
from ..model.ids import AccountId, PoolId, new_account_id
from ..model.labels import owner_tags
from ..model.records import AccountRecord, ClusterRecord
from ..model.states import ClusterState
from ..planning import ObservedPool, Records
from ..providers.contract import ClusterSpec
from .session import Session

_LOOKS_AT_ONCE = 8
"""Providers answer in tenths of a second and throttle above a few calls a second from one account."""


def observe(session: Session, records: Records) -> tuple[dict[PoolId, ObservedPool], tuple[str, ...]]:
    """What the providers hold for each recorded cluster that was ready before.

    Returns:
        What is known, and a warning for each pool whose provider did not answer: nothing is concluded of that one.
    """
    accounts = {account.id: account for account in records.accounts}
    names = {pool.id: pool.name for pool in records.pools}
    looked_at = [
        (cluster.substrate_pool_id, accounts[cluster.account_id], cluster)
        for cluster in records.clusters
        if cluster.substrate_pool_id is not None and _is_worth_a_look(cluster) and cluster.account_id in accounts
    ]
    if not looked_at:
        return {}, ()
    seen: dict[PoolId, ObservedPool] = {}
    unseen: list[str] = []
    with ThreadPoolExecutor(max_workers=min(_LOOKS_AT_ONCE, len(looked_at)), thread_name_prefix="look") as threads:
        found = threads.map(lambda one: _look(session, *one), looked_at)
        for (pool_id, account, _cluster), answer in zip(looked_at, found, strict=True):
            if isinstance(answer, ObservedPool):
                seen[pool_id] = answer
            else:
                pool = names.get(pool_id, pool_id)
                unseen.append(f"pool {pool}: drift is not known, provider account {account.name} said: {answer}")
    return seen, tuple(unseen)


def zones_of_accounts(
    session: Session, config: FleetConfig, records: Records, *, now: datetime, ask: bool
) -> dict[str, tuple[str, ...]]:
    """The zones of each declared account, as recorded or as the provider says now. Unknown ones stay out.

    Arguments:
        ask: whether the provider may be asked about accounts that are new or changed.

    Raises:
        ProviderError: what an account names does not exist at the provider, or its credential is refused.
    """
    recorded = {account.name: account for account in records.accounts}
    zones: dict[str, tuple[str, ...]] = {}
    used = {pool.substrate.account for pool in config.pools if pool.substrate is not None}
    for account in config.accounts:
        row = recorded.get(account.name)
        known = row.zones if row is not None and dict(row.config) == dict(account.config) else None
        if known is None and ask and account.name in used:
            known = _zones(session, _as_record(account, row.id if row else None, now))
        if known:
            zones[account.name] = known
    return zones


def _zones(session: Session, account: AccountRecord) -> tuple[str, ...]:
    try:
        return session.open_driver(account).node_zones()
    except ProviderError as error:
        raise type(error)(f"provider account {account.name}: {error}") from error


def _is_worth_a_look(cluster: ClusterRecord) -> bool:
    return cluster.ready_before and cluster.state not in (ClusterState.DELETING, ClusterState.DELETED)


def _look(
    session: Session, pool_id: PoolId, account: AccountRecord, cluster: ClusterRecord
) -> ObservedPool | ProviderError:
    spec = ClusterSpec(
        name=cluster.name,
        location=cluster.location,
        private_nodes=cluster.private_nodes,
        tags=owner_tags(cluster_id=cluster.id, pool_id=pool_id),
    )
    try:
        driver = session.open_driver(account)
        seen = driver.get_cluster(spec)
        return ObservedPool(cluster=seen, node_pools=driver.get_node_pools(spec) if seen is not None else ())
    except ProviderError as error:
        return error


def _as_record(account: Account, account_id: AccountId | None, now: datetime) -> AccountRecord:
    """A declared account as the record that a driver is opened with."""
    return AccountRecord(
        id=account_id or new_account_id(now),
        tenant_id=account.tenant_id,
        name=account.name,
        provider=account.provider,
        config=account.config,
    )


Zones = Mapping[str, tuple[str, ...]]
