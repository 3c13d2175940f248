# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All clusters of a cloud: each API started when its cluster comes up, stopped when it is deleted."""

from __future__ import annotations

from threading import Lock

from ..engine import Engine
from .access import Authenticator
from .cluster import EmulatedCluster
from .server import ApiServer


class KubernetesApis:
    """The running APIs by cluster name. Thread-safe."""

    def __init__(self, *, engine: Engine, authenticator: Authenticator) -> None:
        """Runs none yet."""
        self._engine = engine
        self._authenticator = authenticator
        self._running: dict[str, tuple[EmulatedCluster, ApiServer]] = {}
        self._lock = Lock()

    def start(self, cluster: str) -> tuple[str, str]:
        """Start the API of a cluster; it answers when this returns. One that runs goes on.

        Returns:
            Its URL, and the certificate authority (PEM) that its certificate is to be checked against.
        """
        with self._lock:
            if cluster not in self._running:
                emulated = EmulatedCluster(name=cluster, engine=self._engine, authenticator=self._authenticator)
                self._running[cluster] = (emulated, ApiServer(emulated))
            server = self._running[cluster][1]
            return server.url, server.ca_pem

    def cluster(self, name: str) -> EmulatedCluster | None:
        """The running cluster, for its machines; None when there is none of that name."""
        with self._lock:
            running = self._running.get(name)
        return None if running is None else running[0]

    def stop(self, cluster: str) -> None:
        """Stop the API of a cluster and forget all it held; one that does not run is no error."""
        with self._lock:
            running = self._running.pop(cluster, None)
        if running is not None:
            emulated, server = running
            server.close()
            emulated.close()

    def close(self) -> None:
        """Stop all."""
        with self._lock:
            names = list(self._running)
        for name in names:
            self.stop(name)
