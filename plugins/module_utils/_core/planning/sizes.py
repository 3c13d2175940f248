# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How large flavors are: nodes x zones, and the limits on that."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.capabilities import CAPABILITIES, MAX_NODE_POOLS
from ..model.declared import Account, Flavor, FleetConfig
from ..model.errors import Code, OperationError
from .changes import FlavorSize
from .fields import account_values
from .recorded import Index

Zones = Mapping[str, tuple[str, ...]]

_PLACES = ("config.region", "config.zones", "config.eksSubnetIds")
"""What an account's zones follow from."""


def zone_count(flavor: Flavor, account: Account, recorded: Index, *, zones: Zones) -> int | None:
    """How many zones a flavor spans; None while that is not known."""
    if flavor.zones:
        return len(set(flavor.zones))
    if account.name in zones:
        return len(set(zones[account.name]))
    record = recorded.accounts.get(account.name)
    if record is None or record.zones is None:
        return None
    before, after = account_values(record), account_values(account)
    unmoved = all(before.get(path) == after.get(path) for path in _PLACES)
    return len(set(record.zones)) if unmoved else None


def sizes(config: FleetConfig, recorded: Index, *, zones: Zones) -> tuple[FlavorSize, ...]:
    """The size of every declared flavor."""
    accounts = {account.name: account for account in config.accounts}
    return tuple(
        _size(pool.name, flavor, accounts[pool.substrate.account], recorded, zones=zones)
        for pool in config.pools
        if pool.substrate
        for flavor in pool.substrate.flavors
    )


def _size(pool: str, flavor: Flavor, account: Account, recorded: Index, *, zones: Zones) -> FlavorSize:
    count, total = None, None
    if not CAPABILITIES[account.provider].per_zone_counts:
        total = flavor.nodes
    elif (count := zone_count(flavor, account, recorded, zones=zones)) is not None:
        total = flavor.nodes * count
    per_node = flavor.gpus.count if flavor.gpus else 0
    return FlavorSize(
        pool=pool,
        flavor=flavor.name,
        spot=flavor.spot,
        nodes=flavor.nodes,
        zones=count,
        total=total,
        gpus=total * per_node if total is not None else None,
    )


def check_limits(config: FleetConfig, recorded: Index, flavor_sizes: tuple[FlavorSize, ...]) -> None:
    """Refuse what is more than a cluster or a node pool can hold.

    A node pool that is kept, or on its way out, counts until it is deleted (spec: "not deleted").

    Raises:
        OperationError: QUOTA_EXCEEDED, naming every pool and flavor that is too large.
    """
    told = []
    providers = {account.name: account.provider for account in config.accounts}
    limits = {
        pool.name: CAPABILITIES[providers[pool.substrate.account]].max_nodes_per_pool
        for pool in config.pools
        if pool.substrate
    }
    for pool in config.pools:
        facts = recorded.pools.get(pool.name)
        standing = {*facts.flavors, *facts.other_node_pools} if facts and facts.backed else set()
        names = standing | {flavor.name for flavor in pool.substrate.flavors} if pool.substrate else set()
        if len(names) > MAX_NODE_POOLS:
            leaving = ", those that are kept or still to be deleted included" if standing else ""
            told.append(f"pool {pool.name}: {len(names)} node pools{leaving}; a cluster has at most {MAX_NODE_POOLS}")
    for size in flavor_sizes:
        limit = limits[size.pool]
        if size.total is not None and size.total > limit:
            told.append(
                f"pool {size.pool}, flavor {size.flavor}: {size.nodes} nodes x {size.zones or 1} zones = {size.total}; "
                f"a node pool has at most {limit} nodes at this provider"
            )
    if told:
        raise OperationError(Code.QUOTA_EXCEEDED, "\n".join(told))


def warnings(config: FleetConfig, flavor_sizes: tuple[FlavorSize, ...]) -> list[str]:
    """Accounts whose zones are not known, so that totals are missing."""
    unknown = {(size.pool, size.flavor) for size in flavor_sizes if size.total is None}
    accounts = {
        pool.substrate.account
        for pool in config.pools
        if pool.substrate and any((pool.name, flavor.name) in unknown for flavor in pool.substrate.flavors)
    }
    return [
        f"the zones of provider account {account} are not known yet: its flavors count nodes per zone, and their "
        "totals are shown once the zones were read"
        for account in sorted(accounts)
    ]
