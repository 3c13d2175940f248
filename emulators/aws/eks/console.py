# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to clusters and node groups without the product: edits by hand, the autoscaler, AWS itself.

For tests, in process. All takes effect at once, where a person's own call to EKS would be an update that takes a while.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import auto_scaling, instances, node_group_config, versions
from .failures import Failure
from .node_group_config import Change, Taint
from .records import ACTIVE, DEGRADED
from .state import CLOUD, State


class Console:
    """The hands of others. Thread-safe."""

    def __init__(self, state: State) -> None:
        """Nothing has been touched."""
        self._state = state

    def autoscale(self, cluster: str, node_group: str, desired: int) -> None:
        """The cluster autoscaler sets the desired capacity of the Auto Scaling group.

        The machines follow at once; EKS's desiredSize follows after `Timings.desired_follows`.

        Raises:
            AwsError: 400 ValidationError: outside the bounds.
        """
        with self._state.changing():
            group = self._state.node_group(cluster, node_group)
            auto_scaling.set_desired(self._state, group, desired)

    def edit_node_group(
        self,
        cluster: str,
        node_group: str,
        *,
        scaling: Mapping[str, int] | None = None,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Taint] | None = None,
    ) -> None:
        """A person changes a node group in the console.

        Arguments:
            scaling: those of minSize, maxSize and desiredSize that change.
            labels: all that there are afterwards.
            taints: all that there are afterwards, with EKS's effects (NO_SCHEDULE, …).

        Raises:
            AwsError: as UpdateNodegroupConfig refuses it.
        """
        with self._state.changing():
            group = self._state.node_group(cluster, node_group)
            change = Change(
                scaling=scaling or {},
                set_labels=labels or {},
                drop_labels=[] if labels is None else [key for key in group.labels if key not in labels],
                set_taints=taints or (),
                drop_taints=[] if taints is None else group.taints,
            )
            node_group_config.check(group, change)
            node_group_config.apply(self._state, group, change)
            instances.follow(self._state, group)

    def degrade(
        self, cluster: str, node_group: str, *, code: str, message: str, resource_ids: Sequence[str] = ()
    ) -> None:
        """A node group is DEGRADED, until it has launched an instance or `recover` is called.

        Arguments:
            code: NodegroupIssueCode of the API's model.
        """
        with self._state.changing():
            group = self._state.node_group(cluster, node_group)
            group.status = DEGRADED
            group.issues = [Failure(code=code, message=message, resource_ids=tuple(resource_ids)).issue()]

    def recover(self, cluster: str, node_group: str) -> None:
        """A node group is ACTIVE and healthy."""
        with self._state.changing():
            group = self._state.node_group(cluster, node_group)
            group.status, group.issues = ACTIVE, []

    def move_cluster(self, cluster: str, version: str) -> None:
        """AWS itself gives a control plane another version, as it does at the end of support; no update tells of it.

        Raises:
            AwsError: EKS has no such version.
        """
        with self._state.changing():
            versions.check_supported(version)
            self._state.cluster(cluster).version = version

    def add_load_balancer(self, cluster: str, name: str) -> None:
        """A Service of type LoadBalancer made one. EKS knows nothing of it: it stays when the cluster is deleted."""
        self._state.engine.inventory.add(CLOUD, "load-balancer", name, cluster=cluster)
