# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A provider and its clusters' APIs in this process, of which every call takes exactly the same time.

What is measured with it is what passes cost and how they run side by side, so it costs next to no processor time
itself: no sockets, no TLS, no checks. The provider is a driver by the contract that creates at once; the clusters' APIs
keep objects by their path, behind the product's own client, whose connection pool is exchanged.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import (
    CAPABILITIES,
    Capabilities,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    BootstrapAccess,
    Difference,
    ObservedCluster,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import ClusterOutputs
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    ClusterSpec,
    Deletion,
    NodePoolSpec,
)

CALL_SECONDS: Final = 0.1
_ZONES: Final = {"subnet-0000000000000000a": "us-east-1a", "subnet-0000000000000000b": "us-east-1b"}
_FOR_EVER: Final = datetime(9999, 1, 1, tzinfo=UTC)


NodePages = Callable[[str, str], bytes]
"""Gives a page of a cluster's Node list, as JSON: for the Accept header, and the continuation (empty at first)."""


@contextmanager
def _calibrated(call_seconds: float) -> Iterator[None]:
    """Make the block take a call's time, its own work included."""
    until = time.monotonic() + call_seconds
    yield
    time.sleep(max(0.0, until - time.monotonic()))


class CalibratedDriver:
    """A provider's driver (providers/contract.py) for all clusters of a run. Threads may share it."""

    def __init__(self, *, call_seconds: float = CALL_SECONDS) -> None:
        """There is nothing yet. Arguments: call_seconds: what a call takes."""
        self._call_seconds = call_seconds
        self._clusters: dict[str, ObservedCluster] = {}
        self._node_pools: dict[str, dict[str, ObservedNodePool]] = {}

    @property
    def capabilities(self) -> Capabilities:
        """EKS's."""
        return CAPABILITIES["aws"]

    def node_places(self) -> Mapping[str, str]:
        """Two subnets."""
        with _calibrated(self._call_seconds):
            return _ZONES

    def ensure_cluster(self, spec: ClusterSpec, first: tuple[NodePoolSpec, ...] = ()) -> ObservedCluster:
        """Create it at once: two calls for the first time, then one."""
        found = self.get_cluster(spec)
        if found is None:
            with _calibrated(self._call_seconds):
                found = self._clusters[spec.name] = _cluster(spec)
                self._node_pools[spec.name] = {}
        return found

    def get_cluster(self, spec: ClusterSpec) -> ObservedCluster | None:
        """One call."""
        with _calibrated(self._call_seconds):
            return self._clusters.get(spec.name)

    def delete_cluster(self, spec: ClusterSpec) -> Deletion:
        """One call."""
        with _calibrated(self._call_seconds):
            self._clusters.pop(spec.name, None)
            return Deletion.GONE

    def get_node_pools(self, cluster: ClusterSpec) -> tuple[ObservedNodePool, ...]:
        """One call, and one for each."""
        with _calibrated(self._call_seconds):
            names = list(self._node_pools[cluster.name])
        return tuple(self._node_pool(cluster, name) for name in names)

    def _node_pool(self, cluster: ClusterSpec, name: str) -> ObservedNodePool:
        with _calibrated(self._call_seconds):
            return self._node_pools[cluster.name][name]

    def compare(self, spec: NodePoolSpec, observed: ObservedNodePool) -> tuple[Difference, ...]:
        """They are as they were made."""
        return ()

    def ensure_node_pool(
        self, cluster: ClusterSpec, spec: NodePoolSpec, observed: ObservedNodePool | None
    ) -> ObservedNodePool:
        """One call for a new one."""
        if observed is not None:
            return observed
        with _calibrated(self._call_seconds):
            made = self._node_pools[cluster.name][spec.name] = _made(spec)
            return made

    def delete_node_pool(self, cluster: ClusterSpec, name: str, tags: Mapping[str, str]) -> Deletion:
        """One call."""
        with _calibrated(self._call_seconds):
            self._node_pools[cluster.name].pop(name, None)
            return Deletion.GONE

    def bootstrap_access(self, cluster: ObservedCluster) -> BootstrapAccess:
        """No call."""
        assert cluster.outputs is not None
        return BootstrapAccess(
            endpoint=cluster.outputs.endpoint, ca_pem="", token=Secret("operator"), expires_at=_FOR_EVER
        )

    def grant_access(self, cluster: ClusterSpec) -> None:
        """Nobody is refused here."""

    def check_adopted(self, cluster: ClusterSpec, wanted: Sequence[NodePoolSpec]) -> None:
        """Whatever stands here will do."""

    def access_needed(self, cluster: ClusterSpec) -> str:
        """Nobody is refused here."""
        return f"nothing is needed in {cluster.name}"

    def revoke_access(self, cluster: ClusterSpec) -> None:
        """Nobody was granted anything."""


def _cluster(spec: ClusterSpec) -> ObservedCluster:
    outputs = ClusterOutputs(
        endpoint=f"https://{spec.name}.example",
        ca_pem="",
        version="1.34",
        location=spec.location,
        node_version="1.34",
        global_id=f"calibrated/{spec.name}",
    )
    return ObservedCluster(
        name=spec.name,
        status=ProviderStatus.ACTIVE,
        message="",
        outputs=outputs,
        private_nodes=spec.private_nodes,
        tags=spec.tags,
    )


def _made(spec: NodePoolSpec) -> ObservedNodePool:
    return ObservedNodePool(
        name=spec.name,
        status=ProviderStatus.ACTIVE,
        machine_type=spec.machine_type,
        nodes=spec.nodes,
        spot=spec.spot,
        disk_gib=spec.disk_gib,
        labels=spec.labels,
        tags=spec.tags,
    )


@dataclass(slots=True, kw_only=True)
class _Reply:
    """As much of urllib3's response as the product's client reads."""

    status: int
    body: bytes = field(repr=False)
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        """The whole body: how the kubernetes package reads it."""
        return self.body

    def read1(self, amount: int) -> bytes:
        """The body, at once."""
        read, self.body = self.body[:amount], self.body[amount:]
        return read

    def release_conn(self) -> None:
        """There is none."""

    def close(self) -> None:
        """There is none."""


class MemoryApis:
    """Every cluster's API, as much of urllib3's pool manager as the product's client uses: objects by host and path."""

    def __init__(self, *, call_seconds: float, node_pages: NodePages) -> None:
        """No cluster has any object in it, but for Nodes."""
        self._call_seconds = call_seconds
        self._node_pages = node_pages
        self._objects: dict[tuple[str, str], dict[str, Any]] = {}
        self.writes = 0

    def request(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None = None, **_options: object
    ) -> _Reply:
        """Answer as a Kubernetes API does to whoever may do everything."""
        place = urlsplit(url)
        with _calibrated(self._call_seconds):
            if place.path == "/api/v1/nodes":
                [more] = parse_qs(place.query).get("continue", [""])
                return _Reply(status=200, body=self._node_pages(headers.get("Accept", ""), more))
            status, reply = self._answer(method, place.netloc, place.path, json.loads(body) if body else {})
            return _Reply(status=status, body=json.dumps(reply).encode())

    def _answer(self, method: str, host: str, path: str, sent: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if method == "POST" and path.endswith("/token"):
            known = (host, path.removesuffix("/token")) in self._objects
            minted = {"token": "minted", "expirationTimestamp": _FOR_EVER.strftime("%Y-%m-%dT%H:%M:%SZ")}
            return (201, {"status": minted}) if known else (404, {"message": "not found"})
        if method == "POST":
            path = f"{path}/{sent['metadata']['name']}"
            if (host, path) in self._objects:
                return 409, {"message": "already exists"}
        if method in ("POST", "PATCH"):
            self.writes += 1
            marks = {"uid": path, "resourceVersion": "1"}
            self._objects[host, path] = {**sent, "metadata": {**sent["metadata"], **marks}}
        found = self._objects.get((host, path))
        return (200, found) if found is not None else (404, {"message": "not found"})

    def clear(self) -> None:
        """Nothing is open."""


def no_nodes(_accept: str, _more: str) -> bytes:
    """An empty list."""
    return b'{"items": null, "metadata": {"resourceVersion": "1"}}'


@contextmanager
def calibrated_clusters(
    *, call_seconds: float = CALL_SECONDS, node_pages: NodePages = no_nodes
) -> Iterator[MemoryApis]:
    """Clusters in memory in place of connections to them.

    Arguments:
        call_seconds: what a call takes.
        node_pages: gives every cluster's Nodes.
    """
    apis = MemoryApis(call_seconds=call_seconds, node_pages=node_pages)
    real = api._connection_pool
    # As much of a pool manager as is used: see MemoryApis.
    api._connection_pool = lambda _endpoint, _ca_pem: apis  # type: ignore[assignment, return-value]  # a stub in its place
    try:
        yield apis
    finally:
        api._connection_pool = real
