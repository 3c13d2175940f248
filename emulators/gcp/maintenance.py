# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operations on node pools that GKE begins by itself: upgrades and repairs. Callers wait for them."""

from __future__ import annotations

from . import instances
from .node_pool_changes import change, move
from .records import Cluster, NodePool, Operation, OperationType
from .state import State


def upgrade_nodes(state: State, cluster: Cluster, pool: NodePool) -> Operation:
    """Bring a node pool to its control plane's version.

    Raises:
        GcpError: something else is going on.
    """
    version = cluster.shown.current_master_version

    def replace(operation: Operation) -> None:
        move(state, cluster, pool, operation, version=version)

    kind = OperationType.AUTO_UPGRADE_NODES
    return change(state, cluster, pool, kind=kind, seconds=state.timings.node_pool_update, effect=replace)


def repair_node(state: State, cluster: Cluster, pool: NodePool, instance_id: str) -> Operation:
    """Make a machine anew under its name.

    Raises:
        GcpError: something else is going on.
    """

    def renew(operation: Operation) -> None:
        if instance_id in pool.instances:
            instances.lose(state, cluster, pool, instance_id)
        instances.work(state, cluster, pool, operation)

    kind = OperationType.AUTO_REPAIR_NODES
    return change(state, cluster, pool, kind=kind, seconds=state.timings.node_pool_update, effect=renew)
