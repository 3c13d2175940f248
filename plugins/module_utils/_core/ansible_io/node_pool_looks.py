# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking: what a task of bc_nodepool would change, by one read of the records; and how that is told.

The module bc_nodepool_plan does no more. What it needs is kept small: Ansible parses, packs and ships every file that a
module names, also within a function, and the target compiles what it loads, each time. Nothing here may name what
writes, runs passes or asks providers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.ids import NodePoolId
from ..model.records import NodePoolRecord
from ..model.states import NodePoolState
from ..operations.node_pools.deciding import NodePoolChange, NodePoolsPlan, Wish
from ..operations.node_pools.planning import plan_node_pools
from ..operations.node_pools.telling import declared, to_data
from ..operations.session import Session
from .edge import run_module
from .node_pool_wishes import NODE_POOL_ARGUMENTS, NOT_BOTH, asked


def run_node_pool_plan() -> None:
    """The module bc_nodepool_plan."""
    run_module(NODE_POOL_ARGUMENTS, _look, only_reads=True, mutually_exclusive=NOT_BOTH)


def _look(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    call = asked(module.params)
    plan = plan_node_pools(session, tenant_id=call.tenant_id, wanted=call.wanted, wish=call.wish)
    records = as_recorded(plan)
    settled = not plan.changes and not unsettled(plan, records, wish=call.wish)
    return {**result(module, plan, records), "settled": settled}


def result(module: AnsibleModule, plan: NodePoolsPlan, records: Mapping[NodePoolId, NodePoolRecord]) -> dict[str, Any]:
    """What is told of a plan: the changes, and its node pools as they stand in these records."""
    for entry in plan.entries:
        _warn_of_a_repetition(module, entry, records)
    stands = [(_pool_name(entry), record_of(entry, records)) for entry in plan.entries]
    return {
        "changed": bool(plan.changes),
        "diff": _diff(plan),
        "node_pools": [told(pool, record) for pool, record in stands if record is not None and not _is_gone(record)],
    }


def as_recorded(plan: NodePoolsPlan) -> dict[NodePoolId, NodePoolRecord]:
    """The plan's node pools as they were read with it."""
    return {entry.before.id: entry.before for entry in plan.entries if entry.before is not None}


def record_of(entry: NodePoolChange, records: Mapping[NodePoolId, NodePoolRecord]) -> NodePoolRecord | None:
    """The entry's node pool as it stands in the records."""
    named = entry.after or entry.before
    return None if named is None else records.get(named.id)


def unsettled(plan: NodePoolsPlan, records: Mapping[NodePoolId, NodePoolRecord], *, wish: Wish) -> list[NodePoolChange]:
    """The entries whose node pool is not as it is wanted."""
    found = []
    for entry in plan.entries:
        record = record_of(entry, records)
        if record is None or (entry.repeated and record.state in (NodePoolState.DELETING, NodePoolState.DELETED)):
            continue
        settled = _is_gone(record) if wish == Wish.ABSENT else record.settled
        if not settled:
            found.append(entry)
    return found


def _is_gone(record: NodePoolRecord) -> bool:
    return record.state == NodePoolState.DELETED


def _warn_of_a_repetition(
    module: AnsibleModule, entry: NodePoolChange, records: Mapping[NodePoolId, NodePoolRecord]
) -> None:
    record = record_of(entry, records)
    if entry.repeated and record is not None and record.state in (NodePoolState.DELETING, NodePoolState.DELETED):
        module.warn(
            f"node pool {record.name} of idempotency key {entry.wanted.idempotency_key} is {record.state}, and a "
            "repeated request makes nothing again: take another key, or none, to create it anew"
        )


def _pool_name(entry: NodePoolChange) -> str | None:
    pool = entry.standing.pool
    return pool.name if pool else None


def owner(entry: NodePoolChange) -> str:
    """Whose node pool it is, for a sentence."""
    name = _pool_name(entry)
    return f"cluster {entry.standing.cluster.name}" if name is None else f"pool {name}"


def told(pool: str | None, record: NodePoolRecord) -> dict[str, Any]:
    """A node pool in a module's result."""
    return {"pool": pool, **to_data(record)}


def _diff(plan: NodePoolsPlan) -> dict[str, Any]:
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for change in plan.changes:
        name = f"{_pool_name(change) or change.standing.cluster.name}/{change.wanted.name}"
        if change.before is not None:
            before[name] = declared(change.before)
        if change.after is not None and change.after.state != NodePoolState.DELETING:
            after[name] = declared(change.after)
    return {"before": before, "after": after}
