# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What concerns two parts of a document: duplicates, references, tenants; and with places.py, places.

It looks at the plain data, not at the models, and passes over whatever is not of the right shape: so that these
problems are told together with the models' own, all at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..model.capabilities import CAPABILITIES
from ..model.ids import PLATFORM_TENANT
from .accounts import provider_of
from .adopt_ids import EXPECTED, parse_adopt_id
from .flavor_rules import flavor_rules
from .places import account_places, substrate_places, texts
from .spelling import KeyPath
from .wording import found, shown

Told = Iterator[tuple[KeyPath, str]]


def references(document: Mapping[str, Any]) -> Told:
    """Every problem between the parts of a document, as (path, message)."""
    sites, accounts, pools = (_by_name(document, section) for section in ("sites", "providerAccounts", "pools"))
    for section in ("sites", "providerAccounts", "pools"):
        yield from _duplicates(_named(document, section))
    for path, account in _items(document, "providerAccounts"):
        config = account.get("config")
        if isinstance(config, Mapping):
            yield from _duplicates(texts((*path, "config", "zones"), config.get("zones")))
            yield from _duplicates(texts((*path, "config", "eksSubnetIds"), config.get("eksSubnetIds")))
            yield from account_places((*path, "config"), provider_of(account), config)
    for path, pool in _items(document, "pools"):
        yield from _refers((*path, "site"), pool.get("site"), sites, "site", "sites")
        yield from _substrate(path, pool, accounts)
    yield from _adopted_twice(document, accounts)
    yield from _quotas(document, pools)


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


def _substrate_of(pool: Mapping[str, Any]) -> Mapping[str, Any]:
    """A pool's substrate; empty for none, and for what is none."""
    policy = pool.get("policy")
    substrate = policy.get("substrate") if isinstance(policy, Mapping) else None
    return substrate if isinstance(substrate, Mapping) else {}


def _account_of(
    substrate: Mapping[str, Any], accounts: Mapping[str, Mapping[str, Any]]
) -> tuple[Mapping[str, Any] | None, str | None]:
    """The account that a substrate names, and its provider; None for what is not known."""
    name = substrate.get("account")
    account = accounts.get(name) if isinstance(name, str) else None
    return account, None if account is None else provider_of(account)


def _substrate(pool_path: KeyPath, pool: Mapping[str, Any], accounts: Mapping[str, Mapping[str, Any]]) -> Told:
    substrate = _substrate_of(pool)
    if not substrate:
        return
    path = (*pool_path, "policy", "substrate")
    yield from _refers((*path, "account"), substrate.get("account"), accounts, "provider account", "providerAccounts")
    account, provider = _account_of(substrate, accounts)
    can = CAPABILITIES[provider] if provider else None
    for flavor_path, flavor in _items(substrate, "flavors"):
        yield from _duplicates(texts((*path, *flavor_path, "zones"), flavor.get("zones")))
        yield from flavor_rules((*path, *flavor_path), flavor, can)
    yield from _duplicates(((*path, *below), flavor) for below, flavor in _named(substrate, "flavors"))
    yield from _cluster((*path, "cluster"), substrate.get("cluster"), provider)
    if account is None:
        return
    if _tenant(account) != _tenant(pool):
        yield (
            (*path, "account"),
            f"the account belongs to tenant {shown(_tenant(account))}, the pool to {shown(_tenant(pool))}: "
            "a pool uses its own owner's accounts",
        )
    config = account.get("config")
    if provider is not None and isinstance(config, Mapping):
        yield from substrate_places(path, substrate, provider, config)
        if provider == "digitalocean":
            yield from _previewed_spot(path, substrate, config)


def _cluster(path: KeyPath, cluster: object, provider: str | None) -> Told:
    """A cluster is made or adopted, and what is adopted has an id of its provider's kind."""
    if not isinstance(cluster, Mapping):
        return
    given = [key for key in ("create", "adopt") if cluster.get(key) is not None]
    if len(given) != 1 and not {"create", "adopt"} & (cluster.keys() - set(given)):
        yield path, f"expected one of create and adopt, found {'both' if given else 'neither'}"
    adopt = cluster.get("adopt")
    if isinstance(adopt, str) and provider is not None and parse_adopt_id(provider, adopt) is None:
        yield (*path, "adopt"), f"expected {EXPECTED[provider]}, found {found(adopt)}"


def _adopted_twice(document: Mapping[str, Any], accounts: Mapping[str, Mapping[str, Any]]) -> Told:
    """One cluster backs one pool: two that name it, in whatever spelling, are told of each other."""
    seen: dict[tuple[str, str], str] = {}
    for path, pool in _items(document, "pools"):
        substrate = _substrate_of(pool)
        cluster, name = substrate.get("cluster"), substrate.get("account")
        adopt = cluster.get("adopt") if isinstance(cluster, Mapping) else None
        _account, provider = _account_of(substrate, accounts)
        adopted = parse_adopt_id(provider, adopt) if provider is not None and isinstance(adopt, str) else None
        if adopted is None:
            continue
        where = f"pools[{path[1]}].policy.substrate.cluster.adopt"
        first = seen.setdefault((str(name), adopted.id), where)
        if first != where:
            yield (
                (*path, "policy", "substrate", "cluster", "adopt"),
                f"one cluster backs one pool, and cluster {adopted.id} of account {name} is adopted already: {first}",
            )


def _previewed_spot(path: KeyPath, substrate: Mapping[str, Any], config: Mapping[str, Any]) -> Told:
    """Spot at DigitalOcean is a preview, and the account has to say twice that it may be used (spec)."""
    missing = [key for key in ("allowSpot", "previews") if config.get(key) is not True]
    for flavor_path, flavor in _items(substrate, "flavors"):
        if flavor.get("spot") is True and missing:
            yield (
                (*path, *flavor_path, "spot"),
                f"Spot is a preview at DigitalOcean: the account's config needs {' and '.join(missing)} true",
            )


def _quotas(document: Mapping[str, Any], pools: Mapping[str, Any]) -> Told:
    seen: dict[tuple[object, str], int] = {}
    for path, quota in _items(document, "quotas"):
        pool = quota.get("pool")
        yield from _refers((*path, "pool"), pool, pools, "pool", "pools")
        if isinstance(pool, str) and isinstance(_tenant(quota), str):
            first = seen.setdefault((_tenant(quota), pool), int(path[1]))
            if first != path[1]:
                yield path, f"tenant {shown(_tenant(quota))} has a quota on this pool already: quotas[{first}]"
