# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which recorded things a plan may take away: all that are not declared, or only those that a document names."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.declared import FleetConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The names that count as "no longer declared"; None means every name."""

    sites: frozenset[str] | None
    accounts: frozenset[str] | None
    pools: frozenset[str] | None

    @classmethod
    def of_everything(cls) -> Scope:
        """The whole fleet: a document declares all there is to be."""
        return cls(sites=None, accounts=None, pools=None)

    @classmethod
    def of_document(cls, config: FleetConfig) -> Scope:
        """What a document names: for taking just that away."""
        return cls(
            sites=frozenset(site.name for site in config.sites),
            accounts=frozenset(account.name for account in config.accounts),
            pools=frozenset(pool.name for pool in config.pools),
        )

    @classmethod
    def of_pool(cls, name: str) -> Scope:
        """One pool, with what is its own; no site or account."""
        return cls(sites=frozenset(), accounts=frozenset(), pools=frozenset({name}))


def covers(names: frozenset[str] | None, name: str) -> bool:
    """Whether a name is among those of one kind."""
    return names is None or name in names
