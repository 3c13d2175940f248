# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_nodepool and bc_nodepool_info: lists of node pools in, the changes and their records out.

A run that finds everything as it should be is one read of the records: no pass, no provider, no write.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

from ansible.module_utils.basic import AnsibleModule

from ..model.declared import Autoscaling, Gpus, Taint
from ..model.errors import Code
from ..model.ids import ClusterId, NodePoolId, PoolId, TenantId
from ..model.limits import TAINT_EFFECTS
from ..model.records import NodePoolRecord
from ..model.states import NodePoolState
from ..operations import node_pools
from ..operations.node_pools import FIXED_SIZE, FixedSize, NodePoolChange, NodePoolsPlan, WantedNodePool, Wish
from ..operations.session import Session
from .edge import run_module
from .waiting import WAIT_ARGUMENTS, wait_timeout

_WHERE: dict[str, dict[str, Any]] = {"pool": {"type": "str"}, "cluster_id": {"type": "str"}}

_ITEM: dict[str, dict[str, Any]] = {
    **_WHERE,
    "name": {"type": "str", "required": True},
    "machine_type": {"type": "str"},
    "node_count": {"type": "int"},
    "autoscaling": {
        "type": "dict",
        "options": {
            "enabled": {"type": "bool", "default": True},
            "min_nodes": {"type": "int"},
            "max_nodes": {"type": "int"},
        },
        "required_if": [("enabled", True, ("min_nodes", "max_nodes"))],
    },
    "spot": {"type": "bool"},
    "disk_gib": {"type": "int"},
    "disk_type": {"type": "str"},
    "accelerators": {
        "type": "dict",
        "options": {"type": {"type": "str", "required": True}, "count": {"type": "int", "required": True}},
    },
    "zones": {"type": "list", "elements": "str"},
    "labels": {"type": "dict"},
    "taints": {
        "type": "list",
        "elements": "dict",
        "options": {
            "key": {"type": "str", "required": True, "no_log": False},
            "value": {"type": "str", "default": ""},
            "effect": {"type": "str", "required": True, "choices": list(TAINT_EFFECTS)},
        },
    },
    "idempotency_key": {"type": "str", "no_log": False},
}

NODE_POOL_ARGUMENTS: dict[str, dict[str, Any]] = {
    **_WHERE,
    "tenant": {"type": "str", "default": "platform"},
    "node_pools": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": _ITEM,
        "mutually_exclusive": [("pool", "cluster_id")],
    },
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    **WAIT_ARGUMENTS,
}

NODE_POOL_INFO_ARGUMENTS: dict[str, dict[str, Any]] = {
    **_WHERE,
    "tenant": {"type": "str", "default": "platform"},
    "names": {"type": "list", "elements": "str"},
}

_DECLARED = (
    "machine_type",
    "node_count",
    "autoscaling",
    "spot",
    "disk_gib",
    "disk_type",
    "accelerators",
    "zones",
    "labels",
    "taints",
)
"""What a caller declares of a node pool; the rest of its data is status."""

_NO_PASSES = "it is recorded, and this version does not converge clusters without a pool yet"


def run_node_pools() -> None:
    """The module bc_nodepool."""
    run_module(NODE_POOL_ARGUMENTS, _converge, mutually_exclusive=[("pool", "cluster_id")])


def run_node_pool_info() -> None:
    """The module bc_nodepool_info."""
    run_module(NODE_POOL_INFO_ARGUMENTS, _read, mutually_exclusive=[("pool", "cluster_id")])


def _read(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    found = node_pools.find_node_pools(
        session,
        tenant_id=TenantId(params["tenant"]),
        pool=params["pool"],
        cluster_id=params["cluster_id"],
        names=params["names"],
    )
    return {"changed": False, "node_pools": [_told(one.pool, one.record) for one in found]}


def _converge(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    wish = Wish(params["state"])
    timeout = wait_timeout(params)
    tenant_id = TenantId(params["tenant"])
    wanted = [_wanted(index, item, params) for index, item in enumerate(params["node_pools"])]
    plan = node_pools.plan_node_pools(session, tenant_id=tenant_id, wanted=wanted, wish=wish)
    records = _as_recorded(plan)
    failure: dict[str, Any] = {}
    # Also what an earlier run began is brought to its end: it may not have got there.
    if not module.check_mode and (plan.changes or _unsettled(plan, records, wish=wish)):
        plan, records, failure = _bring_about(session, plan, wanted, params, wish=wish, timeout=timeout)
    for entry in plan.entries:
        _warn_of_a_repetition(module, entry, records)
    told = [(_pool_name(entry), _record(entry, records)) for entry in plan.entries]
    return {
        "changed": bool(plan.changes),
        "diff": _diff(plan),
        "node_pools": [_told(pool, record) for pool, record in told if record is not None and not _is_gone(record)],
        **failure,
    }


def _bring_about(
    session: Session,
    plan: NodePoolsPlan,
    wanted: list[WantedNodePool],
    params: Mapping[str, Any],
    *,
    wish: Wish,
    timeout: timedelta,
) -> tuple[NodePoolsPlan, dict[NodePoolId, NodePoolRecord], dict[str, Any]]:
    """Record what there is to change and run passes; the plan as recorded, the records then, and the failure if any."""
    # Passes bring a provider's and Kubernetes' packages with them: a run with nothing to do is not to wait for those.
    from ..operations import passes

    passes.require_libraries()
    if plan.changes:
        plan = node_pools.apply_node_pools(session, tenant_id=TenantId(params["tenant"]), wanted=wanted, wish=wish)
    entries = (*plan.changes, *_unsettled(plan, _as_recorded(plan), wish=wish))
    moving = {entry.standing.pool.id for entry in entries if entry.standing.pool is not None}
    if not params["wait"]:
        passes.run_once(session, moving)
        return plan, node_pools.recorded_again(session, plan), {}
    views = passes.run_until_settled(session, moving, timeout=timeout)
    records = node_pools.recorded_again(session, plan)
    reasons = {view.record.pool_id: view.record.message for view in views}
    return plan, records, _told_unsettled(_unsettled(plan, records, wish=wish), records, reasons)


def _told_unsettled(
    unsettled: list[NodePoolChange], records: Mapping[NodePoolId, NodePoolRecord], reasons: Mapping[PoolId, str]
) -> dict[str, Any]:
    """The failure for node pools that are not as they were wanted, each with its reason; else empty."""
    lines = []
    for entry in unsettled:
        record, pool = _record(entry, records), entry.standing.pool
        if record is not None:
            reason = record.message or (reasons.get(pool.id) if pool else _NO_PASSES) or "no reason yet"
            lines.append(f"node pool {record.name} of {_owner(entry)} is {record.state}: {reason}")
    return {"failed": True, "code": str(Code.INVALID_STATE), "msg": "\n".join(lines)} if lines else {}


def _as_recorded(plan: NodePoolsPlan) -> dict[NodePoolId, NodePoolRecord]:
    return {entry.before.id: entry.before for entry in plan.entries if entry.before is not None}


def _record(entry: NodePoolChange, records: Mapping[NodePoolId, NodePoolRecord]) -> NodePoolRecord | None:
    """The entry's node pool as it stands in the records."""
    named = entry.after or entry.before
    return None if named is None else records.get(named.id)


def _unsettled(
    plan: NodePoolsPlan, records: Mapping[NodePoolId, NodePoolRecord], *, wish: Wish
) -> list[NodePoolChange]:
    """The entries whose node pool is not as it is wanted."""
    found = []
    for entry in plan.entries:
        record = _record(entry, records)
        if record is None or (entry.repeated and record.state in (NodePoolState.DELETING, NodePoolState.DELETED)):
            continue
        settled = _is_gone(record) if wish == Wish.ABSENT else node_pools.is_settled(record)
        if not settled:
            found.append(entry)
    return found


def _is_gone(record: NodePoolRecord) -> bool:
    return record.state == NodePoolState.DELETED


def _warn_of_a_repetition(
    module: AnsibleModule, entry: NodePoolChange, records: Mapping[NodePoolId, NodePoolRecord]
) -> None:
    record = _record(entry, records)
    if entry.repeated and record is not None and record.state in (NodePoolState.DELETING, NodePoolState.DELETED):
        module.warn(
            f"node pool {record.name} of idempotency key {entry.wanted.idempotency_key} is {record.state}, and a "
            "repeated request makes nothing again: take another key, or none, to create it anew"
        )


def _pool_name(entry: NodePoolChange) -> str | None:
    pool = entry.standing.pool
    return pool.name if pool else None


def _owner(entry: NodePoolChange) -> str:
    name = _pool_name(entry)
    return f"cluster {entry.standing.cluster.name}" if name is None else f"pool {name}"


def _told(pool: str | None, record: NodePoolRecord) -> dict[str, Any]:
    return {"pool": pool, **node_pools.to_data(record)}


def _wanted(index: int, item: Mapping[str, Any], params: Mapping[str, Any]) -> WantedNodePool:
    own = item["pool"] is not None or item["cluster_id"] is not None
    where = item if own else params
    cluster_id, accelerators, zones, taints = where["cluster_id"], item["accelerators"], item["zones"], item["taints"]
    return WantedNodePool(
        path=f"node_pools[{index}]",
        pool=where["pool"],
        cluster_id=None if cluster_id is None else ClusterId(cluster_id),
        name=item["name"],
        machine_type=item["machine_type"],
        node_count=item["node_count"],
        autoscaling=_autoscaling(item["autoscaling"]),
        spot=item["spot"],
        disk_gib=item["disk_gib"],
        disk_type=item["disk_type"],
        accelerators=None if accelerators is None else Gpus(**accelerators),
        zones=None if zones is None else tuple(zones),
        labels=item["labels"],
        taints=None if taints is None else tuple(Taint(**{**taint, "value": taint["value"] or ""}) for taint in taints),
        idempotency_key=item["idempotency_key"],
    )


def _autoscaling(item: Mapping[str, Any] | None) -> Autoscaling | Literal[FixedSize.FIXED_SIZE] | None:
    if item is None:
        return None
    if not item["enabled"]:
        return FIXED_SIZE
    return Autoscaling(min_nodes=item["min_nodes"], max_nodes=item["max_nodes"])


def _diff(plan: NodePoolsPlan) -> dict[str, Any]:
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for change in plan.changes:
        name = f"{_pool_name(change) or change.standing.cluster.name}/{change.wanted.name}"
        if change.before is not None:
            before[name] = _declared(change.before)
        if change.after is not None and change.after.state != NodePoolState.DELETING:
            after[name] = _declared(change.after)
    return {"before": before, "after": after}


def _declared(record: NodePoolRecord) -> dict[str, Any]:
    data = node_pools.to_data(record)
    return {name: data[name] for name in _DECLARED}
