# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract for EKS, put together: which calls make up each promise, and under which budget."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ...model.capabilities import CAPABILITIES, Capabilities
from ...model.clock import Clock
from ...model.errors import InvalidRequest, Unavailable
from ...model.observed import BootstrapAccess, Difference, ObservedCluster, ObservedNodePool
from ..contract import ClusterSpec, Deletion, NodePoolSpec
from ..ownership import refuse_adopted
from . import access, clusters, node_group_changes, node_groups
from .calls import Calls
from .clients import Clients
from .comparison import differences
from .settings import EksSettings
from .subnets import zones_of_subnets
from .token import bearer_token


class EksDriver:
    """contract.Driver for `aws`. What each method promises stands there. Safe to share between threads."""

    def __init__(
        self,
        *,
        settings: EksSettings,
        clients: Clients,
        clock: Clock,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Put the parts together. Use :func:`open_driver`.

        Arguments:
            clock: decides when bearer tokens begin and end.
            sleep, jitter: see Calls.
        """
        self._settings = settings
        self._clients = clients
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter

    @property
    def capabilities(self) -> Capabilities:
        """What EKS can do."""
        return CAPABILITIES["aws"]

    def node_places(self) -> Mapping[str, str]:
        """The account's subnets, each with its zone."""
        with self._calling() as call:
            return zones_of_subnets(call, self._clients.ec2, self._settings.subnet_ids)

    def ensure_cluster(self, spec: ClusterSpec, first: tuple[NodePoolSpec, ...] = ()) -> ObservedCluster:  # noqa: ARG002 -- EKS makes clusters without nodes
        """One DescribeCluster where it is as wanted; CreateCluster; ListUpdates … UpdateClusterVersion."""
        refuse_adopted(spec)
        with self._calling(spec) as call:
            return clusters.ensure(call, self._clients.eks, spec, settings=self._settings, now=self._clock.now())

    def get_cluster(self, spec: ClusterSpec) -> ObservedCluster | None:
        """One DescribeCluster."""
        with self._calling(spec) as call:
            return clusters.describe(call, self._clients.eks, spec)

    def delete_cluster(self, spec: ClusterSpec) -> Deletion:
        """DescribeCluster, then DeleteCluster."""
        refuse_adopted(spec)
        with self._calling(spec) as call:
            return clusters.delete(call, self._clients.eks, spec)

    def get_node_pools(self, cluster: ClusterSpec) -> tuple[ObservedNodePool, ...]:
        """ListNodegroups, then one DescribeNodegroup each."""
        with self._calling(cluster) as call:
            return node_groups.describe_all(call, self._clients.eks, cluster.name)

    def compare(self, spec: NodePoolSpec, observed: ObservedNodePool) -> tuple[Difference, ...]:
        """No call."""
        return differences(spec, observed)

    def ensure_node_pool(
        self, cluster: ClusterSpec, spec: NodePoolSpec, observed: ObservedNodePool | None
    ) -> ObservedNodePool:
        """CreateNodegroup, UpdateNodegroupConfig, UpdateNodegroupVersion or nothing; before, what they depend on."""
        with self._calling(cluster) as call:
            if observed:
                return node_group_changes.change(call, self._clients.eks, cluster, spec, observed)
            return node_groups.create(call, self._clients, cluster, spec, node_role_arn=self._settings.node_role_arn)

    def delete_node_pool(self, cluster: ClusterSpec, name: str, tags: Mapping[str, str]) -> Deletion:
        """DescribeNodegroup, then DeleteNodegroup."""
        with self._calling(cluster) as call:
            return node_groups.delete(call, self._clients.eks, cluster.name, name, tags)

    def bootstrap_access(self, cluster: ObservedCluster) -> BootstrapAccess:
        """A token signed here, without a call."""
        if not cluster.outputs:
            raise InvalidRequest(f"cluster {cluster.name!r} has no endpoint yet")
        token, expires_at = bearer_token(
            cluster=cluster.name,
            region=self._settings.region,
            sts_url=self._clients.sts.meta.endpoint_url,
            key=self._clients.access_key(),
            now=self._clock.now(),
        )
        return BootstrapAccess(
            endpoint=cluster.outputs.endpoint, ca_pem=cluster.outputs.ca_pem, token=token, expires_at=expires_at
        )

    def grant_access(self, cluster: ClusterSpec) -> None:
        """DescribeCluster, GetCallerIdentity, GetRole, CreateAccessEntry, AssociateAccessPolicy."""
        refuse_adopted(cluster)
        with self._calling(cluster) as call:
            access.grant(call, self._clients, cluster)

    def check_adopted(self, cluster: ClusterSpec, wanted: Sequence[NodePoolSpec]) -> None:
        """All that an EKS cluster needs is a way in. No call."""

    def access_needed(self, cluster: ClusterSpec) -> str:
        """GetCallerIdentity, GetRole."""
        with self._calling(cluster) as call:
            return access.needed(call, self._clients, cluster)

    def revoke_access(self, cluster: ClusterSpec) -> None:
        """GetCallerIdentity, GetRole, DescribeAccessEntry, DeleteAccessEntry; nothing on an adopted cluster."""
        if cluster.adopted:
            return  # none was made; the entry that its owner made stays
        with self._calling(cluster) as call:
            access.revoke(call, self._clients, cluster)

    @contextmanager
    def _calling(self, cluster: ClusterSpec | None = None) -> Iterator[Calls]:
        """The calls of one method, under one budget.

        Raises:
            InvalidRequest: the cluster is to be elsewhere than the account's subnets: it would be looked for in vain.
            Unavailable: a reply lacks what the API's model promises. Something in between wrote it, and not AWS.
        """
        if cluster and cluster.location != self._settings.region:
            raise InvalidRequest(
                f"cluster {cluster.name!r} is to be in {cluster.location!r}, but its account is for"
                f" {self._settings.region!r}: on EKS the location is the account's region"
            )
        try:
            yield Calls(sleep=self._sleep, jitter=self._jitter)
        except KeyError as member:
            raise Unavailable(f"AWS's answer makes no sense: it has no {member}") from None
