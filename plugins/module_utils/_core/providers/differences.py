# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In what a node pool is not as it is wanted, as far as providers do not differ: shape, labels and taints. No I/O.

Labels and taints are sets: only those that are missing, too many or of another value are told of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.declared import Taint
from ..model.node_marks import is_reserved
from ..model.observed import Difference, NodeBounds, ObservedNodePool
from .contract import NodePoolSpec


def of_shape(pairs: Iterable[tuple[str, object, object]]) -> Iterator[Difference]:
    """What stays as it is for life. Arguments: pairs: path, held, wanted."""
    for path, held, wanted in pairs:
        if held != wanted:
            yield Difference(path=path, held=held, wanted=wanted, in_place=False)


def of_size(pairs: Iterable[tuple[str, int | None, int | None]]) -> Iterator[Difference]:
    """What can be changed in place. Arguments: pairs: path, held, wanted."""
    for path, held, wanted in pairs:
        if held != wanted:
            yield Difference(path=path, held=held, wanted=wanted, in_place=True)


def of_labels(spec: NodePoolSpec, observed: ObservedNodePool) -> Iterator[Difference]:
    """Labels that are missing or, where all are declared, too many."""
    held, wanted = observed.labels, spec.labels
    missing = {key: value for key, value in wanted.items() if held.get(key) != value}
    too_many = labels_too_many(spec, observed)
    if missing or too_many:
        apart = {key: value for key, value in held.items() if key in missing or key in too_many}
        yield Difference(path="labels", held=apart, wanted=missing, in_place=True)


def labels_too_many(spec: NodePoolSpec, observed: ObservedNodePool) -> set[str]:
    """The keys of labels that are to go: none that is ours or reserved."""
    if not spec.labels_declared:
        return set()
    return {key for key in observed.labels if key not in spec.labels and not is_reserved(key)}


def labels_after(spec: NodePoolSpec, observed: ObservedNodePool) -> dict[str, str]:
    """All labels once they are as wanted."""
    too_many = labels_too_many(spec, observed)
    return {key: value for key, value in observed.labels.items() if key not in too_many} | dict(spec.labels)


def of_taints(spec: NodePoolSpec, observed: ObservedNodePool) -> Iterator[Difference]:
    """Taints that are missing or too many, where they are declared."""
    too_many, missing = taints_apart(spec, observed)
    if too_many or missing:
        held, wanted = [taint.to_data() for taint in too_many], [taint.to_data() for taint in missing]
        yield Difference(path="taints", held=held, wanted=wanted, in_place=True)


def taints_apart(spec: NodePoolSpec, observed: ObservedNodePool) -> tuple[list[Taint], list[Taint]]:
    """The taints that are held and not wanted, and those that are wanted and not held."""
    if spec.taints is None:
        return [], []
    held, wanted = set(observed.taints), set(spec.taints)
    return sorted(held - wanted), sorted(wanted - held)


def within(nodes: int, bounds: NodeBounds | None) -> int:
    """The nearest number that the bounds allow: without any, every number."""
    return min(max(nodes, bounds.least), bounds.most) if bounds else nodes


def told(differences: Iterable[Difference]) -> str:
    """Differences in a sentence."""
    return "; ".join(f"{item.path} from {item.held} to {item.wanted}" for item in differences)
