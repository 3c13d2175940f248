# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the provider holds something else than the records say, although everything had converged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..model.declared import FleetConfig
from ..model.records import NodePoolRecord
from ..model.states import ClusterState, ProviderStatus
from .changes import DRIFT, Change, ChangeKind, FieldChange, Resource
from .fields import flavor_values, substrate_values
from .naming import Key, key, titled
from .pools import PoolPlan
from .recorded import Index, Observed, ObservedPool, PoolFacts

EXISTS = "exists"
"""The path of the one difference of a resource that is recorded and is not there."""

_MISSING = "drift: it is not at the provider any more, and is made again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What is repaired, and what is only told."""

    changes: tuple[Change, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldOnly:
    """A difference that is left as it is.

    Attributes:
        flavor: whose node pool it is of; empty for the cluster itself.
        path: as the document spells it.
        held, wanted: plain JSON values, at the provider and in the records.
        warning: all of it in a sentence.
    """

    path: str
    held: Any
    wanted: Any
    warning: str
    flavor: str = ""


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
        rows = {name: row for name, row in facts.staying.items() if (key(pool), name) not in busy and row.settled}
        if seen.cluster is None and not facts.cluster.adopted:
            changes += [] if (key(pool), "") in busy else _missing_cluster(facts, rows)
            continue
        told = (item for item in told_only(facts, seen) if not item.flavor or (key(pool), item.flavor) not in busy)
        warnings += (item.warning for item in told)
        for row in rows.values() if seen.cluster is not None else ():
            changes += _node_pool(key(pool), row, seen)
    return Drift(changes=tuple(changes), warnings=tuple(warnings))


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
        part=row.shape.name,
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
            part=row.shape.name,
            fields=fields,
            note="drift: it was changed at the provider, and is put back",
        )


def told_only(facts: PoolFacts, seen: ObservedPool) -> Iterator[ToldOnly]:
    """Differences that no provider takes back in place, of what is ready: told, not repaired."""
    cluster = facts.cluster
    if cluster is None or cluster.state != ClusterState.READY:
        return
    title = titled(key(facts.record))
    if seen.cluster is None:
        if cluster.adopted:
            yield ToldOnly(
                path=EXISTS,
                held=False,
                wanted=True,
                warning=f"pool {title}: cluster {cluster.name}, which it adopted, is not at the provider any more; it "
                "is not ours to make: take the pool away, or have the cluster made again",
            )
        return
    # What an adopted one is like is its owner's to say.
    if not cluster.adopted and seen.cluster.private_nodes != cluster.private_nodes:
        path, held, wanted = "privateNodes", seen.cluster.private_nodes, cluster.private_nodes
        yield ToldOnly(
            path=f"policy.substrate.cluster.create.{path}",
            held=held,
            wanted=wanted,
            warning=f"cluster of pool {title}: {path} is {_told(held)} at the provider and {_told(wanted)} in the "
            "records: it is left as it is; create a new pool to have it otherwise",
        )
    for name, row in sorted(facts.staying.items()):
        for item in seen.differences.get(row.name, ()) if row.settled else ():
            if not item.in_place:
                yield ToldOnly(
                    flavor=name,
                    path=item.path,
                    held=item.held,
                    wanted=item.wanted,
                    warning=f"node pool {title}/{name}: {item.path} is {_told(item.held)} at the provider and "
                    f"{_told(item.wanted)} in the records: it cannot be changed in place; add another flavor, and "
                    "remove this one",
                )


def _told(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
