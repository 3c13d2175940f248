# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real cluster as an emulated cloud's one cluster: the cloud gives its endpoint out, and judges its tokens."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.better_compute.fleet.emulators.engine import Engine
from ansible_collections.better_compute.fleet.emulators.kubernetes import Authenticator, ClusterUser
from ansible_collections.better_compute.fleet.emulators.kubernetes.server import ApiServer

from .cluster import RealCluster
from .watched_cluster import WatchedCluster

Authority = Callable[[str, str], ClusterUser | None]
"""Who a bearer token is on the cluster of that name: the cloud's own judgement, as its emulated APIs ask for it."""


class OneRealCluster:
    """Takes the place of an emulated cloud's Kubernetes APIs (`ClusterApis`)."""

    def __init__(self, real: RealCluster) -> None:
        """Arguments: real: empty."""
        self._real = real
        self._authority: Authority = lambda _token, _cluster: None
        self._cluster: str | None = None

    def let_judge(self, authority: Authority) -> None:
        """Have the API ask this cloud."""
        self._authority = authority
        self._real.let_judge(self._user)

    def start(self, cluster: str) -> tuple[str, str]:
        """The real cluster's URL and certificate authority, for the first cluster that asks and only for it."""
        assert self._cluster in (None, cluster), f"{cluster} asks for the real cluster, which is {self._cluster}"
        self._cluster = cluster
        return self._real.endpoint, self._real.ca_pem

    def stop(self, cluster: str) -> None:
        """Judge no more tokens for it."""
        if cluster == self._cluster:
            self._cluster = None

    def _user(self, token: str) -> ClusterUser | None:
        return None if self._cluster is None else self._authority(token, self._cluster)


class OneRealClusterBehindEngine:
    """Takes the place of a world's Kubernetes APIs (`KubernetesApis`), for a world in which one cluster is ever made.

    Its machines, its request log and its fault script have that cluster as they have an emulated one.
    """

    def __init__(self, *, engine: Engine, authenticator: Authenticator, real: RealCluster) -> None:
        """Arguments: real: empty."""
        self._engine = engine
        self._authenticator = authenticator
        self._real = real
        self._running: tuple[WatchedCluster, ApiServer] | None = None

    def start(self, cluster: str) -> tuple[str, str]:
        """Stand before the real cluster, for the first cluster that asks and only for it.

        Returns:
            The URL, and the certificate authority (PEM) that its certificate is to be checked against.
        """
        if self._running is None:
            self._real.let_judge(lambda token: self._authenticator.user(token, cluster))
            behind = WatchedCluster(name=cluster, engine=self._engine, real=self._real)
            self._running = behind, ApiServer(behind)
        behind, server = self._running
        assert behind.name == cluster, f"{cluster} asks for the real cluster, which is {behind.name}"
        return server.url, server.ca_pem

    def cluster(self, name: str) -> WatchedCluster | None:
        """The running cluster, for its machines; None when there is none of that name."""
        return self._running[0] if self._running is not None and self._running[0].name == name else None

    def stop(self, cluster: str) -> None:
        """Forget all that stands in it; one that does not run is no error."""
        if self._running is None or self._running[0].name != cluster:
            return
        (behind, server), self._running = self._running, None
        server.close()
        behind.close()
        self._real.empty()

    def close(self) -> None:
        """Stop it."""
        if self._running is not None:
            self.stop(self._running[0].name)
