# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node pools: made, changed, deleted; single nodes deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from . import constraints, nodes
from .records import Cluster, NodePool
from .refusals import invalid, not_found
from .state import CLOUD, NODE_POOL_KIND, State

_IMMUTABLE: Final = ("size", "spot", "gpu_partition_mode")


def create(state: State, cluster: Cluster, asked: Mapping[str, Any]) -> NodePool:
    """POST …/node_pools."""
    state.check_changeable(cluster)
    pool = checked(state, cluster, asked)
    _check_name(state, cluster, pool.name)
    check_limit(state, pool.claim)
    add(state, cluster, pool)
    return pool


def checked(state: State, cluster: Cluster, asked: object) -> NodePool:
    """The node pool that a request describes, not yet made."""
    if not isinstance(asked, dict):
        raise invalid("a node pool must be an object")
    name, size = constraints.pool_name(asked.get("name")), constraints.size(asked.get("size"))
    auto_scale = constraints.flag(asked, "auto_scale", default=False)
    spot = constraints.flag(asked, "spot", default=False)
    if spot and not state.readings.spot_preview:
        raise invalid("spot node pools are not available to this account")
    count = constraints.number(asked, "count")
    least = constraints.number(asked, "min_nodes", default=0)
    most = constraints.number(asked, "max_nodes", default=0)
    constraints.scaling(auto_scale=auto_scale, count=count, least=least, most=most, readings=state.readings)
    return NodePool(
        id=str(uuid4()),
        cluster_id=cluster.id,
        name=name,
        size=size,
        count=count,
        own_tags=constraints.tags(asked.get("tags") or []),
        labels=constraints.labels(asked.get("labels") or {}),
        taints=constraints.taints(asked.get("taints") or []),
        auto_scale=auto_scale,
        min_nodes=least,
        max_nodes=most,
        spot=spot,
    )


def add(state: State, cluster: Cluster, pool: NodePool) -> None:
    """Make a node pool that was checked."""
    cluster.pools[pool.id] = pool
    detail = {"cluster": cluster.name, "name": pool.name, "tags": ", ".join(pool.own_tags)}
    state.engine.inventory.add(CLOUD, NODE_POOL_KIND, pool.id, **detail)
    nodes.follow(state, cluster, pool)


def update(state: State, cluster: Cluster, pool: NodePool, asked: Mapping[str, Any]) -> None:
    """PUT: the name must be there, and the count unless it is scaled; tags, labels and taints replace all.

    What is not said stays. A count is obeyed also where the autoscaler had another one.
    """
    state.check_changeable(cluster)
    if pool.deleted:
        raise not_found()
    name = constraints.pool_name(asked.get("name"))
    for field in _IMMUTABLE:
        if field in asked and asked[field] != getattr(pool, field, None):
            raise invalid(f"{field} cannot be changed")
    auto_scale = constraints.flag(asked, "auto_scale", default=pool.auto_scale)
    count = constraints.number(asked, "count") if asked.get("count") is not None else None
    least = constraints.number(asked, "min_nodes", default=pool.min_nodes)
    most = constraints.number(asked, "max_nodes", default=pool.max_nodes)
    constraints.scaling(auto_scale=auto_scale, count=count, least=least, most=most, readings=state.readings)
    if name != pool.name:
        _check_name(state, cluster, name)
    tags = constraints.tags(asked["tags"] or []) if "tags" in asked else pool.own_tags
    labels = constraints.labels(asked["labels"] or {}) if "labels" in asked else pool.labels
    taints = constraints.taints(asked["taints"] or []) if "taints" in asked else pool.taints
    wanted = pool.count if count is None else count
    check_limit(state, max(wanted, most if auto_scale else 0) - pool.claim)
    pool.name, pool.count, pool.auto_scale = name, wanted, auto_scale
    pool.min_nodes, pool.max_nodes = (least, most) if auto_scale else (0, 0)
    pool.own_tags, pool.labels, pool.taints = tags, labels, taints
    for node in pool.nodes.values():
        if node.droplet is not None:
            node.droplet.tags = pool.tags
    nodes.relabel(state, pool)
    nodes.follow(state, cluster, pool)


def delete(state: State, cluster: Cluster, pool: NodePool) -> None:
    """DELETE: its nodes are drained, and it goes with the last one; a cluster's last one stays."""
    state.check_changeable(cluster)
    if pool.deleted:
        return
    if state.readings.keeps_last_node_pool and len(cluster.staying) == 1:
        raise invalid("cluster must have at least one node pool")
    pool.deleted = True
    for node in list(pool.nodes.values()):
        nodes.end(state, cluster, pool, node)
    if not pool.nodes:
        del cluster.pools[pool.id]
        state.engine.inventory.remove(CLOUD, NODE_POOL_KIND, pool.id)
    nodes.settle(state, cluster)


def delete_node(
    state: State, cluster: Cluster, pool: NodePool, node_id: str, *, skip_drain: bool, substitute: bool
) -> None:
    """DELETE …/nodes/{id}: there is one less, or another comes for it."""
    state.check_changeable(cluster)
    node = pool.nodes.get(node_id)
    if node is None or pool.deleted:
        raise not_found()
    if node.going:
        return
    if not substitute:
        if not pool.auto_scale and pool.count <= 1:
            raise invalid("node pool count must be greater than or equal to 1")
        pool.count = max(0, pool.count - 1)
    nodes.end(state, cluster, pool, node, drain=not skip_drain)
    nodes.follow(state, cluster, pool)


def recycle(state: State, cluster: Cluster, pool: NodePool, asked: Mapping[str, Any]) -> None:
    """POST …/recycle (deprecated): the nodes of the list are replaced, or all of them."""
    for node_id in asked.get("nodes") or list(pool.nodes):
        delete_node(state, cluster, pool, str(node_id), skip_drain=False, substitute=True)


def check_limit(state: State, additional: int) -> None:
    """Refuse more droplets than the account may have; an autoscaled node pool counts as its maximum."""
    limit = state.capacity.droplet_limit
    if limit is None or additional <= 0:
        return
    claimed = sum(pool.claim for cluster in state.clusters.values() for pool in cluster.pools.values())
    if claimed + additional > limit:
        raise invalid(f"{additional} additional nodes but not enough available droplet limit")


def _check_name(state: State, cluster: Cluster, name: str) -> None:
    if state.readings.unique_names and any(pool.name == name for pool in cluster.pools.values()):
        raise invalid("node pool names must be unique within a cluster")
