# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract for DOKS, put together: which calls make up each promise, and under which budget."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ...model.capabilities import CAPABILITIES, Capabilities
from ...model.clock import Clock
from ...model.errors import InvalidRequest, NeedsNodes, NotFound, OperationInProgress, Unavailable
from ...model.observed import BootstrapAccess, Difference, ObservedCluster, ObservedNodePool
from ...model.states import ProviderStatus
from ..contract import ClusterSpec, Deletion, NodePoolSpec
from ..ownership import refuse_adopted
from . import access, clusters, device_plugins, node_pools
from .api import Api
from .calls import Calls
from .comparison import differences
from .last_reading import LastReading
from .naming import Data, Ours
from .settings import DoksSettings


class DoksDriver:
    """contract.Driver for `digitalocean`. What each method promises stands there. Safe to share between threads."""

    def __init__(
        self,
        *,
        settings: DoksSettings,
        api: Api,
        clock: Clock,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Put the parts together. Use :func:`open_driver`.

        Arguments:
            clock: tells how old a reading is.
            sleep, jitter: see Calls.
        """
        self._settings = settings
        self._api = api
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._last = LastReading()
        self._ids: dict[str, str] = {}
        """Name -> id of clusters that were seen: it is by id that DOKS can say that one is gone."""
        self._twice: dict[str, frozenset[str]] = {}
        """Cluster's name -> names that it had more than one node pool of when they were read."""

    @property
    def capabilities(self) -> Capabilities:
        """What DOKS can do."""
        return CAPABILITIES["digitalocean"]

    def node_places(self) -> Mapping[str, str]:
        """None: node pools are regional. No call."""
        return {}

    def ensure_cluster(self, spec: ClusterSpec, first: tuple[NodePoolSpec, ...] = ()) -> ObservedCluster:
        """One list of the clusters where it is as wanted; else a create, or what upgrades are offered and one of them.

        Before a create, what is left of an earlier one of that name is looked for, and which sizes there are.
        """
        refuse_adopted(spec)
        with self._calling(spec) as call:
            found = self._find(call, spec)
            if found:
                clusters.delete_spare(call, self._api, found)
                observed = clusters.upgrade(call, self._api, spec, found.first)
                if found.spare or observed.status is ProviderStatus.UPDATING:
                    self._last.forget()
                return observed
            return self._left_over(call, spec) or self._create(call, spec, first)

    def get_cluster(self, spec: ClusterSpec) -> ObservedCluster | None:
        """One list of the clusters; where it is not among them, its droplets."""
        with self._calling(spec) as call:
            found = self._find(call, spec)
            if found or spec.adopted:
                return clusters.observe(found.first) if found else None
            return self._left_over(call, spec)

    def delete_cluster(self, spec: ClusterSpec) -> Deletion:
        """A list of the clusters, then the deletion; where it is not among them, its droplets."""
        refuse_adopted(spec)
        with self._calling(spec) as call:
            found = self._find(call, spec)
            self._last.forget()
            if found:
                return clusters.delete(call, self._api, found)
            return Deletion.UNDER_WAY if self._left_over(call, spec) else Deletion.GONE

    def get_node_pools(self, cluster: ClusterSpec) -> tuple[ObservedNodePool, ...]:
        """No call right after the cluster was read in this thread; else one list of the clusters."""
        with self._calling(cluster) as call:
            held = self._last.take(cluster, self._clock.now()) or self._require(call, cluster)
            pools, twice = node_pools.one_of_each_name(held, cluster)
            self._twice[cluster.name] = twice
            return tuple(node_pools.observe(pool, held) for pool in pools)

    def compare(self, spec: NodePoolSpec, observed: ObservedNodePool) -> tuple[Difference, ...]:
        """No call."""
        return differences(spec, observed)

    def ensure_node_pool(
        self, cluster: ClusterSpec, spec: NodePoolSpec, observed: ObservedNodePool | None
    ) -> ObservedNodePool:
        """No call where it is as wanted; else the cluster is read again, and then a create, a PUT or nothing."""
        with self._calling(cluster) as call:
            if observed:
                node_pools.refuse_another_shape(spec, observed)
                if not differences(spec, observed) and spec.name not in self._twice.get(cluster.name, ()):
                    return observed
            else:
                node_pools.check_creatable(spec, self._settings)
            self._last.forget()
            held = self._require(call, cluster)
            self._last.forget()
            found = node_pools.find(held, name=spec.name, marks=spec.tags)
            if observed:
                if not found:
                    raise OperationInProgress(f"node pool {spec.name!r} of cluster {cluster.name!r} has just gone")
                return node_pools.change(call, self._api, held, spec, found, self._settings)
            if found:
                return node_pools.observe(found.first, held)
            return node_pools.create(call, self._api, held, spec) or self._taken(call, cluster, spec)

    def delete_node_pool(self, cluster: ClusterSpec, name: str, tags: Mapping[str, str]) -> Deletion:
        """The cluster's read, then the deletion."""
        with self._calling(cluster) as call:
            held = self._find(call, cluster)
            self._last.forget()
            found = node_pools.find(held.first, name=name, marks=tags) if held else None
            return node_pools.delete(call, self._api, held.first, found) if held and found else Deletion.GONE

    def bootstrap_access(self, cluster: ObservedCluster) -> BootstrapAccess:
        """One call, which makes a token of ten minutes."""
        with self._calling() as call:
            return access.bootstrap(call, self._api.kubernetes, cluster)

    def grant_access(self, cluster: ClusterSpec) -> None:
        """One look at whose it is: DOKS makes whoever may have a credential an administrator."""
        refuse_adopted(cluster)
        with self._calling(cluster) as call:
            self._require(call, cluster)

    def check_adopted(self, cluster: ClusterSpec, wanted: Sequence[NodePoolSpec]) -> None:
        """DigitalOcean's own device plugins are off. One list of the clusters."""
        with self._calling(cluster) as call:
            held = self._require(call, cluster)
            for spec in wanted:
                device_plugins.refuse_beside(held, spec)

    def access_needed(self, cluster: ClusterSpec) -> str:  # noqa: ARG002 -- the same for every cluster
        """No call."""
        return (
            "give the account an API token of a team member who may administer the cluster, with the scope "
            "kubernetes:access_cluster"
        )

    def revoke_access(self, cluster: ClusterSpec) -> None:
        """Nothing was granted."""

    def _find(self, call: Calls, spec: ClusterSpec) -> Ours | None:
        self._last.forget()
        found = clusters.find(call, self._api, spec, known_id=self._ids.get(spec.name))
        if found:
            self._ids[spec.name] = found.first["id"]
            self._last.keep(spec, found.first, self._clock.now())
        return found

    def _require(self, call: Calls, spec: ClusterSpec) -> Data:
        found = self._find(call, spec)
        if not found:
            raise NotFound(f"there is no cluster {spec.name!r} at DigitalOcean")
        return found.first

    def _left_over(self, call: Calls, spec: ClusterSpec) -> ObservedCluster | None:
        left = clusters.left_over(call, self._api, spec, known_id=self._ids.get(spec.name))
        if not left:
            self._ids.pop(spec.name, None)
        return left

    def _create(self, call: Calls, spec: ClusterSpec, first: tuple[NodePoolSpec, ...]) -> ObservedCluster:
        if spec.private_nodes:
            raise InvalidRequest(f"cluster {spec.name!r} is to have private nodes: DOKS has none")
        if not first:
            raise NeedsNodes(f"cluster {spec.name!r} has no node pool yet: DOKS makes no cluster without one")
        node_pools.check_makeable(call, self._api, first, self._settings)
        created = clusters.create(call, self._api, spec, [node_pools.as_created(one) for one in first])
        if not created:
            # Made by another process just now, or by an earlier call whose reply was lost.
            found = self._find(call, spec)
            if not found:
                raise OperationInProgress(f"DigitalOcean still holds the name of cluster {spec.name!r}")
            created = found.first
        self._ids[spec.name] = created["id"]
        return clusters.observe(created)

    def _taken(self, call: Calls, cluster: ClusterSpec, spec: NodePoolSpec) -> ObservedNodePool:
        """The node pool that has the name: made by another process just now, or still being forgotten."""
        held = self._require(call, cluster)
        found = node_pools.find(held, name=spec.name, marks=spec.tags)
        if not found:
            raise OperationInProgress(f"DigitalOcean still holds the name of node pool {spec.name!r}")
        return node_pools.observe(found.first, held)

    @contextmanager
    def _calling(self, cluster: ClusterSpec | None = None) -> Iterator[Calls]:
        """The calls of one method, under one budget.

        Raises:
            InvalidRequest: the cluster is to be elsewhere than in the account's region: it would be looked for in vain.
            Unavailable: a reply lacks what the API's model promises. Something in between wrote it.
        """
        if cluster and cluster.location != self._settings.region:
            raise InvalidRequest(
                f"cluster {cluster.name!r} is to be in {cluster.location!r}, but its account is for"
                f" {self._settings.region!r}: on DOKS the location is the account's region"
            )
        try:
            yield Calls(sleep=self._sleep, jitter=self._jitter)
        except (KeyError, TypeError) as problem:
            raise Unavailable(f"DigitalOcean's answer makes no sense: {type(problem).__name__} {problem}") from None
