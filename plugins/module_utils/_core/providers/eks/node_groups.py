# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EKS managed node groups: read, create, resize, delete."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...model.errors import AlreadyExists, InvalidRequest, NotFound, OperationInProgress
from ...model.observed import Difference, ObservedNodePool
from ...model.states import ProviderStatus
from ..contract import ClusterSpec, Deletion, NodePoolSpec
from .calls import Calls
from .clusters import is_ours
from .health import failure
from .request_token import request_token

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient
    from mypy_boto3_eks.type_defs import NodegroupScalingConfigTypeDef, NodegroupTypeDef

NAMES_PER_PAGE = 100
"""EKS gives no more at once."""

_STATUS = {
    "CREATING": ProviderStatus.CREATING,
    "ACTIVE": ProviderStatus.ACTIVE,
    "UPDATING": ProviderStatus.UPDATING,
    "DELETING": ProviderStatus.DELETING,
    "DEGRADED": ProviderStatus.DEGRADED,
    "CREATE_FAILED": ProviderStatus.FAILED,
    "DELETE_FAILED": ProviderStatus.FAILED,
}
_SPOT = "SPOT"
_RESIZABLE = (ProviderStatus.ACTIVE, ProviderStatus.DEGRADED)


def describe(call: Calls, eks: EKSClient, cluster: str, name: str) -> ObservedNodePool | None:
    """The node group, whoever made it; None when EKS says that there is none, or no such cluster."""
    try:
        reply = call(eks.describe_nodegroup, clusterName=cluster, nodegroupName=name)
    except NotFound:
        return None
    return observe(reply["nodegroup"])


def describe_all(call: Calls, eks: EKSClient, cluster: str) -> tuple[ObservedNodePool, ...]:
    """All node groups of the cluster. One that goes while they are read is left out.

    Raises:
        NotFound: there is no such cluster.
    """
    seen = (describe(call, eks, cluster, name) for name in _names(call, eks, cluster))
    return tuple(group for group in seen if group)


def create(
    call: Calls, eks: EKSClient, cluster: ClusterSpec, spec: NodePoolSpec, *, node_role_arn: str
) -> ObservedNodePool:
    """Create the node group; one of that name that is ours is returned as it is.

    Raises:
        AlreadyExists: it is not ours.
        OperationInProgress: the cluster is busy, or EKS still holds the name of a group that it no longer shows.
    """
    request = _create_request(cluster, spec, node_role_arn=node_role_arn)
    token = request_token(request, attempt=spec.attempt)
    try:
        reply = call(eks.create_nodegroup, **request, clientRequestToken=token)
    except AlreadyExists as taken:
        # Made by another process just now, by an earlier call whose reply was lost, or still being forgotten.
        found = describe(call, eks, cluster.name, spec.name)
        if not found:
            raise OperationInProgress(str(taken)) from None
        check_ours(found, cluster=cluster.name, tags=spec.tags)
        return found
    return observe(reply["nodegroup"])


def resize(
    call: Calls, eks: EKSClient, cluster: ClusterSpec, spec: NodePoolSpec, observed: ObservedNodePool
) -> ObservedNodePool:
    """Bring the size to `spec.nodes`; sends nothing when it is that, or when EKS would not take it now.

    A degraded group that EKS refuses to change is returned as it is: its failure says why.

    Raises:
        AlreadyExists: it is not ours.
        InvalidRequest: its shape is another one.
        OperationInProgress: EKS is busy with it, though it does not show.
    """
    check_ours(observed, cluster=cluster.name, tags=spec.tags)
    fixed = [item for item in differences(spec, observed) if not item.in_place]
    if fixed:
        told = "; ".join(f"{item.path} from {item.held} to {item.wanted}" for item in fixed)
        raise InvalidRequest(f"node group {spec.name!r} cannot change its {told}: EKS keeps these for life")
    if observed.nodes == spec.nodes or observed.status not in _RESIZABLE:
        return observed
    try:
        call(
            eks.update_nodegroup_config,
            clusterName=cluster.name,
            nodegroupName=spec.name,
            scalingConfig=scaling(spec.nodes),
        )
    except OperationInProgress:
        if observed.status is ProviderStatus.DEGRADED:
            return observed
        raise
    return dataclasses.replace(observed, status=ProviderStatus.UPDATING, nodes=spec.nodes)


def delete(call: Calls, eks: EKSClient, cluster: str, name: str, tags: Mapping[str, str]) -> Deletion:
    """Delete the node group if it is there and carries `tags`.

    Raises:
        AlreadyExists: it does not.
        OperationInProgress: EKS is busy with it.
    """
    found = describe(call, eks, cluster, name)
    if not found:
        return Deletion.GONE
    check_ours(found, cluster=cluster, tags=tags)
    if found.status is not ProviderStatus.DELETING:
        try:
            call(eks.delete_nodegroup, clusterName=cluster, nodegroupName=name)
        except NotFound:
            return Deletion.GONE
    return Deletion.UNDER_WAY


def check_ours(observed: ObservedNodePool, *, cluster: str, tags: Mapping[str, str]) -> None:
    """Raises AlreadyExists when the node group does not carry all of `tags`."""
    if not is_ours(tags=observed.tags, wanted=tags):
        raise AlreadyExists(f"a node group {observed.name!r} that is not ours exists in cluster {cluster!r}")


def differences(spec: NodePoolSpec, observed: ObservedNodePool) -> tuple[Difference, ...]:
    """contract.Driver.compare."""
    pairs: list[tuple[str, object, object, bool]] = [
        ("machineType", observed.machine_type, spec.machine_type, False),
        ("spot", observed.spot, spec.spot, False),
    ]
    if spec.disk_gib is not None:
        pairs.append(("diskGiB", observed.disk_gib, spec.disk_gib, False))
    pairs.append(("totalNodes", observed.nodes, spec.nodes, True))
    return tuple(
        Difference(path=path, held=held, wanted=wanted, in_place=in_place)
        for path, held, wanted, in_place in pairs
        if held != wanted
    )


def scaling(nodes: int) -> NodegroupScalingConfigTypeDef:
    """The scaling block for a fixed size. All three numbers, so that none of an earlier size can contradict it.

    Arguments:
        nodes: the total size; EKS wants room for at least one node even at 0.
    """
    return {"minSize": nodes, "maxSize": max(1, nodes), "desiredSize": nodes}


def observe(group: NodegroupTypeDef) -> ObservedNodePool:
    """EKS's description in the contract's words. A status that is new to us means: wait."""
    status = _STATUS.get(group["status"], ProviderStatus.UPDATING)
    failed = status in (ProviderStatus.FAILED, ProviderStatus.DEGRADED)
    return ObservedNodePool(
        name=group["nodegroupName"],
        status=status,
        machine_type=",".join(group.get("instanceTypes") or []),
        nodes=group.get("scalingConfig", {}).get("desiredSize", 0),
        spot=group.get("capacityType") == _SPOT,
        disk_gib=group.get("diskSize"),
        labels=group.get("labels") or {},
        tags=group.get("tags") or {},
        failure=failure(group.get("health", {}).get("issues", [])) if failed else None,
    )


def _names(call: Calls, eks: EKSClient, cluster: str) -> list[str]:
    names: list[str] = []
    reply = call(eks.list_nodegroups, clusterName=cluster, maxResults=NAMES_PER_PAGE)
    names += reply["nodegroups"]
    while token := reply.get("nextToken"):
        reply = call(eks.list_nodegroups, clusterName=cluster, maxResults=NAMES_PER_PAGE, nextToken=token)
        names += reply["nodegroups"]
    return names


def _create_request(cluster: ClusterSpec, spec: NodePoolSpec, *, node_role_arn: str) -> dict[str, Any]:
    request: dict[str, Any] = {
        "clusterName": cluster.name,
        "nodegroupName": spec.name,
        "nodeRole": node_role_arn,
        "subnets": list(spec.places),
        "instanceTypes": [spec.machine_type],
        # The NVIDIA image has drivers but no device plugin: bcd's is the only one.
        "amiType": "AL2023_x86_64_NVIDIA" if spec.gpus_per_node else "AL2023_x86_64_STANDARD",
        "capacityType": _capacity(spec.spot),
        "scalingConfig": scaling(spec.nodes),
        "labels": dict(spec.labels),
        "tags": dict(spec.tags),
    }
    if spec.disk_gib is not None:
        request["diskSize"] = spec.disk_gib
    return request


def _capacity(spot: bool) -> str:
    return _SPOT if spot else "ON_DEMAND"
