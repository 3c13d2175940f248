# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools with their clusters and flavors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..model.declared import AdoptCluster, CreateCluster, Flavor, FleetConfig, Pool, Substrate
from ..model.ids import adopted_node_pool_name
from ..model.records import NodePoolRecord
from ..model.states import NodePoolState
from ..model.versions import is_older
from .changes import Change, ChangeKind, Resource
from .fields import (
    VERSION,
    appearing,
    compare,
    flavor_values,
    pool_values,
    substrate_values,
    vanishing,
)
from .naming import Declared, Key, key, titled
from .places import update_or_blocked
from .recorded import Index, PoolFacts
from .scope import Scope, covers, kept


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlan:
    """One pool's changes: the pool, then its cluster, then its node pools."""

    pool: Key
    changes: tuple[Change, ...]


def plan_pools(
    config: FleetConfig, declared: Declared, recorded: Index, *, scope: Scope, prune: bool
) -> tuple[PoolPlan, ...]:
    """The pools' changes, in the document's order, those no longer declared last."""
    leaving = {key(facts.record): facts for facts in recorded.leaving}
    stays = kept(scope, prune=prune)
    plans = []
    for pool in config.pools:
        facts = recorded.pools.get(key(pool))
        site = titled(declared.site_of(pool))
        if facts is None:
            changes = _new_pool(pool, leaving.get(key(pool)), site=site)
        else:
            changes = _known_pool(pool, facts, recorded, site=site, kept=stays)
        plans.append(PoolPlan(pool=key(pool), changes=tuple(changes)))
    for known_by, facts in sorted(recorded.pools.items(), key=lambda item: item[0]):
        if known_by not in declared.pools and covers(scope.pools, known_by):
            plans.append(PoolPlan(pool=known_by, changes=tuple(_undeclared_pool(facts, recorded, kept=stays))))
    return tuple(plans)


def grouped(plans: Iterable[PoolPlan], *more: Iterable[Change]) -> list[Change]:
    """All changes pool by pool: each pool's own, then what `more` has for it."""
    by_pool: dict[Key, list[Change]] = {}
    for item in plans:
        by_pool.setdefault(item.pool, []).extend(item.changes)
    for changes in more:
        for change in changes:
            by_pool.setdefault(change.key, []).append(change)
    return [change for changes in by_pool.values() for change in changes]


def merged(flavor: Flavor, row: NodePoolRecord) -> Flavor:
    """The flavor as it is to be recorded: what the document leaves unset keeps its recorded value."""
    standing = row.shape
    return replace(
        flavor,
        disk_gib=standing.disk_gib if flavor.disk_gib is None else flavor.disk_gib,
        disk_type=standing.disk_type if flavor.disk_type is None else flavor.disk_type,
        labels=standing.labels if flavor.labels is None else flavor.labels,
        taints=standing.taints if flavor.taints is None else flavor.taints,
    )


def merged_cluster(
    declared: CreateCluster | AdoptCluster, standing: CreateCluster | AdoptCluster
) -> CreateCluster | AdoptCluster:
    """The cluster as it is to be recorded, likewise."""
    if isinstance(declared, AdoptCluster) or isinstance(standing, AdoptCluster):
        return declared
    return replace(declared, version=standing.version if declared.version is None else declared.version)


def _change(kind: ChangeKind, resource: Resource, pool: Key, **rest: Any) -> Change:
    return Change(kind=kind, resource=resource, tenant=pool[0], name=pool[1], **rest)


def _new_pool(pool: Pool, earlier: PoolFacts | None, *, site: str) -> list[Change]:
    note = f"a new pool: the earlier one of this name ({earlier.record.id}) is still being torn down" if earlier else ""
    fields = appearing(pool_values(pool, site=site))
    own = _change(ChangeKind.CREATE, Resource.POOL, key(pool), fields=fields, note=note)
    return [own, *(_new_substrate(key(pool), pool.substrate) if pool.substrate else [])]


def _new_substrate(pool: Key, substrate: Substrate) -> list[Change]:
    adopted = substrate.cluster if isinstance(substrate.cluster, AdoptCluster) else None
    fields = appearing(substrate_values(substrate))
    if adopted:
        note = f"adopt cluster {adopted.id}: it is read, and never created, changed or deleted"
        cluster = _change(ChangeKind.ADOPT, Resource.CLUSTER, pool, fields=fields, note=note)
    else:
        cluster = _change(ChangeKind.CREATE, Resource.CLUSTER, pool, fields=fields)
    lead = "bc-<last 6 of the pool's id>-" if adopted else ""
    return [
        cluster,
        *(_new_flavor(pool, flavor, called=lead and f"{lead}{flavor.name}") for flavor in substrate.flavors),
    ]


def _new_flavor(pool: Key, flavor: Flavor, *, called: str = "") -> Change:
    """The change that makes a flavor's node pool.

    Arguments:
        called: the node pool's name on an adopted cluster; empty where it is the flavor's.
    """
    fields, note = appearing(flavor_values(flavor)), f"called {called} on the adopted cluster" if called else ""
    return _change(ChangeKind.CREATE, Resource.NODE_POOL, pool, part=flavor.name, fields=fields, note=note)


def _known_pool(pool: Pool, facts: PoolFacts, recorded: Index, *, site: str, kept: str) -> list[Change]:
    standing = recorded.site_titles.get(facts.record.site_id)
    own = compare(Resource.POOL, pool_values(facts.record, site=standing), pool_values(pool, site=site))
    changes = [update_or_blocked(Resource.POOL, key(pool), own)] if own else []
    if pool.substrate is None:
        return changes + (_dropped_substrate(facts, kept=kept) if facts.backed else [])
    if facts.backed and facts.record.substrate is not None:
        return changes + _known_substrate(key(pool), facts.record.substrate, pool.substrate, facts, kept=kept)
    if facts.tearing_down and facts.substrate is not None:
        note = (
            f"its earlier substrate is still being torn down ({facts.substrate.state}): apply again when that is over, "
            "or create a new pool instead"
        )
        return [*changes, _change(ChangeKind.BLOCKED, Resource.CLUSTER, key(pool), note=note)]
    return changes + _new_substrate(key(pool), pool.substrate)


def _known_substrate(pool: Key, before: Substrate, after: Substrate, facts: PoolFacts, *, kept: str) -> list[Change]:
    standing, wanted = substrate_values(before), substrate_values(after)
    standing = {**standing, VERSION: _standing_version(standing[VERSION], wanted[VERSION], facts)}
    fields = compare(Resource.CLUSTER, standing, wanted)
    changes = [update_or_blocked(Resource.CLUSTER, pool, fields)] if fields else []
    for flavor in after.flavors:
        changes += _flavor(pool, flavor, facts)
    declared = {flavor.name for flavor in after.flavors}
    for name, row in sorted(facts.staying.items()):
        if name not in declared:
            changes.append(_undeclared_flavor(pool, row, kept=kept))
    return changes


def _standing_version(before: str | None, after: str | None, facts: PoolFacts) -> str | None:
    """The version that a wish is compared with: the one recorded, else the one that runs where the wish is below it.

    A wish that is recorded stays fulfilled when the provider moves the cluster beyond it.
    """
    outputs = facts.cluster.outputs if facts.cluster else None
    if before is not None or after is None or outputs is None:
        return before
    return outputs.version if is_older(after, outputs.version) else None


def _flavor(pool: Key, flavor: Flavor, facts: PoolFacts) -> list[Change]:
    row = facts.flavors.get(flavor.name)
    if flavor.name in facts.other_node_pools:
        note = "a node pool of this name was added to the cluster by a caller: delete that one, or rename the flavor"
        return [_change(ChangeKind.BLOCKED, Resource.NODE_POOL, pool, part=flavor.name, note=note)]
    if row is None:
        adopted = facts.cluster is not None and facts.cluster.adopted
        return [
            _new_flavor(pool, flavor, called=adopted_node_pool_name(facts.record.id, flavor.name) if adopted else "")
        ]
    if row.state == NodePoolState.DELETING:
        note = "the earlier node pool of this name is still being deleted: apply again when it is gone"
        return [_change(ChangeKind.BLOCKED, Resource.NODE_POOL, pool, part=flavor.name, note=note)]
    fields = compare(Resource.NODE_POOL, flavor_values(row.shape), flavor_values(flavor))
    return [update_or_blocked(Resource.NODE_POOL, pool, fields, part=flavor.name)] if fields else []


def _undeclared_flavor(pool: Key, row: NodePoolRecord, *, kept: str = "") -> Change:
    if kept:
        return _change(ChangeKind.KEEP, Resource.NODE_POOL, pool, part=row.shape.name, note=kept)
    fields = vanishing(flavor_values(row.shape))
    return _change(ChangeKind.DELETE, Resource.NODE_POOL, pool, part=row.shape.name, fields=fields)


def _dropped_substrate(facts: PoolFacts, *, kept: str) -> list[Change]:
    if kept:
        note = f"policy.substrate is {kept}"
        return [_change(ChangeKind.KEEP, Resource.CLUSTER, key(facts.record), note=note)]
    return _vanishing_substrate(facts)


def _vanishing_substrate(facts: PoolFacts) -> list[Change]:
    values = substrate_values(facts.record.substrate) if facts.record.substrate else {}
    pool, note = key(facts.record), "once its bookings have ended: nothing is force-released"
    adopted = facts.record.substrate.cluster if facts.record.substrate else None
    kind = ChangeKind.DELETE
    if isinstance(adopted, AdoptCluster):
        ours = ", ".join(row.name for _name, row in sorted(facts.flavors.items())) or "none"
        kind = ChangeKind.GIVE_BACK
        note = f"give back cluster {adopted.id}: only our node pools ({ours}), bcd and our own access go; {note}"
    cluster = _change(kind, Resource.CLUSTER, pool, fields=vanishing(values), note=note)
    return [cluster, *(_undeclared_flavor(pool, row) for _name, row in sorted(facts.staying.items()))]


def _undeclared_pool(facts: PoolFacts, recorded: Index, *, kept: str) -> list[Change]:
    pool = key(facts.record)
    if kept:
        return [_change(ChangeKind.KEEP, Resource.POOL, pool, note=kept)]
    values = pool_values(facts.record, site=recorded.site_titles.get(facts.record.site_id))
    own = _change(ChangeKind.DELETE, Resource.POOL, pool, fields=vanishing(values))
    return [own, *(_vanishing_substrate(facts) if facts.backed else [])]
