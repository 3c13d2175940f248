# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How GKE replaces the machines of a node pool by those of its present settings: one after the other."""

from __future__ import annotations

from functools import partial

from . import instances
from .records import Cluster, NodePool, Operation
from .state import State


def roll(state: State, cluster: Cluster, pool: NodePool, operation: Operation) -> None:
    """Replace the next machine of older settings, or be done with the operation. One without capacity waits."""
    old = next((i for i in pool.instances.values() if i.generation < pool.generation), None)
    if old is None:
        instances.work(state, cluster, pool, operation)
        return
    zone = old.machine.zone
    if state.capacity.lacks(pool.machine_type, zone, spot=pool.spot) is None:
        instances.launch(state, cluster, pool, zone)
        instances.end(state, pool, old.machine.instance_id)
    again = partial(roll, state, cluster, pool, operation)
    state.after(state.timings.node_pool_roll, kind="roll-node-pool", target=pool.name, finish=again)
