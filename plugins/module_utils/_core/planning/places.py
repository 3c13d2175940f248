# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sites and provider accounts: what others stand on. Neither goes while something stands on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.declared import FleetConfig
from ..model.findings import some_of
from .changes import Change, ChangeKind, FieldChange, Resource
from .fields import LOWERED, REMEDY, Values, account_values, appearing, compare, site_values, vanishing
from .naming import Key, key, titled
from .recorded import Index
from .scope import Scope, covers, kept


def plan_sites(config: FleetConfig, recorded: Index, *, scope: Scope, prune: bool) -> list[Change]:
    """The sites' changes, in the document's order, those no longer declared last."""
    changes = []
    for site in config.sites:
        record = recorded.sites.get(key(site))
        before = site_values(record) if record else None
        changes += _declared_change(Resource.SITE, key(site), before, site_values(site))
    declared, stays = {key(site) for site in config.sites}, kept(scope, prune=prune)
    going = {pool for pool in recorded.pools if prune and covers(scope.pools, pool)} - {key(p) for p in config.pools}
    for known_by, row in sorted(recorded.sites.items()):
        if known_by in declared or not covers(scope.sites, known_by):
            continue
        standing = [
            titled(key(facts.record))
            for facts in recorded.on_site.get(row.id, ())
            if facts.substrate is not None or key(facts.record) not in going
        ]
        changes.append(_undeclared_change(Resource.SITE, known_by, site_values(row), standing, kept=stays))
    return changes


def plan_accounts(config: FleetConfig, recorded: Index, *, scope: Scope, prune: bool) -> list[Change]:
    """The accounts' changes, in the document's order, those no longer declared last."""
    changes = []
    for account in config.accounts:
        record = recorded.accounts.get(key(account))
        before = account_values(record) if record else None
        in_use = record is not None and (record.id in recorded.on_account or record.id in recorded.clusters_on)
        changes += _declared_change(Resource.ACCOUNT, key(account), before, account_values(account), in_use=in_use)
    declared, stays = {key(account) for account in config.accounts}, kept(scope, prune=prune)
    for known_by, row in sorted(recorded.accounts.items()):
        if known_by not in declared and covers(scope.accounts, known_by):
            standing, own = recorded.on_account.get(row.id, []), recorded.clusters_on.get(row.id, [])
            changes.append(
                _undeclared_change(Resource.ACCOUNT, known_by, account_values(row), standing, clusters=own, kept=stays)
            )
    return changes


def _declared_change(
    resource: Resource, known_by: Key, before: Values | None, after: Values, *, in_use: bool = True
) -> list[Change]:
    """The change that brings a resource from its recorded to its declared values: one, or none when they agree."""
    if before is None:
        tenant, name = known_by
        return [Change(kind=ChangeKind.CREATE, resource=resource, tenant=tenant, name=name, fields=appearing(after))]
    fields = compare(resource, before, after, in_use=in_use)
    return [update_or_blocked(resource, known_by, fields)] if fields else []


def update_or_blocked(resource: Resource, known_by: Key, fields: tuple[FieldChange, ...], *, part: str = "") -> Change:
    """An update, or a blocked change when one of the fields cannot change so."""
    tenant, name = known_by
    why = "; ".join(_reasons(resource, fields))
    kind = ChangeKind.BLOCKED if why else ChangeKind.UPDATE
    return Change(kind=kind, resource=resource, tenant=tenant, name=name, part=part, fields=fields, note=why)


def _reasons(resource: Resource, fields: tuple[FieldChange, ...]) -> Iterator[str]:
    stuck = [field.path for field in fields if field.note and field.note != LOWERED]
    if stuck:
        yield f"{', '.join(stuck)} cannot change in place: {REMEDY[resource]}"
    for field in fields:
        if field.note == LOWERED:
            yield f"{field.path} is never lowered: leave it at {field.before} or above, or {REMEDY[resource]}"


def _undeclared_change(
    resource: Resource,
    known_by: Key,
    values: Values,
    standing: list[str],
    *,
    clusters: Sequence[str] = (),
    kept: str,
) -> Change:
    tenant, name = known_by
    if kept:
        return Change(kind=ChangeKind.KEEP, resource=resource, tenant=tenant, name=name, note=kept)
    if standing:
        note = (
            f"kept until nothing of pool {some_of(standing)} is left on it: it goes then if the run waits, else with "
            "the next prune"
        )
        return Change(kind=ChangeKind.KEEP, resource=resource, tenant=tenant, name=name, note=note)
    if clusters:
        note = f"kept until cluster {some_of(clusters)} on it is deleted (bc_cluster): it goes with the next prune then"
        return Change(kind=ChangeKind.KEEP, resource=resource, tenant=tenant, name=name, note=note)
    return Change(kind=ChangeKind.DELETE, resource=resource, tenant=tenant, name=name, fields=vanishing(values))
