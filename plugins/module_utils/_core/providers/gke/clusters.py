# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GKE clusters: read, create, upgrade, delete."""

from __future__ import annotations

import base64
import binascii
import contextlib
import dataclasses
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ...model.errors import AlreadyExists, InvalidRequest, NeedsNodes, NotFound, OperationInProgress, Unavailable
from ...model.observed import ObservedCluster
from ...model.records import ClusterOutputs
from ...model.states import ClusterMode, ProviderStatus
from ...model.versions import is_older, next_step
from ..contract import ClusterSpec, Deletion, NodePoolSpec
from ..messages import bounded
from ..ownership import is_readable
from . import operations
from .addresses import Address
from .calls import Calls
from .descriptions import new_node_pool
from .operations import Fate
from .places import default_zones, in_region, region_of
from .resource_labels import from_resource_labels, to_resource_labels
from .settings import GkeSettings

if TYPE_CHECKING:
    from google.cloud.container_v1 import ClusterManagerClient

UPGRADE_RETRY = timedelta(minutes=30)
"""An upgrade that GKE gave up is not sent again for so long: somebody has to mend what it fails for."""

_STATUS = {
    "PROVISIONING": ProviderStatus.CREATING,
    "RUNNING": ProviderStatus.ACTIVE,
    "RECONCILING": ProviderStatus.UPDATING,
    "STOPPING": ProviderStatus.DELETING,
    "ERROR": ProviderStatus.FAILED,
    "DEGRADED": ProviderStatus.DEGRADED,
}


def describe(call: Calls, gke: ClusterManagerClient, where: Address) -> Any:
    """The cluster in GKE's words, with its node pools; None when GKE says that there is none.

    Raises:
        AlreadyExists: it is not ours.
    """
    try:
        found = call(gke.get_cluster, {"name": where.whole})
    except NotFound:
        return None
    spec = where.cluster
    if not is_readable(spec, tags=from_resource_labels(found.resource_labels)):
        raise AlreadyExists(f"a cluster {spec.name!r} that was not made for this pool exists in {spec.location}")
    return found


def create(
    call: Calls,
    gke: ClusterManagerClient,
    where: Address,
    first: tuple[NodePoolSpec, ...],
    *,
    settings: GkeSettings,
) -> ObservedCluster:
    """Create the cluster, a standard one with its first node pools; one of that name that is ours is returned as it is.

    Raises:
        AlreadyExists: it is not ours.
        NeedsNodes: a standard one's `first` is empty.
        InvalidRequest: one of it cannot be made; nothing was sent.
        OperationInProgress: GKE still holds the name of a cluster that it no longer shows.
        Unavailable: GKE says 404 to a create, after which the cluster may appear all the same.
    """
    spec = where.cluster
    wanted = _autopilot(spec) if spec.mode is ClusterMode.AUTOPILOT else _standard(spec, first, settings=settings)
    request = {"parent": where.location, "cluster": wanted}
    try:
        call(gke.create_cluster, request)
    except (AlreadyExists, NotFound) as refused:
        # Made by another process just now, by an earlier call whose reply was lost, or still being forgotten.
        answer = refused
    else:
        return ObservedCluster(
            name=spec.name,
            status=ProviderStatus.CREATING,
            message="",
            outputs=None,
            private_nodes=spec.private_nodes,
            tags=spec.tags,
        )
    found = describe(call, gke, where)
    if found:
        return observe(found)
    raise (OperationInProgress if isinstance(answer, AlreadyExists) else Unavailable)(str(answer))


def upgrade(
    call: Calls, gke: ClusterManagerClient, where: Address, found: ObservedCluster, *, now: datetime
) -> ObservedCluster:
    """Begin an upgrade to the next minor version, if `found` is ACTIVE and older than it is wanted.

    A cluster whose upgrade failed is RUNNING as before, and only the operation says why: that is raised until it is so
    old that another try may follow. Looked for among the location's operations: no one keeps the name of a cluster's.

    Raises:
        ProviderError: GKE gave up the last one a while ago, or refuses this one.
    """
    held, wanted = found.outputs.version if found.outputs else "", where.cluster.version or ""
    if found.status is not ProviderStatus.ACTIVE or not is_older(held, wanted):
        return found
    last = operations.last_upgrade(call, gke, where)
    if last and last.reason and now - last.began_at < UPGRADE_RETRY:
        raise last.reason
    if not last or last.fate is not Fate.UNDER_WAY:
        update = {"desired_master_version": next_step(held, wanted)}
        # In progress: another process was faster, or GKE does something of its own.
        with contextlib.suppress(OperationInProgress):
            call(gke.update_cluster, {"name": where.whole, "update": update})
    return dataclasses.replace(found, status=ProviderStatus.UPDATING)


def delete(call: Calls, gke: ClusterManagerClient, where: Address) -> Deletion:
    """Delete the cluster if it is there and ours. GKE deletes its node pools and machines with it.

    Raises:
        AlreadyExists: it is not ours.
        OperationInProgress: something is being done to it or to one of its node pools.
    """
    found = describe(call, gke, where)
    if not found:
        return Deletion.GONE
    if observe(found).status is not ProviderStatus.DELETING:
        try:
            call(gke.delete_cluster, {"name": where.whole})
        except NotFound:
            return Deletion.GONE
    return Deletion.UNDER_WAY


def check_mode(spec: ClusterSpec, found: Any) -> None:
    """Raises InvalidRequest when the cluster is of the other mode: it never changes."""
    held = ClusterMode.AUTOPILOT if found.autopilot.enabled else ClusterMode.STANDARD
    if held != spec.mode:
        raise InvalidRequest(f"cluster {spec.name!r} is {held} and is to be {spec.mode}: GKE keeps that for life")


def observe(cluster: Any) -> ObservedCluster:
    """GKE's description in the contract's words. A status that is new to us means: wait.

    A cluster is in ERROR also when only its first node pools got no machines: its control plane stands, and serves.
    """
    status = _STATUS.get(getattr(cluster.status, "name", ""), ProviderStatus.UPDATING)
    outputs = _outputs(cluster)
    if status is ProviderStatus.FAILED and outputs:
        status = ProviderStatus.DEGRADED
    wrong = status in (ProviderStatus.FAILED, ProviderStatus.DEGRADED)  # conditions stay after recovery
    network, private = cluster.network_config, cluster.private_cluster_config
    return ObservedCluster(
        name=cluster.name,
        status=status,
        message=_reason(cluster) if wrong else "",
        outputs=outputs,
        private_nodes=bool(network.default_enable_private_nodes or private.enable_private_nodes),
        tags=from_resource_labels(cluster.resource_labels),
    )


def _reason(cluster: Any) -> str:
    told = [f"{getattr(item.code, 'name', item.code)}: {item.message}" for item in cluster.conditions]
    return bounded("; ".join(dict.fromkeys(told)) or cluster.status_message)


def _outputs(cluster: Any) -> ClusterOutputs | None:
    endpoint, authority = cluster.endpoint, cluster.master_auth.cluster_ca_certificate
    if not endpoint or not authority:
        return None
    try:
        ca_pem = base64.b64decode(authority, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None  # no cluster that can be used; one that can be deleted all the same
    return ClusterOutputs(
        endpoint=f"https://{endpoint}",
        ca_pem=ca_pem,
        version=cluster.current_master_version,
        location=cluster.location,
        node_version=cluster.current_node_version or cluster.current_master_version,
        global_id=cluster.self_link,
        zones=tuple(sorted(cluster.locations)),
    )


def _standard(spec: ClusterSpec, first: tuple[NodePoolSpec, ...], *, settings: GkeSettings) -> dict[str, Any]:
    if not first:
        raise NeedsNodes(f"cluster {spec.name!r} is to have no node pool: GKE makes no cluster without one")
    names = [pool.name for pool in first]
    if len(set(names)) < len(names):
        raise InvalidRequest(f"cluster {spec.name!r} is to have two node pools of one name: {', '.join(names)}")
    request = {
        **_either(spec),
        "node_pools": [new_node_pool(in_region(pool, spec.location)) for pool in first],
        # In a channel GKE replaces nodes when it likes: a booked machine is only replaced when its owner wants it.
        "release_channel": {"channel": "UNSPECIFIED"},
    }
    zones = default_zones(settings, spec.location)
    return {**request, "locations": zones} if zones else request


def _autopilot(spec: ClusterSpec) -> dict[str, Any]:
    if spec.location != region_of(spec.location):
        raise InvalidRequest(
            f"cluster {spec.name!r} is to be autopilot in {spec.location}: GKE has these in regions only"
        )
    return {**_either(spec), "autopilot": {"enabled": True}}


def _either(spec: ClusterSpec) -> dict[str, Any]:
    """What clusters of both modes are made with."""
    request: dict[str, Any] = {
        "name": spec.name,
        "resource_labels": to_resource_labels(spec.tags),
        # The control plane's address stays public: the daemon stands outside of the network.
        "network_config": {"default_enable_private_nodes": spec.private_nodes},
        "ip_allocation_policy": {"use_ip_aliases": True},
    }
    return {**request, "initial_cluster_version": spec.version} if spec.version else request
