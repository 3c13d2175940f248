# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What EKS refuses in a node group, beyond what the API's model says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .. import network
from ..errors import invalid_parameter, limit_exceeded
from ..instance_types import InstanceType, instance_type
from .records import Cluster
from .state import Asked, State

DEFAULT_AMI_TYPE: Final = "AL2023_x86_64_STANDARD"
DEFAULT_INSTANCE_TYPES: Final = ("t3.medium",)
DEFAULT_UPDATE_CONFIG: Final[Mapping[str, Any]] = {"maxUnavailable": 1}

_NAME_CHARACTERS: Final = 63
_TYPES: Final = 20
_TAINTS: Final = 50
_UNAVAILABLE: Final = 100
_NODES_A_GROUP: Final = 450
_GROUPS_A_CLUSTER: Final = 30
_RESERVED: Final = ("kubernetes.io/", "k8s.io/", "eks.amazonaws.com/")


def check_new(state: State, cluster: Cluster, asked: Asked) -> tuple[str, ...]:
    """Refuse a node group that cannot be.

    Returns:
        The zones of its subnets, distinct and in the order of the subnets.
    """
    name: str = asked["nodegroupName"]
    if len(name) > _NAME_CHARACTERS:
        raise invalid_parameter(f"nodegroupName has a maximum length of {_NAME_CHARACTERS}", nodegroupName=name)
    if len(cluster.node_groups) >= _GROUPS_A_CLUSTER:
        raise limit_exceeded(f"Node group limit exceeded: {_GROUPS_A_CLUSTER}", clusterName=cluster.name)
    if not state.account.role_exists(asked["nodeRole"]):
        raise invalid_parameter(
            "Role with arn: " + asked["nodeRole"] + ", could not be assumed because it does not exist"
        )
    if asked.get("launchTemplate") or asked.get("remoteAccess"):
        raise invalid_parameter("The emulator has no launch templates and no remote access.")
    _check_types(asked.get("instanceTypes", DEFAULT_INSTANCE_TYPES), asked.get("amiType", DEFAULT_AMI_TYPE))
    check_labels(asked.get("labels", {}))
    check_taints(asked.get("taints", []))
    check_update_config(asked.get("updateConfig", DEFAULT_UPDATE_CONFIG))
    return _zones(cluster, asked["subnets"])


def _check_types(names: Sequence[str], ami_type: str) -> None:
    if not 1 <= len(names) <= _TYPES:
        raise invalid_parameter(f"instanceTypes has between 1 and {_TYPES} entries")
    types = {name: instance_type(name) for name in names}
    unknown = [name for name, found in types.items() if found is None]
    if unknown:
        raise invalid_parameter(f"The following supplied instance types do not exist: [{', '.join(unknown)}]")
    unfit = [name for name, found in types.items() if found is not None and not _fits(found, ami_type)]
    if unfit:
        raise invalid_parameter(f"{unfit} is not a valid instance type for requested amiType {ami_type}")


def _fits(kind: InstanceType, ami_type: str) -> bool:
    architecture = "arm64" if "ARM_64" in ami_type else "x86_64"
    if ami_type != "CUSTOM" and architecture not in kind.architectures:
        return False
    return kind.nvidia or not ("NVIDIA" in ami_type or ami_type.endswith("_GPU"))


def check_labels(labels: Mapping[str, str]) -> None:
    """Refuse labels in Kubernetes' and EKS's own name spaces."""
    for key in labels:
        prefix = key.partition("/")[0] + "/"
        if any(prefix == reserved or prefix.endswith("." + reserved) for reserved in _RESERVED):
            raise invalid_parameter(f"Label cannot contain reserved prefixes [{', '.join(_RESERVED)}]")


def check_taints(taints: Sequence[Mapping[str, str]]) -> None:
    """Refuse a 51st taint, and taints that lack what the API's model does not require but Kubernetes does."""
    if any(not taint.get("key") or not taint.get("effect") for taint in taints):
        raise invalid_parameter("Taint key and effect are required")
    if len(taints) > _TAINTS:
        raise invalid_parameter(f"A node group has at most {_TAINTS} taints")


def check_update_config(config: Mapping[str, Any]) -> None:
    """Refuse what does not say once how many machines may be replaced at a time."""
    if config.get("maxUnavailable") and config.get("maxUnavailablePercentage"):
        raise invalid_parameter("Only one of maxUnavailable and maxUnavailablePercentage can be specified")
    if config.get("maxUnavailable", 0) > _UNAVAILABLE:
        raise invalid_parameter(f"maxUnavailable has a maximum of {_UNAVAILABLE}")


def _zones(cluster: Cluster, subnets: Sequence[str]) -> tuple[str, ...]:
    if not subnets:
        raise invalid_parameter("Subnets cannot be empty", clusterName=cluster.name)
    zones = network.zones(subnets)
    found = tuple(dict.fromkeys(zone for zone in zones.values() if zone is not None))
    unknown = [subnet for subnet, zone in zones.items() if zone is None]
    if unknown:
        raise invalid_parameter(f"The subnet ID '{unknown[0]}' does not exist (Service: AmazonEC2)")
    return found


def check_scaling(scaling: Mapping[str, Any]) -> None:
    """Refuse a size outside its bounds.

    Arguments:
        scaling: minSize, maxSize and desiredSize.
    """
    low, high, desired = scaling["minSize"], scaling["maxSize"], scaling["desiredSize"]
    if low > desired:
        raise invalid_parameter(f"Minimum capacity {low} can't be greater than desired size {desired}")
    if desired > high:
        raise invalid_parameter(f"desired capacity {desired} can't be greater than max size {high}")
    if high > _NODES_A_GROUP:
        raise limit_exceeded(f"Nodes per node group limit exceeded: {_NODES_A_GROUP}")
