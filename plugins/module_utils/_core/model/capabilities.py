# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each provider can and cannot do, as plain tables without an SDK, for planning and for refusals."""

from __future__ import annotations

from dataclasses import dataclass

MAX_NODE_POOLS = 10
"""Of one cluster, at every provider, those that are not deleted yet (spec: node-pools API, QUOTA_EXCEEDED)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """One provider's abilities.

    Attributes:
        spot: Spot node pools.
        zero_nodes: a fixed-size node pool may have no nodes.
        zones: node pools can be pinned to zones.
        disk_size: the nodes' disk size can be chosen.
        disk_type: the nodes' disk type can be chosen.
        per_zone_counts: `nodes` counts per zone; else it is the total.
        max_node_pool_name: characters of a node pool's name.
        max_nodes_per_pool: nodes of one node pool over all its zones.
    """

    spot: bool
    zero_nodes: bool
    zones: bool
    disk_size: bool
    disk_type: bool
    per_zone_counts: bool
    max_node_pool_name: int
    max_nodes_per_pool: int


CAPABILITIES: dict[str, Capabilities] = {
    # EKS: node group names at most 63 characters, 450 nodes a group (provider-behaviours: quotas).
    "aws": Capabilities(
        spot=True,
        zero_nodes=True,
        zones=True,
        disk_size=True,
        disk_type=False,
        per_zone_counts=True,
        max_node_pool_name=63,
        max_nodes_per_pool=450,
    ),
}
"""By the document's `provider`. A provider that is not here has no driver."""
