# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What DigitalOcean says of clusters and node pools, as its API's model has it."""

from __future__ import annotations

from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.tags import to_tags
from ansible_collections.better_compute.fleet.tests.support.doks_subject import NODE_POOL
from ansible_collections.better_compute.fleet.tests.support.emulated_subject import TAGS

BLUE = Taint(key="team", effect="NoSchedule", value="blue")
AUTOMATIC = {"key": "nvidia.com/gpu", "value": "", "effect": "NoSchedule"}
"""What DOKS gives node pools with GPUs."""


def node(state: str = "running") -> dict[str, Any]:
    """A node of a node pool."""
    return {"id": "n", "name": "h100-abcde", "status": {"state": state}, "created_at": "2026-11-01T00:00:00Z"}


def pool(**changes: Any) -> dict[str, Any]:
    """The subject's node pool as it was wanted, with a tag of its user's."""
    return {
        "id": "p",
        "name": "h100",
        "size": "gpu-h100x8-640gb",
        "count": 4,
        "tags": ["k8s", "k8s:0000", "k8s:worker", "finance:gpu", *to_tags(TAGS)],
        "labels": dict(NODE_POOL.labels),
        "taints": [],
        "auto_scale": False,
        "min_nodes": 0,
        "max_nodes": 0,
        "nodes": [node()] * 4,
        **changes,
    }


def cluster(*pools: dict[str, Any], state: str = "running", message: str = "") -> dict[str, Any]:
    """A cluster with these node pools."""
    return {
        "id": "c",
        "name": "bc-x",
        "version": "1.34.1-do.0",
        "status": {"state": state, "message": message},
        "node_pools": list(pools),
    }
