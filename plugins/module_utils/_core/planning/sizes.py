# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How large flavors are: nodes x zones, and what is to be said of zones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model.capabilities import CAPABILITIES
from ..model.declared import Account, AdoptCluster, CreateCluster, Flavor, FleetConfig, Pool, Substrate
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
    config: FleetConfig, declared: Declared, recorded: Index, account_zones: Mapping[Key, frozenset[str]]
) -> tuple[FlavorSize, ...]:
    """The size of every declared flavor, in the document's order."""
    return tuple(
        _size(titled(key(pool)), flavor, account, spread)
        for pool in config.pools
        if pool.substrate
        for account in (declared.account_of(pool, pool.substrate),)
        for spread in (_spread(pool, pool.substrate, account, recorded, account_zones.get(key(account))),)
        for flavor in pool.substrate.flavors
    )


def warnings(
    config: FleetConfig, declared: Declared, recorded: Index, account_zones: Mapping[Key, frozenset[str]]
) -> Iterator[str]:
    """Accounts whose zones are not known, or not those that they declare, and flavors in zones without a place."""
    unknown: dict[str, str] = {}
    for pool in config.pools:
        if pool.substrate is None:
            continue
        account = declared.account_of(pool, pool.substrate)
        known = account_zones.get(key(account))
        if adopted := _with_zones(pool.substrate, account):
            if not _read_zones(pool, recorded) and not all(flavor.zones for flavor in pool.substrate.flavors):
                yield (
                    f"pool {titled(key(pool))}: flavors without zones of their own have their nodes in each of the "
                    f"zones of cluster {adopted.id}, which are known once the cluster was read"
                )
        elif known:
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


def _with_zones(substrate: Substrate, account: Account) -> AdoptCluster | None:
    """The cluster, if it and not the account says where flavors without zones stand: an adopted one at GKE (spec)."""
    cluster = substrate.cluster
    return cluster if CAPABILITIES[account.provider].cluster_zones and isinstance(cluster, AdoptCluster) else None


def _read_zones(pool: Pool, recorded: Index) -> frozenset[str]:
    """The zones that a pool's cluster said it has its nodes in; none where it was not read, or did not say."""
    facts = recorded.pools.get(key(pool))
    outputs = facts.cluster.outputs if facts and facts.cluster else None
    return frozenset(outputs.zones) if outputs else frozenset()


def _spread(
    pool: Pool, substrate: Substrate, account: Account, recorded: Index, known: frozenset[str] | None
) -> frozenset[str] | None:
    """The zones that flavors without their own are spread over. None: who knows.

    Those of an account that are in its cluster's region: a Google account may name others. An account that names none
    leaves them to its provider.
    """
    if _with_zones(substrate, account):
        return _read_zones(pool, recorded) or None
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
