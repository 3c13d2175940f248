# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools with their clusters and flavors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..model.declared import Flavor, FleetConfig, Pool, Substrate
from ..model.records import NodePoolRecord
from ..model.states import NodePoolState
from .changes import Change, ChangeKind, Resource
from .fields import appearing, compare, flavor_values, pool_values, substrate_values, vanishing
from .places import NEEDS_PRUNE, update_or_blocked
from .recorded import Index, PoolFacts
from .scope import Scope, covers


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlan:
    """One pool's changes: the pool, then its cluster, then its node pools."""

    name: str
    changes: tuple[Change, ...]


def plan_pools(config: FleetConfig, recorded: Index, *, scope: Scope, prune: bool) -> tuple[PoolPlan, ...]:
    """The pools' changes, in the document's order, those no longer declared last."""
    leaving = {facts.record.name: facts for facts in recorded.leaving}
    plans = []
    for pool in config.pools:
        facts = recorded.pools.get(pool.name)
        if facts is None:
            changes = _new_pool(pool, leaving.get(pool.name))
        else:
            changes = _known_pool(pool, facts, recorded, prune=prune)
        plans.append(PoolPlan(name=pool.name, changes=tuple(changes)))
    declared = {pool.name for pool in config.pools}
    for name, facts in sorted(recorded.pools.items()):
        if name not in declared and covers(scope.pools, name):
            plans.append(PoolPlan(name=name, changes=tuple(_undeclared_pool(facts, recorded, prune=prune))))
    return tuple(plans)


def grouped(plans: Iterable[PoolPlan], *more: Iterable[Change]) -> list[Change]:
    """All changes pool by pool: each pool's own, then what `more` has for it."""
    by_pool: dict[str, list[Change]] = {}
    for item in plans:
        by_pool.setdefault(item.name, []).extend(item.changes)
    for changes in more:
        for change in changes:
            by_pool.setdefault(change.name, []).append(change)
    return [change for changes in by_pool.values() for change in changes]


def merged(flavor: Flavor, row: NodePoolRecord) -> Flavor:
    """The flavor as it is to be recorded: what the document leaves unset keeps its recorded value."""
    if flavor.disk_gib is None and row.shape.disk_gib is not None:
        return replace(flavor, disk_gib=row.shape.disk_gib)
    return flavor


def _new_pool(pool: Pool, earlier: PoolFacts | None) -> list[Change]:
    note = f"a new pool: the earlier one of this name ({earlier.record.id}) is still being torn down" if earlier else ""
    own = Change(
        kind=ChangeKind.CREATE,
        resource=Resource.POOL,
        name=pool.name,
        fields=appearing(pool_values(pool, site=pool.site)),
        note=note,
    )
    return [own, *(_new_substrate(pool.name, pool.substrate) if pool.substrate else [])]


def _new_substrate(pool: str, substrate: Substrate) -> list[Change]:
    cluster = Change(
        kind=ChangeKind.CREATE, resource=Resource.CLUSTER, name=pool, fields=appearing(substrate_values(substrate))
    )
    return [cluster, *(_new_flavor(pool, flavor) for flavor in substrate.flavors)]


def _new_flavor(pool: str, flavor: Flavor) -> Change:
    return Change(
        kind=ChangeKind.CREATE,
        resource=Resource.NODE_POOL,
        name=pool,
        part=flavor.name,
        fields=appearing(flavor_values(flavor)),
    )


def _known_pool(pool: Pool, facts: PoolFacts, recorded: Index, *, prune: bool) -> list[Change]:
    site = recorded.site_names.get(facts.record.site_id)
    own = compare(Resource.POOL, pool_values(facts.record, site=site), pool_values(pool, site=pool.site))
    changes = [update_or_blocked(Resource.POOL, pool.name, own)] if own else []
    if pool.substrate is None:
        return changes + (_dropped_substrate(facts, prune=prune) if facts.backed else [])
    if facts.backed and facts.record.substrate is not None:
        return changes + _known_substrate(pool.name, facts.record.substrate, pool.substrate, facts, prune=prune)
    if facts.tearing_down and facts.substrate is not None:
        note = (
            f"its earlier substrate is still being torn down ({facts.substrate.state}): apply again when that is over, "
            "or create a new pool instead"
        )
        return [*changes, Change(kind=ChangeKind.BLOCKED, resource=Resource.CLUSTER, name=pool.name, note=note)]
    return changes + _new_substrate(pool.name, pool.substrate)


def _known_substrate(pool: str, before: Substrate, after: Substrate, facts: PoolFacts, *, prune: bool) -> list[Change]:
    fields = compare(Resource.CLUSTER, substrate_values(before), substrate_values(after))
    changes = [update_or_blocked(Resource.CLUSTER, pool, fields)] if fields else []
    for flavor in after.flavors:
        changes += _flavor(pool, flavor, facts)
    declared = {flavor.name for flavor in after.flavors}
    for name, row in sorted(facts.staying.items()):
        if name not in declared:
            changes.append(_undeclared_flavor(pool, row, prune=prune))
    return changes


def _flavor(pool: str, flavor: Flavor, facts: PoolFacts) -> list[Change]:
    row = facts.flavors.get(flavor.name)
    if flavor.name in facts.other_node_pools:
        note = "a node pool of this name was added to the cluster by a caller: delete that one, or rename the flavor"
        return [_blocked_flavor(pool, flavor.name, note)]
    if row is None:
        return [_new_flavor(pool, flavor)]
    if row.state == NodePoolState.DELETING:
        note = "the earlier node pool of this name is still being deleted: apply again when it is gone"
        return [_blocked_flavor(pool, flavor.name, note)]
    fields = compare(Resource.NODE_POOL, flavor_values(row.shape), flavor_values(flavor))
    return [update_or_blocked(Resource.NODE_POOL, pool, fields, part=flavor.name)] if fields else []


def _blocked_flavor(pool: str, flavor: str, note: str) -> Change:
    return Change(kind=ChangeKind.BLOCKED, resource=Resource.NODE_POOL, name=pool, part=flavor, note=note)


def _undeclared_flavor(pool: str, row: NodePoolRecord, *, prune: bool) -> Change:
    if not prune:
        return Change(kind=ChangeKind.KEEP, resource=Resource.NODE_POOL, name=pool, part=row.name, note=NEEDS_PRUNE)
    return Change(
        kind=ChangeKind.DELETE,
        resource=Resource.NODE_POOL,
        name=pool,
        part=row.name,
        fields=vanishing(flavor_values(row.shape)),
    )


def _dropped_substrate(facts: PoolFacts, *, prune: bool) -> list[Change]:
    if not prune:
        note = "policy.substrate is not in the document: kept, needs prune"
        return [Change(kind=ChangeKind.KEEP, resource=Resource.CLUSTER, name=facts.record.name, note=note)]
    return _vanishing_substrate(facts)


def _vanishing_substrate(facts: PoolFacts) -> list[Change]:
    values = substrate_values(facts.record.substrate) if facts.record.substrate else {}
    name = facts.record.name
    cluster = Change(
        kind=ChangeKind.DELETE,
        resource=Resource.CLUSTER,
        name=name,
        fields=vanishing(values),
        note="once its bookings have ended: nothing is force-released",
    )
    return [cluster, *(_undeclared_flavor(name, row, prune=True) for _flavor, row in sorted(facts.staying.items()))]


def _undeclared_pool(facts: PoolFacts, recorded: Index, *, prune: bool) -> list[Change]:
    name = facts.record.name
    if not prune:
        return [Change(kind=ChangeKind.KEEP, resource=Resource.POOL, name=name, note=NEEDS_PRUNE)]
    values = pool_values(facts.record, site=recorded.site_names.get(facts.record.site_id))
    own = Change(kind=ChangeKind.DELETE, resource=Resource.POOL, name=name, fields=vanishing(values))
    return [own, *(_vanishing_substrate(facts) if facts.backed else [])]
