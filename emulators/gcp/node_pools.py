# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node pools made, read and deleted, with the server's defaults."""

from __future__ import annotations

from functools import partial
from typing import Final

from google.cloud.container_v1.types import cluster_service as api

from . import constraints, instances, versions
from .errors import already_exists, invalid
from .machine_types import machine_type
from .records import (
    Cluster,
    Message,
    NodePool,
    Operation,
    OperationType,
    PoolStatus,
    cluster_link,
    group_link,
    group_name,
    new_etag,
)
from .state import CLOUD, NODE_POOL_KIND, State

_GPU_TAINT: Final = "nvidia.com/gpu"


def create(state: State, request: Message) -> Message:
    """CreateNodePool."""
    cluster = state.cluster(request.parent)
    refuse_autopilot(cluster)
    wanted = request.node_pool
    if wanted.name in cluster.pools:
        raise already_exists(f"{cluster.path}/nodePools/{wanted.name}")
    pool = build(state, cluster, wanted)
    timings = state.timings
    operation = state.begin(
        OperationType.CREATE_NODE_POOL,
        location=cluster.location,
        cluster=cluster.name,
        pool=pool.name,
        pending=timings.pending,
    )
    add(state, cluster, pool)

    start = partial(instances.work, state, cluster, pool, operation)
    state.after(timings.node_pool_create, kind="create-node-pool", target=pool.name, finish=start)
    return operation.describe(state.engine.clock.now())


def get(state: State, request: Message) -> Message:
    """GetNodePool."""
    return state.pool(request.name)[1].shown


def list_all(state: State, request: Message) -> Message:
    """ListNodePools: there are no pages."""
    pools = state.cluster(request.parent).pools.values()
    return api.ListNodePoolsResponse.pb()(node_pools=[pool.shown for pool in pools])


def delete(state: State, request: Message) -> Message:
    """DeleteNodePool: its machines end at once, and it is gone later."""
    cluster, pool = state.pool(request.name)
    refuse_autopilot(cluster)
    operation = state.begin(
        OperationType.DELETE_NODE_POOL,
        location=cluster.location,
        cluster=cluster.name,
        pool=pool.name,
        pending=state.timings.pending,
    )
    stop(state, pool)

    def gone() -> None:
        remove(state, cluster, pool)
        state.finish(operation)

    state.after(state.timings.node_pool_delete, kind="delete-node-pool", target=pool.name, finish=gone)
    return operation.describe(state.engine.clock.now())


def build(state: State, cluster: Cluster, wanted: Message) -> NodePool:
    """A node pool as it was asked for, with the server's defaults.

    Raises:
        GcpError: it cannot be.
    """
    constraints.check_name("NodePool", wanted.name)
    constraints.check_count(wanted.initial_node_count)
    constraints.check_autoscaling(wanted.autoscaling)
    shown = api.NodePool.pb()()
    shown.CopyFrom(wanted)
    zones = list(wanted.locations) or list(cluster.shown.locations)
    constraints.check_zones(zones, cluster.location)
    master = cluster.shown.current_master_version
    shown.version = versions.resolve(wanted.version, default=master)
    versions.check_nodes(shown.version, master=master)
    if wanted.HasField("management") and not wanted.management.auto_upgrade and cluster.shown.release_channel.channel:
        raise invalid("Auto_upgrade must be true when release_channel is set.")
    _default_config(shown.config)
    constraints.check_config(shown.config)
    constraints.check_quota(state, shown.config.machine_type, wanted.initial_node_count * len(zones))
    groups = {zone: group_name(cluster.name, wanted.name) for zone in zones}
    _default_pool(shown, cluster, groups)
    return NodePool(shown=shown, size=wanted.initial_node_count, groups=groups)


def add(state: State, cluster: Cluster, pool: NodePool) -> None:
    """Put it into its cluster; where there are other pools, one with GPUs is tainted."""
    kinds = [bool(other.shown.config.accelerators) for other in (*cluster.pools.values(), pool)]
    cluster.pools[pool.name] = pool
    if kinds[-1] and not all(kinds):
        taint_gpus(pool)
    state.engine.inventory.add(CLOUD, NODE_POOL_KIND, inventory_id(cluster, pool), cluster=cluster.name)


def taint_gpus(pool: NodePool) -> None:
    """Keep pods without GPUs away, as GKE does."""
    taints = pool.shown.config.taints
    if all(taint.key != _GPU_TAINT for taint in taints):
        taints.add(key=_GPU_TAINT, value="present", effect=api.NodeTaint.Effect.NO_SCHEDULE)


def stop(state: State, pool: NodePool) -> None:
    """It is STOPPING, and its machines end."""
    pool.shown.status = PoolStatus.STOPPING
    pool.operation = None
    for instance_id in list(pool.instances):
        instances.end(state, pool, instance_id)


def remove(state: State, cluster: Cluster, pool: NodePool) -> None:
    """It is gone."""
    del cluster.pools[pool.name]
    state.engine.inventory.remove(CLOUD, NODE_POOL_KIND, inventory_id(cluster, pool))


def inventory_id(cluster: Cluster, pool: NodePool) -> str:
    """Unique among all clusters."""
    return f"{cluster.location}/{cluster.name}/{pool.name}"


def start_with_cluster(state: State, cluster: Cluster, operation: Operation) -> None:
    """The control plane answers: the machines of its first node pools start, and the create waits for them."""
    operation.waits_for.update(cluster.pools)
    for pool in list(cluster.pools.values()):
        instances.work(state, cluster, pool, operation)


def refuse_autopilot(cluster: Cluster) -> None:
    """Autopilot makes its own node pools."""
    if cluster.shown.autopilot.enabled:
        raise invalid("Autopilot clusters do not support mutating node pools.")


def _default_config(config: Message) -> None:
    config.machine_type = config.machine_type or "e2-medium"
    config.disk_type = config.disk_type or "pd-balanced"
    config.disk_size_gb = config.disk_size_gb or 100
    config.image_type = (config.image_type or "COS_CONTAINERD").upper()
    config.service_account = config.service_account or "default"
    if not config.oauth_scopes:
        config.oauth_scopes.append("https://www.googleapis.com/auth/devstorage.read_only")
    config.metadata["disable-legacy-endpoints"] = "true"
    config.resource_labels["goog-gke-node-pool-provisioning-model"] = "spot" if config.spot else "on-demand"
    kind = machine_type(config.machine_type)
    if kind is not None and kind.gpus and not config.accelerators:
        config.accelerators.add(accelerator_type=kind.accelerator, accelerator_count=kind.gpus)


def _default_pool(shown: Message, cluster: Cluster, groups: dict[str, str]) -> None:
    del shown.locations[:]
    shown.locations.extend(groups)
    del shown.instance_group_urls[:]
    shown.instance_group_urls.extend(group_link(zone, name) for zone, name in groups.items())
    shown.self_link = f"{cluster_link(cluster.location, cluster.name)}/nodePools/{shown.name}"
    shown.status = PoolStatus.PROVISIONING
    if not shown.HasField("management"):
        shown.management.auto_repair = True
        shown.management.auto_upgrade = True
    if not shown.HasField("upgrade_settings"):
        shown.upgrade_settings.max_surge = 1
        shown.upgrade_settings.strategy = api.NodePoolUpdateStrategy.SURGE
    if not shown.HasField("max_pods_constraint"):
        shown.max_pods_constraint.max_pods_per_node = 110
    if not shown.network_config.HasField("enable_private_nodes"):
        network = cluster.shown.network_config
        shown.network_config.enable_private_nodes = network.default_enable_private_nodes
    shown.pod_ipv4_cidr_size = 24
    shown.etag = new_etag()
