# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GKE as the conformance cases' subject: the GCP emulator on virtual time, with the driver's waits cut out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.better_compute.fleet.emulators.engine import Engine, Error, VirtualClock
from ansible_collections.better_compute.fleet.emulators.gcp import GcpEmulator
from ansible_collections.better_compute.fleet.emulators.neighbours import ClusterApis
from ansible_collections.better_compute.fleet.emulators.stand_ins import InstantMachines, UnreachableApis
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import node_labels
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    BootstrapAccess,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    ClusterSpec,
    NodePoolSpec,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.clients import Clients
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.driver import GkeDriver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.settings import GkeSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.taints import in_gke_words
from ansible_collections.better_compute.fleet.tests.support.emulated_subject import NAME, POOL, TAGS, EmulatedSubject

CLUSTER = ClusterSpec(name=NAME, location="us-central1", private_nodes=False, tags=TAGS)
NODE_POOL = NodePoolSpec(
    name="h100",
    machine_type="a3-highgpu-8g",
    nodes=4,
    places=("us-central1-a", "us-central1-b"),
    spot=False,
    disk_gib=200,
    gpus_per_node=8,
    gpu_type="nvidia-h100-80gb",
    labels=node_labels(pool_id=POOL, spot=False),
    tags=TAGS,
)

_MOST_ROUNDS = 12
"""Twice what the longest way takes."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GkeSubject(EmulatedSubject):
    """Satisfies subject.Subject; its parts are there for what only GKE does."""

    emulated: ClassVar[str] = "gcp"
    throttled: ClassVar[Error] = Error(
        status=429, code="RESOURCE_EXHAUSTED", message="Quota exceeded for quota metric 'Requests per minute'"
    )
    broken: ClassVar[Error] = Error(status=500, code="INTERNAL", message="Internal error encountered.")

    gcp: GcpEmulator
    settings: GkeSettings
    clients: Clients
    cluster: ClusterSpec = CLUSTER
    node_pool: NodePoolSpec = NODE_POOL
    other_machine_type: str = "a3-megagpu-8g"
    versions: tuple[str, str, str] = ("1.33", "1.34", "1.35")
    sees_autoscaling: bool = False
    most_writes_of_a_change: int = 5
    other_shapes: tuple[NodePoolSpec, ...] = (
        dataclasses.replace(NODE_POOL, gpu_type="nvidia-l4"),
        dataclasses.replace(NODE_POOL, gpus_per_node=0, gpu_type=None),
    )

    def open(self) -> GkeDriver:
        """A driver. The client, which takes a while to make, is shared."""
        return GkeDriver(
            settings=self.settings,
            clients=self.clients,
            clock=self.clock,
            sleep=self.waits.append,
            jitter=lambda: 0.5,
        )

    def edit(self, *, labels: Mapping[str, str], taints: Sequence[Taint]) -> None:
        """Edit the node pool in the console."""
        self.gcp.console.edit_node_pool(self.node_pool_name(), labels=labels, taints=in_gke_words(taints))

    def autoscale(self, nodes: int) -> None:
        """Let the autoscaler set a size, of which GKE's descriptions say nothing."""
        self.gcp.console.autoscale(self.node_pool_name(), nodes)
        self.settle()

    def give_up_next_change(self) -> None:
        """Script the failure of the next operation."""
        self.gcp.failures.add("update", canonical="PERMISSION_DENIED", message="you may not")

    def stand(self, *node_pools: NodePoolSpec) -> None:
        """Have the cluster with its first node pools, all settled."""
        self.open().ensure_cluster(self.cluster, node_pools or (self.node_pool,))
        self.settle()

    def standing(self, name: str = "") -> ObservedNodePool:
        """The node pool as a fresh driver sees it."""
        wanted = name or self.node_pool.name
        return next(pool for pool in self.open().get_node_pools(self.cluster) if pool.name == wanted)

    def converge(self, spec: NodePoolSpec) -> list[str]:
        """Pass after pass until the node pool is as wanted; the changes that it took.

        Each with a fresh driver, as the reconcile pass does it: what was sent last is remembered, and nothing else.
        """
        after = self.engine.log.mark
        for _round in range(_MOST_ROUNDS):
            driver, found = self.open(), self.standing(spec.name)
            answer = driver.ensure_node_pool(self.cluster, spec, found)
            if answer == found and found.status is ProviderStatus.ACTIVE:
                assert driver.compare(spec, found) == ()
                return self.changes(after)
            spec = dataclasses.replace(spec, update_id=answer.update_id or spec.update_id)
            self.settle()
        raise AssertionError("the node pool never became as wanted")

    def changes(self, after: int = 0) -> list[str]:
        """The mutating calls that were carried out, by name."""
        return [entry.call.name.removeprefix("gke.") for entry in self.engine.log.writes(after=after)]

    def shown(self, name: str = "") -> Any:
        """The node pool as Google's own client sees it."""
        request = {"name": self.node_pool_name(name)}
        return self.clients.gke.get_node_pool(request=request, metadata=self.clients.tokens.metadata())

    def machines_of(self, name: str = "") -> int:
        """How many machines the node pool has."""
        wanted = name or self.node_pool.name
        return sum(machine.node_group == wanted for machine in self.machines.running.values())

    def node_pool_name(self, name: str = "") -> str:
        """The node pool as Google's client names it."""
        cluster = f"projects/{self.settings.project}/locations/{self.cluster.location}/clusters/{self.cluster.name}"
        return f"{cluster}/nodePools/{name or self.node_pool.name}"

    def run_out(self) -> None:
        """Take the node pool's machine type away, in every zone."""
        for zone in self.settings.zones:
            self.gcp.capacity.take_away(self.node_pool.machine_type, zone)

    def restock(self) -> None:
        """Give it back."""
        self.gcp.capacity.give_back()

    def accepts(self, access: BootstrapAccess) -> bool:
        """Ask what a cluster's API asks."""
        return self.gcp.tokens.account(access.token.reveal()) is not None


@contextmanager
def gke_subject(folder: Path, *, apis: ClusterApis | None = None) -> Iterator[GkeSubject]:
    """A fresh project with nothing in it.

    Arguments:
        folder: for the credential.
        apis: where its clusters' APIs are; nowhere when it is None.
    """
    clock = VirtualClock()
    engine = Engine(clock)
    machines = InstantMachines()
    try:
        with GcpEmulator(engine=engine, apis=apis or UnreachableApis(), machines=machines) as gcp:
            key = folder / "key.json"
            key.write_text(json.dumps(gcp.service_account_key()))
            settings = GkeSettings(
                project=gcp.project,
                zones=("us-central1-a", "us-central1-b"),
                endpoint_url=gcp.endpoint_url,
                credential={"file": str(key)},
            )
            yield GkeSubject(
                engine=engine,
                clock=clock,
                gcp=gcp,
                machines=machines,
                settings=settings,
                clients=Clients.open(settings),
            )
    finally:
        engine.close()
