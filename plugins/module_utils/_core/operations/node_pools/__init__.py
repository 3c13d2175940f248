# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetesNodePools: node pools of a cluster that a caller adds, resizes and deletes.

`calls` has the API's four methods, `converging` brings many node pools of many clusters about in one go (bc_nodepool),
`reading` tells what is recorded (bc_nodepool_info). All decide by the same pure functions: `constraints` says what is
wrong with a request, `deciding` what it changes. A flavor's node pool is changed in the document only.

Idempotency keys are scoped to tenant, caller and cluster. A request with a key is one to create, and nothing else: its
repetition is answered with the node pool that the first one made, as that stands now, resized or deleted meanwhile or
not, and never makes a second one.
"""

from __future__ import annotations

from .calls import create_node_pool, delete_node_pool, list_node_pools, update_node_pool
from .converging import apply_node_pools, plan_node_pools, recorded_again
from .deciding import NodePoolChange, NodePoolsPlan, Wish
from .reading import Found, find_node_pools, is_settled, to_data
from .wanted import FIXED_SIZE, FixedSize, WantedNodePool
from .writing import tell_created

__all__ = [
    "FIXED_SIZE",
    "FixedSize",
    "Found",
    "NodePoolChange",
    "NodePoolsPlan",
    "WantedNodePool",
    "Wish",
    "apply_node_pools",
    "create_node_pool",
    "delete_node_pool",
    "find_node_pools",
    "is_settled",
    "list_node_pools",
    "plan_node_pools",
    "recorded_again",
    "tell_created",
    "to_data",
    "update_node_pool",
]
