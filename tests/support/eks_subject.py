# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EKS as the conformance cases' subject: the AWS emulator on virtual time, with the driver's waits cut out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from ansible_collections.better_compute.fleet.emulators.aws import AwsEmulator
from ansible_collections.better_compute.fleet.emulators.aws.account import Credentials
from ansible_collections.better_compute.fleet.emulators.engine import Engine, Error, VirtualClock
from ansible_collections.better_compute.fleet.emulators.neighbours import ClusterApis
from ansible_collections.better_compute.fleet.emulators.stand_ins import InstantMachines, UnreachableApis
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import node_labels
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import BootstrapAccess
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    ClusterSpec,
    NodePoolSpec,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks import node_groups
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.clients import Clients
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.driver import EksDriver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.settings import EksSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.taints import in_eks_words
from ansible_collections.better_compute.fleet.tests.support.emulated_subject import NAME, POOL, TAGS, EmulatedSubject

CLUSTER = ClusterSpec(name=NAME, location="us-east-1", private_nodes=False, tags=TAGS)
NODE_POOL = NodePoolSpec(
    name="h100",
    machine_type="p5.48xlarge",
    nodes=4,
    places=("subnet-0000000000000000a", "subnet-0000000000000000b"),
    spot=False,
    disk_gib=200,
    gpus_per_node=8,
    labels=node_labels(pool_id=POOL, spot=False),
    tags=TAGS,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EksSubject(EmulatedSubject):
    """Satisfies subject.Subject; its parts are there for what only EKS does."""

    emulated: ClassVar[str] = "aws"
    throttled: ClassVar[Error] = Error(status=429, code="ThrottlingException", message="Rate exceeded")
    broken: ClassVar[Error] = Error(status=500, code="ServerException", message="Internal failure")

    aws: AwsEmulator
    settings: EksSettings
    clients: Clients
    cluster: ClusterSpec = CLUSTER
    node_pool: NodePoolSpec = NODE_POOL
    other_machine_type: str = "g6.xlarge"
    versions: tuple[str, str, str] = ("1.32", "1.33", "1.34")
    other_shapes: tuple[NodePoolSpec, ...] = (dataclasses.replace(NODE_POOL, gpus_per_node=0),)

    @property
    def node_pools_of_a_page(self) -> int:
        """As many as the driver asks for."""
        return node_groups.NAMES_PER_PAGE

    def open(self) -> EksDriver:
        """A driver. The clients, which take a while to make, are shared."""
        return EksDriver(
            settings=self.settings,
            clients=self.clients,
            clock=self.clock,
            sleep=self.waits.append,
            jitter=lambda: 0.5,
        )

    def autoscale(self, nodes: int) -> None:
        """Set the Auto Scaling group's desired capacity, and wait until EKS has noticed."""
        self.aws.console.autoscale(self.cluster.name, self.node_pool.name, nodes)
        self.settle()

    def edit(self, *, labels: Mapping[str, str], taints: Sequence[Taint]) -> None:
        """Edit the node group in the console."""
        self.aws.console.edit_node_group(
            self.cluster.name, self.node_pool.name, labels=labels, taints=in_eks_words(taints)
        )

    def give_up_next_change(self) -> None:
        """Script the failure of the next update."""
        self.aws.failures.add("update", code="OperationNotPermitted", message="you may not", resource_ids=["DUMMY_1"])

    def run_out(self) -> None:
        """Take the node pool's instance type away, in every zone."""
        for zone in self.open().node_places().values():
            self.aws.capacity.take_away(self.node_pool.machine_type, zone)

    def restock(self) -> None:
        """Give it back."""
        self.aws.capacity.give_back()

    def accepts(self, access: BootstrapAccess) -> bool:
        """Ask what a cluster's API asks."""
        principal = self.aws.authenticate(access.token.reveal(), self.cluster.name)
        return principal is not None and self.aws.is_admin(principal, self.cluster.name)

    def through(self, key: Credentials, folder: Path) -> EksSubject:
        """The same world, reached with another principal's key."""
        settings = dataclasses.replace(self.settings, credential=credential_file(key, folder))
        return dataclasses.replace(self, settings=settings, clients=Clients.open(settings))


def credential_file(key: Credentials, folder: Path) -> dict[str, str]:
    """Write a key into a shared credentials file of its own; the account's `credential` that names it."""
    lines = [
        "[default]",
        f"aws_access_key_id = {key.access_key_id}",
        f"aws_secret_access_key = {key.secret_access_key}",
        *([f"aws_session_token = {key.session_token}"] if key.session_token else []),
    ]
    file = folder / f"{key.access_key_id}.ini"
    file.write_text("\n".join(lines) + "\n")
    return {"file": str(file)}


@contextmanager
def eks_subject(folder: Path, *, apis: ClusterApis | None = None) -> Iterator[EksSubject]:
    """A fresh AWS with nothing in it.

    Arguments:
        folder: for the credentials.
        apis: where its clusters' APIs are; nowhere when it is None.
    """
    clock = VirtualClock()
    engine = Engine(clock)
    machines = InstantMachines()
    try:
        with AwsEmulator(engine=engine, apis=apis or UnreachableApis(), machines=machines) as aws:
            settings = EksSettings(
                region="us-east-1",
                cluster_role_arn="arn:aws:iam::111111111111:role/eks-cluster",
                node_role_arn="arn:aws:iam::111111111111:role/eks-node",
                subnet_ids=("subnet-0000000000000000a", "subnet-0000000000000000b"),
                endpoint_url=aws.url,
                credential=credential_file(aws.operator, folder),
            )
            yield EksSubject(
                engine=engine,
                clock=clock,
                aws=aws,
                machines=machines,
                settings=settings,
                clients=Clients.open(settings),
            )
    finally:
        engine.close()
