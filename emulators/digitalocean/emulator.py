# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The DigitalOcean emulator as a whole: what tests, the world and the emulated Kubernetes APIs hold in their hands."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..engine import Clock, Engine, FaultScript, RequestLog, Serving
from ..neighbours import ClusterApis, MachineHost
from . import credentials, nodes
from .capacity import Capacity
from .console import Console
from .rate_limit import RateLimit
from .readings import Readings
from .server import DigitalOceanServer
from .state import State
from .timings import Timings
from .tokens import Tokens


class DigitalOcean(Serving):
    """DigitalOcean on loopback: one account. A context manager that serves while it is open.

    Attributes:
        token: the account's API token, with all scopes; it does not end.
        tokens: issues others, and revokes.
        endpoint_url: what pydo takes as `endpoint`.
        ca_pem: the authority that its certificate is to be checked against.
        ca_file: the same as a file, for pydo's `connection_verify`; there until `stop`.
        capacity: which droplets can be had: script stockouts and the account's droplet limit here.
        readings: what DigitalOcean does where nobody knows for certain.
        rate_limit: how often it may be called.
        console: what others do to clusters and node pools.
        faults: the engine's fault script: cloud `digitalocean`, names `POST clusters`,
            `PUT clusters/{id}/node_pools/{id}`, `GET clusters/{id}/credentials`, `GET options`, `GET droplets`, …
        requests: the engine's request log.
        clock: the engine's.
    """

    def __init__(
        self, *, engine: Engine, apis: ClusterApis, machines: MachineHost, timings: Timings | None = None
    ) -> None:
        """Take a port.

        Arguments:
            engine: clock, inventory, request log and faults; the caller closes it.
            apis: runs the clusters' Kubernetes APIs.
            machines: runs the node pools' machines.
            timings: how long things take; about as long as at DigitalOcean when none are given.
        """
        self._state = State(
            engine=engine, apis=apis, machines=machines, timings=timings if timings is not None else Timings()
        )
        self.tokens: Tokens = self._state.tokens
        self.token = self.tokens.issue()
        self.capacity: Capacity = self._state.capacity
        self.readings: Readings = self._state.readings
        self.rate_limit = RateLimit(engine.clock)
        self.console = Console(self._state)
        self.faults: FaultScript = engine.faults
        self.requests: RequestLog = engine.log
        self.clock: Clock = engine.clock
        self._server = DigitalOceanServer(engine=engine, state=self._state, rate_limit=self.rate_limit)
        self.endpoint_url = self._server.url
        self.ca_pem = self._server.ca_pem
        self._folder = tempfile.TemporaryDirectory(prefix="bc-digitalocean-")
        self.ca_file = Path(self._folder.name) / "ca.pem"
        self.ca_file.write_text(self.ca_pem)

    def stop(self) -> None:
        """Stop, and remove the CA file."""
        super().stop()
        self._folder.cleanup()

    def user(self, token: str, cluster: str) -> str | None:
        """Whose bearer token it is, for the emulated Kubernetes API of a cluster.

        Arguments:
            cluster: what the API is called in the world.

        Returns:
            Its name, or None: then the API answers 401. Who has a token may do everything there.
        """
        return credentials.user(self._state, token, cluster)

    def lose_instance(self, instance_id: str) -> None:
        """A droplet is reclaimed or breaks: another node comes for it after a while.

        Raises:
            KeyError: there is no such droplet, or it belongs to no node any more.
        """
        with self._state.changing():
            for cluster in self._state.clusters.values():
                for pool in cluster.pools.values():
                    for node in pool.nodes.values():
                        if node.machine is not None and node.machine.instance_id == instance_id:
                            nodes.lose(self._state, cluster, pool, node)
                            return
        raise KeyError(instance_id)
