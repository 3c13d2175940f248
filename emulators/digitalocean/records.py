# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What DigitalOcean knows of clusters, node pools, nodes and droplets, and how it describes them.

`describe` always makes new objects, so that an answer does not change after it was given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ..neighbours import Machine
from .catalogue import REGIONS, SIZES, Size

PROVISIONING: Final = "provisioning"
RUNNING: Final = "running"
DEGRADED: Final = "degraded"
ERROR: Final = "error"
UPGRADING: Final = "upgrading"
DRAINING: Final = "draining"
DELETING: Final = "deleting"

PLUGINS: Final = {
    "nvidia_gpu_device_plugin": True,
    "amd_gpu_device_plugin": True,
    "amd_gpu_device_metrics_exporter_plugin": False,
    "nvidia_gpu_dra_driver": False,
    "amd_gpu_dra_driver": False,
    "rdma_shared_dev_plugin": False,
}
"""A cluster's switches, and whether they are on when nobody says: the GPU device plugins are (documentation)."""

Data = dict[str, Any]
"""A JSON object as the API's model has it."""


@dataclass(slots=True, kw_only=True)
class Droplet:
    """A droplet; it outlives its node for a while."""

    id: int
    name: str
    size: str
    region: str
    tags: list[str]
    created_at: datetime

    @property
    def gpu(self) -> bool:
        """Whether lists show it only to those who ask for GPU droplets."""
        return SIZES[self.size].gpus > 0

    def describe(self) -> Data:
        """As the API's model has it; what has to do with images, networks and prices is left out."""
        size = SIZES[self.size]
        return {
            "id": self.id,
            "name": self.name,
            "memory": size.memory_mib,
            "vcpus": size.vcpus,
            "locked": False,
            "status": "active",
            "created_at": stamp(self.created_at),
            "features": [],
            "backup_ids": [],
            "snapshot_ids": [],
            "volume_ids": [],
            "size_slug": self.size,
            "region": {
                "name": REGIONS[self.region],
                "slug": self.region,
                "available": True,
                "features": [],
                "sizes": [],
            },
            "tags": list(self.tags),
        }


@dataclass(slots=True, kw_only=True)
class Node:
    """A node of a node pool: a droplet once there is one, running once its machine is Ready.

    Attributes:
        version: the Kubernetes version that it runs.
        starved: whether there was no capacity for its droplet.
    """

    id: str
    version: str
    created_at: datetime
    updated_at: datetime
    state: str = PROVISIONING
    name: str = ""
    droplet: Droplet | None = None
    machine: Machine | None = None
    starved: bool = False

    @property
    def going(self) -> bool:
        """Whether it is on its way out."""
        return self.state in (DRAINING, DELETING)

    def describe(self) -> Data:
        """As the API's model has it."""
        return {
            "id": self.id,
            "name": self.name,
            "status": {"state": self.state},
            "droplet_id": "" if self.droplet is None else str(self.droplet.id),
            "created_at": stamp(self.created_at),
            "updated_at": stamp(self.updated_at),
        }


@dataclass(slots=True, kw_only=True)
class NodePool:
    """A node pool and its nodes (by id, oldest first). It has no status of its own.

    Attributes:
        own_tags: those that its owner gave it, without the automatic ones.
        spot: whether its droplets are Spot droplets.
        surge: how many nodes more there are while they are being replaced.
        deleted: whether its nodes are on their way out and it goes with the last.
    """

    id: str
    cluster_id: str
    name: str
    size: str
    count: int
    own_tags: list[str]
    labels: dict[str, str]
    taints: list[dict[str, str]]
    auto_scale: bool
    min_nodes: int
    max_nodes: int
    spot: bool = False
    surge: int = 0
    deleted: bool = False
    nodes: dict[str, Node] = field(default_factory=dict)

    @property
    def kind(self) -> Size:
        """What its droplets are."""
        return SIZES[self.size]

    @property
    def tags(self) -> list[str]:
        """All its tags, the automatic ones first."""
        return distinct(["k8s", f"k8s:{self.cluster_id}", "k8s:worker", *self.own_tags])

    @property
    def staying(self) -> list[Node]:
        """The nodes that are not on their way out."""
        return [node for node in self.nodes.values() if not node.going]

    @property
    def claim(self) -> int:
        """How many droplets of the account's limit it counts as: an autoscaled one as its maximum."""
        return 0 if self.deleted else max(self.count, self.max_nodes if self.auto_scale else 0)

    def describe(self) -> Data:
        """As the API's model has it; the bounds read 0 where nothing is scaled."""
        shown: Data = {
            "id": self.id,
            "name": self.name,
            "size": self.size,
            "count": self.count,
            "tags": self.tags,
            "labels": dict(self.labels),
            "taints": [dict(taint) for taint in self.taints],
            "auto_scale": self.auto_scale,
            "min_nodes": self.min_nodes if self.auto_scale else 0,
            "max_nodes": self.max_nodes if self.auto_scale else 0,
            "nodes": [node.describe() for node in self.nodes.values()],
        }
        if self.spot:
            shown["spot"] = True
        return shown


@dataclass(slots=True, kw_only=True)
class Cluster:
    """A cluster with everything in it.

    Attributes:
        api_name: what its Kubernetes API is called in the world: the name of its context in a kubeconfig.
        own_tags: those that its owner gave it, without the automatic ones.
        switches: PLUGINS by name.
        trouble: why it is not well, if that has nothing to do with its nodes.
        messages: what GET status_messages shows.
        load_balancers, volumes: names of what was made from within it, by id; they do not go with it.
    """

    id: str
    name: str
    api_name: str
    region: str
    version: str
    ha: bool
    auto_upgrade: bool
    surge_upgrade: bool
    maintenance: Data
    own_tags: list[str]
    switches: dict[str, bool]
    created_at: datetime
    updated_at: datetime
    state: str = PROVISIONING
    message: str = ""
    trouble: str = ""
    endpoint: str = ""
    ca_pem: str = ""
    messages: list[tuple[datetime, str]] = field(default_factory=list)
    pools: dict[str, NodePool] = field(default_factory=dict)
    load_balancers: dict[str, str] = field(default_factory=dict)
    volumes: dict[str, str] = field(default_factory=dict)

    @property
    def tag(self) -> str:
        """The automatic tag that only what belongs to it has."""
        return f"k8s:{self.id}"

    @property
    def staying(self) -> list[NodePool]:
        """The node pools that are not on their way out."""
        return [pool for pool in self.pools.values() if not pool.deleted]

    def describe(self) -> Data:
        """As the API's model has it: no endpoint while it is made, no ipv4 with high availability."""
        shown: Data = {
            "id": self.id,
            "name": self.name,
            "region": self.region,
            "version": self.version,
            "cluster_subnet": "10.108.0.0/16",
            "service_subnet": "10.109.0.0/19",
            "vpc_uuid": _VPC,
            "endpoint": self.endpoint,
            "tags": distinct(["k8s", self.tag, *self.own_tags]),
            "node_pools": [pool.describe() for pool in self.pools.values()],
            "maintenance_policy": dict(self.maintenance),
            "auto_upgrade": self.auto_upgrade,
            "status": {"state": self.state, "message": self.message},
            "created_at": stamp(self.created_at),
            "updated_at": stamp(self.updated_at),
            "surge_upgrade": self.surge_upgrade,
            "registry_enabled": False,
            "ha": self.ha,
            **{name: {"enabled": on} for name, on in self.switches.items()},
        }
        if not self.ha:
            shown["ipv4"] = "203.0.113.7" if self.endpoint else ""
        return shown


_VPC: Final = "c33931f2-a26a-4e61-b85c-4e95a2ec431b"


def stamp(moment: datetime) -> str:
    """A moment as DigitalOcean writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def distinct(tags: Iterable[str]) -> list[str]:
    """Each tag once, in order."""
    return list(dict.fromkeys(tags))
