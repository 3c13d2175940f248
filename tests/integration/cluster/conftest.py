# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster over real TLS, and the way into it: emulated and on virtual time, or a real kube-apiserver.

`any_world` is both, one after the other: what a test says of the product is so on the real API too. The request log and
the fault script are there on either. `world` is the emulated one alone, for tests of time, of very many Nodes, and of
answers that no real API can be made to give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Engine, Entry, VirtualClock
from ansible_collections.better_compute.fleet.emulators.kubernetes import ClusterUser, EmulatedCluster, KubernetesApis
from ansible_collections.better_compute.fleet.emulators.kubernetes.server import ApiServer
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access import (
    bootstrap_api,
    open_cluster,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.agent import AgentSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import BootstrapAccess
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

if TYPE_CHECKING:
    from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster

POOL = PoolId("pool_01k00000000000000000000000")
OTHER_POOL = PoolId("pool_01k99999999999999999999999")
LABEL = "better-compute.dev/substrate-pool"
BOOTSTRAP_TOKEN = "bootstrap-canary-f2c1"
STRANGER_TOKEN = "stranger-canary-90ab"
SETTINGS = AgentSettings(
    image="registry.example/bcd:1.0", gateway_url="https://gateway.example:7443", pins=("cGlu",), runtime_class="nvidia"
)


class TwoUsers:
    """A cloud with an administrator and somebody whose access entry grants nothing."""

    def user(self, token: str, cluster: str) -> ClusterUser | None:
        if token == BOOTSTRAP_TOKEN:
            return ClusterUser(name="arn:aws:iam::111111111111:role/admin", admin=True)
        if token == STRANGER_TOKEN:
            return ClusterUser(name="arn:aws:iam::111111111111:role/stranger", admin=False)
        return None


class Cluster(Protocol):
    """What a test does to a cluster past its API."""

    def put_node(self, name: str, *, labels: Mapping[str, str]) -> str:
        """Register a Node, in place of any other of its name; returns its uid."""

    def remove_node(self, name: str) -> None:
        """Take a Node out."""

    def daemon_sets(self) -> tuple[dict[str, Any], ...]:
        """Those that are to have pods."""

    def read(self, kind: str, name: str, namespace: str | None = None) -> dict[str, Any] | None:
        """One object, None when there is none."""


@dataclass(kw_only=True)
class AnyWorld:
    """One cluster and everything around it.

    Attributes:
        settle: lets Kubernetes' controllers end what is being deleted.
        leftovers: what stands in the cluster and was not put there by Kubernetes itself.
    """

    engine: Engine
    cluster: Cluster
    url: str
    ca_pem: str
    settle: Callable[[], None]
    leftovers: Callable[[], Sequence[str]]
    opened: list[ClusterApi] = field(default_factory=list)

    def bootstrap(self, token: str = BOOTSTRAP_TOKEN) -> BootstrapAccess:
        expires_at = self.engine.clock.now() + timedelta(minutes=15)
        return BootstrapAccess(endpoint=self.url, ca_pem=self.ca_pem, token=Secret(token), expires_at=expires_at)

    def open(self, pool_id: PoolId = POOL) -> ClusterApi:
        self.opened.append(open_cluster(self.bootstrap(), pool_id=pool_id))
        return self.opened[-1]

    def admin(self) -> ClusterApi:
        self.opened.append(bootstrap_api(self.bootstrap()))
        return self.opened[-1]

    def put(self, kind: str, path: str, name: str, **content: object) -> None:
        """Let a stranger create an object."""
        version = "rbac.authorization.k8s.io/v1" if kind == "ClusterRoleBinding" else "v1"
        metadata: dict[str, object] = {"name": name}
        if "/namespaces/" in path:
            metadata["namespace"] = path.split("/namespaces/")[1].split("/")[0]
        if labels := content.pop("labels", None):
            metadata["labels"] = labels
        body = {"apiVersion": version, "kind": kind, "metadata": metadata} | content
        with bootstrap_api(self.bootstrap()) as api:
            api.request("POST", path, body=body, query={"fieldManager": "stranger"})

    def writes(self, after: int) -> list[str]:
        return [_told(entry) for entry in self.engine.log.writes(after=after)]

    def calls(self, after: int) -> list[str]:
        return [_told(entry) for entry in self.engine.log.entries(after=after)]

    def close(self) -> None:
        for api in self.opened:
            api.close()


@dataclass(kw_only=True)
class World(AnyWorld):
    """One on virtual time."""

    clock: VirtualClock
    apis: KubernetesApis
    cluster: EmulatedCluster


def _told(entry: Entry) -> str:
    return f"{entry.call.name} {entry.call.target}"


@pytest.fixture
def emulated_world() -> Iterator[World]:
    clock = VirtualClock()
    engine = Engine(clock)
    apis = KubernetesApis(engine=engine, authenticator=TwoUsers())
    url, ca_pem = apis.start("gpu")
    cluster = apis.cluster("gpu")
    assert cluster is not None
    made = World(
        clock=clock,
        engine=engine,
        apis=apis,
        cluster=cluster,
        url=url,
        ca_pem=ca_pem,
        settle=lambda: clock.advance(10),
        leftovers=lambda: [item.id for item in engine.inventory.items()],
    )
    yield made
    made.close()
    apis.close()
    engine.close()


@pytest.fixture
def real_world(real_cluster_api: RealCluster) -> Iterator[AnyWorld]:
    from ansible_collections.better_compute.fleet.tests.support.controlplane.behind_engine import ClusterBehindEngine

    engine = Engine()
    cluster = ClusterBehindEngine(name="gpu", engine=engine, real=real_cluster_api)
    real_cluster_api.let_judge(lambda token: TwoUsers().user(token, "gpu"))
    server = ApiServer(cluster)
    made = AnyWorld(
        engine=engine,
        cluster=cluster,
        url=server.url,
        ca_pem=server.ca_pem,
        settle=real_cluster_api.settle,
        leftovers=real_cluster_api.leftovers,
    )
    yield made
    made.close()
    server.close()
    cluster.close()
    engine.close()


@pytest.fixture(params=["emulated_world", pytest.param("real_world", marks=pytest.mark.controlplane)])
def any_world(request: pytest.FixtureRequest) -> AnyWorld:
    made: AnyWorld = request.getfixturevalue(request.param)
    return made


@pytest.fixture
def world(emulated_world: World) -> World:
    return emulated_world
