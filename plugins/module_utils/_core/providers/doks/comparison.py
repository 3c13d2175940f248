# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In what a node pool is not as it is wanted, and what a PUT has to carry so that nothing else changes. No I/O.

A PUT replaces the whole: whatever it leaves out may be lost. So it carries all that the node pool has, the user's tags,
labels and taints too, with what differs put right. Only a count that is the autoscaler's is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ...model.observed import Difference, ObservedNodePool
from ..contract import NodePoolSpec
from ..differences import labels_after, of_labels, of_shape, of_size, of_taints, within
from .sizes import gpus_of
from .taints import is_automatic, to_doks

_AUTOMATIC_TAGS = ("k8s", "k8s-worker")
_AUTOMATIC_TAG_PREFIX = "k8s:"


def differences(spec: NodePoolSpec, observed: ObservedNodePool) -> tuple[Difference, ...]:
    """contract.Driver.compare."""
    bare = _without_automatic_taints(spec, observed)
    bounds, wanted = observed.bounds, spec.bounds
    return (
        *_of_shape(spec, observed),
        *of_size(
            (
                ("totalNodes", observed.nodes, wanted_count(spec, observed)),
                ("autoscaling.minNodes", bounds.least if bounds else None, wanted.least if wanted else None),
                ("autoscaling.maxNodes", bounds.most if bounds else None, wanted.most if wanted else None),
            )
        ),
        *of_labels(spec, observed),
        *of_taints(spec, bare),
    )


def first_count(spec: NodePoolSpec) -> int:
    """How many nodes a node pool is made with."""
    return within(spec.nodes, spec.bounds) if spec.bounds else spec.nodes


def wanted_count(spec: NodePoolSpec, observed: ObservedNodePool) -> int:
    """How many nodes it is to have: a count that is the autoscaler's only goes to the nearest bound."""
    if spec.bounds and spec.keep_count:
        return within(observed.nodes, spec.bounds)
    return first_count(spec)


def create_body(spec: NodePoolSpec, *, tags: Iterable[str]) -> dict[str, Any]:
    """What makes the node pool, alone or in the create of its cluster."""
    return {
        "name": spec.name,
        "size": spec.machine_type,
        "count": first_count(spec),
        "tags": list(tags),
        "labels": dict(spec.labels),
        "taints": to_doks(spec.taints or ()),
        **_bounds(spec),
        # A preview: the API's public model has no such field. Read back, so that one that was ignored shows.
        **({"spot": True} if spec.spot else {}),
    }


def update_body(spec: NodePoolSpec, observed: ObservedNodePool, held: Mapping[str, Any]) -> dict[str, Any]:
    """The PUT that brings the node pool to what is wanted.

    Arguments:
        held: the node pool as DOKS just described it; `observed` is the same in the contract's words.
    """
    count = wanted_count(spec, observed)
    # The autoscaler may have moved it since it was read; one that is sent is obeyed.
    autoscalers_own = spec.bounds and observed.bounds and count == observed.nodes
    return {
        "name": held["name"],
        **({} if autoscalers_own else {"count": count}),
        "tags": [tag for tag in held["tags"] if not _is_automatic_tag(tag)],
        "labels": labels_after(spec, observed),
        "taints": to_doks(_taints_after(spec, observed)),
        **_bounds(spec),
    }


def _bounds(spec: NodePoolSpec) -> dict[str, Any]:
    if not spec.bounds:
        return {"auto_scale": False}
    return {"auto_scale": True, "min_nodes": spec.bounds.least, "max_nodes": spec.bounds.most}


def _taints_after(spec: NodePoolSpec, observed: ObservedNodePool) -> list[Any]:
    if spec.taints is None:
        return list(observed.taints)
    return sorted({*spec.taints, *(taint for taint in observed.taints if is_automatic(taint))})


def _without_automatic_taints(spec: NodePoolSpec, observed: ObservedNodePool) -> ObservedNodePool:
    declared = set(spec.taints or ())
    return replace(
        observed, taints=tuple(taint for taint in observed.taints if taint in declared or not is_automatic(taint))
    )


def _of_shape(spec: NodePoolSpec, observed: ObservedNodePool) -> Iterable[Difference]:
    pairs: list[tuple[str, object, object]] = [
        ("machineType", observed.machine_type, spec.machine_type),
        ("spot", observed.spot, spec.spot),
        # What DOKS has not, asked for all the same.
        ("zones", [], sorted(set(spec.places))),
        ("diskGiB", None, spec.disk_gib),
        ("diskType", None, spec.disk_type),
    ]
    gpus = gpus_of(observed.machine_type)
    if spec.gpus_per_node and gpus is not None:
        pairs.append(("accelerators.count", gpus, spec.gpus_per_node))
    return of_shape(pairs)


def _is_automatic_tag(tag: str) -> bool:
    return tag in _AUTOMATIC_TAGS or tag.startswith(_AUTOMATIC_TAG_PREFIX)
