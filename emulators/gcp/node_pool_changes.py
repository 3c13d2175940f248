# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node pools changed: size, autoscaling, labels, taints and version. What else they are is fixed."""

from __future__ import annotations

from functools import partial
from typing import Final

from grpc import StatusCode

from . import constraints, instances, node_pools, versions
from .errors import GcpError, invalid
from .records import Cluster, Message, NodePool, Operation, OperationType, PoolStatus, new_etag
from .state import State

_ADDRESS: Final = frozenset({"name", "etag", "project_id", "zone", "cluster_id", "node_pool_id"})
_EMULATED: Final = frozenset({"labels", "taints", "node_version"})


def set_size(state: State, request: Message) -> Message:
    """SetNodePoolSize: so many machines in each zone. `initialNodeCount` stays what it was."""
    cluster, pool = state.pool(request.name)
    node_pools.refuse_autopilot(cluster)
    size = request.node_count
    constraints.check_count(size)
    if size > pool.size:
        constraints.check_quota(state, pool.machine_type, size * len(pool.groups), without=pool)
    operation = _begin(state, OperationType.SET_NODE_POOL_SIZE, cluster, pool)

    def resize() -> None:
        pool.size = size
        pool.vacant.clear()
        instances.work(state, cluster, pool, operation)

    state.after(state.timings.node_pool_resize, kind="set-node-pool-size", target=pool.name, finish=resize)
    return operation.describe(state.engine.clock.now())


def set_autoscaling(state: State, request: Message) -> Message:
    """SetNodePoolAutoscaling: bounds, per zone or in total, or none. Touches no machine."""
    cluster, pool = state.pool(request.name)
    node_pools.refuse_autopilot(cluster)
    constraints.check_autoscaling(request.autoscaling)
    before = pool.shown.status
    operation = _begin(state, OperationType.UPDATE_CLUSTER, cluster, pool)

    def changed() -> None:
        pool.shown.autoscaling.CopyFrom(request.autoscaling)
        pool.shown.etag = new_etag()
        pool.shown.status = before
        state.finish(operation)

    state.after(state.timings.node_pool_update, kind="set-autoscaling", target=pool.name, finish=changed)
    return operation.describe(state.engine.clock.now())


def update(state: State, request: Message) -> Message:
    """UpdateNodePool: the whole set of labels or taints, or the nodes' version. Replaces the machines one by one."""
    cluster, pool = state.pool(request.name)
    node_pools.refuse_autopilot(cluster)
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
    master = cluster.shown.current_master_version
    version = pool.shown.version
    if request.node_version:
        version = versions.resolve(request.node_version, default=master)
        versions.check_nodes(version, master=master)
    operation = _begin(state, OperationType.UPGRADE_NODES, cluster, pool)

    def change() -> None:
        config = pool.shown.config
        if request.HasField("labels"):
            config.labels.clear()
            config.labels.update(request.labels.labels)
        if request.HasField("taints"):
            del config.taints[:]
            config.taints.extend(request.taints.taints)
        pool.shown.version = version
        pool.shown.etag = new_etag()
        pool.generation += 1
        _roll(state, cluster, pool, operation)

    state.after(state.timings.node_pool_update, kind="update-node-pool", target=pool.name, finish=change)
    return operation.describe(state.engine.clock.now())


def _roll(state: State, cluster: Cluster, pool: NodePool, operation: Operation) -> None:
    """Replace the next machine of an older generation, or be done."""
    old = next((i for i in pool.instances.values() if i.generation < pool.generation), None)
    if old is None:
        instances.work(state, cluster, pool, operation)
        return
    zone = old.machine.zone
    if state.capacity.lacks(pool.machine_type, zone, spot=pool.spot) is None:
        instances.launch(state, cluster, pool, zone)
        instances.end(state, pool, old.machine.instance_id)
    again = partial(_roll, state, cluster, pool, operation)
    state.after(state.timings.node_pool_roll, kind="roll-node-pool", target=pool.name, finish=again)


def _begin(state: State, kind: int, cluster: Cluster, pool: NodePool) -> Operation:
    operation = state.begin(
        kind, location=cluster.location, cluster=cluster.name, pool=pool.name, pending=state.timings.pending
    )
    pool.shown.status = PoolStatus.RECONCILING
    return operation
