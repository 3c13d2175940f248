# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the provider holds something else than the records say, although everything had converged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..model.declared import FleetConfig
from ..model.observed import ObservedCluster
from ..model.records import ClusterRecord, NodePoolRecord
from ..model.states import ClusterState, NodePoolState, ProviderStatus
from .changes import DRIFT, Change, ChangeKind, FieldChange, Resource
from .fields import flavor_values, substrate_values
from .naming import Key, key, titled
from .pools import PoolPlan
from .recorded import Index, Observed, ObservedPool, PoolFacts

_MISSING = "drift: it is not at the provider any more, and is made again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What is repaired, and what is only told."""

    changes: tuple[Change, ...]
    warnings: tuple[str, ...]


def plan_drift(
    config: FleetConfig,
    recorded: Index,
    planned: tuple[PoolPlan, ...],
    *,
    observed: Observed,
) -> Drift:
    """Compare what providers hold with the records, for declared pools that are ready and not changed otherwise.

    Whatever is still on its way, or is changed by the plan anyhow, is not drift.
    """
    busy = {
        (change.key, change.part)
        for item in planned
        for change in item.changes
        if change.resource in (Resource.CLUSTER, Resource.NODE_POOL)
    }
    changes: list[Change] = []
    warnings: list[str] = []
    for pool in config.pools:
        facts = recorded.pools.get(key(pool))
        if facts is None or pool.substrate is None or not facts.backed:
            continue
        seen = observed.get(facts.record.id)
        if seen is None or facts.cluster is None or facts.cluster.state != ClusterState.READY:
            continue
        rows = {name: row for name, row in facts.staying.items() if (key(pool), name) not in busy and _is_ready(row)}
        if seen.cluster is None:
            changes += [] if (key(pool), "") in busy else _missing_cluster(facts, rows)
            continue
        warnings += _cluster_shape(facts.cluster, seen.cluster, pool=titled(key(pool)))
        for row in rows.values():
            changes += _node_pool(key(pool), row, seen)
            warnings += _shape(titled(key(pool)), row, seen)
    return Drift(changes=tuple(changes), warnings=tuple(warnings))


def _is_ready(row: NodePoolRecord) -> bool:
    return row.state == NodePoolState.READY and row.observed_version == row.version


def _missing_cluster(facts: PoolFacts, rows: Mapping[str, NodePoolRecord]) -> Iterator[Change]:
    values = substrate_values(facts.record.substrate) if facts.record.substrate else {}
    tenant, name = key(facts.record)
    yield Change(
        kind=ChangeKind.CREATE,
        resource=Resource.CLUSTER,
        tenant=tenant,
        name=name,
        fields=_again(values),
        note=_MISSING,
    )
    for row in rows.values():
        yield _missing_node_pool((tenant, name), row)


def _missing_node_pool(pool: Key, row: NodePoolRecord) -> Change:
    return Change(
        kind=ChangeKind.CREATE,
        resource=Resource.NODE_POOL,
        tenant=pool[0],
        name=pool[1],
        part=row.name,
        fields=_again(flavor_values(row.shape)),
        note=_MISSING,
    )


def _again(values: Mapping[str, object]) -> tuple[FieldChange, ...]:
    return tuple(
        FieldChange(path=path, before=None, after=value, note=DRIFT)
        for path, value in values.items()
        if value is not None
    )


def _node_pool(pool: Key, row: NodePoolRecord, seen: ObservedPool) -> Iterator[Change]:
    """A node pool that is not there any more, or that was changed at the provider and can be put back."""
    found = seen.node_pools.get(row.name)
    if found is None:
        yield _missing_node_pool(pool, row)
        return
    fields = tuple(
        FieldChange(path=item.path, before=item.held, after=item.wanted, note=DRIFT)
        for item in seen.differences.get(row.name, ())
        if item.in_place
    )
    if fields and found.status == ProviderStatus.ACTIVE:
        yield Change(
            kind=ChangeKind.UPDATE,
            resource=Resource.NODE_POOL,
            tenant=pool[0],
            name=pool[1],
            part=row.name,
            fields=fields,
            note="drift: it was changed at the provider, and is put back",
        )


def _shape(pool: str, row: NodePoolRecord, seen: ObservedPool) -> Iterator[str]:
    """Differences that no provider takes back in place: told, not repaired."""
    for item in seen.differences.get(row.name, ()):
        if not item.in_place:
            yield (
                f"node pool {pool}/{row.name}: {item.path} is {_told(item.held)} at the provider and "
                f"{_told(item.wanted)} in the records: it cannot be changed in place; add another flavor, and remove "
                "this one"
            )


def _cluster_shape(record: ClusterRecord, seen: ObservedCluster, *, pool: str) -> Iterator[str]:
    if seen.private_nodes != record.private_nodes:
        yield (
            f"cluster of pool {pool}: privateNodes is {_told(seen.private_nodes)} at the provider and "
            f"{_told(record.private_nodes)} in the records: it is left as it is; create a new pool to have it otherwise"
        )


def _told(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
