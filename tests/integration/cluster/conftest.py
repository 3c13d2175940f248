# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An emulated cluster over real TLS, on virtual time, and the way into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Engine, Entry, VirtualClock
from ansible_collections.better_compute.fleet.emulators.kubernetes import ClusterUser, EmulatedCluster, KubernetesApis
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access import (
    bootstrap_api,
    open_cluster,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.agent import AgentSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import BootstrapAccess
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

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


@dataclass(kw_only=True)
class World:
    """One cluster and everything around it."""

    clock: VirtualClock
    engine: Engine
    apis: KubernetesApis
    url: str
    ca_pem: str
    opened: list[ClusterApi] = field(default_factory=list)

    @property
    def cluster(self) -> EmulatedCluster:
        cluster = self.apis.cluster("gpu")
        assert cluster is not None
        return cluster

    def bootstrap(self, token: str = BOOTSTRAP_TOKEN) -> BootstrapAccess:
        expires_at = self.clock.now() + timedelta(minutes=15)
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


def _told(entry: Entry) -> str:
    return f"{entry.call.name} {entry.call.target}"


@pytest.fixture
def world() -> Iterator[World]:
    clock = VirtualClock()
    engine = Engine(clock)
    apis = KubernetesApis(engine=engine, authenticator=TwoUsers())
    url, ca_pem = apis.start("gpu")
    made = World(clock=clock, engine=engine, apis=apis, url=url, ca_pem=ca_pem)
    yield made
    for api in made.opened:
        api.close()
    apis.close()
    engine.close()
