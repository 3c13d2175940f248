# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Places: an account's, its clusters' and their flavors', as each provider has them (spec: provider differences)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from . import patterns
from .adopt_ids import parse_adopt_id
from .spelling import KeyPath
from .wording import found, shown

Told = Iterator[tuple[KeyPath, str]]

_AWS_ZONE_OF_REGION = re.compile(r"([a-z]{1,2}|-[a-z]+-[0-9]{1,2}[a-z])", re.ASCII)
"""What follows a region's name in a zone's: `us-east-1` + `a`, or a local zone's `us-west-2` + `-lax-1a`."""

_GCP_ZONE = re.compile(patterns.GCP_ZONE.removesuffix("$"), re.ASCII)


def account_places(path: KeyPath, provider: str | None, config: Mapping[str, Any]) -> Told:
    """What is wrong between the places that an account names."""
    region = config.get("region")
    if provider != "aws" or not isinstance(region, str):
        return
    for zone_path, zone in texts((*path, "zones"), config.get("zones")):
        if not _is_aws_zone_of(zone, region):
            yield zone_path, f"expected a zone of the account's region {shown(region)}, found {found(zone)}"


def substrate_places(path: KeyPath, substrate: Mapping[str, Any], provider: str, config: Mapping[str, Any]) -> Told:
    """What is wrong between a substrate's places and its account's."""
    where, location = _cluster_place((*path, "cluster"), substrate.get("cluster"), provider)
    if provider == "gcp":
        yield from _gcp(path, where, location, substrate, config)
        return
    region = config.get("region")
    if not isinstance(region, str):
        return
    if isinstance(location, str) and location != region:
        expected = f"expected the account's region {shown(region)}, found {found(location)}"
        is_zone = provider == "aws" and _is_aws_zone_of(location, region)
        yield where, f"{expected}: an EKS cluster stands in a region, not in a zone" if is_zone else expected
    if provider == "aws":
        yield from _aws_flavors(path, substrate, region, config.get("zones"))


def _cluster_place(path: KeyPath, cluster: object, provider: str) -> tuple[KeyPath, object]:
    """Where the document says a cluster's location, and which it is; None where it says none."""
    if not isinstance(cluster, Mapping):
        return path, None
    create, adopt = cluster.get("create"), cluster.get("adopt")
    if isinstance(adopt, str):
        adopted = parse_adopt_id(provider, adopt)
        return (*path, "adopt"), adopted.location if adopted else None
    return (*path, "create", "location"), create.get("location") if isinstance(create, Mapping) else None


def texts(path: KeyPath, values: object) -> Iterator[tuple[KeyPath, str]]:
    """The texts of a list, with their paths; nothing where it is none."""
    if isinstance(values, list):
        for index, value in enumerate(values):
            if isinstance(value, str):
                yield (*path, index), value


def _is_aws_zone_of(zone: str, region: str) -> bool:
    return zone.startswith(region) and _AWS_ZONE_OF_REGION.fullmatch(zone.removeprefix(region)) is not None


def _flavor_zones(path: KeyPath, substrate: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    flavors = substrate.get("flavors")
    if isinstance(flavors, list):
        for index, flavor in enumerate(flavors):
            if isinstance(flavor, Mapping):
                yield from texts((*path, "flavors", index, "zones"), flavor.get("zones"))


def _aws_flavors(path: KeyPath, substrate: Mapping[str, Any], region: str, own_zones: object) -> Told:
    for zone_path, zone in _flavor_zones(path, substrate):
        if not _is_aws_zone_of(zone, region):
            yield zone_path, f"expected a zone of the account's region {shown(region)}, found {found(zone)}"
        elif isinstance(own_zones, list) and zone not in own_zones:
            yield zone_path, f"expected one of the account's zones, found {found(zone)}"


def _gcp(
    path: KeyPath, where: KeyPath, location: object, substrate: Mapping[str, Any], config: Mapping[str, Any]
) -> Told:
    if not isinstance(location, str):
        return
    own_zones = config.get("zones")
    own = [zone for _path, zone in texts((), own_zones)] if isinstance(own_zones, list) else None
    region = gcp_region(location) or location
    if _GCP_ZONE.fullmatch(f"{region}-a") is None:
        yield (
            where,
            f"expected a region or zone, e.g. us-central1 or us-central1-a, found {found(location)}",
        )
        return
    if own is not None and location not in own and location not in {gcp_region(zone) for zone in own}:
        yield where, f"expected one of the account's zones, or their region, found {found(location)}"
    for zone_path, zone in _flavor_zones(path, substrate):
        if gcp_region(zone) != region:
            yield zone_path, f"expected a zone of the cluster's region {shown(region)}, found {found(zone)}"
        elif own is not None and zone not in own:
            yield zone_path, f"expected one of the account's zones, found {found(zone)}"


def gcp_region(zone: str) -> str | None:
    """The region that a zone is in; None for what is no zone."""
    return zone.rpartition("-")[0] if _GCP_ZONE.fullmatch(zone) else None
