# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node pools as requests have them, and as GKE describes them, in the contract's words. No I/O."""

from __future__ import annotations

from typing import Any

from ...model.declared import Gpus
from ...model.errors import InvalidRequest, PermissionDenied, ProviderError, Unavailable
from ...model.observed import NodeBounds, ObservedNodePool
from ...model.states import ProviderStatus
from ..contract import NodePoolSpec
from ..differences import within
from ..messages import bounded
from . import taints
from .comparison import wanted_gpus, wanted_labels
from .errors import condition_error
from .resource_labels import from_resource_labels, to_resource_labels
from .sizes import Asked, first_size

_STATUS = {
    "PROVISIONING": ProviderStatus.CREATING,
    "RUNNING": ProviderStatus.ACTIVE,
    "RUNNING_WITH_ERROR": ProviderStatus.DEGRADED,
    "RECONCILING": ProviderStatus.UPDATING,
    "STOPPING": ProviderStatus.DELETING,
    "ERROR": ProviderStatus.FAILED,
}

_SCOPES = (
    "https://www.googleapis.com/auth/devstorage.read_only",
    "https://www.googleapis.com/auth/logging.write",
    "https://www.googleapis.com/auth/monitoring",
)
"""What a node's own token may do: pull images, and write logs and metrics. Whoever runs on a node has that token."""

_FORBIDDEN = frozenset({"GKE_SERVICE_ACCOUNT_DELETED", "NODE_SERVICE_ACCOUNT_MISSING_PERMISSIONS"})


def new_node_pool(spec: NodePoolSpec) -> dict[str, Any]:
    """The node pool as a create has it.

    Arguments:
        spec: with places of the cluster's region alone.

    Raises:
        InvalidRequest: its size cannot be had, or it does not say which GPUs.
    """
    asked = first_size(spec)
    config: dict[str, Any] = {
        "machine_type": spec.machine_type,
        "spot": spec.spot,
        "labels": wanted_labels(spec),
        "resource_labels": {**to_resource_labels(spec.tags), **asked.label},
        "oauth_scopes": list(_SCOPES),
    }
    if spec.taints:
        config["taints"] = taints.in_gke_words(spec.taints)
    if spec.disk_gib is not None:
        config["disk_size_gb"] = spec.disk_gib
    if spec.disk_type is not None:
        config["disk_type"] = spec.disk_type
    gpus = wanted_gpus(spec)
    if gpus:
        config["accelerators"] = [_accelerator(spec.name, gpus)]
    pool: dict[str, Any] = {
        "name": spec.name,
        "initial_node_count": asked.per_zone,
        "config": config,
        # Machines are replaced for a newer version when the owner wants it, and not when GKE does.
        "management": {"auto_repair": True, "auto_upgrade": False},
    }
    if spec.bounds:
        pool["autoscaling"] = autoscaling(spec)
    if spec.places:
        pool["locations"] = list(spec.places)
    return pool


def autoscaling(spec: NodePoolSpec) -> dict[str, Any]:
    """The bounds as requests have them: totals where the zones are known, so that one zone can stand in for another."""
    bounds = spec.bounds
    if bounds is None:
        return {"enabled": False}
    if spec.places:
        return {"enabled": True, "total_min_node_count": bounds.least, "total_max_node_count": bounds.most}
    return {"enabled": True, "min_node_count": bounds.least, "max_node_count": bounds.most}


def observe(pool: Any) -> ObservedNodePool:
    """GKE's description in the contract's words. A status that is new to us means: wait."""
    status = _STATUS.get(getattr(pool.status, "name", ""), ProviderStatus.UPDATING)
    failed = status in (ProviderStatus.FAILED, ProviderStatus.DEGRADED)
    config, tags, zones = pool.config, from_resource_labels(pool.config.resource_labels), frozenset(pool.locations)
    asked = Asked.of(tags)
    bounds = _bounds(pool.autoscaling, zones=len(zones))
    return ObservedNodePool(
        name=pool.name,
        status=status,
        machine_type=config.machine_type,
        nodes=within((asked.per_zone if asked else pool.initial_node_count) * len(zones), bounds),
        spot=config.spot,
        disk_gib=config.disk_size_gb or None,
        disk_type=config.disk_type or None,
        gpus=_gpus(config.accelerators),
        labels=dict(config.labels),
        tags=tags,
        bounds=bounds,
        taints=taints.from_gke_words(config.taints),
        places=zones,
        image=config.image_type,
        version=pool.version,
        failure=_failure(pool) if failed else None,
    )


def just_sent(spec: NodePoolSpec) -> ObservedNodePool:
    """A node pool whose create GKE has just taken: it answers with an operation alone.

    Arguments:
        spec: with places of the cluster's region alone.
    """
    asked = first_size(spec)
    return ObservedNodePool(
        name=spec.name,
        status=ProviderStatus.CREATING,
        machine_type=spec.machine_type,
        nodes=asked.per_zone * max(1, len(spec.places)),
        spot=spec.spot,
        disk_gib=spec.disk_gib,
        disk_type=spec.disk_type,
        gpus=wanted_gpus(spec),
        labels=wanted_labels(spec),
        tags={**spec.tags, **asked.label},
        bounds=spec.bounds,
        taints=spec.taints or (),
        places=frozenset(spec.places),
    )


def _accelerator(name: str, gpus: Gpus) -> dict[str, Any]:
    if not gpus.type:
        raise InvalidRequest(f"node pool {name!r} is to have GPUs, and does not say of which type")
    return {
        "accelerator_type": gpus.type,
        "accelerator_count": gpus.count,
        # Left unsaid, GKE installs none.
        "gpu_driver_installation_config": {"gpu_driver_version": "DEFAULT"},
    }


def _gpus(accelerators: Any) -> Gpus | None:
    return next((Gpus(type=item.accelerator_type, count=item.accelerator_count) for item in accelerators), None)


def _bounds(held: Any, *, zones: int) -> NodeBounds | None:
    if not held.enabled:
        return None
    if held.total_max_node_count:
        return NodeBounds(least=held.total_min_node_count, most=held.total_max_node_count)
    return NodeBounds(least=held.min_node_count * zones, most=held.max_node_count * zones)


def _failure(pool: Any) -> ProviderError:
    """Why: the newest lack of machines or quota first. GKE keeps conditions for ever, and adds to their end."""
    told = [(getattr(item.code, "name", str(item.code)), item.message) for item in reversed(pool.conditions)]
    for code, message in told:
        lack = condition_error(code=code, message=message)
        if lack:
            return lack
    text = bounded("; ".join(f"{code}: {message}" for code, message in told) or pool.status_message)
    if any(code in _FORBIDDEN for code, _message in told):
        return PermissionDenied(text)
    return condition_error(code="", message=text) or Unavailable(text or "GKE gives no reason")
