# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The size that a node pool was asked to have, kept in a resource label of ours on it.

GKE's description of a node pool has no current size: `initialNodeCount` never follows, and the real one lives in
Compute Engine, one group a zone. So a size that was set is written down at the node pool itself, and before anything
may move it, a call of ours or an autoscaler, the label says so. No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ...model.errors import InvalidRequest
from ...model.observed import ObservedNodePool
from ..contract import NodePoolSpec
from ..differences import within

NODES_LABEL = "better-compute-nodes"
"""`5`, `5-asking` or `5-autoscaled`: see Standing."""


class Standing(StrEnum):
    """What a size that is written down is worth."""

    SET = ""
    """It is so, unless somebody else moved it."""
    ASKING = "-asking"
    """It is to be set: whether it is, only GKE's operations tell. No other size was asked for since."""
    AUTOSCALED = "-autoscaled"
    """It was asked for last, and an autoscaler may have moved it since."""


_VALUE = re.compile(rf"([0-9]{{1,6}})({'|'.join(Standing)})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the label says: the size of each zone, and what that is worth."""

    per_zone: int
    standing: Standing = Standing.SET

    @classmethod
    def of(cls, tags: Mapping[str, str]) -> Asked | None:
        """What is written among a node pool's tags; None where nothing is that makes sense."""
        found = _VALUE.fullmatch(tags.get(NODES_LABEL, ""))
        return cls(per_zone=int(found[1]), standing=Standing(found[2])) if found else None

    @property
    def label(self) -> dict[str, str]:
        """The label that says it."""
        return {NODES_LABEL: f"{self.per_zone}{self.standing}"}


@dataclass(frozen=True, slots=True)
class Resize:
    """Each zone is to get another size."""

    per_zone: int


class Rebound:
    """The autoscaler is to get other bounds, or to be switched on or off."""


def per_zone(spec: NodePoolSpec, nodes: int) -> int:
    """The size of each zone that gives a total: with bounds the smallest that reaches it, or else just that.

    Arguments:
        spec: with its places; without any, totals are those of one zone.

    Raises:
        InvalidRequest: a fixed total that its zones cannot share evenly.
    """
    zones = max(1, len(spec.places))
    whole, rest = divmod(nodes, zones)
    if not rest:
        return whole
    if spec.bounds is None:
        raise InvalidRequest(
            f"node pool {spec.name!r} is to have {nodes} nodes in {zones} zones: GKE has as many in each of them"
        )
    return whole + 1 if (whole + 1) * zones <= spec.bounds.most else whole


def first_size(spec: NodePoolSpec) -> Asked:
    """The size that a node pool is made with.

    Raises:
        InvalidRequest: see per_zone.
    """
    return Asked(per_zone=per_zone(spec, within(spec.nodes, spec.bounds)), standing=_at_rest(spec))


def wanted_total(spec: NodePoolSpec, observed: ObservedNodePool) -> int:
    """The total that a node pool is to have: a count that is the autoscaler's only goes to the nearest bound."""
    keeps = spec.bounds is not None and spec.keep_count
    return within(observed.nodes if keeps else spec.nodes, spec.bounds)


def held_total(spec: NodePoolSpec, observed: ObservedNodePool) -> int | None:
    """The total that a node pool has, or is taken to have where it is the autoscaler's; None: who knows."""
    asked = Asked.of(observed.tags)
    if spec.bounds and spec.keep_count and (asked is None or asked.standing is not Standing.ASKING):
        return observed.nodes
    known = Standing.AUTOSCALED if spec.bounds else Standing.SET
    if asked is None or asked.standing not in (Standing.SET, known) or (observed.bounds and not spec.bounds):
        return None
    return asked.per_zone * max(1, len(observed.places))


def next_of_size(
    spec: NodePoolSpec, observed: ObservedNodePool, *, was_set: bool = False
) -> Resize | Rebound | Asked | None:
    """What is to be done next about a node pool's size: sent to GKE, or written down. None: nothing.

    Whatever is lost between two steps, and whatever is wanted by then, no label lies.

    Arguments:
        spec: on the zones that it stands in.
        was_set: whether the last thing that happened to the node pool is that its size was set. Only of interest where
            the label says that it is being asked for.

    Raises:
        InvalidRequest: see per_zone.
    """
    asked, on, wanted = Asked.of(observed.tags), observed.bounds, per_zone(spec, wanted_total(spec, observed))
    if on and (asked is None or asked.standing is Standing.SET):
        return Asked(per_zone=asked.per_zone if asked else wanted, standing=Standing.AUTOSCALED)
    if on and on != spec.bounds:
        return Rebound()
    if _is_to_be_set(spec, observed, wanted=wanted, was_set=was_set):
        asking = Asked(per_zone=wanted, standing=Standing.ASKING)
        return Resize(wanted) if asked == asking else asking
    if asked and asked.standing is not _at_rest(spec):
        return Asked(per_zone=asked.per_zone, standing=_at_rest(spec))
    return Rebound() if on != spec.bounds else None


def _is_to_be_set(spec: NodePoolSpec, observed: ObservedNodePool, *, wanted: int, was_set: bool) -> bool:
    asked = Asked.of(observed.tags)
    if asked is None:
        return True
    if asked.standing is Standing.ASKING:
        return asked.per_zone != wanted or not was_set
    if asked.standing is Standing.AUTOSCALED and not spec.bounds:
        return True
    return asked.per_zone != wanted and not (observed.bounds and spec.keep_count)


def _at_rest(spec: NodePoolSpec) -> Standing:
    return Standing.AUTOSCALED if spec.bounds else Standing.SET
