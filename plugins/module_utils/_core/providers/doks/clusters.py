# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DOKS clusters: found by name and marks, created, upgraded, deleted."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Any

from ...model.errors import (
    AlreadyExists,
    InvalidRequest,
    NotFound,
    OperationInProgress,
)
from ...model.labels import CLUSTER
from ...model.observed import ObservedCluster
from ...model.records import ClusterOutputs
from ...model.states import ProviderStatus
from ...model.versions import is_older
from ..contract import ClusterSpec, Deletion
from ..messages import bounded
from ..ownership import is_ours
from . import droplets
from .api import Api
from .calls import Calls
from .device_plugins import switched_off
from .errors import refusal
from .naming import Data, Ours, find_ours, is_going, message_of, state_of
from .pages import read_all
from .tags import from_tags, to_tags
from .versions import next_step

NEWEST_VERSION = "latest"

_UNPROCESSABLE_STATUS = 422
_ERROR = "error"

_STATUS = {
    "provisioning": ProviderStatus.CREATING,
    "running": ProviderStatus.ACTIVE,
    "degraded": ProviderStatus.DEGRADED,
    _ERROR: ProviderStatus.FAILED,
    "upgrading": ProviderStatus.UPDATING,
    "deleting": ProviderStatus.DELETING,
    # Gone is what is not found any more.
    "deleted": ProviderStatus.DELETING,
}

_UPGRADABLE = ("running", "degraded")
"""Degraded is a cluster, too, of which one node pool gets no machines."""


def find(call: Calls, api: Api, spec: ClusterSpec, *, known_id: str | None = None) -> Ours | None:
    """The cluster as the list has it, with its node pools. One read; None when DOKS shows none.

    Arguments:
        known_id: its id, where it was seen before: that it is gone is asked for by it, too.

    Raises:
        AlreadyExists: it is not ours, or ours was given another name: what is done to it then is its owner's to say.
    """
    listed = read_all(call, "kubernetes_clusters", api.kubernetes.list_clusters)
    if known_id and all(cluster["id"] != known_id for cluster in listed):
        with contextlib.suppress(NotFound):
            listed.append(call(api.kubernetes.get_cluster, known_id)["kubernetes_cluster"])
    if spec.adopted:
        return next((Ours(first=one) for one in listed if spec.name in (one["id"], one["name"])), None)
    found = find_ours(listed, name=spec.name, marks=spec.tags, kind="cluster")
    renamed = next((one for one in listed if is_ours(tags=from_tags(one.get("tags") or ()), wanted=spec.tags)), None)
    if not found and renamed:
        raise AlreadyExists(f"cluster {renamed['name']!r} carries the tags of {spec.name!r}: give it that name again")
    return found


def left_over(call: Calls, api: Api, spec: ClusterSpec, *, known_id: str | None) -> ObservedCluster | None:
    """A cluster that DOKS does not show any more and of which droplets are left; None when it has gone entirely."""
    if CLUSTER not in spec.tags:
        return None  # without a mark nothing is ours
    [mark] = to_tags({CLUSTER: spec.tags[CLUSTER]})
    names = droplets.left_over(call, api.droplets, mark=mark, cluster_id=known_id)
    if not names:
        return None
    return ObservedCluster(
        name=spec.name,
        status=ProviderStatus.DELETING,
        message=bounded(f"droplets are left of it: {', '.join(names)}"),
        outputs=None,
        private_nodes=False,
        tags=spec.tags,
    )


def create(call: Calls, api: Api, spec: ClusterSpec, node_pools: Sequence[Data]) -> Data | None:
    """Create the cluster with its first node pools.

    Returns:
        DOKS's description; None when it says that there is one of that name by now.

    Raises:
        StockedOut, ProviderQuotaExceeded, InvalidRequest, …: it is refused with these node pools.
    """
    try:
        created: Data = call(api.kubernetes.create_cluster, _create_body(spec, node_pools))["kubernetes_cluster"]
    except AlreadyExists:
        return None
    return created


def upgrade(call: Calls, api: Api, spec: ClusterSpec, cluster: Data) -> ObservedCluster:
    """Begin an upgrade by one step that DOKS offers, if the cluster serves and is older than `spec` wants it.

    Control plane and nodes are upgraded together.

    Raises:
        InvalidRequest: DOKS offers none towards that version.
        ProviderError: the cluster is in error: DOKS gave an upgrade up, or something else that it was doing.
    """
    found = observe(cluster)
    held, wanted = cluster["version"], spec.version or ""
    if not is_older(held, wanted):
        return found
    if state_of(cluster) == _ERROR and found.serves:
        raise refusal(status=_UNPROCESSABLE_STATUS, body={"message": f"cluster {spec.name!r}: {found.message}"})
    if state_of(cluster) not in _UPGRADABLE:
        return found
    under_way = dataclasses.replace(found, status=ProviderStatus.UPDATING)
    offered = call(api.kubernetes.get_available_upgrades, cluster["id"])["available_upgrade_versions"] or []
    slugs = [version["slug"] for version in offered]
    step = next_step(held, wanted, slugs)
    if step is None:
        told = ", ".join(slugs) or "none"
        raise InvalidRequest(f"cluster {spec.name!r} cannot go from {held} to {wanted}: DOKS offers {told}")
    # In progress: another process was faster, and it does not show yet.
    with contextlib.suppress(OperationInProgress):
        call(api.kubernetes.upgrade_cluster, cluster["id"], {"version": step})
    return under_way


def delete(call: Calls, api: Api, found: Ours) -> Deletion:
    """Delete the cluster, and whatever else of its name carries our marks. It is gone when it is not found any more."""
    for cluster in (found.first, *found.spare):
        if not is_going(cluster):
            with contextlib.suppress(NotFound):
                call(api.kubernetes.delete_cluster, cluster["id"])
    return Deletion.UNDER_WAY


def delete_spare(call: Calls, api: Api, found: Ours) -> None:
    """Delete what a create made twice."""
    for cluster in found.spare:
        with contextlib.suppress(NotFound):
            call(api.kubernetes.delete_cluster, cluster["id"])


def observe(cluster: Data) -> ObservedCluster:
    """DOKS's description in the contract's words. A state that is new to us means: wait.

    One in error that has a control plane goes on with it: what failed is what DOKS was doing to it.
    """
    outputs = _outputs(cluster)
    status = _STATUS.get(state_of(cluster), ProviderStatus.UPDATING)
    return ObservedCluster(
        name=cluster["name"],
        status=ProviderStatus.DEGRADED if status is ProviderStatus.FAILED and outputs else status,
        message=bounded(message_of(cluster)),
        outputs=outputs,
        private_nodes=False,
        tags=from_tags(cluster["tags"]),
    )


def _outputs(cluster: Data) -> ClusterOutputs | None:
    if not cluster.get("endpoint"):
        return None
    return ClusterOutputs(
        endpoint=cluster["endpoint"],
        ca_pem="",  # comes with a credential only
        version=cluster["version"],
        location=cluster["region"],
        node_version=cluster["version"],
        global_id=cluster["id"],
    )


def _create_body(spec: ClusterSpec, node_pools: Sequence[Data]) -> dict[str, Any]:
    return {
        "name": spec.name,
        "region": spec.location,
        "version": spec.version or NEWEST_VERSION,
        "tags": to_tags(spec.tags),
        "node_pools": list(node_pools),
        **switched_off(),
        # A version is somebody's wish, and nodes are replaced with it.
        "auto_upgrade": False,
    }
