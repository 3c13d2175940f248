# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GCP emulator as a whole: what tests, the world and the emulated Kubernetes APIs hold in their hands."""

from __future__ import annotations

from ..engine import Engine, FaultScript, RequestLog, Serving
from ..engine.clock import Clock
from ..neighbours import ClusterApis, MachineHost
from . import instances
from .capacity import Capacity
from .console import Console
from .failures import Failures
from .project import OPERATOR, PROJECT_ID, Tokens
from .server import GkeServer
from .state import State
from .timings import Timings
from .token_endpoint import TokenEndpoint


class GcpEmulator(Serving):
    """GKE on loopback: one project. A context manager that serves while it is open.

    Attributes:
        target: where it answers gRPC without TLS: `127.0.0.1:<port>`.
        project: the project's id.
        access_token: the operator's; it does not end.
        tokens: issues others.
        capacity: which machines can be had: script stockouts and quota here.
        failures: what GKE accepts and then fails at: script creates, updates and deletes that fail here.
        console: what others do to clusters and node pools: edits by hand, the autoscaler, GKE itself.
        faults: the engine's fault script: cloud `gcp`, names `gke.CreateNodePool`, …
        requests: the engine's request log.
        clock: the engine's.
    """

    def __init__(
        self, *, engine: Engine, apis: ClusterApis, machines: MachineHost, timings: Timings | None = None
    ) -> None:
        """Take a port.

        Arguments:
            apis: runs the clusters' Kubernetes APIs.
            machines: runs the node pools' machines.
            timings: how long things take; about as long as at Google when none are given.
        """
        self._state = State(
            engine=engine, apis=apis, machines=machines, timings=timings if timings is not None else Timings()
        )
        self.project = PROJECT_ID
        self.tokens = Tokens(engine.clock)
        self.access_token = self.tokens.issue(OPERATOR)
        self.capacity: Capacity = self._state.capacity
        self.failures: Failures = self._state.failures
        self.console = Console(self._state)
        self.faults: FaultScript = engine.faults
        self.requests: RequestLog = engine.log
        self.clock: Clock = engine.clock
        self._server: GkeServer = GkeServer(engine=engine, state=self._state, tokens=self.tokens)
        self.target = self._server.target
        self._token_endpoint: TokenEndpoint | None = None

    def stop(self) -> None:
        """Stop."""
        super().stop()
        if self._token_endpoint is not None:
            self._token_endpoint.close()

    @property
    def endpoint_url(self) -> str:
        """The same as an account's `endpointUrl` has it."""
        return f"http://{self.target}"

    def service_account_key(self) -> dict[str, str]:
        """The operator's key (JSON), which Google's libraries change for access tokens where it says, on loopback.

        Made when it is first asked for, because an RSA key takes its time.
        """
        with self._state.changing():
            if self._token_endpoint is None:
                self._token_endpoint = TokenEndpoint(self.tokens)
            return self._token_endpoint.key()

    def authenticate(self, token: str, cluster: str) -> str | None:
        """Whose access token it is: for the emulated Kubernetes API of a cluster.

        Whoever may use GKE may do everything in its clusters (roles/container.admin).

        Arguments:
            cluster: what the API is called (`Cluster.api_name`).

        Returns:
            The account, or None: then the API answers 401.
        """
        with self._state.changing():
            ours = any(one.api_name == cluster for one in self._state.clusters.values())
        return self.tokens.account(token) if ours else None

    def lose_instance(self, instance_id: str) -> None:
        """A machine is taken back or breaks: another comes under its name after a while.

        Raises:
            KeyError: there is no such machine.
        """
        with self._state.changing():
            for cluster in self._state.clusters.values():
                for pool in cluster.pools.values():
                    if instance_id in pool.instances:
                        instances.lose(self._state, cluster, pool, instance_id)
                        return
        raise KeyError(instance_id)
