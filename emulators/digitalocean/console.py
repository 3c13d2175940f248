# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to clusters and node pools without the product: edits by hand, the autoscaler, DigitalOcean itself.

For tests, in process.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from . import catalogue, clusters, node_pools, nodes, upgrades
from .records import DEGRADED, ERROR, RUNNING
from .refusals import invalid
from .state import CLOUD, LOAD_BALANCER_KIND, VOLUME_KIND, State


class Console:
    """The hands of others. Thread-safe. Clusters and node pools are named by their ids."""

    def __init__(self, state: State) -> None:
        """Nothing has been touched."""
        self._state = state

    def autoscale(self, cluster_id: str, pool_id: str, count: int) -> None:
        """The cluster autoscaler sets a node pool's count.

        Raises:
            Refusal: 422: it is not scaled, or the count is outside its bounds.
        """
        with self._state.changing():
            cluster, pool = self._state.pool(cluster_id, pool_id)
            if not pool.auto_scale or not pool.min_nodes <= count <= pool.max_nodes:
                raise invalid("node pool count must be between min nodes and max nodes")
            pool.count = count
            nodes.follow(self._state, cluster, pool)

    def edit_node_pool(self, cluster_id: str, pool_id: str, **changes: Any) -> None:
        """A person changes a node pool in the control panel: what a PUT takes; what is not named stays.

        Raises:
            Refusal: as a PUT is refused.
        """
        with self._state.changing():
            cluster, pool = self._state.pool(cluster_id, pool_id)
            standing = {"name": pool.name, **({} if pool.auto_scale else {"count": pool.count})}
            node_pools.update(self._state, cluster, pool, {**standing, **changes})

    def edit_cluster(self, cluster_id: str, **changes: Any) -> None:
        """A person changes a cluster: what a PUT takes; what is not named stays."""
        with self._state.changing():
            cluster = self._state.cluster(cluster_id)
            clusters.update(self._state, cluster, {"name": cluster.name, **changes})

    def degrade(self, cluster_id: str, message: str) -> None:
        """A cluster is degraded, for a reason that only its messages tell, until `recover`."""
        self._put(cluster_id, DEGRADED, message)

    def fail(self, cluster_id: str, message: str) -> None:
        """What goes on with a cluster fails: it is in state error, until `recover`.

        One that was being made never gets a control plane, one that was being upgraded keeps what it has, and one that
        was being deleted stays.
        """
        self._put(cluster_id, ERROR, message)

    def recover(self, cluster_id: str) -> None:
        """A cluster is running and healthy."""
        self._put(cluster_id, RUNNING, "")

    def move_cluster(self, cluster_id: str, version: str) -> None:
        """DigitalOcean itself upgrades a cluster, as in a maintenance window.

        Raises:
            Refusal: 422: there is no such version.
        """
        with self._state.changing():
            upgrades.move(self._state, self._state.cluster(cluster_id), catalogue.resolve_version(version))

    def add_load_balancer(self, cluster_id: str, name: str) -> str:
        """A Service of type LoadBalancer made one, which stays when the cluster is deleted. Its id."""
        return self._add(cluster_id, LOAD_BALANCER_KIND, name)

    def add_volume(self, cluster_id: str, name: str) -> str:
        """A PersistentVolumeClaim made one, which stays when the cluster is deleted. Its id."""
        return self._add(cluster_id, VOLUME_KIND, name)

    def _put(self, cluster_id: str, status: str, message: str) -> None:
        with self._state.changing():
            cluster = self._state.cluster(cluster_id)
            cluster.state, cluster.trouble = status, message
            if status == ERROR:
                cluster.message = message
                cluster.messages.append((self._state.engine.clock.now(), message))
            nodes.settle(self._state, cluster)

    def _add(self, cluster_id: str, kind: str, name: str) -> str:
        with self._state.changing():
            cluster = self._state.cluster(cluster_id)
            made = str(uuid4())
            found = cluster.load_balancers if kind == LOAD_BALANCER_KIND else cluster.volumes
            found[made] = name
            self._state.engine.inventory.add(CLOUD, kind, made, cluster=cluster.name, name=name)
            return made
