# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long things take at GKE, in seconds on the engine's clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..engine import PATIENCE, Delays


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings(Delays):
    """The delays; the defaults are about what public reports tell of the real one.

    Attributes:
        cluster_create: until the control plane of a new cluster answers; its first nodes start then.
        after_create: how long GKE is busy by itself with a cluster that it has just made; it is not always.
        cluster_delete: until a cluster is gone; its machines end at once.
        cluster_upgrade: until a control plane has another version.
        pending: how long an operation on a node pool is PENDING.
        node_pool_create: until the machines of a new node pool start.
        node_pool_resize: until machines start or end after a change of size.
        node_pool_update: until a change that touches no machine is done.
        node_pool_roll: between two machines that are replaced, one after the other.
        node_pool_delete: until a node pool is gone; its machines end at once.
        capacity_wait: how long an operation looks for capacity before it ends with an error.
        spot_notice: between a Spot machine's notice and its end.
        replace: until a machine that was lost comes back, one that found no capacity is tried again, or a delete that
            failed is.
    """

    cluster_create: float = 300.0
    after_create: float = 0.0
    cluster_delete: float = 180.0
    cluster_upgrade: float = 480.0
    pending: float = 2.0
    node_pool_create: float = 60.0
    node_pool_resize: float = 20.0
    node_pool_update: float = 15.0
    node_pool_roll: float = 60.0
    node_pool_delete: float = 60.0
    capacity_wait: float = field(default=2104.0, metadata=PATIENCE)
    spot_notice: float = 30.0
    replace: float = 60.0
