# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node pool as callers see it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...model.records import NodePoolRecord

_DECLARED = (
    "machine_type",
    "node_count",
    "autoscaling",
    "spot",
    "disk_gib",
    "disk_type",
    "accelerators",
    "zones",
    "labels",
    "taints",
)
"""What a caller declares of a node pool; the rest of its data is status."""


def to_data(record: NodePoolRecord) -> dict[str, Any]:
    """A node pool as plain values in snake_case, for module results."""
    shape = record.shape
    return {
        "id": str(record.id),
        "cluster_id": str(record.cluster_id),
        "name": record.name,
        "machine_type": shape.machine_type,
        "node_count": shape.nodes,
        "autoscaling": asdict(shape.autoscaling) if shape.autoscaling else None,
        "spot": shape.spot,
        "disk_gib": shape.disk_gib,
        "disk_type": shape.disk_type,
        "accelerators": asdict(shape.gpus) if shape.gpus else None,
        "zones": list(shape.zones),
        "labels": dict(shape.labels or {}),
        "taints": [asdict(taint) for taint in shape.taints or ()],
        "flavor": record.of_flavor,
        "state": str(record.state),
        "message": record.message,
        "version": record.version,
    }


def declared(record: NodePoolRecord) -> dict[str, Any]:
    """The part of it that a caller declares, for differences."""
    data = to_data(record)
    return {name: data[name] for name in _DECLARED}
