# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan takes away and bookings hold up: their owners are named, for whoever is to talk to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from ..model.findings import some_of
from ..model.ids import PoolId, TenantId
from ..model.standing import Standing
from .changes import GOING, Change, Resource
from .naming import Key, key
from .plan import Plan
from .recorded import Records

_HELD = frozenset({Resource.CLUSTER, Resource.NODE_POOL})
"""What has nodes that are booked."""


def pools_going(plan: Plan, records: Records) -> frozenset[PoolId]:
    """The pools of which the plan takes a cluster or node pools away."""
    going = {change.key for change in plan.changes if _is_going(change)}
    return frozenset(pool.id for pool in records.pools if pool.archived_at is None and key(pool) in going)


def with_bookings(plan: Plan, records: Records, standing: Iterable[Standing]) -> Plan:
    """The plan, whose changes say which bookings they wait for. A cluster's are all of its pool's.

    Arguments:
        records: what the plan was made beside.
        standing: what is booked now in the pools of :func:`pools_going`.
    """
    keys = {pool.id: key(pool) for pool in records.pools}
    booked: dict[Key, list[Standing]] = {}
    for one in standing:
        booked.setdefault(keys[one.pool_id], []).append(one)
    if not booked:
        return plan
    pool_of = {row.id: row.substrate_pool_id for row in records.clusters}
    names = {(pool_of.get(row.cluster_id), row.shape.name): row.name for row in records.node_pools if row.of_flavor}
    whole = {change.key for change in plan.changes if change.resource == Resource.CLUSTER and _is_going(change)}

    def told(change: Change) -> Change:
        if not _is_going(change) or (change.resource == Resource.NODE_POOL and change.key in whole):
            return change
        found = booked.get(change.key, [])
        if change.resource == Resource.NODE_POOL:
            found = [one for one in found if one.node_pool == names.get((one.pool_id, change.part))]
        return replace(change, note=_note(change.note, found)) if found else change

    return replace(plan, changes=tuple(told(change) for change in plan.changes))


def _is_going(change: Change) -> bool:
    return change.kind in GOING and change.resource in _HELD


def _note(before: str, found: list[Standing]) -> str:
    bookings: Counter[TenantId] = Counter()
    gpus: Counter[TenantId] = Counter()
    for one in found:
        bookings[one.tenant_id] += one.bookings
        gpus[one.tenant_id] += one.gpus
    owners = some_of(
        [f"{count} of tenant {tenant} ({gpus[tenant]} GPUs)" for tenant, count in sorted(bookings.items())]
    )
    total = bookings.total()
    waits = f"waits for {total} booking{'' if total == 1 else 's'}: {owners}"
    return f"{before}; {waits}" if before else waits
