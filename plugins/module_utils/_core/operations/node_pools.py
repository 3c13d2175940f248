# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetesNodePools: node pools of a cluster that a caller adds, resizes and deletes.

A flavor's node pool is changed in the document only: here it is INVALID_STATE.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..model.capabilities import MAX_NODE_POOLS
from ..model.declared import Flavor
from ..model.errors import Code, InvalidInput, OperationError, Problem
from ..model.ids import TenantId, new_node_pool_id
from ..model.records import ClusterRecord, NodePoolRecord, PoolRecord
from ..model.states import ClusterState, Intent, NodePoolState
from ..store import Tx, clusters, events, fleet, work
from .session import Session
from .substrates import resolve_pool

_NAME = re.compile(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", re.ASCII)
_MACHINE_TYPE = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}", re.ASCII)
_MOST_NODES = 1000
_LEAST_DISK_GIB, _MOST_DISK_GIB = 10, 65536
_MOST_ZONES = 10

_ON_ITS_WAY = (ClusterState.PENDING, ClusterState.PROVISIONING)
"""States that a further node pool does not touch: the cluster never was there in full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedNodePool:
    """A node pool as a caller wants it: what is None is left as it is.

    Attributes:
        node_count: nodes per zone, 0 to 1000.
        disk_gib: GiB, 10 to 65536.
    """

    name: str
    machine_type: str | None = None
    node_count: int | None = None
    spot: bool | None = None
    disk_gib: int | None = None
    zones: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolChange:
    """One change to a cluster's node pools: `before` is None for a new one, `after` is None for one that goes."""

    before: NodePoolRecord | None
    after: NodePoolRecord | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolsPlan:
    """What a call changes."""

    pool: PoolRecord
    cluster: ClusterRecord
    changes: tuple[NodePoolChange, ...]


def plan_node_pools(
    session: Session, *, pool: str, tenant_id: TenantId, wanted: Sequence[WantedNodePool], absent: bool
) -> NodePoolsPlan:
    """What bringing these node pools about (or taking them away) changes. Writes nothing.

    Raises:
        InvalidInput: every problem of the call.
        OperationError: NOT_FOUND, INVALID_STATE (a flavor's, or a cluster that is being deleted), QUOTA_EXCEEDED.
    """
    with session.store.read() as tx:
        return _plan(tx, pool=pool, tenant_id=tenant_id, wanted=wanted, absent=absent)


def apply_node_pools(
    session: Session, *, pool: str, tenant_id: TenantId, wanted: Sequence[WantedNodePool], absent: bool
) -> NodePoolsPlan:
    """Record what the call wants, planned in the same transaction, and make the pool's pass due. Errors as plan's."""
    plan = plan_node_pools(session, pool=pool, tenant_id=tenant_id, wanted=wanted, absent=absent)
    if not plan.changes:
        return plan
    with session.store.write() as tx:
        # The work unit and the pool are locked first: two callers count the cluster's node pools one after the other.
        work.make_due(tx, plan.pool.id, tx.now)
        fleet.lock_pool(tx, plan.pool.id)
        plan = _plan(tx, pool=plan.pool.id, tenant_id=tenant_id, wanted=wanted, absent=absent)
        for change in plan.changes:
            _write(tx, plan.cluster, change)
        if plan.changes:
            state = plan.cluster.state if plan.cluster.state in _ON_ITS_WAY else ClusterState.UPDATING
            clusters.raise_cluster_generation(tx, plan.cluster.id, state)
    return plan


def recorded_node_pools(session: Session, plan: NodePoolsPlan, names: Sequence[str]) -> tuple[NodePoolRecord, ...]:
    """The named node pools of the plan's cluster as they stand now."""
    with session.store.read() as tx:
        records = clusters.node_pools(tx, plan.cluster.id)
    return tuple(record for record in records if record.name in names)


def is_settled(record: NodePoolRecord) -> bool:
    """Whether the node pool is as it was wanted last."""
    return record.state == NodePoolState.READY and record.observed_version == record.version


def to_data(record: NodePoolRecord) -> dict[str, Any]:
    """A node pool as plain values in snake_case, for module results."""
    shape = record.shape
    return {
        "id": str(record.id),
        "name": record.name,
        "machine_type": shape.machine_type,
        "node_count": shape.nodes,
        "gpus": {"type": shape.gpus.type, "count": shape.gpus.count} if shape.gpus else None,
        "spot": shape.spot,
        "disk_gib": shape.disk_gib,
        "zones": list(shape.zones),
        "flavor": record.of_flavor,
        "state": str(record.state),
        "message": record.message,
        "version": record.version,
    }


def _plan(tx: Tx, *, pool: str, tenant_id: TenantId, wanted: Sequence[WantedNodePool], absent: bool) -> NodePoolsPlan:
    record = resolve_pool(tx, pool=pool, tenant_id=tenant_id)
    cluster = clusters.cluster_of_pool(tx, record.id)
    if cluster is None:
        raise OperationError(Code.NOT_FOUND, f"pool {pool!r} has no cluster: it declares no policy.substrate")
    if record.intent == Intent.TEAR_DOWN or cluster.state == ClusterState.DELETING:
        raise OperationError(Code.INVALID_STATE, f"the cluster of pool {pool!r} is being deleted")
    recorded = {node_pool.name: node_pool for node_pool in clusters.node_pools(tx, cluster.id)}
    for one in wanted:
        if one.name in recorded and recorded[one.name].of_flavor:
            raise OperationError(
                Code.INVALID_STATE,
                f"node pool {one.name!r} is a flavor of pool {record.name!r}: change it in the FleetConfig document",
            )
    account = fleet.account(tx, cluster.account_id)
    zones = account.zones if account is not None else None
    changes = plan_changes(wanted, recorded, cluster=cluster, zones=zones, absent=absent, now=tx.now)
    alive = sum(node_pool.state != NodePoolState.DELETED for node_pool in recorded.values())
    added = sum(change.before is None for change in changes)
    if added and alive + added > MAX_NODE_POOLS:
        raise OperationError(
            Code.QUOTA_EXCEEDED,
            f"a cluster has at most {MAX_NODE_POOLS} node pools: {alive} are there, {added} more wanted",
        )
    return NodePoolsPlan(pool=record, cluster=cluster, changes=changes)


def plan_changes(
    wanted: Sequence[WantedNodePool],
    recorded: Mapping[str, NodePoolRecord],
    *,
    cluster: ClusterRecord,
    zones: Sequence[str] | None,
    absent: bool,
    now: datetime,
) -> tuple[NodePoolChange, ...]:
    """The changes that a call stands for: pure.

    Arguments:
        zones: the account's; None while they are not known.

    Raises:
        InvalidInput: every problem of the call at once.
    """
    problems: list[Problem] = []
    changes: list[NodePoolChange] = []
    seen: set[str] = set()
    for index, one in enumerate(wanted):
        path = f"node_pools[{index}]"
        if one.name in seen:
            problems.append(Problem(path=f"{path}.name", message=f"{one.name!r} stands twice in the list"))
        seen.add(one.name)
        before = recorded.get(one.name)
        if absent:
            if before is not None and before.state != NodePoolState.DELETING:
                changes.append(NodePoolChange(before=before, after=None))
            continue
        found = _problems(path, one, before, known_zones=zones)
        problems += found
        if not found:
            after = _after(one, before, cluster=cluster, now=now)
            if after != before:
                changes.append(NodePoolChange(before=before, after=after))
    if problems:
        raise InvalidInput(problems)
    return tuple(changes)


def _after(
    one: WantedNodePool, before: NodePoolRecord | None, *, cluster: ClusterRecord, now: datetime
) -> NodePoolRecord:
    if before is not None:
        nodes = before.shape.nodes if one.node_count is None else one.node_count
        if nodes == before.shape.nodes:
            return before
        shape = replace(before.shape, nodes=nodes)
        return replace(before, shape=shape, version=before.version + 1, state=NodePoolState.UPDATING)
    return NodePoolRecord(
        id=new_node_pool_id(now),
        cluster_id=cluster.id,
        name=one.name,
        shape=Flavor(
            name=one.name,
            machine_type=one.machine_type or "",
            nodes=one.node_count or 0,
            spot=bool(one.spot),
            disk_gib=one.disk_gib,
            zones=tuple(sorted(set(one.zones or ()))),
        ),
        state=NodePoolState.PENDING,
        of_flavor=False,
    )


def _problems(
    path: str, one: WantedNodePool, before: NodePoolRecord | None, *, known_zones: Sequence[str] | None
) -> list[Problem]:
    def problem(field: str, message: str) -> Problem:
        return Problem(path=f"{path}.{field}", message=message)

    found = []
    if not _NAME.fullmatch(one.name):
        found.append(problem("name", f"expected 1 to 40 of a-z, 0-9 and -, a letter first, got {one.name!r}"))
    if one.machine_type is not None and not _MACHINE_TYPE.fullmatch(one.machine_type):
        found.append(problem("machine_type", f"expected the provider's machine type, got {one.machine_type!r}"))
    if one.node_count is not None and not 0 <= one.node_count <= _MOST_NODES:
        found.append(problem("node_count", f"expected 0 to {_MOST_NODES}, got {one.node_count}"))
    if one.disk_gib is not None and not _LEAST_DISK_GIB <= one.disk_gib <= _MOST_DISK_GIB:
        found.append(problem("disk_gib", f"expected {_LEAST_DISK_GIB} to {_MOST_DISK_GIB} GiB, got {one.disk_gib}"))
    if one.zones is not None and len(one.zones) > _MOST_ZONES:
        found.append(problem("zones", f"expected at most {_MOST_ZONES}, got {len(one.zones)}"))
    strange = sorted(set(one.zones or ()) - set(known_zones)) if known_zones else []
    if strange:
        known = ", ".join(known_zones or ())
        found.append(problem("zones", f"expected zones of the account ({known}), got {', '.join(strange)}"))
    if before is None:
        missing = (("machine_type", one.machine_type), ("node_count", one.node_count))
        return found + [problem(name, "required for a new node pool") for name, value in missing if value is None]
    if before.state == NodePoolState.DELETING:
        found.append(problem("name", f"{one.name!r} is being deleted: wait until it is gone, or take another name"))
    fixed = (
        ("machine_type", one.machine_type, before.shape.machine_type),
        ("spot", one.spot, before.shape.spot),
        ("disk_gib", one.disk_gib, before.shape.disk_gib),
        ("zones", None if one.zones is None else sorted(set(one.zones)), sorted(set(before.shape.zones))),
    )
    for name, asked, stands in fixed:
        if asked is not None and asked != stands:
            found.append(problem(name, f"it is {stands!r} and never changes: delete the node pool and add another"))
    return found


def _write(tx: Tx, cluster: ClusterRecord, change: NodePoolChange) -> None:
    if change.after is None:
        if change.before is not None:
            clusters.change_node_pool(tx, change.before.id, change.before.shape, NodePoolState.DELETING)
    elif change.before is not None:
        clusters.change_node_pool(tx, change.after.id, change.after.shape, change.after.state)
    else:
        clusters.add_node_pool(tx, change.after)
        tell_created(tx, change.after, tenant_id=cluster.tenant_id)


def tell_created(tx: Tx, record: NodePoolRecord, *, tenant_id: TenantId) -> None:
    """The event of a new node pool, in the transaction that records it (spec: kubernetes.nodepool.created)."""
    data = {"nodePoolId": record.id, "name": record.name}
    events.publish(tx, tenant_id=tenant_id, subject=record.cluster_id, type="kubernetes.nodepool.created", data=data)
