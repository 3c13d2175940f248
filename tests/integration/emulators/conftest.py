# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""AWS alone, on virtual time, with real boto3 clients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config

from ansible_collections.better_compute.fleet.emulators.aws import (
    AwsEmulator,
    Credentials,
    Timings,
)
from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.stand_ins import InstantMachines, UnreachableApis

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient

SUBNETS = ["subnet-0000000000000000a", "subnet-0000000000000000b"]
CLUSTER_ROLE = "arn:aws:iam::111111111111:role/eks-cluster"
NODE_ROLE = "arn:aws:iam::111111111111:role/eks-node"


@dataclass(kw_only=True)
class Aws:
    """The emulator, what it runs on, and short ways to ask it for things."""

    emulator: AwsEmulator
    engine: Engine
    clock: VirtualClock
    machines: InstantMachines
    apis: UnreachableApis
    timings: Timings

    def client(self, service: str, credentials: Credentials | None = None, **changes: Any) -> Any:
        """A boto3 client that tries once and leaves it to the emulator to refuse what is wrong."""
        keys = credentials if credentials is not None else self.emulator.operator
        return boto3.client(
            service,  # type: ignore[call-overload] # one function for several services
            **{
                "region_name": "us-east-1",
                "endpoint_url": self.emulator.url,
                "aws_access_key_id": keys.access_key_id,
                "aws_secret_access_key": keys.secret_access_key,
                "aws_session_token": keys.session_token,
                "config": Config(retries={"total_max_attempts": 1}, read_timeout=60, parameter_validation=False),
                **changes,
            },
        )

    @cached_property
    def eks(self) -> EKSClient:
        """EKS as the operator."""
        client: EKSClient = self.client("eks")
        return client

    def create_cluster(self, name: str = "one", **changes: Any) -> Any:
        """Ask for a cluster that is right but for the changes."""
        wanted = {
            "name": name,
            "roleArn": CLUSTER_ROLE,
            "resourcesVpcConfig": {"subnetIds": SUBNETS},
            "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"},
        }
        return self.eks.create_cluster(**{**wanted, **changes})["cluster"]

    def active_cluster(self, name: str = "one", **changes: Any) -> None:
        """Have a cluster that is ACTIVE."""
        self.create_cluster(name, **changes)
        self.clock.advance(self.timings.cluster_create)

    def create_node_group(self, name: str = "h100", nodes: int = 2, **changes: Any) -> Any:
        """Ask for a node group of cluster `one` that is right but for the changes."""
        wanted = {
            "clusterName": "one",
            "nodegroupName": name,
            "subnets": SUBNETS,
            "nodeRole": NODE_ROLE,
            "instanceTypes": ["p5.48xlarge"],
            "amiType": "AL2023_x86_64_NVIDIA",
            "scalingConfig": {"minSize": nodes, "desiredSize": nodes, "maxSize": max(1, nodes)},
        }
        return self.eks.create_nodegroup(**{**wanted, **changes})["nodegroup"]

    def active_node_group(self, name: str = "h100", nodes: int = 2, **changes: Any) -> None:
        """Have a node group of cluster `one` whose instances are up."""
        self.create_node_group(name, nodes, **changes)
        self.clock.advance(self.timings.node_group_launch)

    def node_group(self, name: str = "h100") -> Any:
        """A node group of cluster `one` as EKS describes it."""
        return self.eks.describe_nodegroup(clusterName="one", nodegroupName=name)["nodegroup"]

    def exists(self, kind: str) -> list[str]:
        """The ids of what exists of a kind."""
        return [item.id for item in self.engine.inventory.items(kind=kind)]


@pytest.fixture
def timings() -> Timings:
    return Timings()


@pytest.fixture
def aws(timings: Timings) -> Iterator[Aws]:
    clock = VirtualClock()
    engine = Engine(clock)
    machines, apis = InstantMachines(), UnreachableApis()
    with AwsEmulator(engine=engine, apis=apis, machines=machines, timings=timings) as emulator:
        yield Aws(emulator=emulator, engine=engine, clock=clock, machines=machines, apis=apis, timings=timings)
    engine.close()
