# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_nodepool: a list of node pools in, the changes and their records out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.errors import Code
from ..model.ids import TenantId
from ..model.records import NodePoolRecord
from ..operations import node_pools, passes
from ..operations.node_pools import NodePoolsPlan, WantedNodePool
from ..operations.session import Session
from .edge import run_module

NODE_POOL_ARGUMENTS: dict[str, dict[str, Any]] = {
    "pool": {"type": "str", "required": True},
    "tenant": {"type": "str", "default": "platform"},
    "node_pools": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "name": {"type": "str", "required": True},
            "machine_type": {"type": "str"},
            "node_count": {"type": "int"},
            "spot": {"type": "bool"},
            "disk_gib": {"type": "int"},
            "zones": {"type": "list", "elements": "str"},
        },
    },
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "wait": {"type": "bool", "default": True},
    "wait_timeout": {"type": "int", "default": 1800},
}


def run_node_pools() -> None:
    """The module bc_nodepool."""
    run_module(NODE_POOL_ARGUMENTS, _converge)


def _converge(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    wanted = [_wanted(item) for item in params["node_pools"]]
    absent = params["state"] == "absent"
    if not module.check_mode:
        passes.require_libraries()
    operation = node_pools.plan_node_pools if module.check_mode else node_pools.apply_node_pools
    plan = operation(session, pool=params["pool"], tenant_id=TenantId(params["tenant"]), wanted=wanted, absent=absent)
    names = [one.name for one in wanted]
    records = node_pools.recorded_node_pools(session, plan, names)
    failure: dict[str, Any] = {}
    # Also what an earlier run began: it may not have got to its end.
    if not module.check_mode and not all(node_pools.is_settled(record) and not absent for record in records):
        substrate = _run_passes(session, plan, wait=params["wait"], wait_timeout=params["wait_timeout"])
        records = node_pools.recorded_node_pools(session, plan, names)
        if params["wait"]:
            failure = _told_unsettled(records, substrate, absent=absent)
    return {
        "changed": bool(plan.changes),
        "diff": _diff(plan),
        "node_pools": [node_pools.to_data(record) for record in records],
        **failure,
    }


def _run_passes(session: Session, plan: NodePoolsPlan, *, wait: bool, wait_timeout: int) -> str:
    """Run the pool's passes as far as the caller wants to wait; what its substrate says then."""
    if not wait:
        passes.run_once(session, [plan.pool.id])
        return ""
    views = passes.run_until_settled(session, [plan.pool.id], timeout=timedelta(seconds=wait_timeout))
    return "; ".join(view.record.message for view in views if view.record.message)


def _told_unsettled(records: Sequence[NodePoolRecord], substrate: str, *, absent: bool) -> dict[str, Any]:
    """The failure for node pools that are not as they were wanted, each with its reason; else empty."""
    lines = [
        f"node pool {record.name} is {record.state}: {record.message or substrate or 'no reason yet'}"
        for record in records
        if absent or not node_pools.is_settled(record)
    ]
    return {"failed": True, "code": str(Code.INVALID_STATE), "msg": "\n".join(lines)} if lines else {}


def _wanted(item: Mapping[str, Any]) -> WantedNodePool:
    zones = item["zones"]
    return WantedNodePool(
        name=item["name"],
        machine_type=item["machine_type"],
        node_count=item["node_count"],
        spot=item["spot"],
        disk_gib=item["disk_gib"],
        zones=None if zones is None else tuple(zones),
    )


def _diff(plan: NodePoolsPlan) -> dict[str, Any]:
    return {
        "before": {c.before.name: _declared(c.before) for c in plan.changes if c.before is not None},
        "after": {c.after.name: _declared(c.after) for c in plan.changes if c.after is not None},
    }


def _declared(record: NodePoolRecord) -> dict[str, Any]:
    """What a caller declares of a node pool; the rest is its status."""
    data = node_pools.to_data(record)
    return {name: data[name] for name in ("machine_type", "node_count", "spot", "disk_gib", "zones")}
