# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a site, account or pool is known by: its owner and its name. Two tenants may each have one of a name.

A document's names are unique within it; it refers to a site or account by the name alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

from ..model.declared import Account, FleetConfig, Pool, Quota, Site, Substrate
from ..model.ids import PLATFORM_TENANT, TenantId

Key: TypeAlias = "tuple[TenantId, str]"
"""Owner and name."""


class Owned(Protocol):
    """What has an owner and a name."""

    @property
    def tenant_id(self) -> TenantId:
        """The owner."""

    @property
    def name(self) -> str:
        """Unique among the owner's."""


Item = TypeVar("Item", bound=Owned)


def key(item: Owned) -> Key:
    """What it is known by."""
    return item.tenant_id, item.name


def titled(known_by: Key) -> str:
    """A key for a person: `gpu-fleet`, and `acme:gpu-fleet` where the owner is not the platform."""
    tenant, name = known_by
    return name if tenant == PLATFORM_TENANT else f"{tenant}:{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A document by key, with what its parts refer to."""

    sites: Mapping[Key, Site]
    accounts: Mapping[Key, Account]
    pools: Mapping[Key, Pool]
    _sites_named: Mapping[str, list[Site]]
    _pools_named: Mapping[str, list[Pool]]

    @classmethod
    def of(cls, config: FleetConfig) -> Declared:
        """Index a document: one walk over each kind."""
        return cls(
            sites={key(site): site for site in config.sites},
            accounts={key(account): account for account in config.accounts},
            pools={key(pool): pool for pool in config.pools},
            _sites_named=_by_name(config.sites),
            _pools_named=_by_name(config.pools),
        )

    def account_of(self, pool: Pool, substrate: Substrate) -> Account:
        """The account that a pool's substrate names: always one of the pool's owner."""
        return self.accounts[pool.tenant_id, substrate.account]

    def site_of(self, pool: Pool) -> Key:
        """The site that a pool names: its owner's of that name, else the platform's, else whose it is."""
        if pool.site_owner is not None:
            return pool.site_owner, pool.site
        return key(_nearest(self._sites_named[pool.site], pool.tenant_id))

    def pool_of(self, quota: Quota) -> Key:
        """The pool that a quota names, found likewise."""
        if quota.pool_owner is not None:
            return quota.pool_owner, quota.pool
        return key(_nearest(self._pools_named[quota.pool], quota.tenant_id))


def _by_name(items: Iterable[Item]) -> dict[str, list[Item]]:
    named: dict[str, list[Item]] = {}
    for item in items:
        named.setdefault(item.name, []).append(item)
    return named


def _nearest(items: list[Item], tenant: TenantId) -> Item:
    by_owner = {item.tenant_id: item for item in items}
    return by_owner.get(tenant) or by_owner.get(PLATFORM_TENANT) or items[0]
