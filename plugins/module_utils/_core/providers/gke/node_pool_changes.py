# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is changed of a node pool that stands: one call at a time, in an order that a crash between two does no harm.

Which one is next follows from what stands alone, and from what became of the last one (sizes.py: why the size is
written down). Each is sent from a fresh read, because GKE's updates replace whole sets.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ...model.errors import InvalidRequest, OperationInProgress
from ...model.observed import Difference, ObservedNodePool
from ...model.states import ProviderStatus
from ...model.versions import is_older, minor_version
from ..contract import NodePoolSpec
from ..differences import told
from . import node_pools, operations
from .addresses import Address
from .calls import Calls
from .comparison import changed, differences, labels_after, taints_after
from .descriptions import autoscaling, observe
from .operations import Fate
from .places import as_observed
from .sizes import Asked, Rebound, Resize, next_of_size
from .taints import in_gke_words

if TYPE_CHECKING:
    from google.cloud.container_v1 import ClusterManagerClient

_CHANGEABLE = (ProviderStatus.ACTIVE, ProviderStatus.DEGRADED)

_GOOGLES_OWN = "goog-"
"""Resource labels that begin so are Google's: it takes none from others, and keeps its own."""


def change(
    call: Calls, gke: ClusterManagerClient, where: Address, spec: NodePoolSpec, observed: ObservedNodePool
) -> ObservedNodePool:
    """Bring the node pool closer to `spec`; sends nothing when it is that, or when GKE would not take it now.

    Raises:
        AlreadyExists: it is not ours.
        InvalidRequest: its shape is another one.
        OperationInProgress: GKE is busy with it, though it does not show.
        ProviderError: GKE gave up the operation `spec.update_id`, for this reason.
    """
    if not _is_due(where, spec, observed):
        return observed
    if spec.update_id is not None:
        last = operations.read(call, gke, where, spec.update_id)
        if last and last.reason:
            raise last.reason
        if last and last.fate is Fate.UNDER_WAY:
            return dataclasses.replace(observed, status=ProviderStatus.UPDATING, update_id=spec.update_id)
    raw = node_pools.describe(call, gke, where, spec.name)
    if raw is None:
        raise OperationInProgress(f"node pool {spec.name!r} of cluster {where.cluster.name!r} has just gone")
    fresh = observe(raw)
    if not _is_due(where, spec, fresh):
        return fresh
    return _send(call, gke, where, spec, fresh, raw=raw)


def _is_due(where: Address, spec: NodePoolSpec, observed: ObservedNodePool) -> bool:
    node_pools.check_ours(observed, cluster=where.cluster.name, tags=spec.tags)
    found = differences(spec, observed)
    _refuse_another_shape(spec, found)
    return observed.status in _CHANGEABLE and (bool(found) or is_older(observed.version, spec.version or ""))


def _send(
    call: Calls,
    gke: ClusterManagerClient,
    where: Address,
    spec: NodePoolSpec,
    fresh: ObservedNodePool,
    *,
    raw: Any,
) -> ObservedNodePool:
    """Send the next change of a node pool as it has just been read (`raw`: in GKE's words)."""
    wanted = as_observed(spec, fresh.places)
    name = where.node_pool(spec.name)
    step = next_of_size(wanted, fresh)
    if isinstance(step, Resize) and _was_set(call, gke, where, spec.name):
        step = next_of_size(wanted, fresh, was_set=True)
    if isinstance(step, Resize):
        reply = call(gke.set_node_pool_size, {"name": name, "node_count": step.per_zone})
    elif isinstance(step, Rebound):
        bounds = autoscaling(wanted if spec.places else spec)
        reply = call(gke.set_node_pool_autoscaling, {"name": name, "autoscaling": bounds})
    else:
        sets = _sets(wanted, fresh, raw=raw, asked=step)
        if not sets:
            return _upgrade(call, gke, where, spec, fresh)
        reply = call(gke.update_node_pool, {"name": name, "etag": raw.etag, **sets})
    return dataclasses.replace(changed(wanted, fresh), status=ProviderStatus.UPDATING, update_id=reply.name)


def _was_set(call: Calls, gke: ClusterManagerClient, where: Address, name: str) -> bool:
    """Whether the last thing that happened to the node pool is that its size was set: also when nobody heard of it."""
    last = operations.last_of_node_pool(call, gke, where, name)
    return last is not None and last.kind == operations.SET_SIZE and last.fate is Fate.DONE


def _sets(spec: NodePoolSpec, fresh: ObservedNodePool, *, raw: Any, asked: Asked | None) -> dict[str, Any]:
    """What an UpdateNodePool has to carry: each set that differs, whole."""
    sets: dict[str, Any] = {}
    if asked:
        kept = {key: value for key, value in raw.config.resource_labels.items() if not key.startswith(_GOOGLES_OWN)}
        sets["resource_labels"] = {"labels": {**kept, **asked.label}}
    paths = {item.path for item in differences(spec, fresh)}
    if "labels" in paths:
        sets["labels"] = {"labels": labels_after(spec, fresh)}
    if "taints" in paths:
        sets["taints"] = {"taints": in_gke_words(taints_after(spec, fresh.taints))}
    return sets


def _upgrade(
    call: Calls, gke: ClusterManagerClient, where: Address, spec: NodePoolSpec, fresh: ObservedNodePool
) -> ObservedNodePool:
    """Have the machines replaced by ones of a newer version, but never newer than the control plane's."""
    wanted = spec.version or ""
    control_plane = call(gke.get_cluster, {"name": where.whole}).current_master_version
    if minor_version(control_plane) == minor_version(wanted) or is_older(control_plane, wanted):
        wanted = control_plane
    if not is_older(fresh.version, wanted):
        return fresh
    reply = call(gke.update_node_pool, {"name": where.node_pool(spec.name), "node_version": wanted})
    return dataclasses.replace(fresh, status=ProviderStatus.UPDATING, update_id=reply.name)


def _refuse_another_shape(spec: NodePoolSpec, found: tuple[Difference, ...]) -> None:
    fixed = [item for item in found if not item.in_place]
    if fixed:
        raise InvalidRequest(f"node pool {spec.name!r} cannot change its {told(fixed)}: only another node pool has it")
