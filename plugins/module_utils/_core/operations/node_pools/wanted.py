# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node pool as a caller wants it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Final, Literal

from ...model.declared import Autoscaling, Gpus, Taint
from ...model.ids import ClusterId, NodePoolId


class FixedSize(Enum):
    """The type of :data:`FIXED_SIZE`, which a type checker can tell from None."""

    FIXED_SIZE = "fixed size"


FIXED_SIZE: Final = FixedSize.FIXED_SIZE
"""Autoscaling that is turned off: `null` in the API, `autoscaling: {enabled: false}` in modules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedNodePool:
    """A node pool as a caller wants it: what is None is left as it is, and of a new one to the provider.

    Attributes:
        name, node_pool_id: which one; by its id only one that is there can be meant.
        pool, cluster_id: whose node pool it is, by one of them: the name or id of a pool, or the cluster's id.
        path: where the caller wrote it (`node_pools[2]`), before the path of each problem; empty for a single one.
        node_count: nodes per zone, 0 to 1000; with autoscaling the count to begin with.
        disk_gib: GiB, 10 to 65536.
        zones: at most 10; an empty one is all of the account's.
        labels: as they were written: a value that is no text is refused.
        idempotency_key: makes this a request to create, and its repetition the same one.
    """

    name: str = ""
    node_pool_id: NodePoolId | None = None
    pool: str | None = None
    cluster_id: ClusterId | None = None
    path: str = ""
    machine_type: str | None = None
    node_count: int | None = None
    autoscaling: Autoscaling | Literal[FixedSize.FIXED_SIZE] | None = None
    spot: bool | None = None
    disk_gib: int | None = None
    disk_type: str | None = None
    accelerators: Gpus | None = None
    zones: tuple[str, ...] | None = None
    labels: Mapping[str, object] | None = None
    taints: tuple[Taint, ...] | None = None
    idempotency_key: str | None = None

    @property
    def where(self) -> tuple[str, str]:
        """What names the cluster: the same for two that name it alike."""
        return ("pool", self.pool) if self.pool is not None else ("cluster", str(self.cluster_id))

    @property
    def bounds(self) -> Autoscaling | None:
        """The autoscaler's bounds; None where it is off, or not spoken of."""
        return self.autoscaling if isinstance(self.autoscaling, Autoscaling) else None

    def digest(self) -> str:
        """SHA-256 of the request: two that say the same in another order are one."""
        said = {
            "name": self.name,
            "machineType": self.machine_type,
            "nodeCount": self.node_count,
            "autoscaling": asdict(self.bounds) if self.bounds else None,
            "spot": bool(self.spot),
            "diskGiB": self.disk_gib,
            "diskType": self.disk_type,
            "accelerators": asdict(self.accelerators) if self.accelerators else None,
            "zones": sorted(set(self.zones or ())),
            "labels": dict(self.labels or {}),
            "taints": [asdict(taint) for taint in sorted(set(self.taints or ()))],
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
