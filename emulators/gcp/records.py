# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What GKE knows of clusters, node pools, their machines and operations. The API's own messages hold what it shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from google.cloud.container_v1.types import cluster_service as api

from ..neighbours import Machine
from .project import PROJECT_ID, PROJECT_NUMBER, is_zone

Message = Any
"""A protobuf message: one of `api`, as its `.pb()`."""

ClusterStatus = api.Cluster.Status
PoolStatus = api.NodePool.Status
OperationStatus = api.Operation.Status
OperationType = api.Operation.Type

_API: Final = "https://container.googleapis.com/v1"

_SHARED_CHARACTERS: Final = 32
"""What cluster and node pool have together in the names of instance groups."""

_CLUSTER_CHARACTERS: Final = 16
"""What a long cluster name keeps of them."""


@dataclass(slots=True, kw_only=True)
class Instance:
    """A machine of a node pool, made by a generation of its settings; `ready` once its Node is."""

    machine: Machine
    generation: int
    ready: bool = False


@dataclass(slots=True, kw_only=True)
class Operation:
    """A long-running operation.

    Attributes:
        shown: the API's Operation, but for its status while it runs.
        pool: the node pool that it is about; None for one about the whole cluster.
        starts_at: until when it is PENDING.
        waits_for: the node pools whose machines it still waits for.
    """

    shown: Message
    location: str
    cluster: str
    pool: str | None
    starts_at: datetime
    waits_for: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """`operation-…`."""
        return str(self.shown.name)

    @property
    def done(self) -> bool:
        """Whether it has ended, well or not."""
        return bool(self.shown.status == OperationStatus.DONE)

    def describe(self, now: datetime) -> Message:
        """As the API shows it at that time."""
        shown = api.Operation.pb()()
        shown.CopyFrom(self.shown)
        if not self.done:
            shown.status = OperationStatus.PENDING if now < self.starts_at else OperationStatus.RUNNING
        return shown


@dataclass(slots=True, kw_only=True)
class NodePool:
    """A node pool, its instance groups (one a zone) and their machines (by instance id, oldest first).

    Attributes:
        shown: the API's NodePool.
        size: how many machines each zone is to have.
        groups: the base of the names in each zone's group: `gke-<cluster>-<pool>-<8 hex>`.
        generation: how often the settings of new machines were changed.
        operation: what waits for its machines to be there.
        vacant: in each zone, the names of machines that were lost and come back.
        seeks: whether a machine that is missing is going to be tried again.
    """

    shown: Message
    size: int
    groups: dict[str, str]
    generation: int = 0
    operation: Operation | None = None
    vacant: dict[str, list[str]] = field(default_factory=dict)
    seeks: bool = False
    instances: dict[str, Instance] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.shown.name)

    @property
    def machine_type(self) -> str:
        """The machine type of its machines."""
        return str(self.shown.config.machine_type)

    @property
    def spot(self) -> bool:
        """Whether its machines can be taken back."""
        return bool(self.shown.config.spot or self.shown.config.preemptible)

    @property
    def total(self) -> int:
        """How many machines it is to have, over all zones."""
        return self.size * len(self.groups)

    def of_zone(self, zone: str) -> list[Instance]:
        """Its machines in a zone, oldest first."""
        return [instance for instance in self.instances.values() if instance.machine.zone == zone]

    @property
    def complete(self) -> bool:
        """Whether all its machines are there, and their Nodes Ready."""
        return len(self.instances) == self.total and all(i.ready for i in self.instances.values())


@dataclass(slots=True, kw_only=True)
class Cluster:
    """A cluster. `shown` is the API's Cluster without its node pools."""

    shown: Message
    location: str
    pools: dict[str, NodePool] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.shown.name)

    @property
    def path(self) -> str:
        """As refusals name it."""
        return f"projects/{PROJECT_ID}/{kind_of_location(self.location)}/{self.location}/clusters/{self.name}"

    @property
    def api_name(self) -> str:
        """What its Kubernetes API is called in the world, where other clouds have clusters too."""
        return f"gke_{PROJECT_ID}_{self.location}_{self.name}"

    def describe(self) -> Message:
        """As the API shows it: with its node pools; no endpoint and no CA while it is made."""
        shown = api.Cluster.pb()()
        shown.CopyFrom(self.shown)
        shown.node_pools.extend(pool.shown for pool in self.pools.values())
        shown.current_node_count = sum(len(pool.instances) for pool in self.pools.values())
        for pool in self.pools.values():
            shown.instance_group_urls.extend(pool.shown.instance_group_urls)
        if shown.status == ClusterStatus.PROVISIONING:
            shown.endpoint = ""
            shown.master_auth.cluster_ca_certificate = ""
        return shown


def kind_of_location(location: str) -> str:
    """`zones` or `locations`, as links have it."""
    return "zones" if is_zone(location) else "locations"


def new_operation(
    kind: int, *, location: str, cluster: str, pool: str | None, now: datetime, pending: float
) -> Operation:
    """An operation that has just begun; its links use the project's number."""
    name = f"operation-{int(now.timestamp() * 1000)}-{uuid4()}"
    base = f"{_API}/projects/{PROJECT_NUMBER}/{kind_of_location(location)}/{location}"
    target = f"{base}/clusters/{cluster}" + (f"/nodePools/{pool}" if pool is not None else "")
    shown = api.Operation.pb()(
        name=name,
        zone=location,
        location=location,
        operation_type=kind,
        self_link=f"{base}/operations/{name}",
        target_link=target,
        start_time=timestamp(now),
    )
    starts_at = now + timedelta(seconds=pending)
    return Operation(shown=shown, location=location, cluster=cluster, pool=pool, starts_at=starts_at)


def cluster_link(location: str, cluster: str) -> str:
    """The selfLink of a cluster: its global id. It uses the project's id."""
    return f"{_API}/projects/{PROJECT_ID}/{kind_of_location(location)}/{location}/clusters/{cluster}"


def group_link(zone: str, group: str) -> str:
    """The URL of an instance group manager."""
    return f"https://www.googleapis.com/compute/v1/projects/{PROJECT_ID}/zones/{zone}/instanceGroupManagers/{group}-grp"


def group_name(cluster: str, pool: str) -> str:
    """A name for the instance group of a zone, without `-grp`: long names are cut."""
    kept = cluster[: max(_CLUSTER_CHARACTERS, _SHARED_CHARACTERS - len(pool))]
    return f"gke-{kept}-{pool[: _SHARED_CHARACTERS - len(kept)]}-{uuid4().hex[:8]}"


def timestamp(at: datetime) -> str:
    """RFC 3339, as the API's texts have it."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f000Z")


def new_etag() -> str:
    """Another one after each change."""
    return uuid4().hex
