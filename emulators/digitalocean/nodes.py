# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes of node pools: made, labelled, drained, deleted, lost, and how a cluster fares with them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final
from uuid import uuid4

from ..neighbours import Machine
from .records import DEGRADED, DELETING, DRAINING, RUNNING, Cluster, Node, NodePool
from .state import CLOUD, NODE_POOL_KIND, State

_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_SUFFIX_LENGTH: Final = 5

NOT_READY_TAINT: Final = {"key": "readiness.k8s.io/gpu-driver", "value": "pending", "effect": "NoSchedule"}
"""Stands on a new GPU node until its driver is healthy. That there is one is documented; its name is a guess."""


def follow(state: State, cluster: Cluster, pool: NodePool) -> None:
    """Bring a node pool to its count: what is missing is made, what is too much goes, the newest first."""
    if pool.deleted or cluster.state == DELETING:
        return
    staying = pool.staying
    surplus = len(staying) - pool.count - pool.surge
    for node in sorted(staying, key=_worth)[: max(0, surplus)]:
        end(state, cluster, pool, node)
    for _missing in range(-surplus):
        add(state, cluster, pool)
    settle(state, cluster)


def add(state: State, cluster: Cluster, pool: NodePool) -> None:
    """One node more; its droplet starts after a while, or once the control plane answers."""
    now = state.engine.clock.now()
    node = Node(id=str(uuid4()), version=cluster.version, created_at=now, updated_at=now)
    pool.nodes[node.id] = node
    if cluster.endpoint:
        _start_later(state, cluster, pool, node, state.timings.droplet_create)


def start_all(state: State, cluster: Cluster) -> None:
    """The control plane answers: the first nodes get their droplets."""
    for pool in cluster.pools.values():
        for node in pool.staying:
            _start_later(state, cluster, pool, node, state.timings.droplet_create)


def end(state: State, cluster: Cluster, pool: NodePool, node: Node, *, drain: bool = True) -> None:
    """Drain a node, unless it never ran or nobody wants it, and delete it."""
    if node.going:
        return
    if node.state == RUNNING and drain:
        _become(state, node, DRAINING)
        delete = partial(_delete, state, cluster, pool, node)
        state.after(state.timings.node_drain, kind="drain-node", target=node.id, finish=delete)
    else:
        _delete(state, cluster, pool, node)


def lose(state: State, cluster: Cluster, pool: NodePool, node: Node) -> None:
    """A droplet is gone although nobody here ended it (reclaimed, broken): another node comes for it."""
    _become(state, node, DELETING)
    remove(state, cluster, pool, node, lingers=False)
    again = partial(follow, state, cluster, pool)
    state.after(state.timings.replace, kind="replace-node", target=pool.id, finish=again)


def remove(state: State, cluster: Cluster, pool: NodePool, node: Node, *, lingers: bool = True) -> None:
    """A node is gone, and its machine; its droplet is listed a while longer. With the last one goes a deleted pool."""
    if pool.nodes.pop(node.id, None) is None:
        return
    if node.machine is not None:
        state.later(partial(state.machines.terminate, node.machine.instance_id))
    if node.droplet is not None:
        gone = partial(state.drop_droplet, node.droplet)
        if lingers:
            state.after(state.timings.droplet_linger, kind="drop-droplet", target=node.id, finish=gone)
        else:
            gone()
    if pool.deleted and not pool.nodes:
        cluster.pools.pop(pool.id, None)
        state.engine.inventory.remove(CLOUD, NODE_POOL_KIND, pool.id)
    settle(state, cluster)


def settle(state: State, cluster: Cluster) -> None:
    """A cluster is degraded while it has trouble, or lacks droplets for which there is no capacity; messages say it."""
    if cluster.state not in (RUNNING, DEGRADED):
        return
    lacks = [
        f'node pool "{pool.name}": insufficient capacity for size {pool.size} in region {cluster.region}'
        for pool in cluster.staying
        if any(node.starved for node in pool.staying)
    ]
    message = "; ".join([*([cluster.trouble] if cluster.trouble else []), *lacks])
    if message and message != cluster.message:
        cluster.messages.append((state.engine.clock.now(), message))
    cluster.state, cluster.message = (DEGRADED if message else RUNNING), message


def relabel(state: State, pool: NodePool) -> None:
    """Labels and taints of a node pool that changed reach the Nodes that stand: removed labels stay, taints go."""
    for node in pool.nodes.values():
        before = node.machine
        if before is None:
            continue
        pending = NOT_READY_TAINT in before.taints
        changed = replace(before, labels={**before.labels, **pool.labels}, taints=taints(pool, pending=pending))
        _change(state, node, changed)


def taints(pool: NodePool, *, pending: bool) -> tuple[Mapping[str, str], ...]:
    """The taints of a node pool's Nodes, with those that DigitalOcean gives GPU nodes by itself."""
    own = tuple(pool.taints)
    if not pool.kind.gpus:
        return own
    automatic = {"key": f"{pool.kind.brand}.com/gpu", "value": "", "effect": "NoSchedule"}
    return (*own, automatic, *((NOT_READY_TAINT,) if pending else ()))


def _worth(node: Node) -> tuple[bool, float]:
    """By what surplus nodes are chosen: those that do not run first, then the newest."""
    return node.state == RUNNING, -node.created_at.timestamp()


def _become(state: State, node: Node, status: str) -> None:
    node.state, node.updated_at = status, state.engine.clock.now()


def _start_later(state: State, cluster: Cluster, pool: NodePool, node: Node, seconds: float) -> None:
    start = partial(_start, state, cluster, pool, node)
    state.after(seconds, kind="create-droplet", target=node.id, finish=start)


def _start(state: State, cluster: Cluster, pool: NodePool, node: Node) -> None:
    if node.going or pool.nodes.get(node.id) is not node or cluster.state == DELETING:
        return
    if not state.capacity.has(pool.size, spot=pool.spot):
        node.starved = True
        settle(state, cluster)
        _start_later(state, cluster, pool, node, state.timings.replace)
        return
    node.starved = False
    suffix = "".join(secrets.choice(_ALPHABET) for _letter in range(_SUFFIX_LENGTH))
    node.name = f"{pool.name}-{suffix}"
    node.droplet = state.add_droplet(name=node.name, cluster=cluster, pool=pool)
    node.updated_at = node.droplet.created_at
    node.machine = Machine(
        cluster=cluster.api_name,
        node_group=pool.name,
        instance_id=str(node.droplet.id),
        instance_type=pool.size,
        zone="",
        node_name=node.name,
        provider_id=f"digitalocean://{node.droplet.id}",
        labels=_labels(cluster, pool, node),
        taints=taints(pool, pending=True),
        spot=pool.spot,
        gpus=pool.kind.gpus,
        gpu_model=pool.kind.model.upper(),
    )
    settle(state, cluster)
    state.later(partial(state.machines.launch, node.machine, partial(_ready, state, cluster, pool, node)))


def _ready(state: State, cluster: Cluster, pool: NodePool, node: Node) -> None:
    with state.changing():
        if node.going or pool.nodes.get(node.id) is not node:
            return
        _become(state, node, RUNNING)
        settle(state, cluster)

        def healthy() -> None:
            if node.machine is not None and node.id in pool.nodes:
                _change(state, node, replace(node.machine, taints=taints(pool, pending=False)))

        if pool.kind.gpus:
            seconds = state.timings.drivers_healthy
            state.after(seconds, kind="check-drivers", target=node.id, finish=healthy)


def _change(state: State, node: Node, machine: Machine) -> None:
    if machine != node.machine:
        node.machine = machine
        state.later(partial(state.machines.change, machine))


def _delete(state: State, cluster: Cluster, pool: NodePool, node: Node) -> None:
    _become(state, node, DELETING)
    gone = partial(remove, state, cluster, pool, node)
    state.after(state.timings.node_delete, kind="delete-node", target=node.id, finish=gone)


def _labels(cluster: Cluster, pool: NodePool, node: Node) -> dict[str, str]:
    """All labels that a machine registers its Node with: a region, no zone."""
    own = {
        "doks.digitalocean.com/managed": "true",
        "doks.digitalocean.com/node-id": node.id,
        "doks.digitalocean.com/node-pool": pool.name,
        "doks.digitalocean.com/node-pool-id": pool.id,
        "doks.digitalocean.com/version": node.version,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": pool.size,
        "region": cluster.region,
        "topology.kubernetes.io/region": cluster.region,
    }
    if pool.kind.gpus:
        own["doks.digitalocean.com/gpu-brand"] = pool.kind.brand
        own["doks.digitalocean.com/gpu-model"] = pool.kind.model
    return {**pool.labels, **own}
