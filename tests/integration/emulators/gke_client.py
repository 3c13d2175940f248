# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GKE alone, on virtual time, with the real ClusterManagerClient."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import grpc
import pytest
from google.cloud.container_v1 import ClusterManagerClient
from google.cloud.container_v1.services.cluster_manager.transports import ClusterManagerGrpcTransport

from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.gcp import Console, GcpEmulator, Timings
from ansible_collections.better_compute.fleet.emulators.stand_ins import InstantMachines, UnreachableApis

REGION = "projects/my-project/locations/us-central1"
ZONE = "projects/my-project/locations/us-central1-a"
GPUS = {"machine_type": "a3-highgpu-8g"}


@dataclass(kw_only=True)
class Gcp:
    """The emulator, what it runs on, and short ways to ask it for things."""

    emulator: GcpEmulator
    engine: Engine
    clock: VirtualClock
    machines: InstantMachines
    apis: UnreachableApis
    timings: Timings

    @cached_property
    def client(self) -> ClusterManagerClient:
        """The real client."""
        channel = grpc.insecure_channel(self.emulator.target)
        return ClusterManagerClient(transport=ClusterManagerGrpcTransport(channel=channel))

    @property
    def console(self) -> Console:
        """The hands of others."""
        return self.emulator.console

    def call(self, method: str, request: dict[str, Any], *, token: str | None = None) -> Any:
        """Call the API once, as the operator unless another token is given."""
        bearer = token if token is not None else self.emulator.access_token
        return getattr(self.client, method)(
            request=request, metadata=[("authorization", f"Bearer {bearer}")], retry=None, timeout=30
        )

    def create_cluster(self, name: str = "one", parent: str = REGION, **changes: Any) -> Any:
        """Ask for a cluster that is right but for the changes."""
        cluster = {"name": name, **({"initial_node_count": 1} if "node_pools" not in changes else {}), **changes}
        return self.call("create_cluster", {"parent": parent, "cluster": cluster})

    def running_cluster(self, name: str = "one", parent: str = REGION, **changes: Any) -> Any:
        """Have a cluster that is RUNNING."""
        self.create_cluster(name, parent, **changes)
        self.clock.advance(self.timings.cluster_create)
        return self.cluster(name, parent)

    def cluster(self, name: str = "one", parent: str = REGION) -> Any:
        """A cluster as GKE shows it."""
        return self.call("get_cluster", {"name": f"{parent}/clusters/{name}"})

    def create_pool(self, name: str = "h100", nodes: int = 1, **changes: Any) -> Any:
        """Ask for a node pool of the cluster `one` that is right but for the changes."""
        pool = {"name": name, "initial_node_count": nodes, "config": GPUS, **changes}
        return self.call("create_node_pool", {"parent": f"{REGION}/clusters/one", "node_pool": pool})

    def running_pool(self, name: str = "h100", nodes: int = 1, **changes: Any) -> Any:
        """Have a node pool whose machines are up."""
        self.create_pool(name, nodes, **changes)
        self.clock.advance(self.timings.node_pool_create)
        return self.pool(name)

    def pool(self, name: str = "h100") -> Any:
        """A node pool of the cluster `one` as GKE shows it."""
        return self.call("get_node_pool", {"name": pool_name(name)})

    def operation(self, operation: Any) -> Any:
        """An operation as GKE shows it now."""
        return self.call(
            "get_operation",
            {"name": f"projects/my-project/locations/{operation.location}/operations/{operation.name}"},
        )

    def of_pool(self, name: str = "h100") -> list[Any]:
        """The machines of a node pool."""
        return [machine for machine in self.machines.running.values() if machine.node_group == name]


def pool_name(name: str) -> str:
    """The resource name of a node pool of the cluster `one`."""
    return f"{REGION}/clusters/one/nodePools/{name}"


@pytest.fixture
def gcp() -> Iterator[Gcp]:
    with open_gcp(Timings()) as made:
        yield made


@contextmanager
def open_gcp(timings: Timings) -> Iterator[Gcp]:
    """GKE in which things take so long."""
    clock = VirtualClock()
    engine = Engine(clock)
    machines, apis = InstantMachines(), UnreachableApis()
    with GcpEmulator(engine=engine, apis=apis, machines=machines, timings=timings) as emulator:
        yield Gcp(emulator=emulator, engine=engine, clock=clock, machines=machines, apis=apis, timings=timings)
    engine.close()
