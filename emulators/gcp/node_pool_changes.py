# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node pools changed: size, autoscaling, labels, taints and version. What else they are is fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Final

from grpc import StatusCode

from . import constraints, instances, node_pools, versions
from .errors import GcpError, invalid
from .records import Cluster, Message, NodePool, Operation, OperationType, PoolStatus, new_etag
from .rolling import roll
from .state import State

_ADDRESS: Final = frozenset({"name", "etag", "project_id", "zone", "cluster_id", "node_pool_id"})
_EMULATED: Final = frozenset({"labels", "taints", "resource_labels", "node_version"})


def set_size(state: State, request: Message) -> Message:
    """SetNodePoolSize: so many machines in each zone. `initialNodeCount` stays what it was."""
    cluster, pool = state.pool(request.name)
    node_pools.refuse_autopilot(cluster)
    size = request.node_count
    constraints.check_count(size)
    if size * len(pool.groups) > pool.total:
        constraints.check_quota(state, pool.machine_type, size * len(pool.groups), without=pool)

    def resize(operation: Operation) -> None:
        pool.resize(size)
        instances.work(state, cluster, pool, operation)

    kind = OperationType.SET_NODE_POOL_SIZE
    operation = change(state, cluster, pool, kind=kind, seconds=state.timings.node_pool_resize, effect=resize)
    return operation.describe(state.engine.clock.now())


def set_autoscaling(state: State, request: Message) -> Message:
    """SetNodePoolAutoscaling: bounds, per zone or in total, or none. Touches no machine."""
    cluster, pool = state.pool(request.name)
    node_pools.refuse_autopilot(cluster)
    constraints.check_autoscaling(request.autoscaling)
    before = pool.shown.status

    def bound(operation: Operation) -> None:
        pool.shown.autoscaling.CopyFrom(request.autoscaling)
        pool.shown.etag = new_etag()
        end(state, cluster, pool, operation, status=before)

    kind = OperationType.UPDATE_CLUSTER
    operation = change(state, cluster, pool, kind=kind, seconds=state.timings.node_pool_update, effect=bound)
    return operation.describe(state.engine.clock.now())


def update(state: State, request: Message) -> Message:
    """UpdateNodePool: the whole set of labels or taints, or the nodes' version. Replaces the machines one by one."""
    cluster, pool = state.pool(request.name)
    node_pools.refuse_autopilot(cluster)
    _check_update(request, pool)
    before, version = pool.shown.status, pool.shown.version
    if request.node_version:
        master = cluster.shown.current_master_version
        version = versions.resolve(request.node_version, default=master)
        versions.check_nodes(version, master=master)

    def replace(operation: Operation) -> None:
        config = pool.shown.config
        if request.HasField("labels"):
            config.labels.clear()
            config.labels.update(request.labels.labels)
        if request.HasField("taints"):
            del config.taints[:]
            config.taints.extend(request.taints.taints)
        if request.HasField("resource_labels"):
            _relabel(config.resource_labels, request.resource_labels.labels)
        if request.HasField("labels") or request.HasField("taints") or request.node_version:
            move(state, cluster, pool, operation, version=version)
        else:  # resource labels reach machines without replacing them
            pool.shown.etag = new_etag()
            end(state, cluster, pool, operation, status=before)

    kind = OperationType.UPGRADE_NODES
    operation = change(state, cluster, pool, kind=kind, seconds=state.timings.node_pool_update, effect=replace)
    return operation.describe(state.engine.clock.now())


def move(state: State, cluster: Cluster, pool: NodePool, operation: Operation, *, version: str) -> None:
    """Bring all machines to the node pool's settings and a version; the operation is done with the last."""
    pool.shown.version = version
    pool.shown.etag = new_etag()
    pool.generation += 1
    roll(state, cluster, pool, operation)


def change(
    state: State, cluster: Cluster, pool: NodePool, *, kind: int, seconds: float, effect: Callable[[Operation], None]
) -> Operation:
    """Begin an operation on a node pool, which is RECONCILING until it is done.

    Arguments:
        kind: of the operation.
        seconds: until the effect.
        effect: given the operation, which it ends; left out where the change was scripted to fail.

    Raises:
        GcpError: another operation stands in its way, or too many run.
    """
    operation = state.begin(
        kind, location=cluster.location, cluster=cluster.name, pool=pool.name, pending=state.timings.pending
    )
    failure = state.failures.take("update", f"{cluster.name}/{pool.name}")
    before = pool.shown.status
    pool.shown.status = PoolStatus.RECONCILING

    def due() -> None:
        if failure is None:
            effect(operation)
            return
        end(state, cluster, pool, operation, status=before)
        operation.shown.error.CopyFrom(failure.status())

    state.after(seconds, kind=f"change-{kind}", target=pool.name, finish=due)
    return operation


def end(state: State, cluster: Cluster, pool: NodePool, operation: Operation, *, status: int) -> None:
    """An operation that waits for no machine is done, and the node pool is as it was, or better."""
    pool.shown.status = status
    state.finish(operation)
    instances.settle(state, cluster, pool)


def _check_update(request: Message, pool: NodePool) -> None:
    wanted = {field.name for field, _value in request.ListFields()} - _ADDRESS
    if not wanted:
        raise invalid("At least one of ['node_version', 'labels', 'taints', …] must be specified.")
    if wanted - _EMULATED:
        raise GcpError(StatusCode.UNIMPLEMENTED, f"The emulator does not update {min(wanted - _EMULATED)}.")
    if request.node_version and len(wanted) > 1:
        raise invalid("node_version must be updated alone.")
    if request.etag and request.etag != pool.shown.etag:
        raise GcpError(StatusCode.ABORTED, "The etag does not match the current node pool: it was changed meanwhile.")
    constraints.check_labels(request.labels.labels)
    constraints.check_taints(list(request.taints.taints))
    constraints.check_own_resource_labels(request.resource_labels.labels)


def _relabel(held: MutableMapping[str, str], wanted: Mapping[str, str]) -> None:
    """Google's own stay, whatever is asked for."""
    for key in [key for key in held if not key.startswith(constraints.GOOGLES_LABELS)]:
        del held[key]
    held.update(wanted)
