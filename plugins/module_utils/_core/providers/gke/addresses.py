# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resource names as GKE's calls take them. The form with `locations` works for regions and zones alike."""

from __future__ import annotations

from dataclasses import dataclass

from ..contract import ClusterSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a cluster is: whatever is asked of it or in it is asked there."""

    project: str
    cluster: ClusterSpec

    @property
    def location(self) -> str:
        """What clusters and operations are listed by, and clusters made in."""
        return f"projects/{self.project}/locations/{self.cluster.location}"

    @property
    def whole(self) -> str:
        """The cluster."""
        return f"{self.location}/clusters/{self.cluster.name}"

    def node_pool(self, name: str) -> str:
        """A node pool of it."""
        return f"{self.whole}/nodePools/{name}"

    def operation(self, name: str) -> str:
        """An operation on it."""
        return f"{self.location}/operations/{name}"
