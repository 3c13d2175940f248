# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows that applying a plan writes, in the order in which they can be written. One transaction holds them all."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..model.declared import Flavor
from ..model.ids import AccountId, ClusterId, NodePoolId, PoolId, SiteId, TenantId
from ..model.records import (
    AccountRecord,
    ClusterRecord,
    NodePoolRecord,
    PoolRecord,
    QuotaRecord,
    SiteRecord,
    SubstrateRecord,
)
from ..model.states import ClusterState, NodePoolState


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRaise:
    """A cluster whose desired state changed: its generation goes up by one.

    Attributes:
        version: the control plane's version that is wanted from now on; None leaves the wish as it is.
    """

    id: ClusterId
    state: ClusterState
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolChange:
    """A node pool whose desired state changed: its version goes up by one.

    Attributes:
        sized: whether its size is asked for anew (NodePoolRecord.sized_version).
    """

    id: NodePoolId
    shape: Flavor
    state: NodePoolState
    sized: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredWrites:
    """What one apply writes.

    Attributes:
        sites, accounts, pools, quotas, substrates: whole rows, new ones or in place of those with their ids.
        clusters, node_pools: new rows.
        cluster_raises, node_pool_changes: changes of rows that exist.
        dropped_quotas, dropped_accounts, dropped_sites: rows that go.
        due: pools whose pass is due now; each has, or gets, a work unit.
    """

    sites: tuple[SiteRecord, ...] = ()
    accounts: tuple[AccountRecord, ...] = ()
    pools: tuple[PoolRecord, ...] = ()
    clusters: tuple[ClusterRecord, ...] = ()
    cluster_raises: tuple[ClusterRaise, ...] = ()
    node_pools: tuple[NodePoolRecord, ...] = ()
    node_pool_changes: tuple[NodePoolChange, ...] = ()
    substrates: tuple[SubstrateRecord, ...] = ()
    quotas: tuple[QuotaRecord, ...] = ()
    dropped_quotas: tuple[tuple[TenantId, PoolId], ...] = ()
    dropped_accounts: tuple[AccountId, ...] = ()
    dropped_sites: tuple[SiteId, ...] = ()
    due: tuple[PoolId, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not any(getattr(self, item.name) for item in fields(self))
