# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GKE node pools: read, create, delete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...model.errors import AlreadyExists, NotFound, OperationInProgress, Unavailable
from ...model.observed import ObservedNodePool
from ...model.states import ProviderStatus
from ..contract import Deletion, NodePoolSpec
from ..ownership import is_ours
from .addresses import Address
from .calls import Calls
from .descriptions import just_sent, new_node_pool, observe
from .places import in_region

if TYPE_CHECKING:
    from google.cloud.container_v1 import ClusterManagerClient


def describe(call: Calls, gke: ClusterManagerClient, where: Address, name: str) -> Any:
    """The node pool in GKE's words, whoever made it; None when GKE says that there is none, or no such cluster."""
    try:
        return call(gke.get_node_pool, {"name": where.node_pool(name)})
    except NotFound:
        return None


def create(call: Calls, gke: ClusterManagerClient, where: Address, spec: NodePoolSpec) -> ObservedNodePool:
    """Create the node pool; one of that name that is ours is returned as it is.

    Raises:
        AlreadyExists: it is not ours.
        NotFound: there is no such cluster.
        OperationInProgress: the cluster is busy, or GKE still holds the name of a node pool that it no longer shows.
        Unavailable: GKE says that there is no such cluster, and then that there is.
    """
    wanted = in_region(spec, where.cluster.location)
    try:
        call(gke.create_node_pool, {"parent": where.whole, "node_pool": new_node_pool(wanted)})
    except (AlreadyExists, NotFound) as refused:
        # Made by another process just now, by an earlier call whose reply was lost, or still being forgotten. GKE has
        # been seen to say 404 to a create and to make the node pool all the same.
        answer = refused
    else:
        return just_sent(wanted)
    found = describe(call, gke, where, spec.name)
    if found:
        observed = observe(found)
        check_ours(observed, cluster=where.cluster.name, tags=spec.tags)
        return observed
    if isinstance(answer, AlreadyExists):
        raise OperationInProgress(str(answer))
    call(gke.get_cluster, {"name": where.whole})
    raise Unavailable(str(answer))


def delete(call: Calls, gke: ClusterManagerClient, where: Address, name: str, tags: Mapping[str, str]) -> Deletion:
    """Delete the node pool if it is there and carries `tags`.

    Raises:
        AlreadyExists: it does not.
        OperationInProgress: GKE is busy with it.
    """
    found = describe(call, gke, where, name)
    if not found:
        return Deletion.GONE
    observed = observe(found)
    check_ours(observed, cluster=where.cluster.name, tags=tags)
    if observed.status is not ProviderStatus.DELETING:
        try:
            call(gke.delete_node_pool, {"name": where.node_pool(name)})
        except NotFound:
            return Deletion.GONE
    return Deletion.UNDER_WAY


def check_ours(observed: ObservedNodePool, *, cluster: str, tags: Mapping[str, str]) -> None:
    """Raises AlreadyExists when the node pool does not carry all of `tags`."""
    if not is_ours(tags=observed.tags, wanted=tags):
        raise AlreadyExists(f"a node pool {observed.name!r} that is not ours exists in cluster {cluster!r}")
