# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What concerns two parts of a document: duplicates, references, tenants, places.

It looks at the plain data, not at the models, and passes over whatever is not of the right shape: so that these
problems are told together with the models' own, all at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..model.ids import PLATFORM_TENANT
from .problems import found
from .spelling import KeyPath

Told = Iterator[tuple[KeyPath, str]]

_AWS_ZONE_OF_REGION = re.compile(r"([a-z]{1,2}|-[a-z]+-[0-9]{1,2}[a-z])", re.ASCII)
"""What follows a region's name in a zone's: `us-east-1` + `a`, or a local zone's `us-west-2` + `-lax-1a`."""


_SHOWN_CHARACTERS = 128
"""No name, tenant or place is longer."""


def references(document: Mapping[str, Any]) -> Told:
    """Every problem between the parts of a document, as (path, message)."""
    sites, accounts, pools = (_by_name(document, section) for section in ("sites", "providerAccounts", "pools"))
    for section in ("sites", "providerAccounts", "pools"):
        yield from _duplicates(_named(document, section))
    for path, account in _items(document, "providerAccounts"):
        yield from _account_places((*path, "config"), account.get("config"))
    for path, pool in _items(document, "pools"):
        yield from _refers((*path, "site"), pool.get("site"), sites, "site", "sites")
        yield from _substrate(path, pool, accounts)
    yield from _quotas(document, pools)


def _shown(name: object) -> str:
    """A name as it stands where it is a plain one; else in quotes, and cut."""
    plain = isinstance(name, str) and len(name) <= _SHOWN_CHARACTERS and name.isascii() and name.isprintable()
    return str(name) if plain else found(name)


def _items(parent: Mapping[str, Any], section: str) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    items = parent.get(section)
    if isinstance(items, list):
        for index, item in enumerate(items):
            if isinstance(item, Mapping):
                yield (section, index), item


def _named(parent: Mapping[str, Any], section: str) -> Iterator[tuple[KeyPath, str]]:
    for path, item in _items(parent, section):
        if isinstance(item.get("name"), str):
            yield (*path, "name"), item["name"]


def _by_name(document: Mapping[str, Any], section: str) -> dict[str, Mapping[str, Any]]:
    return {item["name"]: item for _path, item in _items(document, section) if isinstance(item.get("name"), str)}


def _duplicates(values: Iterator[tuple[KeyPath, str]]) -> Told:
    seen: dict[str, KeyPath] = {}
    for path, value in values:
        if value in seen:
            first = seen[value]
            place = f"{first[-3]}[{first[-2]}]" if isinstance(first[-1], str) else f"[{first[-1]}]"
            yield path, f"{found(value)} is there twice: also at {place}"
        seen.setdefault(value, path)


def _refers(path: KeyPath, name: object, known: Mapping[str, Any], what: str, section: str) -> Told:
    if isinstance(name, str) and name not in known:
        yield path, f"there is no {what} {found(name).removeprefix('the string ')} among this document's {section}"


def _tenant(item: Mapping[str, Any]) -> object:
    return item.get("tenantId", PLATFORM_TENANT)


def _account_places(path: KeyPath, config: object) -> Told:
    if not isinstance(config, Mapping):
        return
    for key in ("zones", "eksSubnetIds"):
        yield from _duplicates(_texts((*path, key), config.get(key)))
    region = config.get("region")
    if isinstance(region, str):
        for zone_path, zone in _texts((*path, "zones"), config.get("zones")):
            if not _is_zone_of(zone, region):
                yield zone_path, f"expected a zone of the account's region {_shown(region)}, found {found(zone)}"


def _texts(path: KeyPath, values: object) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(values, list):
        for index, value in enumerate(values):
            if isinstance(value, str):
                yield (*path, index), value


def _is_zone_of(zone: str, region: str) -> bool:
    return zone.startswith(region) and _AWS_ZONE_OF_REGION.fullmatch(zone.removeprefix(region)) is not None


def _substrate(pool_path: KeyPath, pool: Mapping[str, Any], accounts: Mapping[str, Mapping[str, Any]]) -> Told:
    policy = pool.get("policy")
    substrate = policy.get("substrate") if isinstance(policy, Mapping) else None
    if not isinstance(substrate, Mapping):
        return
    path = (*pool_path, "policy", "substrate")
    name = substrate.get("account")
    yield from _refers((*path, "account"), name, accounts, "provider account", "providerAccounts")
    for flavor_path, flavor in _items(substrate, "flavors"):
        yield from _duplicates(_texts((*path, *flavor_path, "zones"), flavor.get("zones")))
    yield from _duplicates(((*path, *below), flavor) for below, flavor in _named(substrate, "flavors"))
    account = accounts.get(name) if isinstance(name, str) else None
    if account is None:
        return
    if _tenant(account) != _tenant(pool):
        yield (
            (*path, "account"),
            f"the account belongs to tenant {_shown(_tenant(account))}, the pool to {_shown(_tenant(pool))}: "
            "a pool uses its own owner's accounts",
        )
    if account.get("provider") == "aws" and isinstance(account.get("config"), Mapping):
        yield from _aws_places(path, substrate, account["config"])


def _aws_places(path: KeyPath, substrate: Mapping[str, Any], config: Mapping[str, Any]) -> Told:
    region = config.get("region")
    if not isinstance(region, str):
        return
    cluster = substrate.get("cluster")
    create = cluster.get("create") if isinstance(cluster, Mapping) else None
    location = create.get("location") if isinstance(create, Mapping) else None
    if isinstance(location, str) and location != region:
        expected = f"expected the account's region {_shown(region)}, found {found(location)}"
        is_zone = _is_zone_of(location, region)
        yield (
            (*path, "cluster", "create", "location"),
            f"{expected}: an EKS cluster stands in a region, not in a zone" if is_zone else expected,
        )
    own_zones = config.get("zones")
    for flavor_path, flavor in _items(substrate, "flavors"):
        for zone_path, zone in _texts((*path, *flavor_path, "zones"), flavor.get("zones")):
            if not _is_zone_of(zone, region):
                yield zone_path, f"expected a zone of the account's region {_shown(region)}, found {found(zone)}"
            elif isinstance(own_zones, list) and zone not in own_zones:
                yield zone_path, f"expected one of the account's zones, found {found(zone)}"


def _quotas(document: Mapping[str, Any], pools: Mapping[str, Any]) -> Told:
    seen: dict[tuple[object, str], int] = {}
    for path, quota in _items(document, "quotas"):
        pool = quota.get("pool")
        yield from _refers((*path, "pool"), pool, pools, "pool", "pools")
        if isinstance(pool, str) and isinstance(_tenant(quota), str):
            first = seen.setdefault((_tenant(quota), pool), int(path[1]))
            if first != path[1]:
                yield path, f"tenant {_shown(_tenant(quota))} has a quota on this pool already: quotas[{first}]"
