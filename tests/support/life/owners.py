# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Somebody's own EKS cluster on a scene, made past the product: what pools adopt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .world import Scene

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient

OWN_NODE_GROUP: Final = "h100"
"""The owner's own node group is called as the life's first flavor is."""

_SUBNETS: Final = ["subnet-0000000000000000a", "subnet-0000000000000000b"]


def eks_of(scene: Scene) -> EKSClient:
    """The owner's way to EKS: with the key of whoever runs passes, who may administer what it makes itself."""
    import boto3

    environment = scene.environment
    return boto3.client(
        "eks",
        region_name="us-east-1",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=environment.get("AWS_SESSION_TOKEN"),
    )


def eks_cluster(scene: Scene, name: str = "prod") -> str:
    """An EKS cluster with a node group of its owner's, both active; the id to adopt it by."""
    eks = eks_of(scene)
    eks.create_cluster(
        name=name,
        version="1.33",
        roleArn="arn:aws:iam::111111111111:role/eks-cluster",
        resourcesVpcConfig={"subnetIds": _SUBNETS},
        accessConfig={"authenticationMode": "API"},
        tags={"owner": "somebody"},
    )
    scene.clock.advance(60)
    eks.create_nodegroup(
        clusterName=name,
        nodegroupName=OWN_NODE_GROUP,
        nodeRole="arn:aws:iam::111111111111:role/eks-node",
        subnets=_SUBNETS,
        instanceTypes=["m7i.large"],
        scalingConfig={"minSize": 1, "maxSize": 1, "desiredSize": 1},
    )
    scene.clock.advance(60)
    return f"us-east-1/{name}"


def as_it_stands(scene: Scene, name: str = "prod") -> dict[str, Any]:
    """What its owner sees of it, and of the own node group."""
    eks = eks_of(scene)
    cluster: Any = eks.describe_cluster(name=name)["cluster"]
    own: Any = eks.describe_nodegroup(clusterName=name, nodegroupName=OWN_NODE_GROUP)["nodegroup"]
    return {"cluster": cluster, "own": own, "groups": eks.list_nodegroups(clusterName=name)["nodegroups"]}
