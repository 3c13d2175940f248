# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GKE's state in the one project: its lock, what a request names, and which operations may run beside others."""

from __future__ import annotations

import re
from typing import Final

from google.rpc.status_pb2 import Status
from grpc import StatusCode

from ..engine import Changing, Engine
from ..neighbours import ClusterApis, MachineHost
from .capacity import Capacity
from .errors import GcpError, busy, invalid, not_found
from .project import PROJECT_ID, PROJECT_NUMBER, check_location
from .records import (
    Cluster,
    NodePool,
    Operation,
    OperationStatus,
    kind_of_location,
    new_operation,
    timestamp,
)
from .timings import Timings

CLOUD: Final = "gcp"
CLUSTER_KIND: Final = "cluster"
NODE_POOL_KIND: Final = "node-pool"

CONCURRENT_OPERATIONS: Final = 5
"""On one cluster."""

_NAME: Final = re.compile(
    r"projects/(?P<project>[^/]+)/(locations|zones)/(?P<location>[^/]+)"
    r"(/clusters/(?P<cluster>[^/]+)(/nodePools/(?P<pool>[^/]+))?|/operations/(?P<operation>[^/]+))?"
)


class State(Changing):
    """Everything is read and changed within `changing`."""

    def __init__(self, *, engine: Engine, apis: ClusterApis, machines: MachineHost, timings: Timings) -> None:
        """Nothing exists."""
        super().__init__(engine)
        self.apis = apis
        self.machines = machines
        self.timings = timings
        self.capacity = Capacity()
        self.clusters: dict[tuple[str, str], Cluster] = {}
        self.operations: dict[str, Operation] = {}
        self.launched = 0

    def begin(
        self, kind: int, *, location: str, cluster: str, pool: str | None = None, pending: float = 0.0
    ) -> Operation:
        """Begin an operation; it ends by `finish`.

        Raises:
            GcpError: another one stands in its way, or as many run as may.
        """
        running = [
            operation
            for operation in self.operations.values()
            if not operation.done and (operation.location, operation.cluster) == (location, cluster)
        ]
        for operation in running:
            if pool is None or operation.pool in (None, pool):
                raise busy(operation.name)
        if len(running) >= CONCURRENT_OPERATIONS:
            text = (
                f"Operation failed due to concurrent operations quota {CONCURRENT_OPERATIONS} exceeded for cluster "
                f"{cluster}. Please wait and try again once one of them is done."
            )
            raise GcpError(StatusCode.RESOURCE_EXHAUSTED, text)
        begun = new_operation(
            kind, location=location, cluster=cluster, pool=pool, now=self.engine.clock.now(), pending=pending
        )
        self.operations[begun.name] = begun
        return begun

    def finish(self, operation: Operation, error: Status | None = None) -> None:
        """End an operation, with an error if it came to that."""
        operation.shown.status = OperationStatus.DONE
        operation.shown.end_time = timestamp(self.engine.clock.now())
        if error is not None:
            operation.shown.error.CopyFrom(error)
            operation.shown.status_message = error.message

    def cluster(self, name: str) -> Cluster:
        """The cluster that a resource name names, or 404."""
        found = parse(name)
        cluster = self.clusters.get((found["location"], found["cluster"]))
        if cluster is None:
            location = found["location"]
            where = f"projects/{PROJECT_ID}/{kind_of_location(location)}/{location}"
            raise not_found(f"{where}/clusters/{found['cluster']}")
        return cluster

    def pool(self, name: str) -> tuple[Cluster, NodePool]:
        """The node pool that a resource name names, and its cluster, or 404."""
        cluster = self.cluster(name)
        wanted = parse(name)["pool"]
        pool = cluster.pools.get(wanted)
        if pool is None:
            raise not_found(f'node pool "{wanted}" not found')
        return cluster, pool


def parse(name: str) -> dict[str, str]:
    """The parts of a resource name: location, cluster, pool, operation; empty when they are not in it.

    Raises:
        GcpError: it makes no sense, or the project or the location is none of the caller's.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise invalid(f'Invalid resource name "{name}".')
    if found["project"] not in (PROJECT_ID, PROJECT_NUMBER):
        text = f'Required "container.clusters.get" permission(s) for "projects/{found["project"]}".'
        raise GcpError(StatusCode.PERMISSION_DENIED, text)
    if found["location"] != "-":
        check_location(found["location"])
    return {part: text or "" for part, text in found.groupdict().items()}
