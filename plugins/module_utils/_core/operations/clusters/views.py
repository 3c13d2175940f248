# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters as callers see them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from ...model.capabilities import CAPABILITIES
from ...model.first_nodes import awaits_nodes, waits_for
from ...model.ids import ClusterId
from ...model.records import AccountRecord, ClusterRecord, NodePoolRecord, PoolRecord
from ...model.states import ClusterState
from ...store import Tx, clusters, fleet
from ..node_pools.telling import to_data as node_pool_data


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """A cluster with what it stands on and what stands on it.

    Attributes:
        pool: the name of the pool that it backs; None for a tenant's own.
        node_pools: those that are not deleted, by name.
        in_time: whether whoever waited for it saw it settle; True where nobody waited.
    """

    record: ClusterRecord
    account: AccountRecord | None
    pool: str | None
    node_pools: tuple[NodePoolRecord, ...]
    in_time: bool = True

    @property
    def ready(self) -> bool:
        """Whether it, and every node pool, is as it was wanted last."""
        record = self.record
        return record.state == ClusterState.READY and record.observed_generation == record.generation

    @property
    def in_error(self) -> bool:
        """Whether somebody must act on it; the message says on what."""
        return self.record.state == ClusterState.ERROR

    @property
    def awaits_nodes(self) -> bool:
        """Whether nothing happens before a caller records its first node pool."""
        return self.account is not None and awaits_nodes(
            self.record, self.node_pools, CAPABILITIES[self.account.provider]
        )

    @property
    def waits_for(self) -> str:
        """What it waits for then; empty where it waits for no caller."""
        return waits_for(CAPABILITIES[self.account.provider]) if self.account and self.awaits_nodes else ""

    @property
    def settled(self) -> bool:
        """Whether nothing moves any more: ready, failed or gone, or waiting for a caller."""
        gone = self.record.state == ClusterState.DELETED
        return (self.ready or self.in_error or gone or self.awaits_nodes) and self.in_time

    def to_data(self) -> dict[str, Any]:
        """Plain values in snake_case, for module results."""
        record, outputs = self.record, self.record.outputs
        return {
            "id": str(record.id),
            "tenant_id": str(record.tenant_id),
            "name": record.name,
            "pool": self.pool,
            "provider": self.account.provider if self.account else "",
            "account": self.account.name if self.account else "",
            "location": record.location,
            "mode": str(record.mode),
            "adopted": record.adopted,
            "private_nodes": None if record.adopted else record.private_nodes,
            "version": record.version,
            "running_version": outputs.version if outputs else None,
            "endpoint": outputs.endpoint if outputs else None,
            "global_id": outputs.global_id if outputs else None,
            "state": str(record.state),
            "message": record.message or self.waits_for,
            "node_pools": [node_pool_data(node_pool) for node_pool in self.node_pools],
        }


def views_of(tx: Tx, cluster_ids: Collection[ClusterId]) -> tuple[ClusterView, ...]:
    """These clusters, deleted or not, by name; unknown ones are left out."""
    if not cluster_ids:
        return ()
    found = [clusters.cluster(tx, cluster_id) for cluster_id in sorted(set(cluster_ids))]
    return views_from(tx, [record for record in found if record is not None])


def views_from(tx: Tx, records: Iterable[ClusterRecord]) -> tuple[ClusterView, ...]:
    """Recorded clusters as callers see them, by name."""
    ordered = sorted(records, key=lambda record: (record.name, record.id))
    pools: dict[str, PoolRecord] = {}
    wanted = {record.substrate_pool_id for record in ordered if record.substrate_pool_id is not None}
    if wanted:
        pools = {pool.id: pool for pool in fleet.pools_of(tx, wanted)}
    accounts = {account.id: account for account in fleet.accounts(tx)}
    return tuple(
        ClusterView(
            record=record,
            account=accounts.get(record.account_id),
            pool=pools[record.substrate_pool_id].name if record.substrate_pool_id in pools else None,
            node_pools=clusters.node_pools(tx, record.id),
        )
        for record in ordered
    )
