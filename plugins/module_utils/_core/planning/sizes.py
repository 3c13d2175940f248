# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How large flavors are: nodes x zones, and what is to be said of zones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model.capabilities import CAPABILITIES
from ..model.declared import Account, CreateCluster, Flavor, FleetConfig, Substrate
from .changes import FlavorSize
from .fields import account_values
from .naming import Declared, Key, key, titled
from .recorded import Index

Zones = Mapping[str, tuple[str, ...]]

_PLACES = ("config.region", "config.zones", "config.eksSubnetIds")
"""What an account's zones follow from."""


def zones_of_accounts(config: FleetConfig, recorded: Index, *, zones: Zones) -> dict[Key, frozenset[str]]:
    """The zones that each declared account's node pools are spread over; one of which they are not known is missing."""
    known = {}
    for account in config.accounts:
        if account.name in zones:
            known[key(account)] = frozenset(zones[account.name])
        elif (recorded_zones := _recorded_zones(account, recorded)) is not None:
            known[key(account)] = recorded_zones
    return known


def sizes(
    config: FleetConfig, declared: Declared, account_zones: Mapping[Key, frozenset[str]]
) -> tuple[FlavorSize, ...]:
    """The size of every declared flavor, in the document's order."""
    return tuple(
        _size(titled(key(pool)), flavor, account, _near(pool.substrate, account, account_zones.get(key(account))))
        for pool in config.pools
        if pool.substrate
        for account in (declared.account_of(pool, pool.substrate),)
        for flavor in pool.substrate.flavors
    )


def warnings(config: FleetConfig, declared: Declared, account_zones: Mapping[Key, frozenset[str]]) -> Iterator[str]:
    """Accounts whose zones are not known, or not those that they declare, and flavors in zones without a place."""
    unknown: dict[str, str] = {}
    for pool in config.pools:
        if pool.substrate is None:
            continue
        account = declared.account_of(pool, pool.substrate)
        known = account_zones.get(key(account))
        if known:
            yield from _without_place(titled(key(pool)), pool.substrate.flavors, account, known)
        elif CAPABILITIES[account.provider].per_zone_counts and not all(f.zones for f in pool.substrate.flavors):
            unknown[titled(key(account))] = account.provider
    for title, provider in sorted(unknown.items()):
        if provider == "gcp":  # which has no subnets that could be asked
            yield (
                f"provider account {title} names no zones: GKE chooses those of a cluster's region, often three, and "
                "a flavor without zones of its own has its nodes in each of them"
            )
        else:
            yield (
                f"the zones of provider account {title} are not known yet: its flavors count nodes per zone, and "
                "their totals are shown once the zones were read"
            )
    for account in config.accounts:
        known, named = account_zones.get(key(account)), frozenset(account.config.get("zones", ()))
        if known and named and known != named:
            yield (
                f"provider account {titled(key(account))} declares the zones {_listed(named)}, and its subnets are in "
                f"{_listed(known)}: flavors without zones of their own are spread over those of the subnets"
            )


def _near(substrate: Substrate, account: Account, known: frozenset[str] | None) -> frozenset[str] | None:
    """Those of an account's zones that are in its cluster's region: a Google account may name others. None: who knows.

    An account that names none leaves them to its provider.
    """
    if known and account.provider == "gcp" and isinstance(substrate.cluster, CreateCluster):
        location = substrate.cluster.location
        known = frozenset(zone for zone in known if _region(zone) in (location, _region(location)))
    return known or None


def _region(zone: str) -> str:
    """The region of one of Google's zones."""
    return zone.rpartition("-")[0]


def _recorded_zones(account: Account, recorded: Index) -> frozenset[str] | None:
    """The zones that were read for the account, if it still looks where it looked then."""
    record = recorded.accounts.get(key(account))
    if record is None or record.zones is None:
        return None
    before, after = account_values(record), account_values(account)
    return frozenset(record.zones) if all(before.get(path) == after.get(path) for path in _PLACES) else None


def _size(pool: str, flavor: Flavor, account: Account, account_zones: frozenset[str] | None) -> FlavorSize:
    count: int | None = None
    times: int | None = 1
    if CAPABILITIES[account.provider].per_zone_counts:
        spread = frozenset(flavor.zones) or account_zones
        count = times = None if spread is None else len(spread)
    scaling, per_node = flavor.autoscaling, flavor.gpus.count if flavor.gpus else 0
    return FlavorSize(
        pool=pool,
        flavor=flavor.name,
        spot=flavor.spot,
        nodes=flavor.nodes,
        zones=count,
        total=None if times is None else flavor.nodes * times,
        gpus=None if times is None else flavor.nodes * times * per_node,
        bounds=scaling,
        least=scaling.min_nodes * times if scaling and times is not None else None,
        most=scaling.max_nodes * times if scaling and times is not None else None,
    )


def _without_place(pool: str, flavors: tuple[Flavor, ...], account: Account, known: frozenset[str]) -> Iterator[str]:
    for flavor in flavors:
        strange = frozenset(flavor.zones) - known
        if strange:
            yield (
                f"pool {pool}, flavor {flavor.name}: provider account {titled(key(account))} has no subnet in "
                f"{_listed(strange)}, so its node pool cannot be made"
            )


def _listed(zones: frozenset[str]) -> str:
    return ", ".join(sorted(zones))
