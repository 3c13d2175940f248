# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters that cannot be made yet: their provider makes none without nodes, and no node pool is recorded."""

from __future__ import annotations

from collections.abc import Iterable

from .capabilities import Capabilities
from .records import ClusterRecord, NodePoolRecord
from .states import ClusterMode, ClusterState, NodePoolState


def awaits_nodes(cluster: ClusterRecord, node_pools: Iterable[NodePoolRecord], can: Capabilities) -> bool:
    """Whether a cluster that was never asked for waits until its first node pool is recorded.

    Arguments:
        can: what its provider can do.
    """
    if cluster.adopted or cluster.mode != ClusterMode.STANDARD or cluster.state != ClusterState.PENDING:
        return False
    if not can.cluster_needs_nodes:
        return False
    return all(node_pool.state == NodePoolState.DELETING for node_pool in node_pools)


def waits_for(can: Capabilities) -> str:
    """What such a cluster waits for, for a person."""
    return f"{can.title} makes no cluster without nodes: it is made once it has a node pool"
