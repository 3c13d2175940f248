# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the steps of one pass share: the records as they stand, the doors to the outside, what was found so far."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ..model.agent import AgentSettings
from ..model.clock import Clock
from ..model.errors import InvalidRequest
from ..model.observed import NodeBounds, ObservedCluster, ObservedNodePool
from ..model.records import (
    AccountRecord,
    ClusterRecord,
    JoinToken,
    Lease,
    NodePoolRecord,
    PoolRecord,
    SubstrateRecord,
)
from ..model.states import ProviderStatus
from ..nodes.matching import Matching
from ..providers.contract import ClusterSpec, Driver, NodePoolSpec
from ..store import Store, Tx, work
from . import specs

if TYPE_CHECKING:
    from ..cluster.api import ClusterApi

_RENEW_BELOW = timedelta(seconds=40)
"""A step starts with at least this much of its 60 s lease: longer than a few outside calls of 10 s each may take."""


@dataclass(slots=True, kw_only=True)
class ClusterContext:
    """A pass's working memory about its cluster. Steps replace the records here when they write new ones.

    Attributes:
        observed: the cluster as the provider just described it; None while it is unknown or does not exist.
        provider_answered: whether `observed` is the provider's word, so that None means: it does not exist.
        observed_node_pools: the cluster's by name, as the provider described them in this pass; empty while unknown.
        finished: whether a teardown has ended and the work unit is gone.
    """

    store: Store
    lease: Lease
    clock: Clock
    driver: Driver
    account: AccountRecord
    cluster: ClusterRecord
    node_pools: tuple[NodePoolRecord, ...]
    observed: ObservedCluster | None = None
    provider_answered: bool = False
    observed_node_pools: Mapping[str, ObservedNodePool] = field(default_factory=dict)
    finished: bool = False

    def write(self) -> AbstractContextManager[Tx]:
        """A write transaction guarded by the lease: StaleLease when somebody else has the unit by now."""
        return self.store.write(lease=self.lease)

    def renew(self) -> None:
        """Between steps: make sure that the next one has time. A hung step never gets here, and so loses the lease."""
        if self.lease.until - self.clock.now() < _RENEW_BELOW:
            with self.write() as tx:
                self.lease = work.renew(tx, self.lease)

    @property
    def now(self) -> datetime:
        """The present."""
        return self.clock.now()

    @property
    def cluster_spec(self) -> ClusterSpec:
        """The cluster as the driver is asked for it."""
        return specs.cluster_spec(self.cluster)

    def node_pool_spec(self, record: NodePoolRecord) -> NodePoolSpec:
        """A node pool as the driver is asked for it."""
        return specs.node_pool_spec(
            record, cluster=self.cluster, account=self.account, capabilities=self.driver.capabilities
        )

    def node_pool_totals(self, record: NodePoolRecord) -> NodeBounds | None:
        """Between which totals a node pool's count is to be: see specs.node_pool_totals."""
        return specs.node_pool_totals(
            record,
            cluster=self.cluster,
            account=self.account,
            capabilities=self.driver.capabilities,
            found=self.observed_node_pools.get(record.name),
        )

    def wanted_node_pool(self, record: NodePoolRecord) -> NodePoolSpec:
        """The same, to be created or changed: all that it needs is there.

        Raises:
            InvalidRequest: a zone of it is none of the account's.
        """
        strange = specs.zones_without_places(record, self.account)
        if strange:
            known = ", ".join(self.account.zones or ())
            raise InvalidRequest(
                f"provider account {self.account.name} has no place in {', '.join(strange)}: it has {known}"
            )
        return self.node_pool_spec(record)

    def recorded_cluster(self) -> ObservedCluster | None:
        """The cluster as it was last seen, for looking after its nodes while the provider does not answer."""
        if not self.cluster.ready_before or self.cluster.outputs is None:
            return None
        return ObservedCluster(
            name=self.cluster.name,
            status=ProviderStatus.ACTIVE,
            message="",
            outputs=self.cluster.outputs,
            private_nodes=self.cluster.private_nodes,
            tags=self.cluster_spec.tags,
        )


@dataclass(slots=True, kw_only=True)
class PassContext(ClusterContext):
    """The working memory of a pass over a pool: its cluster, and what runs in that.

    Attributes:
        api: the cluster's Kubernetes API; None while there is no way in.
        claimed: whether this pass saw the cluster's claim in our hands. In a teardown: whether what carries our marks
            is to be taken away.
        gone: in a teardown: the provider said twice that there is no such cluster.
        closed: the node pools whose nodes take no new bookings, and no others; None while this pass does not know.
        matching: what the complete Node list of this pass says; None means unknown.
        tokens: the live join tokens with their uses, as they were when `matching` was made.
        agent_applied: whether bcd's objects stand as they should.
    """

    agent: AgentSettings | None
    pool: PoolRecord
    substrate: SubstrateRecord
    api: ClusterApi | None = None
    claimed: bool = False
    gone: bool = False
    closed: frozenset[str] | None = None
    matching: Matching | None = None
    tokens: tuple[JoinToken, ...] = ()
    agent_applied: bool = False

    def close(self) -> None:
        """Shut the cluster's API: its credential ends with the pass."""
        if self.api is not None:
            self.api.close()
            self.api = None
