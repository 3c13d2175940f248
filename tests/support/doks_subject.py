# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DOKS as the conformance cases' subject: the DigitalOcean emulator on virtual time, the driver's waits cut out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.better_compute.fleet.emulators.digitalocean import DigitalOcean
from ansible_collections.better_compute.fleet.emulators.engine import Engine, Error, VirtualClock
from ansible_collections.better_compute.fleet.emulators.neighbours import ClusterApis
from ansible_collections.better_compute.fleet.emulators.stand_ins import InstantMachines, UnreachableApis
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import node_labels
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    BootstrapAccess,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    ClusterSpec,
    NodePoolSpec,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.api import Api, open_api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.driver import DoksDriver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.settings import DoksSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.taints import to_doks
from ansible_collections.better_compute.fleet.tests.support.emulated_subject import NAME, POOL, TAGS, EmulatedSubject

CLUSTER = ClusterSpec(name=NAME, location="nyc2", private_nodes=False, tags=TAGS)
NODE_POOL = NodePoolSpec(
    name="h100",
    machine_type="gpu-h100x8-640gb",
    nodes=4,
    places=(),
    spot=False,
    disk_gib=None,
    gpus_per_node=8,
    labels=node_labels(pool_id=POOL, spot=False),
    tags=TAGS,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DoksSubject(EmulatedSubject):
    """Satisfies subject.Subject; its parts are there for what only DOKS does.

    Attributes:
        folder: for tokens.
    """

    emulated: ClassVar[str] = "digitalocean"
    throttled: ClassVar[Error] = Error(status=429, code="too_many_requests", message="API rate limit exceeded.")
    broken: ClassVar[Error] = Error(status=500, code="server_error", message="Server Error")

    cloud: DigitalOcean
    settings: DoksSettings
    folder: Path
    api: Api
    cluster: ClusterSpec = CLUSTER
    node_pool: NodePoolSpec = NODE_POOL
    other_machine_type: str = "gpu-h200x8-1128gb"
    other_shapes: tuple[NodePoolSpec, ...] = (dataclasses.replace(NODE_POOL, gpus_per_node=1),)
    versions: tuple[str, str, str] = ("1.32", "1.33", "1.34")

    def open(self) -> DoksDriver:
        """A driver. The client, which takes a while to make, is shared."""
        return DoksDriver(
            settings=self.settings, api=self.api, clock=self.clock, sleep=self.waits.append, jitter=lambda: 0.5
        )

    def autoscale(self, nodes: int) -> None:
        """Have the cluster's autoscaler set the count, and wait until there are as many."""
        cluster = self.shown()
        self.cloud.console.autoscale(cluster["id"], self.shown_node_pool()["id"], nodes)
        self.settle()

    def edit(self, *, labels: Mapping[str, str], taints: Sequence[Taint]) -> None:
        """Edit the node pool in the control panel."""
        cluster = self.shown()
        self.cloud.console.edit_node_pool(
            cluster["id"], self.shown_node_pool()["id"], labels=dict(labels), taints=to_doks(taints)
        )

    def run_out(self) -> None:
        """Take the node pool's size away."""
        self.cloud.capacity.take_away(self.node_pool.machine_type)

    def restock(self) -> None:
        """Give it back."""
        self.cloud.capacity.give_back()

    def accepts(self, access: BootstrapAccess) -> bool:
        """Ask what a cluster's API asks."""
        return self.cloud.user(access.token.reveal(), f"do-{self.cluster.location}-{self.cluster.name}") is not None

    def through(self, token: str) -> DoksSubject:
        """The same world, reached with another token."""
        file = self.folder / f"token-{len(list(self.folder.iterdir()))}"
        file.write_text(token)
        settings = dataclasses.replace(self.settings, credential={"file": str(file)})
        return dataclasses.replace(self, settings=settings, api=open_api(settings))

    def stand(self, *node_pools: NodePoolSpec, version: str | None = None) -> None:
        """Have the cluster with its first node pools, all settled."""
        wanted = dataclasses.replace(self.cluster, version=version)
        self.open().ensure_cluster(wanted, node_pools or (self.node_pool,))
        self.settle()

    def standing(self, name: str = NODE_POOL.name) -> ObservedNodePool:
        """The node pool as a fresh driver sees it."""
        return next(pool for pool in self.open().get_node_pools(self.cluster) if pool.name == name)

    def shown(self) -> Any:
        """The cluster as pydo shows it; the first of its name."""
        listed = self.api.kubernetes.list_clusters(per_page=200, page=1)["kubernetes_clusters"]
        return next(cluster for cluster in listed if cluster["name"] == self.cluster.name)

    def shown_node_pool(self, name: str = NODE_POOL.name) -> Any:
        """The node pool as pydo shows it."""
        return next(pool for pool in self.shown()["node_pools"] if pool["name"] == name)

    def changes(self) -> list[str]:
        """The mutating calls so far, by name."""
        return [entry.call.name for entry in self.engine.log.entries(cloud="digitalocean") if entry.call.mutating]


@contextmanager
def doks_subject(folder: Path, *, apis: ClusterApis | None = None) -> Iterator[DoksSubject]:
    """A fresh DigitalOcean with nothing in it.

    Arguments:
        folder: for the token.
        apis: where its clusters' APIs are; nowhere when it is None.
    """
    clock = VirtualClock()
    engine = Engine(clock)
    machines = InstantMachines()
    try:
        with DigitalOcean(engine=engine, apis=apis or UnreachableApis(), machines=machines) as cloud:
            token = folder / "digitalocean-token"
            token.write_text(cloud.token)
            settings = DoksSettings(
                region=CLUSTER.location,
                credential={"file": str(token)},
                allow_spot=True,
                previews=True,
                endpoint_url=cloud.endpoint_url,
                ca_file=str(cloud.ca_file),
            )
            yield DoksSubject(
                engine=engine,
                clock=clock,
                cloud=cloud,
                machines=machines,
                settings=settings,
                folder=folder,
                api=open_api(settings),
            )
    finally:
        engine.close()
