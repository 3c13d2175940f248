# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which recorded things a plan may take away: all that are not declared, or only those that a document names."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.declared import FleetConfig
from .naming import Key, key


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What counts as "no longer declared" where a document does not have it; None means all there is.

    Attributes:
        why: what was asked of such a thing, as its owner would say it.
    """

    sites: frozenset[Key] | None
    accounts: frozenset[Key] | None
    pools: frozenset[Key] | None
    why: str

    @classmethod
    def of_everything(cls) -> Scope:
        """The whole fleet: a document declares all there is to be."""
        return cls(sites=None, accounts=None, pools=None, why="not in the document")

    @classmethod
    def of_document(cls, config: FleetConfig) -> Scope:
        """What a document names: for taking just that away."""
        return cls(
            sites=frozenset(key(site) for site in config.sites),
            accounts=frozenset(key(account) for account in config.accounts),
            pools=frozenset(key(pool) for pool in config.pools),
            why="asked to be absent",
        )

    @classmethod
    def of_pool(cls, pool: Key) -> Scope:
        """One pool, with what is its own; no site or account."""
        return cls(sites=frozenset(), accounts=frozenset(), pools=frozenset({pool}), why="not among those named")


def kept(scope: Scope, *, prune: bool) -> str:
    """Why what is no longer declared stays; empty with prune, where it goes."""
    return "" if prune else f"{scope.why}: kept, needs prune"


def covers(keys: frozenset[Key] | None, one: Key) -> bool:
    """Whether one is among those of its kind."""
    return keys is None or one in keys
