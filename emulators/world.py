# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated world in one process: AWS, DigitalOcean, a Kubernetes API per cluster, machines, one engine.

with World(engine=Engine(VirtualClock())) as world:
    world.aws.url, world.aws.operator, world.digitalocean.endpoint_url, world.engine.inventory, …
"""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import Self

from .aws import AwsEmulator, Timings
from .digitalocean import DigitalOcean
from .digitalocean import Timings as DigitalOceanTimings
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


class _Users(_AwsUsers):
    """What the emulated Kubernetes APIs ask the clouds."""

    def __init__(self) -> None:
        super().__init__()
        self.digitalocean: DigitalOcean | None = None

    def user(self, token: str, cluster: str) -> ClusterUser | None:
        """AWS's principal, or DigitalOcean's administrator."""
        name = self.digitalocean.user(token, cluster) if self.digitalocean is not None else None
        return super().user(token, cluster) if name is None else ClusterUser(name=name, admin=True)


class World:
    """Everything that is emulated. A context manager; it serves from construction to `close`.

    Attributes:
        engine: clock, inventory, request log, fault script.
        apis: the Kubernetes APIs of the clusters that exist.
        machines: the machines of all node groups.
        aws: the AWS emulator.
        digitalocean: the DigitalOcean emulator.
    """

    def __init__(
        self,
        *,
        engine: Engine | None = None,
        timings: Timings | None = None,
        digitalocean_timings: DigitalOceanTimings | None = None,
        machine_times: MachineTimes | None = None,
    ) -> None:
        """Start everything.

        Arguments:
            engine: one on real time when none is given; closed with the world.
            timings: how long EKS takes; about as long as the real one when none are given.
            digitalocean_timings: how long DigitalOcean takes; the same.
            machine_times: how long machines take.
        """
        self.engine = engine if engine is not None else Engine()
        users = _Users()
        self.apis = KubernetesApis(engine=self.engine, authenticator=users)
        self.machines = EmulatedMachines(engine=self.engine, clusters=self.apis.cluster, times=machine_times)
        self.aws = AwsEmulator(engine=self.engine, apis=self.apis, machines=self.machines, timings=timings)
        users.aws = self.aws
        self.digitalocean = DigitalOcean(
            engine=self.engine, apis=self.apis, machines=self.machines, timings=digitalocean_timings
        )
        users.digitalocean = self.digitalocean
        self.machines.reclaim = self._reclaim
        self.aws.start()
        self.digitalocean.start()

    def __enter__(self) -> Self:
        """The world itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop everything."""
        self.close()

    def _reclaim(self, instance_id: str) -> None:
        """Its cloud takes a Spot machine back, unless it ended it meanwhile, and its node pool replaces it."""
        with suppress(KeyError):
            self.aws.lose_instance(instance_id)
        with suppress(KeyError):
            self.digitalocean.lose_instance(instance_id)

    def close(self) -> None:
        """Stop everything, clouds first: nobody is told of the end."""
        self.aws.stop()
        self.digitalocean.stop()
        self.engine.close()
        self.machines.close()
        self.apis.close()
