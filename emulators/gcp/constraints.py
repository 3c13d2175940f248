# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What GKE refuses at the call: names, labels, machine types, accelerators, bounds, quota."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from grpc import StatusCode

from .errors import GcpError, invalid
from .machine_types import ATTACHABLE, machine_type
from .project import PROJECT_ID, ZONES, region
from .records import Message, NodePool
from .state import State

_NAME: Final = re.compile(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?")
"""At most 40 characters."""

_RESOURCE_KEY: Final = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_RESOURCE_VALUE: Final = re.compile(r"[a-z0-9_-]{0,63}")

_LABEL_PART: Final = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")

_RESERVED: Final = ("kubernetes.io", "k8s.io")

_SMALLEST_DISK_GB: Final = 10
_MOST_NODES_A_ZONE: Final = 1000


def check_name(kind: str, name: str) -> None:
    """Refuse a name that is too long or has other characters."""
    if _NAME.fullmatch(name) is None:
        raise invalid(
            f'{kind}.name "{name}" is invalid: must be at most 40 characters, of lower case letters, digits and '
            "hyphens, starting with a letter and ending with a letter or digit."
        )


def check_resource_labels(labels: Mapping[str, str]) -> None:
    """Refuse Google Cloud labels with other characters, or too many."""
    for key, value in labels.items():
        if _RESOURCE_KEY.fullmatch(key) is None or _RESOURCE_VALUE.fullmatch(value) is None:
            raise invalid(f'Invalid resource label "{key}={value}".')


def check_labels(labels: Mapping[str, str]) -> None:
    """Refuse Kubernetes labels in reserved name spaces or with other characters."""
    for key, value in labels.items():
        prefix, slash, name = key.rpartition("/")
        if slash and any(prefix == domain or prefix.endswith(f".{domain}") for domain in _RESERVED):
            raise invalid(f'Node label "{key}" uses a reserved prefix.')
        if not name or _LABEL_PART.fullmatch(name) is None or _LABEL_PART.fullmatch(value) is None:
            raise invalid(f'Invalid node label "{key}={value}".')


def check_taints(taints: list[Message]) -> None:
    """Refuse taints without key or effect, and two of one key and effect."""
    seen = set()
    for taint in taints:
        if not taint.key or not taint.effect:
            raise invalid("A node taint needs a key and an effect.")
        if (taint.key, taint.effect) in seen:
            raise invalid(f'Duplicate node taint "{taint.key}".')
        seen.add((taint.key, taint.effect))


def check_config(config: Message) -> None:
    """Refuse node settings that cannot be."""
    kind = machine_type(config.machine_type)
    if kind is None:
        raise invalid(f"Machine type with name '{config.machine_type}' does not exist.")
    for accelerator in config.accelerators:
        fixed = (accelerator.accelerator_type, accelerator.accelerator_count) == (kind.accelerator, kind.gpus)
        attached = kind.takes and accelerator.accelerator_type in ATTACHABLE and accelerator.accelerator_count > 0
        if not fixed and not attached:
            raise invalid(
                f"Accelerator type {accelerator.accelerator_type} with count {accelerator.accelerator_count} is not "
                f"supported on machine type {config.machine_type}."
            )
    if config.disk_size_gb < _SMALLEST_DISK_GB:
        raise invalid(f"NodeConfig.disk_size_gb must be at least {_SMALLEST_DISK_GB}.")
    if config.spot and config.preemptible:
        raise invalid("Only one of spot and preemptible may be set.")
    check_labels(config.labels)
    check_taints(list(config.taints))
    check_resource_labels(config.resource_labels)


def check_zones(zones: list[str], location: str) -> None:
    """Refuse zones outside the cluster's region."""
    for zone in zones:
        if zone not in ZONES[region(location)]:
            raise invalid(f"Location \"{zone}\" is not a zone in region '{region(location)}'.")
    if len(set(zones)) != len(zones):
        raise invalid("Duplicate locations.")


def check_count(count: int) -> None:
    """Refuse sizes that no zone can have."""
    if not 0 <= count <= _MOST_NODES_A_ZONE:
        raise invalid(f"node_count must be between 0 and {_MOST_NODES_A_ZONE}, is {count}.")


def check_autoscaling(bounds: Message) -> None:
    """Refuse bounds that contradict each other: those per zone and those in total exclude each other."""
    if not bounds.enabled:
        return
    total = bounds.total_min_node_count or bounds.total_max_node_count
    if total and (bounds.min_node_count or bounds.max_node_count):
        raise invalid("Only one of (min_node_count, max_node_count) and (total_min_node_count, …) may be set.")
    low = bounds.total_min_node_count if total else bounds.min_node_count
    high = bounds.total_max_node_count if total else bounds.max_node_count
    if high < 1 or low > high or low < 0:
        raise invalid(f"Invalid autoscaling bounds: minimum {low}, maximum {high}; the maximum must be at least 1.")


def check_quota(state: State, kind: str, added: int, *, without: NodePool | None = None) -> None:
    """Refuse more machines of a type than the region's quota allows, with the 403 that only its text tells apart."""
    limit = state.capacity.quota(kind)
    if limit is None:
        return
    used = sum(
        pool.total
        for cluster in state.clusters.values()
        for pool in cluster.pools.values()
        if pool.machine_type == kind and pool is not without
    )
    short = used + added - limit
    if short > 0:
        raise GcpError(
            StatusCode.PERMISSION_DENIED,
            f'Insufficient regional quota to satisfy request: resource "{kind.upper()}": request requires '
            f"'{added:.1f}' and is short '{short:.1f}'. project has a quota of '{limit:.1f}' with "
            f"'{max(0, limit - used):.1f}' available. View and manage quotas at "
            f"https://console.cloud.google.com/iam-admin/quotas?usage=USED&project={PROJECT_ID}.",
        )
