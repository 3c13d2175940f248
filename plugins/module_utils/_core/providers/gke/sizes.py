# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The size that a node pool was asked to have, kept in a resource label of ours on it.

GKE's description of a node pool has no current size: `initialNodeCount` never follows, and the real one lives in
Compute Engine, one group a zone. So the size is written down at the node pool itself once GKE has set it, and the label
says whether that is still sure: not while another is being set, and never under an autoscaler. No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...model.errors import InvalidRequest
from ...model.observed import NodeBounds, ObservedNodePool
from ..contract import NodePoolSpec

NODES_LABEL = "better-compute-nodes"
"""`5`: five nodes in each zone. `5-asked`: five were asked for last; whether there are five is not known."""

_UNSURE = "-asked"
_VALUE = re.compile(rf"([0-9]{{1,6}})({_UNSURE})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the label says.

    Attributes:
        per_zone: nodes in each zone.
        sure: whether that is how it is, unless somebody else moved it.
    """

    per_zone: int
    sure: bool

    @classmethod
    def of(cls, tags: Mapping[str, str]) -> Asked | None:
        """What is written among a node pool's tags; None where nothing is that makes sense."""
        found = _VALUE.fullmatch(tags.get(NODES_LABEL, ""))
        return cls(per_zone=int(found[1]), sure=not found[2]) if found else None

    @property
    def label(self) -> dict[str, str]:
        """The label that says it."""
        return {NODES_LABEL: f"{self.per_zone}{'' if self.sure else _UNSURE}"}


@dataclass(frozen=True, slots=True)
class Resize:
    """Each zone is to get another size."""

    per_zone: int


class Rebound:
    """The autoscaler is to get other bounds, or to be switched on or off."""


def within(nodes: int, bounds: NodeBounds | None) -> int:
    """The total nearest to `nodes` that `bounds` allow."""
    return min(max(nodes, bounds.least), bounds.most) if bounds else nodes


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


def first_size(spec: NodePoolSpec) -> int:
    """The size of each zone that a node pool is made with."""
    return per_zone(spec, within(spec.nodes, spec.bounds))


def known_total(observed: ObservedNodePool, *, bounds: NodeBounds | None) -> int | None:
    """The total that a node pool has for sure or, under an autoscaler that stays, was asked for last; None: who knows.

    Arguments:
        bounds: those that it is to have.
    """
    asked = Asked.of(observed.tags)
    if asked is None or (not (bounds and observed.bounds) and (not asked.sure or observed.bounds)):
        return None
    return asked.per_zone * max(1, len(observed.places))


def wanted_total(spec: NodePoolSpec, observed: ObservedNodePool) -> int:
    """The total that a node pool is to have: a count that is the autoscaler's only goes to the nearest bound."""
    keeps = spec.bounds is not None and spec.keep_count
    return within(observed.nodes if keeps else spec.nodes, spec.bounds)


def next_of_size(
    spec: NodePoolSpec, observed: ObservedNodePool, *, done: int | None
) -> Resize | Rebound | Asked | None:
    """What is to be done next about a node pool's size: sent to GKE, or written down. None: nothing.

    Before anything may move the size, a call of ours or an autoscaler, the label stops being sure of it; it is sure
    again only after a size was set without an autoscaler. So whatever is lost in between, and whatever is wanted by
    then, no label lies.

    Arguments:
        spec: on the zones that it stands in.
        done: the size of each zone that the last change brought, if that was one of size and is done.

    Raises:
        InvalidRequest: see per_zone.
    """
    asked, wanted = Asked.of(observed.tags), per_zone(spec, wanted_total(spec, observed))
    unsure = Asked(per_zone=wanted, sure=False)
    if observed.bounds:
        if asked is None or asked.sure:
            return Asked(per_zone=asked.per_zone, sure=False) if asked else unsure
        if observed.bounds != spec.bounds:
            return Rebound()
        if spec.keep_count or asked.per_zone == wanted:
            return None
        return unsure if done == wanted else Resize(wanted)
    if asked and asked.sure:
        return None if asked.per_zone == wanted and not spec.bounds else unsure
    if done != wanted:
        return Resize(wanted)
    return Rebound() if spec.bounds else Asked(per_zone=wanted, sure=True)
