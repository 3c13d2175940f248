# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated world in one process: clouds, a Kubernetes API per cluster, and the machines, on one engine.

with World(engine=Engine(VirtualClock())) as world:
    world.aws.url, world.aws.operator, world.gcp.target, world.digitalocean.endpoint_url, world.engine.inventory, …
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Self

from .aws import AwsEmulator, Timings
from .digitalocean import DigitalOcean
from .digitalocean import Timings as DigitalOceanTimings
from .engine import Engine
from .kubernetes import Authenticator, ClusterUser, KubernetesApis
from .machines import EmulatedMachines, MachineTimes

if TYPE_CHECKING:
    from .gcp import GcpEmulator
    from .gcp import Timings as GcpTimings


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
        gcp_timings: GcpTimings | None = None,
        digitalocean_timings: DigitalOceanTimings | None = None,
        machine_times: MachineTimes | None = None,
        apis: Callable[[Engine, Authenticator], KubernetesApis] | None = None,
    ) -> None:
        """Start everything.

        Arguments:
            engine: one on real time when none is given; closed with the world.
            timings: how long EKS takes; about as long as the real one when none are given.
            gcp_timings: how long GKE takes; the same.
            digitalocean_timings: how long DOKS takes; the same.
            machine_times: how long machines take.
            apis: makes the Kubernetes APIs, where they are not to be emulated ones.
        """
        self.engine = engine if engine is not None else Engine()
        self.apis = KubernetesApis(engine=self.engine, authenticator=self) if apis is None else apis(self.engine, self)
        self.machines = EmulatedMachines(engine=self.engine, clusters=self.apis.cluster, times=machine_times)
        self.machines.reclaim = self._reclaim
        self.aws = AwsEmulator(engine=self.engine, apis=self.apis, machines=self.machines, timings=timings)
        self.aws.start()
        self._gcp_timings = gcp_timings
        self._gcp: GcpEmulator | None = None
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
    def gcp(self) -> GcpEmulator:
        """The GCP emulator: started when it is first asked for, because Google's types take half a second to load."""
        with self._starting:
            if self._gcp is None:
                from .gcp import GcpEmulator

                self._gcp = GcpEmulator(
                    engine=self.engine, apis=self.apis, machines=self.machines, timings=self._gcp_timings
                )
                self._gcp.start()
            return self._gcp

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
        account = self._gcp.authenticate(token, cluster) if self._gcp is not None else None
        if account is None and self._digitalocean is not None:
            account = self._digitalocean.user(token, cluster)
        return ClusterUser(name=account, admin=True) if account is not None else None

    def _reclaim(self, instance_id: str) -> None:
        """Its cloud takes a Spot machine back, unless it ended it meanwhile, and its node pool replaces it."""
        for cloud in (self.aws, self._gcp, self._digitalocean):
            if cloud is not None:
                with suppress(KeyError):
                    cloud.lose_instance(instance_id)

    def close(self) -> None:
        """Stop everything, clouds first: nobody is told of the end."""
        self.aws.stop()
        if self._gcp is not None:
            self._gcp.stop()
        if self._digitalocean is not None:
            self._digitalocean.stop()
        self.engine.close()
        self.machines.close()
        self.apis.close()
