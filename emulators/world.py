# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated world in one process: AWS, a Kubernetes API per cluster, and the machines, on one engine.

with World(engine=Engine(VirtualClock())) as world:
    world.aws.url, world.aws.operator, world.engine.inventory, …
"""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import Self

from .aws import AwsEmulator, Timings
from .engine import Engine
from .kubernetes import ClusterUser, KubernetesApis
from .machines import EmulatedMachines, MachineTimes


class _AwsUsers:
    """What the emulated Kubernetes APIs ask AWS: who a bearer token is on a cluster."""

    def __init__(self) -> None:
        self.aws: AwsEmulator | None = None

    def user(self, token: str, cluster: str) -> ClusterUser | None:
        """The principal behind the token; None: unknown to AWS or to the cluster."""
        principal = self.aws.authenticate(token, cluster) if self.aws is not None else None
        if self.aws is None or principal is None:
            return None
        return ClusterUser(name=principal.caller_arn, admin=self.aws.is_admin(principal, cluster))


class World:
    """Everything that is emulated. A context manager; it serves from construction to `close`.

    Attributes:
        engine: clock, inventory, request log, fault script.
        apis: the Kubernetes APIs of the clusters that exist.
        machines: the machines of all node groups.
        aws: the AWS emulator.
    """

    def __init__(
        self,
        *,
        engine: Engine | None = None,
        timings: Timings | None = None,
        machine_times: MachineTimes | None = None,
    ) -> None:
        """Start everything.

        Arguments:
            engine: one on real time when none is given; closed with the world.
            timings: how long EKS takes; about as long as the real one when none are given.
            machine_times: how long machines take.
        """
        self.engine = engine if engine is not None else Engine()
        users = _AwsUsers()
        self.apis = KubernetesApis(engine=self.engine, authenticator=users)
        self.machines = EmulatedMachines(engine=self.engine, clusters=self.apis.cluster, times=machine_times)
        self.aws = AwsEmulator(engine=self.engine, apis=self.apis, machines=self.machines, timings=timings)
        users.aws = self.aws
        self.machines.reclaim = self._reclaim
        self.aws.start()

    def __enter__(self) -> Self:
        """The world itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop everything."""
        self.close()

    def _reclaim(self, instance_id: str) -> None:
        """AWS takes a Spot instance back, unless it ended it meanwhile, and its group replaces it."""
        with suppress(KeyError):
            self.aws.lose_instance(instance_id)

    def close(self) -> None:
        """Stop everything, clouds first: nobody is told of the end."""
        self.aws.stop()
        self.engine.close()
        self.machines.close()
        self.apis.close()
