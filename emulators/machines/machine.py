# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One machine from boot to end: its Node, its pods, its folder. Lives in the machines' event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from ..engine import Clock, Delays
from ..kubernetes import EmulatedCluster
from ..neighbours import Machine
from .bcd_image import BcdImage
from .network import CuttableNetwork
from .pod import Pod
from .scheduling import wanted_pods
from .volumes import remove


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineTimes(Delays):
    """How long things take, in seconds on the engine's clock.

    Attributes:
        boot_seconds: from launch to a Ready Node; real GPU machines take two to five minutes.
        node_gone_seconds: from a machine's end until its Node is taken out of the cluster: the node controller marks
            it unready after 40 s, then the cloud's controller finds no instance.
        secret_sync_seconds: until a changed Secret is in the pods' folders; the kubelet looks about once a minute.
        spot_notice_seconds: between a Spot machine's notice and its end, unless the machine says another time: two
            minutes at AWS.
    """

    boot_seconds: float = 120.0
    node_gone_seconds: float = 60.0
    secret_sync_seconds: float = 60.0
    spot_notice_seconds: float = 120.0


class RunningMachine:
    """A machine."""

    def __init__(
        self,
        machine: Machine,
        *,
        cluster: EmulatedCluster,
        clock: Clock,
        times: MachineTimes,
        folder: Path,
        long_poll_seconds: int,
    ) -> None:
        """Nothing runs yet: `boot` does that."""
        self.machine = machine
        self.network = CuttableNetwork()
        self._cluster = cluster
        self._clock = clock
        self._times = times
        self._folder = folder
        self._image = BcdImage(machine, clock=clock, network=self.network, long_poll_seconds=long_poll_seconds)
        self._pods: dict[str, Pod] = {}
        self._changing_pods = asyncio.Lock()
        self._node_uid: str | None = None
        self._ended = False
        # Held while `ready` is called: after `end` it never is.
        self._ending = RLock()

    @property
    def cluster(self) -> EmulatedCluster:
        """The cluster that it belongs to."""
        return self._cluster

    async def boot(self, ready: Callable[[], None]) -> None:
        """Come up: register the Node, then say so, then run what is wanted there."""
        await self._clock.sleep(self._times.boot_seconds)
        with self._ending:
            if self._ended:
                return
            self._node_uid = self._cluster.put_node(
                self.machine.node_name,
                labels=self.machine.labels,
                provider_id=self.machine.provider_id,
                taints=self.machine.taints,
            )
            ready()
        await self.sync()

    async def sync(self) -> None:
        """Run exactly the pods that the cluster's DaemonSets want here."""
        async with self._changing_pods:
            if self._ended or self._node_uid is None:
                return
            wanted = wanted_pods(self._cluster.daemon_sets(), labels=self.machine.labels, taints=self.machine.taints)
            for key in self._pods.keys() - wanted.keys():
                await self._pods.pop(key).kill()
            for key in wanted.keys() - self._pods.keys():
                self._pods[key] = Pod(
                    wanted[key],
                    node_name=self.machine.node_name,
                    machine=self._folder,
                    read=self._cluster.read,
                    run_image=self._image.run,
                    clock=self._clock,
                    secret_sync_seconds=self._times.secret_sync_seconds,
                )

    async def change(self, machine: Machine) -> None:
        """Its labels or taints are others now: its Node gets them, and the pods that they let in."""
        before, self.machine = self.machine, machine
        if self._node_uid is None:
            return
        gone: dict[str, str | None] = dict.fromkeys(before.labels.keys() - machine.labels.keys())
        self._cluster.amend_node(
            machine.node_name,
            uid=self._node_uid,
            labels={**gone, **machine.labels},
            taints=machine.taints,
            dropped_taints=before.taints,
        )
        await self.sync()

    def secrets_changed(self) -> None:
        """Some Secret of the cluster has changed."""
        for pod in self._pods.values():
            pod.secrets_changed()

    def end(self) -> None:
        """From now on `ready` is not called any more. From any thread."""
        with self._ending:
            self._ended = True

    async def power_off(self) -> None:
        """End everything on it without goodbye and forget its disk. Its Node lingers."""
        self.end()
        async with self._changing_pods:
            for pod in self._pods.values():
                await pod.kill()
            self._pods.clear()
        remove(self._folder)

    async def leave(self) -> None:
        """See that its Node goes, once the cluster has noticed."""
        if self._node_uid is not None:
            await self._clock.sleep(self._times.node_gone_seconds)
            self._cluster.remove_node(self.machine.node_name, uid=self._node_uid)
