# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In what a node pool is not as it is wanted. No I/O.

What GKE adds by itself, and what this driver adds to a node pool with GPUs, is never too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

from ...model.declared import Gpus, Taint
from ...model.observed import Difference, ObservedNodePool
from .. import differences as shared
from ..contract import NodePoolSpec
from ..differences import of_labels, of_shape, of_size, of_taints
from .places import as_observed
from .sizes import first_size, held_total, wanted_total
from .taints import GOOGLES_OWN

NO_DEVICE_PLUGIN = {"gke-no-default-nvidia-gpu-device-plugin": "true"}
"""Keeps GKE's own device plugin off the Nodes: theirs would offer GPUs that nobody booked."""


def differences(spec: NodePoolSpec, observed: ObservedNodePool) -> tuple[Difference, ...]:
    """contract.Driver.compare."""
    spec = _completed(as_observed(spec, observed.places), observed)
    return (
        *_of_shape(spec, observed),
        *_of_size(spec, observed),
        *of_labels(spec, observed),
        *of_taints(spec, observed),
    )


def wanted_labels(spec: NodePoolSpec) -> dict[str, str]:
    """The Kubernetes labels that are ours to set."""
    return {**spec.labels, **(NO_DEVICE_PLUGIN if spec.gpus_per_node else {})}


def wanted_gpus(spec: NodePoolSpec) -> Gpus | None:
    """The accelerators of one machine."""
    return Gpus(type=spec.gpu_type or "", count=spec.gpus_per_node) if spec.gpus_per_node else None


def labels_after(spec: NodePoolSpec, observed: ObservedNodePool) -> dict[str, str]:
    """All labels that a node pool is to have: GKE's update replaces them all."""
    return shared.labels_after(_completed(spec, observed), observed)


def taints_after(spec: NodePoolSpec, held: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """All taints that a node pool is to have that holds these: GKE's update replaces them all."""
    if spec.taints is None:
        return held
    return tuple(sorted({*spec.taints, *(taint for taint in held if taint in GOOGLES_OWN)}))


def changed(spec: NodePoolSpec, observed: ObservedNodePool) -> ObservedNodePool:
    """The node pool once all that compare() tells of and can be changed is done.

    Arguments:
        spec: on the zones that it stands in.
    """
    total = wanted_total(spec, observed)
    asked = first_size(replace(spec, nodes=total))
    return replace(
        observed,
        nodes=total,
        bounds=spec.bounds,
        labels=labels_after(spec, observed),
        taints=taints_after(spec, observed.taints),
        tags={**observed.tags, **asked.label},
    )


def _completed(spec: NodePoolSpec, observed: ObservedNodePool) -> NodePoolSpec:
    """The spec with what is wanted beside what people declare: this driver's label, and GKE's taint where it stands."""
    taints = None if spec.taints is None else taints_after(spec, observed.taints)
    return replace(spec, labels=wanted_labels(spec), taints=taints)


def _of_shape(spec: NodePoolSpec, observed: ObservedNodePool) -> Iterator[Difference]:
    pairs: list[tuple[str, object, object]] = [
        ("machineType", observed.machine_type, spec.machine_type),
        ("spot", observed.spot, spec.spot),
        ("gpus", _told(observed.gpus), _told(wanted_gpus(spec))),
        ("zones", sorted(observed.places), sorted(spec.places)),
    ]
    if spec.disk_gib is not None:
        pairs.append(("diskGiB", observed.disk_gib, spec.disk_gib))
    if spec.disk_type is not None:
        pairs.append(("diskType", observed.disk_type, spec.disk_type))
    return of_shape(pairs)


def _told(gpus: Gpus | None) -> dict[str, object] | None:
    return asdict(gpus) if gpus else None


def _of_size(spec: NodePoolSpec, observed: ObservedNodePool) -> Iterator[Difference]:
    held, wanted = observed.bounds, spec.bounds
    pairs: list[tuple[str, int | None, int | None]] = [
        ("totalNodes", held_total(spec, observed), wanted_total(spec, observed)),
        ("autoscaling.minNodes", held.least if held else None, wanted.least if wanted else None),
        ("autoscaling.maxNodes", held.most if held else None, wanted.most if wanted else None),
    ]
    return of_size(pairs)
