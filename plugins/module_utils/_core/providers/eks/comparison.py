# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In what a node group is not as it is wanted, and what of that UpdateNodegroupConfig has to carry. No I/O.

Of labels and taints only those that are missing, too many or of another value are sent. EKS has bounds for every group:
those of a fixed size leave no room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...model.observed import Difference, NodeBounds, ObservedNodePool
from ..contract import NodePoolSpec
from ..differences import labels_after, of_labels, of_shape, of_size, of_taints, taints_apart, within
from . import taints
from .images import right_image


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What EKS calls a scalingConfig: `least` <= `nodes` <= `most`, and room for at least one node."""

    nodes: int
    bounds: NodeBounds

    def as_block(self) -> dict[str, int]:
        """In EKS's words."""
        return {"minSize": self.bounds.least, "maxSize": self.bounds.most, "desiredSize": self.nodes}


def differences(spec: NodePoolSpec, observed: ObservedNodePool) -> tuple[Difference, ...]:
    """contract.Driver.compare."""
    return (
        *_of_shape(spec, observed),
        *_of_size(spec, observed),
        *of_labels(spec, observed),
        *of_taints(spec, observed),
    )


def first_size(spec: NodePoolSpec) -> Size:
    """The size that a node group is made with."""
    bounds = spec.bounds or fixed_bounds(spec.nodes)
    return Size(nodes=within(spec.nodes, bounds), bounds=bounds)


def wanted_size(spec: NodePoolSpec, observed: ObservedNodePool) -> Size:
    """The size that a node group is to have: a count that is the autoscaler's only goes to the nearest bound."""
    if spec.bounds and spec.keep_count:
        return Size(nodes=within(observed.nodes, spec.bounds), bounds=spec.bounds)
    return first_size(spec)


def fixed_bounds(nodes: int) -> NodeBounds:
    """The bounds of a fixed size. EKS wants room for at least one node even at 0."""
    return NodeBounds(least=nodes, most=max(1, nodes))


def delta(spec: NodePoolSpec, observed: ObservedNodePool) -> dict[str, Any]:
    """The blocks of UpdateNodegroupConfig, empty when nothing differs that can be changed.

    Of the size only the numbers that differ. What EKS needs together is together by itself: a minimum above the
    desired size, or a maximum below, makes that another one too.
    """
    blocks: dict[str, Any] = {}
    numbers = _numbers(spec, observed)
    if numbers:
        blocks["scalingConfig"] = numbers
    for item in of_labels(spec, observed):
        gone = sorted(set(item.held) - set(item.wanted))
        blocks["labels"] = _filled(addOrUpdateLabels=item.wanted, removeLabels=gone)
    too_many, missing = taints_apart(spec, observed)
    if too_many or missing:
        standing = {(taint.key, taint.effect) for taint in missing}
        gone_taints = [taint for taint in too_many if (taint.key, taint.effect) not in standing]
        blocks["taints"] = _filled(
            addOrUpdateTaints=taints.in_eks_words(missing), removeTaints=taints.in_eks_words(gone_taints)
        )
    return blocks


def changed(spec: NodePoolSpec, observed: ObservedNodePool) -> ObservedNodePool:
    """The node group once what delta() carries is done."""
    size = wanted_size(spec, observed)
    return replace(
        observed,
        nodes=size.nodes,
        bounds=size.bounds,
        labels=labels_after(spec, observed),
        taints=observed.taints if spec.taints is None else tuple(sorted(spec.taints)),
    )


def _of_shape(spec: NodePoolSpec, observed: ObservedNodePool) -> Iterator[Difference]:
    pairs: list[tuple[str, object, object]] = [
        ("machineType", observed.machine_type, spec.machine_type),
        ("spot", observed.spot, spec.spot),
        ("image", observed.image, right_image(observed.image, gpus=spec.gpus_per_node > 0)),
        ("zones", sorted(observed.places), sorted(set(spec.places))),
    ]
    if spec.disk_gib is not None:
        pairs.append(("diskGiB", observed.disk_gib, spec.disk_gib))
    if spec.disk_type is not None:
        pairs.append(("diskType", None, spec.disk_type))
    return of_shape(pairs)


def _of_size(spec: NodePoolSpec, observed: ObservedNodePool) -> Iterator[Difference]:
    size = wanted_size(spec, observed)
    pairs: list[tuple[str, int | None, int | None]] = [("totalNodes", observed.nodes, size.nodes)]
    held = observed.bounds
    # From one fixed size to another the bounds go along: that is one difference to a reader, and not three.
    if spec.bounds or held != fixed_bounds(observed.nodes):
        pairs += [
            ("autoscaling.minNodes", held.least if held else None, size.bounds.least),
            ("autoscaling.maxNodes", held.most if held else None, size.bounds.most),
        ]
    return of_size(pairs)


def _numbers(spec: NodePoolSpec, observed: ObservedNodePool) -> dict[str, int]:
    held = Size(nodes=observed.nodes, bounds=observed.bounds).as_block() if observed.bounds else {}
    wanted = wanted_size(spec, observed).as_block()
    return {name: number for name, number in wanted.items() if number != held.get(name)}


def _filled(**parts: Any) -> dict[str, Any]:
    """Without the empty ones: EKS refuses an update that says nothing."""
    return {name: part for name, part in parts.items() if part}
