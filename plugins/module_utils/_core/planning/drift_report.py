# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift pool by pool, as a report: in sync, drifted in these fields, or not known and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..model.ids import PoolId
from ..model.states import ClusterState, NodePoolState
from .changes import DRIFT, ChangeKind, Resource
from .drift import EXISTS, told_only
from .naming import titled
from .plan import Plan
from .recorded import Observed, ObservedPool, PoolFacts, Records, index


class DriftState(StrEnum):
    """Whether a pool's provider holds what is recorded."""

    IN_SYNC = "in_sync"
    DRIFT = "drift"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftedField:
    """One field in which the provider holds something else.

    Attributes:
        name: the pool's; a node pool's after its pool's and a slash.
        path: as the document spells it, or EXISTS.
        recorded, provider: plain JSON values.
        repaired: whether a run or a pass puts it back; else it is only told.
    """

    resource: Resource
    name: str
    path: str
    recorded: Any
    provider: Any
    repaired: bool

    def to_data(self) -> dict[str, Any]:
        """The field as plain values."""
        return {
            "resource": str(self.resource),
            "name": self.name,
            "path": self.path,
            "recorded": self.recorded,
            "provider": self.provider,
            "repaired": self.repaired,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolDrift:
    """One pool's drift.

    Attributes:
        reason: why it is not known; else empty.
    """

    pool: str
    pool_id: PoolId
    state: DriftState
    reason: str = ""
    fields: tuple[DriftedField, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "pool": self.pool,
            "pool_id": str(self.pool_id),
            "state": str(self.state),
            "reason": self.reason,
            "fields": [field.to_data() for field in self.fields],
        }


def drift_report(
    plan: Plan, records: Records, *, observed: Observed, unseen: Mapping[PoolId, str]
) -> tuple[PoolDrift, ...]:
    """What a plan says of drift, for every recorded pool that has a substrate, by name.

    Arguments:
        plan: of what is recorded (declared_again.py), made from these records and this look at the providers.
        unseen: why a pool's provider could not be asked.
    """
    repaired: dict[str, list[DriftedField]] = {}
    for field in _repaired(plan):
        repaired.setdefault(field.name.partition("/")[0], []).append(field)
    report = []
    for known_by, facts in sorted(index(records).pools.items(), key=lambda item: item[0][::-1]):
        if not facts.backed:
            continue
        name = titled(known_by)
        seen = observed.get(facts.record.id)
        fields = [*repaired.get(name, ()), *(_told_only(name, facts, seen) if seen else ())]
        reason = "" if fields else _unknown(facts, seen, unseen.get(facts.record.id))
        report.append(
            PoolDrift(
                pool=name,
                pool_id=facts.record.id,
                state=DriftState.DRIFT if fields else DriftState.UNKNOWN if reason else DriftState.IN_SYNC,
                reason=reason,
                fields=tuple(fields),
            )
        )
    return tuple(report)


def _repaired(plan: Plan) -> Iterator[DriftedField]:
    for change in plan.changes:
        drifted = [field for field in change.fields if field.note == DRIFT]
        if drifted and change.kind == ChangeKind.CREATE:
            yield DriftedField(
                resource=change.resource,
                name=change.title,
                path=EXISTS,
                recorded=True,
                provider=False,
                repaired=True,
            )
            continue
        for field in drifted:
            yield DriftedField(
                resource=change.resource,
                name=change.title,
                path=field.path,
                recorded=field.after,
                provider=field.before,
                repaired=True,
            )


def _told_only(pool: str, facts: PoolFacts, seen: ObservedPool) -> Iterator[DriftedField]:
    """The plan's warnings of drift, field by field."""
    for item in told_only(facts, seen):
        yield DriftedField(
            resource=Resource.NODE_POOL if item.flavor else Resource.CLUSTER,
            name=f"{pool}/{item.flavor}" if item.flavor else pool,
            path=item.path,
            recorded=item.wanted,
            provider=item.held,
            repaired=False,
        )


def _unknown(facts: PoolFacts, seen: ObservedPool | None, refusal: str | None) -> str:
    """Why nothing can be said of a pool in which nothing was found; empty when all of it was compared."""
    if refusal is not None:
        return refusal
    if facts.cluster is None or facts.cluster.state != ClusterState.READY or seen is None:
        state = facts.cluster.state if facts.cluster else ClusterState.PENDING
        return f"its cluster is {state}: what is on its way, or refused, is no drift"
    moving = [name for name, row in sorted(facts.flavors.items()) if row.state != NodePoolState.READY]
    if moving:
        return f"on their way, or refused, and so not compared: node pool {', '.join(moving)}"
    return ""
