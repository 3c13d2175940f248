# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What planning is given of the store and the providers, and an index over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..model.ids import AccountId, ClusterId, PoolId, SiteId, TenantId
from ..model.records import (
    AccountRecord,
    ClusterRecord,
    NodePoolRecord,
    PoolRecord,
    QuotaRecord,
    SiteRecord,
    SubstrateRecord,
)
from ..model.states import ClusterState, Intent, NodePoolState, SubstrateState
from .naming import Key, key, titled

if TYPE_CHECKING:
    from ..model.observed import Difference, ObservedCluster, ObservedNodePool


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The document's rows at one moment.

    Attributes:
        serial: counts accepted documents; a plan is good for this one only.
        pools: archived ones too, as long as their substrate is not deleted: their accounts and sites must stay.
        clusters, node_pools, substrates: deleted ones may be left out.
    """

    serial: int = 0
    sites: tuple[SiteRecord, ...] = ()
    accounts: tuple[AccountRecord, ...] = ()
    pools: tuple[PoolRecord, ...] = ()
    clusters: tuple[ClusterRecord, ...] = ()
    node_pools: tuple[NodePoolRecord, ...] = ()
    substrates: tuple[SubstrateRecord, ...] = ()
    quotas: tuple[QuotaRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedPool:
    """What a pool's provider just said.

    Attributes:
        cluster: None when the provider says there is none.
        node_pools: all of the cluster's, by their provider-side name.
        differences: of the recorded node pools that are there, likewise: in what each is not as it is recorded.
    """

    cluster: ObservedCluster | None
    node_pools: Mapping[str, ObservedNodePool] = field(default_factory=dict)
    differences: Mapping[str, tuple[Difference, ...]] = field(default_factory=dict)


Observed = Mapping[PoolId, ObservedPool]
"""Only pools whose provider answered in full: of the others nothing is known, and nothing is concluded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFacts:
    """A recorded pool with what stands behind it.

    Attributes:
        substrate, cluster: the ones that are not deleted.
        flavors: by the flavor's name, its node pool that is not deleted.
        other_node_pools: provider-side names of the cluster's node pools that callers added.
    """

    record: PoolRecord
    substrate: SubstrateRecord | None = None
    cluster: ClusterRecord | None = None
    flavors: Mapping[str, NodePoolRecord] = field(default_factory=dict)
    other_node_pools: frozenset[str] = frozenset()

    @property
    def backed(self) -> bool:
        """Whether a substrate runs for it."""
        return self.cluster is not None and self.record.intent == Intent.RUN and self.record.substrate is not None

    @property
    def tearing_down(self) -> bool:
        """Whether a substrate of it is still on its way out."""
        return self.substrate is not None and not self.backed

    @property
    def staying(self) -> dict[str, NodePoolRecord]:
        """The flavors' node pools that are not on their way out."""
        return {name: row for name, row in self.flavors.items() if row.state != NodePoolState.DELETING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The records by owner and name.

    Attributes:
        pools: those that are not archived.
        leaving: archived pools whose substrate is not gone yet.
        quotas: by pool and tenant.
        site_titles: each site's title, as naming.titled.
        on_account: titles of the pools whose substrate lives on an account, sorted.
        clusters_on: names of the clusters without a pool that stand on an account.
        on_site: the pools, leaving ones too, that stand at a site.
    """

    sites: Mapping[Key, SiteRecord]
    accounts: Mapping[Key, AccountRecord]
    pools: Mapping[Key, PoolFacts]
    leaving: tuple[PoolFacts, ...]
    quotas: Mapping[tuple[Key, TenantId], QuotaRecord]
    site_titles: Mapping[SiteId, str]
    on_account: Mapping[AccountId, list[str]]
    clusters_on: Mapping[AccountId, list[str]]
    on_site: Mapping[SiteId, list[PoolFacts]]


def index(records: Records) -> Index:
    """Index the records: one walk over each kind."""
    clusters = {
        row.substrate_pool_id: row
        for row in records.clusters
        if row.substrate_pool_id is not None and row.state != ClusterState.DELETED
    }
    substrates = {row.pool_id: row for row in records.substrates if row.state != SubstrateState.DELETED}
    node_pools: dict[ClusterId, list[NodePoolRecord]] = {}
    for row in records.node_pools:
        if row.state != NodePoolState.DELETED:
            node_pools.setdefault(row.cluster_id, []).append(row)

    def facts(pool: PoolRecord) -> PoolFacts:
        cluster = clusters.get(pool.id)
        rows = node_pools.get(cluster.id, []) if cluster else []
        return PoolFacts(
            record=pool,
            substrate=substrates.get(pool.id),
            cluster=cluster,
            flavors={row.shape.name: row for row in rows if row.of_flavor},
            other_node_pools=frozenset(row.name for row in rows if not row.of_flavor),
        )

    everything = sorted(
        (facts(pool) for pool in records.pools), key=lambda item: (item.record.name, item.record.tenant_id)
    )
    on_account: dict[AccountId, list[str]] = {}
    clusters_on: dict[AccountId, list[str]] = {}
    on_site: dict[SiteId, list[PoolFacts]] = {}
    for item in everything:
        if item.substrate is not None:
            on_account.setdefault(item.substrate.account_id, []).append(titled(key(item.record)))
        if item.substrate is not None or item.record.archived_at is None:
            on_site.setdefault(item.record.site_id, []).append(item)
    for own in records.clusters:
        if own.substrate_pool_id is None and own.state != ClusterState.DELETED:
            clusters_on.setdefault(own.account_id, []).append(own.name)
    keys = {item.record.id: key(item.record) for item in everything if item.record.archived_at is None}
    return Index(
        sites={key(row): row for row in records.sites},
        accounts={key(row): row for row in records.accounts},
        pools={key(item.record): item for item in everything if item.record.archived_at is None},
        leaving=tuple(item for item in everything if item.record.archived_at is not None and item.substrate),
        quotas={(keys[row.pool_id], row.tenant_id): row for row in records.quotas if row.pool_id in keys},
        site_titles={row.id: titled(key(row)) for row in records.sites},
        on_account=on_account,
        clusters_on=clusters_on,
        on_site=on_site,
    )
