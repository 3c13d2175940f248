# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One machine from boot to end: its Node, its pods, its folder, and what may happen to them meanwhile.

Lives in the machines' event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from ..engine import Clock, Delays
from ..kubernetes import EmulatedCluster
from ..neighbours import Machine
from .bcd_image import BcdImage
from .network import CuttableNetwork
from .pod import Pod
from .registration import Registration, named
from .scheduling import Object, wanted_pods
from .volumes import remove


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineTimes(Delays):
    """How long things take, in seconds on the engine's clock.

    Attributes:
        boot_seconds: from launch to a Ready Node; real GPU machines take two to five minutes.
        node_gone_seconds: from a machine's end until its Node is taken out of the cluster: the node controller marks
            it unready after 40 s, then the cloud's controller finds no instance.
        node_unready_seconds: from a kubelet's last word until its Node is not Ready any more, while its machine is
            one that the cloud knows (node-monitor-grace-period).
        orphaned_pods_seconds: from a Node's deletion until the pods on it are ended: the pod garbage collector looks
            every 20 s and waits 40 s more for the Node to come back.
        secret_sync_seconds: until a changed Secret is in the pods' folders; the kubelet looks about once a minute.
        spot_notice_seconds: between a Spot machine's notice and its end, unless the machine says another time: two
            minutes at AWS.
    """

    boot_seconds: float = 120.0
    node_gone_seconds: float = 60.0
    node_unready_seconds: float = 40.0
    orphaned_pods_seconds: float = 60.0
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
        daemon_sets: Callable[[], Sequence[Object]],
        ready: Callable[[], None],
    ) -> None:
        """Nothing runs yet: `boot` does that.

        Arguments:
            daemon_sets: the cluster's now; they are not changed here.
            ready: called once, when its Node is Ready for the first time.
        """
        self.machine = machine
        self.network = CuttableNetwork()
        self._cluster = cluster
        self._clock = clock
        self._times = times
        self._folder = folder
        self._long_poll_seconds = long_poll_seconds
        self._daemon_sets = daemon_sets
        self._ready: Callable[[], None] | None = ready
        self._successors = 0
        self._image = self._new_image()
        self._pods: dict[str, Pod] = {}
        self._changing_pods = asyncio.Lock()
        self._registration = Registration(cluster)
        self._powered = True
        self._kubelet_runs = False
        # Counts what befalls the machine: what began before the last of it, and still waits, comes to nothing.
        self._turn = 0
        self._ended = False
        # Held while `ready` is called: after `end` it never is.
        self._ending = RLock()

    @property
    def cluster(self) -> EmulatedCluster:
        """The cluster that it belongs to."""
        return self._cluster

    async def boot(self) -> None:
        """Come up: register the Node, then say so, then run what is wanted there."""
        self._powered = True
        turn = self._next_turn()
        await self._clock.sleep(self._times.boot_seconds)
        await self._come_up(turn)

    async def sync(self) -> None:
        """Run exactly the pods that the cluster's DaemonSets want here."""
        async with self._changing_pods:
            if self._ended or not self._kubelet_runs:
                return
            wanted = wanted_pods(self._daemon_sets(), labels=self.machine.labels, taints=self.machine.taints)
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
        # The cloud goes on calling the machine what it called it; the kubelet may have been given another name.
        before, self.machine = self.machine, named(machine, self.machine.node_name)
        gone: dict[str, str | None] = dict.fromkeys(before.labels.keys() - self.machine.labels.keys())
        self._registration.amend(
            labels={**gone, **self.machine.labels}, taints=self.machine.taints, dropped_taints=before.taints
        )
        await self.sync()

    def secrets_changed(self) -> None:
        """Some Secret of the cluster has changed."""
        for pod in self._pods.values():
            pod.secrets_changed()

    async def stop(self) -> None:
        """Switch it off without goodbye. The disk stays, and the Node, which is not Ready after a while."""
        if not self._powered:
            return
        self._powered = False
        turn = self._halt()
        await self._kill_pods()
        await self._clock.sleep(self._times.node_unready_seconds)
        if self._is_on(turn):
            self._registration.unready(left=False)

    async def start(self) -> None:
        """Switch a stopped machine on: it boots from the disk that it had. One that is on goes on."""
        if not self._powered:
            await self.boot()

    def rename_host(self, hostname: str) -> None:
        """What it calls itself, as far as processes that start from now on can tell."""
        self._image.rename(hostname)

    async def rename_node(self, node_name: str) -> None:
        """Its kubelet starts again under another Node name. The Node of the former name stays, not Ready after a while.

        The cloud's controller takes that Node out only when the machine ends: its instance exists until then.
        """
        self.machine = named(self.machine, node_name)
        registered = self._registration.uid is not None
        self._registration.abandon()
        await self._kill_pods()
        if self._kubelet_runs:
            self._registration.register(self.machine)
            await self.sync()
        if registered:
            await self._clock.sleep(self._times.node_unready_seconds)
            self._registration.unready(left=True)

    async def lose_node(self, *, seconds: float) -> None:
        """Somebody deletes its Node; the kubelet registers it again, with a new UID, when it is started so much later.

        A kubelet registers its Node when it starts and at no other time: that of a stopped machine with the machine.
        The pods on it go on for as long as the cluster's pod garbage collector takes.
        """
        if self._registration.uid is None:
            return
        self._registration.delete()
        if not self._kubelet_runs:
            return
        turn = self._halt()
        await self._after(turn, seconds=seconds, patience=self._times.orphaned_pods_seconds, lost=self._kill_pods)

    async def be_replaced(self, *, seconds: float) -> None:
        """It ends, and so much later another machine registers a Node of its name: empty disk, GPUs of its own.

        Its cloud calls the other one by the same instance id, as after a rebuild from the image.
        """
        turn = self._halt()
        self._powered = True
        self._registration.abandon()
        await self._kill_pods()
        remove(self._folder)
        self._successors += 1
        self._image = self._new_image()
        patience = min(seconds, self._times.node_gone_seconds)
        await self._after(turn, seconds=seconds, patience=patience, lost=self._forget_nodes)

    def end(self) -> None:
        """From now on `ready` is not called any more. From any thread."""
        with self._ending:
            self._ended = True

    async def power_off(self) -> None:
        """End everything on it without goodbye and forget its disk. Its Node lingers."""
        self.end()
        await self._kill_pods()
        remove(self._folder)

    async def leave(self) -> None:
        """See that its Nodes go, once the cluster has noticed."""
        await self._clock.sleep(self._times.node_gone_seconds)
        self._registration.remove()

    def _new_image(self) -> BcdImage:
        return BcdImage(
            self.machine,
            clock=self._clock,
            network=self.network,
            long_poll_seconds=self._long_poll_seconds,
            successor=self._successors,
        )

    def _next_turn(self) -> int:
        self._turn += 1
        return self._turn

    def _halt(self) -> int:
        """The kubelet does nothing from now on; pods go on until they are killed. Returns the turn that begins."""
        self._kubelet_runs = False
        return self._next_turn()

    def _is_on(self, turn: int) -> bool:
        return turn == self._turn and not self._ended

    async def _come_up(self, turn: int) -> None:
        with self._ending:
            if not self._is_on(turn):
                return
            self._registration.register(self.machine)
            self._kubelet_runs = True
            ready, self._ready = self._ready, None
            if ready is not None:
                ready()
        await self.sync()

    async def _after(self, turn: int, *, seconds: float, patience: float, lost: Callable[[], Awaitable[None]]) -> None:
        """Come up so many seconds later; what the cluster does when it has to wait for longer than its patience."""
        if seconds >= patience:
            await self._pause(patience)
            if not self._is_on(turn):
                return
            await lost()
            seconds -= patience
        await self._pause(seconds)
        await self._come_up(turn)

    async def _pause(self, seconds: float) -> None:
        """Sleep, if at all: on a virtual clock no time is not no wait."""
        if seconds > 0:
            await self._clock.sleep(seconds)

    async def _kill_pods(self) -> None:
        async with self._changing_pods:
            for pod in self._pods.values():
                await pod.kill()
            self._pods.clear()

    async def _forget_nodes(self) -> None:
        self._registration.remove_left()
