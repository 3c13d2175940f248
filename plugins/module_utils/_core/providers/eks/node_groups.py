# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EKS managed node groups: read, create, delete. What of one that stands is changed is in node_group_changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...model.errors import AlreadyExists, InvalidRequest, NotFound, OperationInProgress
from ...model.observed import NodeBounds, ObservedNodePool
from ...model.states import ProviderStatus
from ..contract import ClusterSpec, Deletion, NodePoolSpec
from ..ownership import is_ours
from . import taints
from .calls import Calls
from .comparison import first_size
from .health import failure
from .images import image_for
from .request_token import request_token

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient
    from mypy_boto3_eks.type_defs import NodegroupTypeDef

    from .clients import Clients

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
    call: Calls, clients: Clients, cluster: ClusterSpec, spec: NodePoolSpec, *, node_role_arn: str
) -> ObservedNodePool:
    """Create the node group; one of that name that is ours is returned as it is.

    Raises:
        AlreadyExists: it is not ours.
        InvalidRequest: EKS has no such machines, or it cannot choose what is chosen.
        OperationInProgress: the cluster is busy, or EKS still holds the name of a group that it no longer shows.
    """
    if spec.disk_type is not None:
        raise InvalidRequest(
            f"node group {spec.name!r} is to have disks of type {spec.disk_type}: EKS chooses the type"
        )
    request = _create_request(cluster, spec, node_role_arn=node_role_arn)
    request["amiType"] = image_for(call, clients.ec2, spec.machine_type, gpus=spec.gpus_per_node > 0)
    token = request_token(request, attempt=spec.attempt)
    try:
        reply = call(clients.eks.create_nodegroup, **request, clientRequestToken=token)
    except AlreadyExists as taken:
        # Made by another process just now, by an earlier call whose reply was lost, or still being forgotten.
        found = describe(call, clients.eks, cluster.name, spec.name)
        if not found:
            raise OperationInProgress(str(taken)) from None
        check_ours(found, cluster=cluster.name, tags=spec.tags)
        return found
    return observe(reply["nodegroup"])


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


def observe(group: NodegroupTypeDef) -> ObservedNodePool:
    """EKS's description in the contract's words. A status that is new to us means: wait."""
    status = _STATUS.get(group["status"], ProviderStatus.UPDATING)
    failed = status in (ProviderStatus.FAILED, ProviderStatus.DEGRADED)
    size = group.get("scalingConfig", {})
    return ObservedNodePool(
        name=group["nodegroupName"],
        status=status,
        machine_type=",".join(group.get("instanceTypes") or []),
        nodes=size.get("desiredSize", 0),
        spot=group.get("capacityType") == _SPOT,
        disk_gib=group.get("diskSize"),
        labels=group.get("labels") or {},
        tags=group.get("tags") or {},
        bounds=NodeBounds(least=size["minSize"], most=size["maxSize"]) if "minSize" in size else None,
        taints=taints.from_eks_words(group.get("taints") or []),
        places=frozenset(group.get("subnets") or []),
        image=group.get("amiType", ""),
        version=group.get("version", ""),
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
        "capacityType": _SPOT if spec.spot else "ON_DEMAND",
        "scalingConfig": first_size(spec).as_block(),
        "labels": dict(spec.labels),
        "tags": dict(spec.tags),
    }
    if spec.taints:
        request["taints"] = taints.in_eks_words(spec.taints)
    if spec.disk_gib is not None:
        request["diskSize"] = spec.disk_gib
    return request
