# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetesSubstrates: what stands behind a pool, as the spec's `get` tells it. Never a token or a credential."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..model.clock import stamp
from ..model.errors import Code, OperationError
from ..model.ids import PLATFORM_TENANT, PoolId, TenantId
from ..model.records import AccountRecord, PoolRecord, SubstrateRecord
from ..model.states import SubstrateState
from ..store import Tx, fleet, substrates
from .pool_names import resolve_pool
from .session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class SubstrateView:
    """A substrate as a caller sees it.

    Attributes:
        pool: the pool's name.
        ready: whether the generation that was declared last is ready.
        in_time: whether whoever waited for it saw it settle; True where nobody waited.
    """

    pool: str
    provider: str
    account: str
    record: SubstrateRecord
    ready: bool
    in_time: bool = True

    @property
    def in_error(self) -> bool:
        """Whether somebody must act on it; the message says on what."""
        return self.record.state == SubstrateState.ERROR

    @property
    def settled(self) -> bool:
        """Whether nothing moves any more: ready, failed or gone."""
        final = self.ready or self.in_error or self.record.state == SubstrateState.DELETED
        return final and self.in_time

    @property
    def standing(self) -> str:
        """Where it stands, in one line for a person."""
        record = self.record
        if record.state == SubstrateState.DELETED:
            return f"pool {self.pool}: nothing stands behind it any more"
        state = "ready, changing" if record.state == SubstrateState.READY and not self.ready else str(record.state)
        joined = (
            f"{record.nodes_joined} of {record.nodes_listed} Nodes joined" if record.nodes_listed else "no Nodes yet"
        )
        return f"pool {self.pool}: {state}, {joined}" + (f" ({record.message})" if record.message else "")

    def to_data(self) -> dict[str, Any]:
        """Plain values in snake_case, for module results."""
        record = self.record
        waiting = None
        if record.waiting_nodes:
            waiting = {"nodes": record.waiting_nodes, "since": _told(record.waiting_since)}
        upgrade = None
        if record.upgrade_version is not None:
            upgrade = {"version": record.upgrade_version, "since": _told(record.upgrade_since)}
        return {
            "pool": self.pool,
            "pool_id": str(record.pool_id),
            "tenant_id": str(record.tenant_id),
            "provider": self.provider,
            "provider_account": self.account,
            "provider_account_id": str(record.account_id),
            "mode": record.mode,
            "cluster_id": str(record.cluster_id),
            "state": str(record.state),
            "message": record.message,
            "nodes_listed": record.nodes_listed,
            "nodes_joined": record.nodes_joined,
            "waiting_to_join": waiting,
            "upgrade": upgrade,
        }


def list_substrates(session: Session, *, pool_ids: frozenset[PoolId] | None = None) -> tuple[SubstrateView, ...]:
    """All substrates that are not deleted, or those of the named pools whatever their state, by pool name."""
    with session.store.read() as tx:
        if pool_ids is not None:
            return views_of(tx, fleet.pools_of(tx, pool_ids))
        views = views_of(tx, fleet.pools(tx, archived=True))
    return tuple(view for view in views if view.record.state != SubstrateState.DELETED)


def views_of(tx: Tx, pools: Sequence[PoolRecord]) -> tuple[SubstrateView, ...]:
    """The substrates of these pools, whatever their state, by pool name."""
    return views_from(pools, fleet.accounts(tx), substrates.substrates_of(tx, [pool.id for pool in pools]))


def views_from(
    pools: Iterable[PoolRecord], accounts: Iterable[AccountRecord], records: Iterable[SubstrateRecord]
) -> tuple[SubstrateView, ...]:
    """The substrates of these pools among the recorded ones, whatever their state, by pool name."""
    by_id = {pool.id: pool for pool in pools}
    account_of = {account.id: account for account in accounts}
    views = [
        _view(by_id[record.pool_id], account_of.get(record.account_id), record)
        for record in records
        if record.pool_id in by_id
    ]
    return tuple(sorted(views, key=lambda view: (view.pool, view.record.pool_id)))


def get_substrate(session: Session, *, pool: str, tenant_id: TenantId = PLATFORM_TENANT) -> SubstrateView:
    """The substrate of one pool.

    Arguments:
        pool: the pool's name or its id. An archived pool is found by id only.

    Raises:
        OperationError: NOT_FOUND for an unknown pool, or one without a substrate.
    """
    with session.store.read() as tx:
        record = resolve_pool(tx, pool=pool, tenant_id=tenant_id)
        substrate = substrates.substrate(tx, record.id)
        if substrate is None:
            raise OperationError(Code.NOT_FOUND, f"pool {pool!r} has no substrate: it declares no policy.substrate")
        account = fleet.account(tx, substrate.account_id)
    return _view(record, account, substrate)


def _view(pool: PoolRecord, account: AccountRecord | None, record: SubstrateRecord) -> SubstrateView:
    ready = record.state == SubstrateState.READY and record.observed_generation == pool.generation
    return SubstrateView(
        pool=pool.name,
        provider=account.provider if account else "",
        account=account.name if account else "",
        record=record,
        ready=ready,
    )


def _told(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None
