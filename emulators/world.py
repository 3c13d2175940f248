# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated world in one process: clouds, a Kubernetes API per cluster, and the machines, on one engine.

with World(engine=Engine(VirtualClock())) as world:
    world.aws.url, world.digitalocean.endpoint_url, world.engine.inventory, …
"""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from types import TracebackType
from typing import Self

from .aws import AwsEmulator, Timings
from .digitalocean import DigitalOcean
from .digitalocean import Timings as DigitalOceanTimings
from .engine import Engine
from .kubernetes import ClusterUser, KubernetesApis
from .machines import EmulatedMachines, MachineTimes


class World:
    """Everything that is emulated. A context manager; it serves from construction to `close`.

    Attributes:
        engine: clock, inventory, request log, fault script.
        apis: the Kubernetes APIs of the clusters that exist.
        machines: the machines of all node pools.
        aws: the AWS emulator.
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
            digitalocean_timings: how long DOKS takes; the same.
            machine_times: how long machines take.
        """
        self.engine = engine if engine is not None else Engine()
        self.apis = KubernetesApis(engine=self.engine, authenticator=self)
        self.machines = EmulatedMachines(engine=self.engine, clusters=self.apis.cluster, times=machine_times)
        self.machines.reclaim = self._reclaim
        self.aws = AwsEmulator(engine=self.engine, apis=self.apis, machines=self.machines, timings=timings)
        self.aws.start()
        self._digitalocean_timings = digitalocean_timings
        self._digitalocean: DigitalOcean | None = None
        self._starting = Lock()

    def __enter__(self) -> Self:
        """The world itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop everything."""
        self.close()

    @property
    def digitalocean(self) -> DigitalOcean:
        """The DigitalOcean emulator: started when it is first asked for."""
        with self._starting:
            if self._digitalocean is None:
                self._digitalocean = DigitalOcean(
                    engine=self.engine, apis=self.apis, machines=self.machines, timings=self._digitalocean_timings
                )
                self._digitalocean.start()
            return self._digitalocean

    def user(self, token: str, cluster: str) -> ClusterUser | None:
        """Who a bearer token is on a cluster: what the emulated Kubernetes APIs ask the clouds.

        Returns:
            None: unknown to the clouds, or to the cluster.
        """
        principal = self.aws.authenticate(token, cluster)
        if principal is not None:
            return ClusterUser(name=principal.caller_arn, admin=self.aws.is_admin(principal, cluster))
        account = self._digitalocean.user(token, cluster) if self._digitalocean is not None else None
        return ClusterUser(name=account, admin=True) if account is not None else None

    def _reclaim(self, instance_id: str) -> None:
        """Its cloud takes a Spot machine back, unless it ended it meanwhile, and its node pool replaces it."""
        for cloud in (self.aws, self._digitalocean):
            if cloud is not None:
                with suppress(KeyError):
                    cloud.lose_instance(instance_id)

    def close(self) -> None:
        """Stop everything, clouds first: nobody is told of the end."""
        self.aws.stop()
        if self._digitalocean is not None:
            self._digitalocean.stop()
        self.engine.close()
        self.machines.close()
        self.apis.close()
