# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking at the providers for a plan: which zones accounts have, what stands there now. Reads only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from ..model.declared import Account, FleetConfig
from ..model.errors import ProviderError
from ..model.ids import AccountId, ClusterId, PoolId, TenantId, new_account_id
from ..model.records import AccountRecord, ClusterRecord, NodePoolRecord
from ..model.states import ClusterState
from ..planning import ObservedPool, Records
from .session import Session

_LOOKS_AT_ONCE = 8
"""Providers answer in tenths of a second and throttle above a few calls a second from one account."""


def observe(
    session: Session, records: Records, *, names: Collection[tuple[TenantId, str]] | None = None
) -> tuple[dict[PoolId, ObservedPool], dict[PoolId, str]]:
    """What the providers hold for each recorded cluster that was ready before.

    Arguments:
        names: owners and names of the pools to look at; None for all.

    Returns:
        What is known, and for each pool whose provider did not answer the reason: nothing is concluded of that one.
    """
    accounts = {account.id: account for account in records.accounts}
    wanted = {pool.id for pool in records.pools if names is None or (pool.tenant_id, pool.name) in names}
    node_pools: dict[ClusterId, list[NodePoolRecord]] = {}
    for record in records.node_pools:
        node_pools.setdefault(record.cluster_id, []).append(record)
    looked_at = [
        (cluster.substrate_pool_id, accounts[cluster.account_id], cluster)
        for cluster in records.clusters
        if cluster.substrate_pool_id in wanted and _is_worth_a_look(cluster) and cluster.account_id in accounts
    ]
    if not looked_at:
        return {}, {}
    seen: dict[PoolId, ObservedPool] = {}
    unseen: dict[PoolId, str] = {}
    # Only where a provider is asked: a plan without it loads neither this nor, below, what a pass goes by.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=min(_LOOKS_AT_ONCE, len(looked_at)), thread_name_prefix="look") as threads:
        found = threads.map(lambda one: _look(session, one[1], one[2], node_pools.get(one[2].id, ())), looked_at)
        for (pool_id, account, _cluster), answer in zip(looked_at, found, strict=True):
            if isinstance(answer, ObservedPool):
                seen[pool_id] = answer
            else:
                unseen[pool_id] = f"drift is not known, provider account {account.name} said: {answer}"
    return seen, unseen


def places_of_accounts(
    session: Session, config: FleetConfig, records: Records, *, now: datetime, ask: bool
) -> tuple[dict[str, Mapping[str, str]], tuple[str, ...]]:
    """The places of each declared account, as recorded or as the provider says now. Unknown ones stay out.

    Arguments:
        ask: whether the provider may be asked about accounts that are new or changed, or were never read.

    Returns:
        The places, and a warning for each account that is recorded as declared and whose provider did not answer.

    Raises:
        ProviderError: what a new or changed account names does not exist at the provider, or its credential is refused.
    """
    recorded = {(account.tenant_id, account.name): account for account in records.accounts}
    places: dict[str, Mapping[str, str]] = {}
    unread: list[str] = []
    used = {pool.substrate.account for pool in config.pools if pool.substrate is not None}
    for account in config.accounts:
        row = recorded.get((account.tenant_id, account.name))
        same = row is not None and dict(row.config) == dict(account.config)
        known = row.places if row is not None and same else None
        if known is None and ask and account.name in used:
            try:
                known = _places(session, _as_record(account, row.id if row else None, now))
            except ProviderError as error:
                # Somebody without its credential may plan as well: the passes say what it is refused.
                if not same:
                    raise
                unread.append(str(error))
        if known:
            places[account.name] = known
    return places, tuple(unread)


def _places(session: Session, account: AccountRecord) -> Mapping[str, str]:
    try:
        return session.open_driver(account).node_places()
    except ProviderError as error:
        raise type(error)(f"provider account {account.name}: {error}") from error


def _is_worth_a_look(cluster: ClusterRecord) -> bool:
    return cluster.ready_before and cluster.state not in (ClusterState.DELETING, ClusterState.DELETED)


def _look(
    session: Session, account: AccountRecord, cluster: ClusterRecord, node_pools: Sequence[NodePoolRecord]
) -> ObservedPool | ProviderError:
    from ..reconcile import specs

    spec = specs.cluster_spec(cluster)
    try:
        driver = session.open_driver(account)
        seen = driver.get_cluster(spec)
        found = {item.name: item for item in driver.get_node_pools(spec)} if seen is not None else {}
    except ProviderError as error:
        return error
    wanted = {
        record.name: specs.node_pool_spec(record, cluster=cluster, account=account, capabilities=driver.capabilities)
        for record in node_pools
        if record.name in found and account.places is not None
    }
    return ObservedPool(
        cluster=seen,
        node_pools=found,
        differences={name: driver.compare(wish, found[name]) for name, wish in wanted.items()},
    )


def _as_record(account: Account, account_id: AccountId | None, now: datetime) -> AccountRecord:
    """A declared account as the record that a driver is opened with."""
    return AccountRecord(
        id=account_id or new_account_id(now),
        tenant_id=account.tenant_id,
        name=account.name,
        provider=account.provider,
        config=account.config,
    )


Places = Mapping[str, Mapping[str, str]]
"""Account's name -> its places, each with its zone (AccountRecord.places)."""
