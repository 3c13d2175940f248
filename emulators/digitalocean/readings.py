# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nobody outside DigitalOcean knows for certain, as switches: by default the strictest reading.

A driver must live with either, so tests turn them over.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Readings:
    """The account's rules where sources are silent or contradict each other.

    Attributes:
        unique_names: a second cluster of a name is refused, and a second node pool of a name in its cluster.
        keeps_last_node_pool: a cluster's last node pool is not deleted.
        busy_refuses: no change to node pools or version while a cluster is provisioning or upgrading.
        scale_to_zero: an autoscaled node pool may have min_nodes 0; where not, at least 1.
        tags_find_gpu_droplets: a list of droplets by tag has GPU droplets, too. The documentation says that lists are
            without them unless `type` asks for them, and that `type` does not go together with a tag.
        spot_preview: `spot: true` on a node pool makes it one of Spot droplets. The API's model has no such field;
            only this product's specification speaks of the preview.
    """

    unique_names: bool = True
    keeps_last_node_pool: bool = True
    busy_refuses: bool = True
    scale_to_zero: bool = True
    tags_find_gpu_droplets: bool = False
    spot_preview: bool = True
