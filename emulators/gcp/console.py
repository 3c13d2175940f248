# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to clusters and node pools without the product: edits by hand, the autoscaler, GKE itself.

For tests, in process. A person's edits and the autoscaler's take effect at once; what GKE does by itself is an
operation that takes its time, and that callers have to wait for. Names are the API's: `projects/…/clusters/…`, and
`projects/…/clusters/…/nodePools/…`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from google.cloud.container_v1.types import cluster_service as api

from . import constraints, control_planes, instances, maintenance, versions
from .errors import invalid
from .failures import Failure
from .records import ClusterStatus, PoolStatus, new_etag
from .state import CLOUD, State


class Console:
    """The hands of others. Thread-safe."""

    def __init__(self, state: State) -> None:
        """Nothing has been touched."""
        self._state = state

    def autoscale(self, node_pool: str, machines: int) -> None:
        """The cluster autoscaler brings a node pool to a size, evenly over its zones. There is no operation for it.

        Arguments:
            machines: over all zones.

        Raises:
            GcpError: 400: the node pool is not autoscaled, or it is outside the bounds.
        """
        with self._state.changing():
            cluster, pool = self._state.pool(node_pool)
            least, share = divmod(machines, len(pool.groups))
            sizes = {zone: least + (place < share) for place, zone in enumerate(pool.groups)}
            bounds = pool.shown.autoscaling
            if bounds.total_max_node_count:
                fits = bounds.total_min_node_count <= machines <= bounds.total_max_node_count
            else:
                fits = all(bounds.min_node_count <= size <= bounds.max_node_count for size in sizes.values())
            if not bounds.enabled or not fits:
                raise invalid(f"{machines} machines are not within the autoscaler's bounds.")
            pool.sizes = sizes
            instances.follow(self._state, cluster, pool)

    def edit_node_pool(
        self,
        node_pool: str,
        *,
        nodes: int | None = None,
        bounds: Mapping[str, int | bool] | None = None,
        labels: Mapping[str, str] | None = None,
        taints: Iterable[Mapping[str, str]] | None = None,
    ) -> None:
        """A person changes a node pool in the console.

        Arguments:
            nodes: in each zone.
            bounds: the fields of NodePoolAutoscaling.
            labels: all that there are afterwards.
            taints: all that there are afterwards, with the API's effects (NO_SCHEDULE, …).

        Raises:
            GcpError: as the API refuses it.
        """
        with self._state.changing():
            cluster, pool = self._state.pool(node_pool)
            config = pool.shown.config
            if nodes is not None:
                constraints.check_count(nodes)
                pool.resize(nodes)
            if bounds is not None:
                wanted = api.NodePoolAutoscaling.pb()(**bounds)
                constraints.check_autoscaling(wanted)
                pool.shown.autoscaling.CopyFrom(wanted)
            if labels is not None:
                constraints.check_labels(labels)
                config.labels.clear()
                config.labels.update(labels)
            if taints is not None:
                changed = [api.NodeTaint.pb()(**taint) for taint in taints]
                constraints.check_taints(changed)
                del config.taints[:]
                config.taints.extend(changed)
            pool.shown.etag = new_etag()
            instances.relabel(self._state, pool)
            instances.follow(self._state, cluster, pool)

    def degrade(
        self, name: str, *, message: str, code: str = "UNKNOWN", canonical: str = "FAILED_PRECONDITION"
    ) -> None:
        """A cluster is DEGRADED or a node pool RUNNING_WITH_ERROR, until `recover`; machines go on.

        Arguments:
            code: the condition's code (StatusCondition.Code).
            canonical: the code of google.rpc beside it.
        """
        failure = Failure(code=code, canonical=canonical, message=message)
        with self._state.changing():
            if "/nodePools/" in name:
                failure.mark(self._state.pool(name)[1].shown, PoolStatus.RUNNING_WITH_ERROR)
            else:
                failure.mark(self._state.cluster(name).shown, ClusterStatus.DEGRADED)

    def recover(self, name: str) -> None:
        """A cluster or node pool is RUNNING again. Its conditions stay."""
        with self._state.changing():
            if "/nodePools/" in name:
                shown, status = self._state.pool(name)[1].shown, PoolStatus.RUNNING
            else:
                shown, status = self._state.cluster(name).shown, ClusterStatus.RUNNING
            shown.status, shown.status_message = status, ""

    def upgrade_cluster(self, cluster: str, version: str) -> str:
        """GKE itself gives a control plane another version, as its release channel says.

        Returns:
            The operation's name.

        Raises:
            GcpError: it cannot have it, or something else is going on.
        """
        with self._state.changing():
            found = self._state.cluster(cluster)
            return control_planes.upgrade(self._state, found, versions.resolve(version)).name

    def repair_cluster(self, cluster: str, *, seconds: float) -> str:
        """GKE is busy with a control plane by itself, for so long. Returns and raises as `upgrade_cluster`."""
        with self._state.changing():
            return control_planes.repair(self._state, self._state.cluster(cluster), seconds=seconds).name

    def upgrade_nodes(self, node_pool: str) -> str:
        """Auto-upgrade brings a node pool to its control plane's version. Returns and raises as `upgrade_cluster`."""
        with self._state.changing():
            return maintenance.upgrade_nodes(self._state, *self._state.pool(node_pool)).name

    def repair_node(self, node_pool: str, instance_id: str) -> str:
        """Auto-repair makes a machine anew under its name. Returns and raises as `upgrade_cluster`."""
        with self._state.changing():
            return maintenance.repair_node(self._state, *self._state.pool(node_pool), instance_id).name

    def lose_sight(self, *zones: str) -> None:
        """Lists miss these zones' clusters, and say so (`missingZones`); no zones: they see all again."""
        with self._state.changing():
            self._state.unseen_zones = set(zones)

    def add_load_balancer(self, cluster: str, name: str) -> None:
        """A Service of type LoadBalancer made one. GKE knows nothing of it: it stays when the cluster is deleted."""
        self._state.engine.inventory.add(CLOUD, "load-balancer", name, cluster=cluster)
