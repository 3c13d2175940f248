# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long things take at EKS, in seconds on the engine's clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...engine import PATIENCE, Delays


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings(Delays):
    """The delays; the defaults are about what public reports tell of the real one.

    Attributes:
        cluster_create: until a cluster is ACTIVE.
        cluster_delete: until a cluster is gone.
        cluster_name_kept: how long the name of a cluster that is gone stays taken; it does not always.
        cluster_update: until a control plane has another version.
        cluster_update_shows: until the status of a cluster shows that it is being updated.
        node_group_launch: until the instances of a new node group start.
        node_group_update: until an update has changed the Auto Scaling group.
        node_group_roll: between two looks at the machines that are being replaced, each ending one batch of old ones.
        node_group_delete: until a node group is gone; its instances end at once.
        node_wait: how long a new node group's Nodes may take to become Ready before it is CREATE_FAILED.
        desired_follows: until EKS shows a desired capacity that the autoscaler gave to the Auto Scaling group.
        replace: until an instance that was lost is replaced, or a launch that found no capacity is tried again.
    """

    cluster_create: float = 540.0
    cluster_delete: float = 180.0
    cluster_name_kept: float = 0.0
    cluster_update: float = 540.0
    cluster_update_shows: float = 5.0
    node_group_launch: float = 60.0
    node_group_update: float = 20.0
    node_group_roll: float = 60.0
    node_group_delete: float = 120.0
    node_wait: float = field(default=900.0, metadata=PATIENCE)
    desired_follows: float = 30.0
    replace: float = 60.0
