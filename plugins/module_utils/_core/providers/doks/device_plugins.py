# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DigitalOcean's own GPU device plugins: beside bcd's they would give GPUs to pods that nobody booked. No call."""

from __future__ import annotations

from typing import Any

from ...model.errors import InvalidRequest
from ..contract import NodePoolSpec
from .naming import Data

_FIELDS = ("nvidia_gpu_device_plugin", "amd_gpu_device_plugin")
"""Of a cluster. Both are on unless somebody switches them off."""


def switched_off() -> dict[str, Any]:
    """What a cluster is created with."""
    return {name: {"enabled": False} for name in _FIELDS}


def refuse_beside(cluster: Data, spec: NodePoolSpec) -> None:
    """Raises InvalidRequest for a node pool with GPUs on a cluster where one of them is on."""
    on = [name for name in _FIELDS if (cluster.get(name) or {}).get("enabled")]
    if on and spec.gpus_per_node:
        raise InvalidRequest(
            f"devicePluginOn: node pool {spec.name!r} is to have GPUs, and on cluster {cluster['name']!r} DigitalOcean "
            f"itself gives GPUs to pods, booked or not: switch off its {' and '.join(on)}"
        )
