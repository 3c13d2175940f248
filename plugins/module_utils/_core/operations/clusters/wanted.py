# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster as a caller wants it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from ...model.ids import ClusterId
from ...model.states import ClusterMode
from ..node_pools.wanted import WantedNodePool


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCluster:
    """A cluster as a caller wants it: what is None is left as it is, and of a new one to the provider.

    Attributes:
        name, cluster_id: which one; by its id only one that is there can be meant.
        path: where the caller wrote it (`clusters[2]`), before the path of each problem; empty for a single one.
        account: the provider account's name: the tenant's own of that name, else the platform's.
        location: the provider's name of the place.
        version: the control plane's Kubernetes version, e.g. `1.34`.
        node_pools: the first ones of a new cluster; of one that stands, those that are to be there as well.
        idempotency_key: makes this a request to create, and its repetition the same one.
    """

    name: str = ""
    cluster_id: ClusterId | None = None
    path: str = ""
    account: str | None = None
    location: str | None = None
    mode: ClusterMode | None = None
    version: str | None = None
    private_nodes: bool | None = None
    node_pools: tuple[WantedNodePool, ...] = ()
    idempotency_key: str | None = None

    def digest(self) -> str:
        """SHA-256 of the request."""
        said = {
            "name": self.name,
            "account": self.account,
            "location": self.location,
            "mode": str(self.mode or ClusterMode.STANDARD),
            "version": self.version,
            "privateNodes": bool(self.private_nodes),
            "nodePools": sorted(node_pool.digest() for node_pool in self.node_pools),
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
