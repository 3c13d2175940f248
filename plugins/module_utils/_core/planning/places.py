# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sites and provider accounts: what others stand on. Neither goes while something stands on it."""

from __future__ import annotations

from ..model.declared import FleetConfig
from .changes import Change, ChangeKind, FieldChange, Resource
from .fields import REMEDY, Values, account_values, appearing, compare, site_values, vanishing
from .recorded import Index
from .scope import Scope, covers

NEEDS_PRUNE = "not in the document: kept, needs prune"


def plan_sites(config: FleetConfig, recorded: Index, *, scope: Scope, prune: bool) -> list[Change]:
    """The sites' changes, in the document's order, those no longer declared last."""
    changes = []
    for site in config.sites:
        record = recorded.sites.get(site.name)
        before = site_values(record) if record else None
        changes += declared_change(Resource.SITE, site.name, before, site_values(site))
    declared = {site.name for site in config.sites}
    going = {pool for pool in recorded.pools if prune and covers(scope.pools, pool)} - {p.name for p in config.pools}
    for name, row in sorted(recorded.sites.items()):
        if name in declared or not covers(scope.sites, name):
            continue
        standing = [
            facts.record.name
            for facts in recorded.on_site.get(row.id, ())
            if facts.substrate is not None or facts.record.name not in going
        ]
        changes.append(_undeclared_change(Resource.SITE, name, site_values(row), standing, prune=prune))
    return changes


def plan_accounts(config: FleetConfig, recorded: Index, *, scope: Scope, prune: bool) -> list[Change]:
    """The accounts' changes, in the document's order, those no longer declared last."""
    changes = []
    for account in config.accounts:
        record = recorded.accounts.get(account.name)
        before = account_values(record) if record else None
        in_use = record is not None and record.id in recorded.on_account
        changes += declared_change(Resource.ACCOUNT, account.name, before, account_values(account), in_use=in_use)
    declared = {account.name for account in config.accounts}
    for name, row in sorted(recorded.accounts.items()):
        if name not in declared and covers(scope.accounts, name):
            standing = recorded.on_account.get(row.id, [])
            changes.append(_undeclared_change(Resource.ACCOUNT, name, account_values(row), standing, prune=prune))
    return changes


def declared_change(
    resource: Resource, name: str, before: Values | None, after: Values, *, in_use: bool = True
) -> list[Change]:
    """The change that brings a resource from its recorded to its declared values: one, or none when they agree."""
    if before is None:
        return [Change(kind=ChangeKind.CREATE, resource=resource, name=name, fields=appearing(after))]
    fields = compare(resource, before, after, in_use=in_use)
    return [update_or_blocked(resource, name, fields)] if fields else []


def update_or_blocked(resource: Resource, name: str, fields: tuple[FieldChange, ...], *, part: str = "") -> Change:
    """An update, or a blocked change when one of the fields cannot change in place."""
    stuck = [field.path for field in fields if field.note]
    if not stuck:
        return Change(kind=ChangeKind.UPDATE, resource=resource, name=name, part=part, fields=fields)
    note = f"{', '.join(stuck)} cannot change in place: {REMEDY[resource]}"
    return Change(kind=ChangeKind.BLOCKED, resource=resource, name=name, part=part, fields=fields, note=note)


def _undeclared_change(resource: Resource, name: str, values: Values, standing: list[str], *, prune: bool) -> Change:
    if not prune:
        return Change(kind=ChangeKind.KEEP, resource=resource, name=name, note=NEEDS_PRUNE)
    if standing:
        pools = ", ".join(standing)
        note = (
            f"kept until nothing of pool {pools} is left on it: it goes then if the run waits, else with the next prune"
        )
        return Change(kind=ChangeKind.KEEP, resource=resource, name=name, note=note)
    return Change(kind=ChangeKind.DELETE, resource=resource, name=name, fields=vanishing(values))
