# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Regions and zones in Google's spelling, and which of the account's a cluster and its node pools get. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ...model.errors import InvalidRequest
from ...model.observed import NodeBounds
from ..contract import NodePoolSpec
from .settings import GkeSettings

_LOCATION = re.compile(r"(?P<region>[a-z]+(-[a-z]+)+[0-9]+)(-[a-z0-9]+)?", re.ASCII)
"""`us-central1`, `us-central1-a`."""


def region_of(location: str) -> str | None:
    """The region of a zone, or the region itself; None for what is neither."""
    found = _LOCATION.fullmatch(location)
    return found["region"] if found else None


def check_location(settings: GkeSettings, *, cluster: str, location: str) -> None:
    """Raises InvalidRequest when the account can make no cluster there."""
    region = region_of(location)
    if region is None:
        raise InvalidRequest(f"cluster {cluster!r} is to be in {location!r}, which is no region or zone of Google's")
    zones = settings.zones
    if zones and location not in zones and location not in {region_of(zone) for zone in zones}:
        raise InvalidRequest(
            f"cluster {cluster!r} is to be in {location!r}, but its account is for {', '.join(zones)} and their regions"
        )


def default_zones(settings: GkeSettings, location: str) -> list[str]:
    """The zones that a new cluster has its nodes in: the account's in its region. Empty leaves them to GKE.

    The cluster's own zone is among them (documents see to that), as GKE wants it to be.
    """
    return sorted(zone for zone in settings.zones if region_of(zone) == region_of(location))


def in_region(spec: NodePoolSpec, location: str) -> NodePoolSpec:
    """The node pool with those of its places that are in the region of `location`, and totals over these.

    Raises:
        InvalidRequest: it has places, and none of them is there.
    """
    places = tuple(sorted(place for place in set(spec.places) if region_of(place) == region_of(location)))
    if spec.places and not places:
        raise InvalidRequest(
            f"node pool {spec.name!r} is to be in {', '.join(spec.places)}: none of them is in {location}'s region"
        )
    return _spread(spec, places, was=len(set(spec.places)))


def as_observed(spec: NodePoolSpec, zones: Iterable[str]) -> NodePoolSpec:
    """The node pool as it is wanted of one that stands in `zones`: without places of its own it stands there."""
    known = sorted(zones)
    if not known:
        return spec
    return in_region(spec, known[0]) if spec.places else _spread(spec, tuple(known), was=1)


def _spread(spec: NodePoolSpec, places: tuple[str, ...], *, was: int) -> NodePoolSpec:
    times = len(places)
    if times == was:
        return replace(spec, places=places)
    bounds = spec.bounds
    return replace(
        spec,
        places=places,
        nodes=spec.nodes * times // was,
        bounds=NodeBounds(least=bounds.least * times // was, most=bounds.most * times // was) if bounds else None,
    )
