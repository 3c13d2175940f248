# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GKE driver: providers.contract.Driver, put together from one file for each kind of resource."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ...model.capabilities import CAPABILITIES, Capabilities
from ...model.clock import Clock
from ...model.errors import InvalidRequest, NotFound
from ...model.observed import BootstrapAccess, Difference, ObservedCluster, ObservedNodePool
from ..contract import ClusterSpec, Deletion, NodePoolSpec
from ..ownership import refuse_adopted
from . import clusters, node_pool_changes, node_pools
from .addresses import Address
from .calls import Calls
from .comparison import differences
from .descriptions import observe
from .places import check_location
from .settings import GkeSettings

if TYPE_CHECKING:
    from .clients import Clients

EXPIRY_MARGIN = timedelta(minutes=1)
"""A token is not used in its last minute: clocks differ and calls take time."""

_ONE_LOOK = timedelta(seconds=10)
"""A pass asks for its cluster and then for its node pools. GKE tells both in one answer: what came this long ago is
still the same look. What is changed is read anew before."""


class GkeDriver:
    """GKE through one account. Safe to share between threads; makes no call by itself."""

    def __init__(
        self,
        *,
        settings: GkeSettings,
        clients: Clients,
        clock: Clock,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Put the parts together. Use :func:`open_driver`.

        Arguments:
            clock: decides when bearer tokens end, and how long an answer is one look.
            sleep, jitter: see Calls.
        """
        self._settings = settings
        self._clients = clients
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._seen: tuple[str, datetime, Any] | None = None

    @property
    def capabilities(self) -> Capabilities:
        """What GKE can do."""
        return CAPABILITIES["gcp"]

    def node_places(self) -> Mapping[str, str]:
        """The account's zones. Empty when it names none: clusters then have GKE's choice of their region. No call."""
        return {zone: zone for zone in self._settings.zones}

    def ensure_cluster(self, spec: ClusterSpec, first: tuple[NodePoolSpec, ...] = ()) -> ObservedCluster:
        """One GetCluster where it is as wanted; CreateCluster; ListOperations, UpdateCluster."""
        refuse_adopted(spec)
        call, where = self._calling(spec)
        found = self._look(call, where)
        if not found:
            return clusters.create(call, self._clients.gke, where, first, settings=self._settings)
        clusters.check_mode(spec, found)
        return clusters.upgrade(call, self._clients.gke, where, clusters.observe(found), now=self._clock.now())

    def get_cluster(self, spec: ClusterSpec) -> ObservedCluster | None:
        """One GetCluster."""
        call, where = self._calling(spec)
        found = self._look(call, where)
        return clusters.observe(found) if found else None

    def delete_cluster(self, spec: ClusterSpec) -> Deletion:
        """GetCluster, then DeleteCluster."""
        refuse_adopted(spec)
        call, where = self._calling(spec)
        return clusters.delete(call, self._clients.gke, where)

    def get_node_pools(self, cluster: ClusterSpec) -> tuple[ObservedNodePool, ...]:
        """One GetCluster, which carries them; none when ensure_cluster or get_cluster has just made it."""
        seen = self._seen
        call, where = self._calling(cluster)
        if seen and seen[0] == where.whole and self._clock.now() - seen[1] <= _ONE_LOOK:
            found = seen[2]
        else:
            found = call(self._clients.gke.get_cluster, {"name": where.whole})
        return tuple(observe(pool) for pool in found.node_pools)

    def compare(self, spec: NodePoolSpec, observed: ObservedNodePool) -> tuple[Difference, ...]:
        """No call."""
        return differences(spec, observed)

    def ensure_node_pool(
        self, cluster: ClusterSpec, spec: NodePoolSpec, observed: ObservedNodePool | None
    ) -> ObservedNodePool:
        """CreateNodePool, SetNodePoolSize, SetNodePoolAutoscaling, UpdateNodePool or nothing.

        Before a change GetOperation, for what became of the last one, and GetNodePool. A change of size takes three:
        that it is asked for, the change, and that it was set; between them ListOperations (sizes.py).
        """
        call, where = self._calling(cluster)
        if observed:
            return node_pool_changes.change(call, self._clients.gke, where, spec, observed)
        return node_pools.create(call, self._clients.gke, where, spec)

    def delete_node_pool(self, cluster: ClusterSpec, name: str, tags: Mapping[str, str]) -> Deletion:
        """GetNodePool, then DeleteNodePool."""
        call, where = self._calling(cluster)
        return node_pools.delete(call, self._clients.gke, where, name, tags)

    def bootstrap_access(self, cluster: ObservedCluster) -> BootstrapAccess:
        """The account's own access token: GKE's clusters know Google's. A call to Google when the last one is over."""
        if not cluster.outputs:
            raise InvalidRequest(f"cluster {cluster.name!r} has no endpoint yet")
        token, life = self._clients.tokens.current()
        return BootstrapAccess(
            endpoint=cluster.outputs.endpoint,
            ca_pem=cluster.outputs.ca_pem,
            token=token,
            expires_at=self._clock.now() + life - EXPIRY_MARGIN,
        )

    def grant_access(self, cluster: ClusterSpec) -> None:
        """Nothing is granted: IAM decides who administers a cluster (roles/container.admin). GetCluster."""
        refuse_adopted(cluster)
        call, where = self._calling(cluster)
        if not clusters.describe(call, self._clients.gke, where):
            raise NotFound(f"there is no cluster {cluster.name!r} in {cluster.location}")

    def check_adopted(self, cluster: ClusterSpec, wanted: Sequence[NodePoolSpec]) -> None:
        """A GKE cluster needs nothing more (spec). No call."""

    def access_needed(self, cluster: ClusterSpec) -> str:
        """No call."""
        return (
            f"give the account's Google identity roles/container.admin in project {self._settings.project}, or bind it "
            f"to cluster-admin in cluster {cluster.name}"
        )

    def revoke_access(self, cluster: ClusterSpec) -> None:
        """Nothing was granted. No call."""

    def _look(self, call: Calls, where: Address) -> Any:
        found = clusters.describe(call, self._clients.gke, where)
        if found:
            self._seen = (where.whole, self._clock.now(), found)
        return found

    def _calling(self, cluster: ClusterSpec) -> tuple[Calls, Address]:
        """The calls of one method, under one budget, and where they go.

        Raises:
            InvalidRequest: the account can make no cluster there.
        """
        check_location(self._settings, cluster=cluster.name, location=cluster.location)
        self._seen = None  # whatever comes now may change it
        call = Calls(metadata=self._clients.tokens.metadata, sleep=self._sleep, jitter=self._jitter)
        return call, Address(project=self._settings.project, cluster=cluster)
