# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GCP emulator as a whole: what tests, the world and the emulated Kubernetes APIs hold in their hands."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from ..engine import Engine, FaultScript, RequestLog
from ..engine.clock import Clock
from ..neighbours import ClusterApis, MachineHost
from . import instances
from .capacity import Capacity
from .project import OPERATOR, PROJECT_ID, Tokens
from .server import GkeServer
from .state import State
from .timings import Timings


class GcpEmulator:
    """GKE on loopback: one project. A context manager that serves while it is open.

    Attributes:
        target: where it answers gRPC without TLS: `127.0.0.1:<port>`.
        project: the project's id.
        access_token: the operator's; it does not end.
        tokens: issues others.
        capacity: which machines can be had: script stockouts and quota here.
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
        self.faults: FaultScript = engine.faults
        self.requests: RequestLog = engine.log
        self.clock: Clock = engine.clock
        self._server = GkeServer(engine=engine, state=self._state, tokens=self.tokens)
        self.target = self._server.target

    def __enter__(self) -> Self:
        """Start to serve."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def start(self) -> None:
        """Start to serve."""
        self._server.start()

    def stop(self) -> None:
        """Stop."""
        self._server.stop()

    def account(self, token: str) -> str | None:
        """Whose access token it is: who may use GKE may do everything in a cluster (roles/container.admin)."""
        return self.tokens.account(token)

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
