# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long things take at DigitalOcean, in seconds on the engine's clock."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine import Delays


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings(Delays):
    """The delays; no reports tell how long they are, so the defaults are guesses.

    Attributes:
        cluster_create: until a control plane answers; the droplets of its first nodes start then.
        cluster_delete: until a cluster is gone, and its machines with it.
        cluster_upgrade: until a control plane has another version; its nodes are replaced then.
        droplet_create: until a node that is to be has a droplet. The machine's boot comes on top.
        drivers_healthy: from a GPU node's Ready until its temporary taint goes.
        node_drain: how long a node is drained before it is deleted.
        node_delete: from there until it is gone.
        droplet_linger: how long a droplet is still listed after its node, node pool or cluster is gone.
        replace: between two attempts at a droplet for which there was no capacity.
    """

    cluster_create: float = 300.0
    cluster_delete: float = 60.0
    cluster_upgrade: float = 300.0
    droplet_create: float = 20.0
    drivers_healthy: float = 60.0
    node_drain: float = 30.0
    node_delete: float = 20.0
    droplet_linger: float = 30.0
    replace: float = 60.0
