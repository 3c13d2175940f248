# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DigitalOcean alone, on virtual time, with the real pydo client. Every answer is held against pydo's shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pydo
import pytest
from azure.core.exceptions import HttpResponseError

from ansible_collections.better_compute.fleet.emulators.digitalocean import DigitalOcean, Timings
from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.stand_ins import InstantMachines, UnreachableApis
from tests.support.pydo_shapes import differences, shapes

GPU_SIZE = "gpu-h100x1-80gb"
POOL = {"name": "h100", "size": GPU_SIZE, "count": 2}
CLUSTER = {"name": "one", "region": "nyc2", "version": "1.34.1-do.0", "node_pools": [POOL]}

NOT_IN_THE_MODEL = {".node_pool.spot is not known", ".kubernetes_cluster.node_pools[].spot is not known"}
"""The preview that only the product's specification speaks of."""


class Checked:
    """pydo's operations, each of whose answers must have the shape that its documentation gives."""

    def __init__(self, operations: Any) -> None:
        self._operations = operations

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = getattr(self._operations, name)

        def call(*arguments: Any, **options: Any) -> Any:
            seen: list[tuple[int, Any]] = []

            def keep(response: Any, data: Any, _headers: Any) -> Any:
                seen.append((response.http_response.status_code, data))
                return data

            answer = operation(*arguments, cls=keep, **options)
            [(status, data)] = seen
            if data is not None:
                assert set(differences(data, shapes(operation.__doc__)[status])) <= NOT_IN_THE_MODEL
            return answer

        return call


@dataclass(kw_only=True)
class Account:
    """The emulator, what it runs on, and short ways to ask it for things."""

    cloud: DigitalOcean
    engine: Engine
    clock: VirtualClock
    machines: InstantMachines
    apis: UnreachableApis
    timings: Timings

    def client(self, token: str | None = None) -> pydo.Client:
        """A client that tries once."""
        return pydo.Client(
            token=token or self.cloud.token,
            endpoint=self.cloud.endpoint_url,
            connection_verify=str(self.cloud.ca_file),
            retry_total=0,
        )

    @cached_property
    def doks(self) -> Any:
        """The operations on clusters and node pools."""
        return Checked(self.client().kubernetes)

    @cached_property
    def droplets(self) -> Any:
        """The operations on droplets."""
        return Checked(self.client().droplets)

    def create(self, **changes: Any) -> Any:
        """Ask for a cluster that is right but for the changes."""
        return self.doks.create_cluster(body={**CLUSTER, **changes})["kubernetes_cluster"]

    def running(self, **changes: Any) -> Any:
        """Have a cluster whose nodes run and have their drivers."""
        made = self.create(**changes)
        self.settle()
        return self.cluster(made)

    def settle(self) -> None:
        """Let so much time go by that all that was begun is done."""
        self.clock.advance(1800)

    def cluster(self, cluster: Any) -> Any:
        """A cluster as it is now."""
        return self.doks.get_cluster(cluster["id"])["kubernetes_cluster"]

    def pool(self, cluster: Any, pool: Any) -> Any:
        """A node pool as it is now."""
        return self.doks.get_node_pool(cluster["id"], pool["id"])["node_pool"]

    def add(self, cluster: Any, **changes: Any) -> Any:
        """Ask for a node pool that is right but for the changes."""
        return self.doks.add_node_pool(cluster["id"], body={**POOL, "name": "two", **changes})["node_pool"]

    def put(self, cluster: Any, pool: Any, **body: Any) -> Any:
        """Change a node pool."""
        return self.doks.update_node_pool(cluster["id"], pool["id"], body=body)["node_pool"]

    def exists(self, kind: str) -> list[str]:
        """The ids of what exists of a kind."""
        return [item.id for item in self.engine.inventory.items(kind=kind)]


@pytest.fixture
def account() -> Iterator[Account]:
    clock = VirtualClock()
    engine = Engine(clock)
    machines, apis, timings = InstantMachines(), UnreachableApis(), Timings()
    with DigitalOcean(engine=engine, apis=apis, machines=machines, timings=timings) as cloud:
        yield Account(cloud=cloud, engine=engine, clock=clock, machines=machines, apis=apis, timings=timings)
    engine.close()


def refusal(ask: Callable[[], Any]) -> tuple[int, str, str]:
    """Status, id and message with which a request is refused."""
    with pytest.raises(HttpResponseError) as refused:
        ask()
    error: Any = refused.value
    body = error.response.json()
    assert set(body) == {"id", "message", "request_id"}
    return error.status_code, body["id"], body["message"]
