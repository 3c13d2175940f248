# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many there are of what, and how late the passes are: what metrics say of the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from .ids import PoolId, TenantId
from .states import ClusterState, NodePoolState, SubstrateState


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCount:
    """One pool with a substrate.

    Attributes:
        nodes_listed, nodes_joined, nodes_waiting: as its last pass found them.
        nodes_connected: whose bcd was heard of within three heartbeats, now.
    """

    pool_id: PoolId
    tenant_id: TenantId
    name: str
    state: SubstrateState
    nodes_listed: int
    nodes_joined: int
    nodes_waiting: int
    nodes_connected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """The whole fleet at one moment. What is deleted does not count.

    Attributes:
        clusters, node_pools: how many are in each state; states without any are left out.
        units: pools and clusters that want passes.
        due: those of them whose pass could begin now, and that nobody has taken.
        oldest_due: since when the first of them waits; None when none does.
        leased: those that a pass is under way for.
    """

    now: datetime
    pools: tuple[PoolCount, ...]
    clusters: Mapping[ClusterState, int]
    node_pools: Mapping[NodePoolState, int]
    units: int
    due: int
    oldest_due: datetime | None
    leased: int
