# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EKS's door: from a request to an operation and back, and what the cluster's Kubernetes API asks of EKS."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from ...engine import Answer, Engine
from ...neighbours import ClusterApis, MachineHost
from ..account import Account, Credentials
from ..errors import AwsError
from ..signature import Request
from . import access, clusters, instances, node_group_config, node_groups, shapes, tags, updates, versions
from .auto_scaling import AutoScalingGroups
from .capacity import Capacity
from .console import Console
from .failures import Failures
from .records import Document
from .state import Asked, State
from .timings import Timings

_OPERATIONS: Final[Mapping[str, Callable[[State, Asked], Document]]] = {
    "AssociateAccessPolicy": access.associate,
    "CreateAccessEntry": access.create,
    "CreateCluster": clusters.create,
    "CreateNodegroup": node_groups.create,
    "DeleteAccessEntry": access.delete,
    "DeleteCluster": clusters.delete,
    "DeleteNodegroup": node_groups.delete,
    "DescribeAccessEntry": access.describe,
    "DescribeCluster": clusters.describe,
    "DescribeNodegroup": node_groups.describe,
    "DescribeUpdate": updates.describe,
    "DisassociateAccessPolicy": access.disassociate,
    "ListAccessEntries": access.list_principals,
    "ListAssociatedAccessPolicies": access.list_policies,
    "ListClusters": clusters.list_names,
    "ListNodegroups": node_groups.list_names,
    "ListTagsForResource": tags.list_tags,
    "ListUpdates": updates.list_ids,
    "TagResource": tags.tag,
    "UntagResource": tags.untag,
    "UpdateClusterVersion": versions.update_cluster,
    "UpdateNodegroupConfig": node_group_config.update,
    "UpdateNodegroupVersion": versions.update_node_group,
}


class EksService:
    """EKS in one account and region. Thread-safe.

    Attributes:
        auto_scaling_groups: what its node groups are made of.
        console: what happens to it without a call to it.
    """

    def __init__(
        self, *, engine: Engine, account: Account, apis: ClusterApis, machines: MachineHost, timings: Timings
    ) -> None:
        """Nothing exists yet."""
        self._state = State(engine=engine, account=account, apis=apis, machines=machines, timings=timings)
        self.auto_scaling_groups = AutoScalingGroups(self._state)
        self.console = Console(self._state)

    @property
    def capacity(self) -> Capacity:
        """Which instances can be launched: tests script stockouts here."""
        return self._state.capacity

    @property
    def failures(self) -> Failures:
        """What is accepted and then fails: tests script it here."""
        return self._state.failures

    def answer(self, request: Request, caller: Credentials) -> Answer:
        """Carry a request out.

        Raises:
            AwsError: EKS refuses it.
        """
        operation, path = shapes.route(request.method, request.path)
        do = _OPERATIONS.get(operation.name)
        if do is None:
            raise AwsError(501, "NotImplementedException", f"The emulator has no {operation.name}.")
        values = shapes.parameters(operation, path=path, query=request.query, body=request.body)
        with self._state.changing():
            document = do(self._state, Asked(parameters=values, caller=caller))
            shapes.check_answer(operation, document)
            body = json.dumps(document).encode()
        return Answer(status=200, body=body, headers={"Content-Type": "application/json"})

    def is_known(self, principal_arn: str, cluster: str) -> bool:
        """Whether the cluster's authenticator lets the principal in."""
        with self._state.changing():
            found = self._state.clusters.get(cluster)
            return found is not None and access.is_known(found, principal_arn)

    def is_admin(self, principal_arn: str, cluster: str) -> bool:
        """Whether the principal is an administrator of the whole cluster."""
        with self._state.changing():
            found = self._state.clusters.get(cluster)
            return found is not None and access.is_admin(found, principal_arn)

    def lose_instance(self, instance_id: str) -> None:
        """An instance is reclaimed or breaks: it is gone, and its group replaces it after a while.

        Raises:
            KeyError: there is no such instance.
        """
        with self._state.changing():
            for cluster in self._state.clusters.values():
                for group in cluster.node_groups.values():
                    if instance_id in group.instances:
                        instances.lose(self._state, group, instance_id)
                        return
        raise KeyError(instance_id)
