# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines in an emulated cluster to which the product applies bcd, and a gateway for them to join."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Clock, Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.kubernetes import ClusterUser, EmulatedCluster, KubernetesApis
from ansible_collections.better_compute.fleet.emulators.machines import EmulatedMachines, MachineTimes
from ansible_collections.better_compute.fleet.emulators.neighbours import Machine
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import agent as cluster_agent
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import join_secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access import bootstrap_api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.agent import AgentSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import BootstrapAccess
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.tests.support.gateway_double import (
    HEARTBEAT,
    JOIN,
    GatewayDouble,
    Received,
    make_certificate,
)

POOL = PoolId("pool_01k00000000000000000000000")
TOKEN = "bcj_the-token-of-all-machines"
START = datetime(2026, 11, 1, 12, tzinfo=UTC)
TIMES = MachineTimes(boot_seconds=120, node_gone_seconds=60, secret_sync_seconds=30, spot_notice_seconds=120)

T = TypeVar("T")


class Anybody:
    """A cloud whose every user is an administrator."""

    def user(self, token: str, cluster: str) -> ClusterUser | None:
        return ClusterUser(name="admin", admin=True)


class GatewayThread:
    """A gateway double in a loop and thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.double = self._do(self._make())
        self._do(self.double.start())

    def requests(self, path: str | None = None) -> list[Received]:
        return [request for request in list(self.double.received) if path in (None, request.path)]

    def book(self, *bookings: tuple[str, tuple[str, ...]]) -> None:
        self._do(self.double.book(*bookings))

    def stop(self) -> None:
        self._do(self.double.stop())

    def start(self) -> None:
        self._do(self.double.start())

    def until(self, path: str, *, count: int) -> Received:
        return self._do(asyncio.wait_for(self.double.until(path, count=count), 30))

    def close(self) -> None:
        self.stop()
        self._do(_end_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _make(self) -> GatewayDouble:
        return GatewayDouble(make_certificate())

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=30)


async def _end_all() -> None:
    """End what still shakes hands, which nobody but the loop knows: its sockets would be left open."""
    await asyncio.sleep(0)  # a connection that was accepted just now begins
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.sleep(0)  # transports close a round after they are told to


@dataclass(kw_only=True)
class World:
    """One cluster, its machines, a gateway, and the product's way in."""

    clock: Clock
    apis: KubernetesApis
    machines: EmulatedMachines
    gateway: GatewayThread
    api: ClusterApi
    ready: list[str] = field(default_factory=list)

    @property
    def cluster(self) -> EmulatedCluster:
        cluster = self.apis.cluster("gpu")
        assert cluster is not None
        return cluster

    @property
    def node_names(self) -> list[str]:
        return [node["metadata"]["name"] for node in self.cluster.nodes()]

    def launch(self, number: int = 1, *, pool: PoolId = POOL, gpus: int = 2) -> Machine:
        machine = machine_number(number, pool=pool, gpus=gpus)
        self.machines.launch(machine, lambda: self.ready.append(machine.instance_id))
        return machine

    def apply_agent(self, *, resource_name: str = "bc.dev/gpu") -> None:
        settings = AgentSettings(
            image="bcd:test",
            gateway_url=self.gateway.double.url,
            pins=(self.gateway.double.certificate.pin,),
            resource_name=resource_name,
        )
        cluster_agent.apply_agent(self.api, pool_id=POOL, agent=settings)

    def remove_agent(self) -> None:
        cluster_agent.remove_agent(self.api, pool_id=POOL)

    def give_token(self, *, uses: int = 1) -> None:
        self.gateway.double.tokens[TOKEN] += uses
        join_secret.write_join_token(self.api, pool_id=POOL, token=Secret(TOKEN))

    def take_token(self) -> None:
        join_secret.delete_join_token(self.api, pool_id=POOL)

    def heartbeats(self) -> int:
        return len(self.gateway.requests(HEARTBEAT))

    def joins(self) -> list[Received]:
        return self.gateway.requests(JOIN)


class VirtualWorld(World):
    """A world whose time stands still until `advance`."""

    def advance(self, seconds: float) -> None:
        assert isinstance(self.clock, VirtualClock)
        self.clock.advance(seconds)

    def settle(self) -> None:
        assert isinstance(self.clock, VirtualClock)
        self.clock.settle()

    def join_one(self, number: int = 1) -> Machine:
        """A machine that has booted and joined."""
        machine = self.launch(number)
        self.apply_agent()
        self.give_token()
        self.advance(TIMES.boot_seconds + 5)
        assert len(self.joins()) == 1
        return machine


def machine_number(number: int, *, pool: PoolId = POOL, gpus: int = 2) -> Machine:
    return Machine(
        cluster="gpu",
        node_group="h100",
        instance_id=f"i-{number:017x}",
        instance_type="p5.48xlarge",
        zone="us-east-1a",
        node_name=f"ip-10-0-0-{number}.ec2.internal",
        provider_id=f"aws:///us-east-1a/i-{number:017x}",
        labels={"better-compute.dev/substrate-pool": str(pool), "eks.amazonaws.com/nodegroup": "h100"},
        taints=({"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},),
        gpus=gpus,
        gpu_model="H100",
    )


@contextmanager
def open_world(kind: Callable[..., T], clock: Clock, times: MachineTimes) -> Iterator[T]:
    """Everything started, and stopped in the order in which it hangs together."""
    engine = Engine(clock)
    apis = KubernetesApis(engine=engine, authenticator=Anybody())
    gateway = GatewayThread()
    machines = EmulatedMachines(engine=engine, clusters=apis.cluster, times=times)
    url, ca_pem = apis.start("gpu")
    access = BootstrapAccess(
        endpoint=url, ca_pem=ca_pem, token=Secret("any"), expires_at=clock.now() + timedelta(minutes=15)
    )
    api = bootstrap_api(access)
    try:
        yield kind(clock=clock, apis=apis, machines=machines, gateway=gateway, api=api)
    finally:
        machines.close()
        api.close()
        gateway.close()
        apis.close()
        engine.close()
    assert gateway.double.problems == []


@pytest.fixture
def world() -> Iterator[VirtualWorld]:
    """On virtual time."""
    with open_world(VirtualWorld, VirtualClock(START), TIMES) as opened:
        yield opened
