# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where all machines of a world run: one thread with one event loop, entered from any other thread.

It is the clouds' `MachineHost` (neighbours.py). Control calls for tests and the quickstart stand beside it: a machine
is preempted or lost, cut off from the gateway, stopped and started, renamed, given a Node of another UID, or replaced.
Of these the machine's cloud learns only of the first two, and each raises NoSuchMachine for one that does not run.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from inspect import CORO_CREATED, getcoroutinestate, iscoroutine
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final

from ..engine import Engine, VirtualClock
from ..kubernetes import Change, EmulatedCluster
from ..neighbours import Machine
from .errors import NoSuchMachine
from .machine import MachineTimes, RunningMachine
from .scheduling import Object
from .volumes import remove

LONG_POLL_SECONDS: Final = 30
"""As on real machines. Where time is moved by hand there is none: it would end at no certain moment."""

MEMORY_DISK: Final = Path("/dev/shm")  # noqa: S108 - mkdtemp makes a private folder in it
"""Where the machines' disks are, if the system has it: identities stay off real disks, and syncing costs nothing."""

_RUNS_ON_MACHINES = frozenset({"DaemonSet"})
_MOUNTED_ON_MACHINES = frozenset({"Secret"})

logger = logging.getLogger(__name__)


class EmulatedMachines:
    """The machines. Thread-safe; calls return at once and take effect in the machines' own thread.

    Attributes:
        folder: where each machine has a folder, named by its instance id, while it runs.
        reclaim: ends a machine that its cloud has lost or takes back. In a world that is the cloud's, whose group
            replaces the machine; `terminate` where there is no cloud.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        clusters: Callable[[str], EmulatedCluster | None],
        times: MachineTimes | None = None,
    ) -> None:
        """Start the thread; no machine runs yet.

        Arguments:
            engine: whose clock everything waits on.
            clusters: the running cluster of a name, None when there is none.
            times: how long things take; MachineTimes' own unless given.
        """
        self._clock = engine.clock
        self._clusters = clusters
        self._times = times or MachineTimes()
        self._long_poll_seconds = 0 if isinstance(engine.clock, VirtualClock) else LONG_POLL_SECONDS
        self.folder = Path(tempfile.mkdtemp(prefix="bc-machines-", dir=MEMORY_DISK if MEMORY_DISK.is_dir() else None))
        self.reclaim: Callable[[str], None] = self.terminate
        self._lock = Lock()
        self._machines: dict[str, RunningMachine] = {}
        self._watched: dict[EmulatedCluster, Callable[[], None]] = {}
        # Of each cluster, until they change: thousands of machines look at the same ones.
        self._daemon_sets: dict[EmulatedCluster, Sequence[Object]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = engine.clock.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="emulated-machines", daemon=True)
        self._thread.start()

    def launch(self, machine: Machine, ready: Callable[[], None]) -> None:
        """Boot a machine. One whose cluster does not run is never ready.

        Arguments:
            ready: called once, in the machines' thread, when its Node is registered and Ready; never after `terminate`.
        """
        cluster = self._clusters(machine.cluster)
        if cluster is None:
            return
        running = RunningMachine(
            machine,
            cluster=cluster,
            clock=self._clock,
            times=self._times,
            folder=self.folder / machine.instance_id,
            long_poll_seconds=self._long_poll_seconds,
            daemon_sets=lambda: self._daemon_sets_of(cluster),
            ready=ready,
        )
        with self._lock:
            self._machines[machine.instance_id] = running
            if cluster not in self._watched:
                self._watched[cluster] = cluster.subscribe(lambda change: self._changed(cluster, change))
        self._spawn(running.boot)

    def terminate(self, instance_id: str) -> None:
        """End a machine without goodbye; its Node lingers. One that does not run is no error."""
        with self._lock:
            running = self._machines.pop(instance_id, None)
            if running is None:
                return
            if all(other.cluster is not running.cluster for other in self._machines.values()):
                self._watched.pop(running.cluster)()
                self._daemon_sets.pop(running.cluster, None)
        running.end()
        self._spawn(lambda: self._end(running))

    def change(self, machine: Machine) -> None:
        """Its labels or taints were changed: its Node follows. One that does not run is no error."""
        with self._lock:
            running = self._machines.get(machine.instance_id)
        if running is not None:
            self._spawn(lambda: running.change(machine))

    def preempt(self, instance_id: str) -> None:
        """Give a Spot machine its notice, and have it reclaimed when that is over, if it still runs."""

        def over() -> None:
            with self._lock:
                runs = instance_id in self._machines
            if runs:
                self.reclaim(instance_id)

        given = self._running(instance_id).machine.spot_notice_seconds
        self._clock.call_later(self._times.spot_notice_seconds if given is None else given, over)

    def lose(self, instance_id: str) -> None:
        """A machine breaks down for good, without notice: its cloud finds that it is gone and replaces it."""
        self._running(instance_id)
        self.reclaim(instance_id)

    def cut_off(self, instance_id: str, *, cut: bool = True) -> None:
        """Cut a machine's network to the gateway, or mend it. Its Node stays Ready."""
        self._running(instance_id).network.is_cut = cut

    def stop(self, instance_id: str) -> None:
        """Switch a machine off without goodbye: its bcd is silent, its Node stays, and is not Ready after a while.

        A cloud whose group replaces such a machine is played with the cloud's own `lose_instance`.
        """
        running = self._running(instance_id)
        self._spawn(running.stop)

    def start(self, instance_id: str) -> None:
        """Switch a stopped machine on: it boots from the same disk, and its Node, if it still stands, is the same."""
        running = self._running(instance_id)
        self._spawn(running.start)

    def rename(self, instance_id: str, *, hostname: str | None = None, node_name: str | None = None) -> None:
        """Give a machine another name; None leaves one as it is.

        Arguments:
            hostname: what it calls itself, as DHCP may say: bcd learns it when it starts next.
            node_name: what its kubelet calls its Node: that of the former name stays, not Ready, until the machine
                ends.
        """
        running = self._running(instance_id)

        async def renamed() -> None:
            if hostname is not None:
                running.rename_host(hostname)
            if node_name is not None:
                await running.rename_node(node_name)

        self._spawn(renamed)

    def replace_node(self, instance_id: str, *, after_seconds: float = 0.0) -> None:
        """Delete the Node of a living machine; its kubelet registers it again so much later, with a new UID.

        The machine's pods go on for MachineTimes.orphaned_pods_seconds at most, and its disk stays.
        """
        running = self._running(instance_id)
        self._spawn(lambda: running.lose_node(seconds=after_seconds))

    def replace_machine(self, instance_id: str, *, after_seconds: float = 0.0) -> None:
        """End a machine without goodbye and put another one in its place: same names, fresh disk, other GPUs.

        Arguments:
            after_seconds: until the other one's Node is Ready; the former one's goes after
                MachineTimes.node_gone_seconds, or when the other one takes its name, whichever comes first.
        """
        running = self._running(instance_id)
        self._spawn(lambda: running.be_replaced(seconds=after_seconds))

    def running(self) -> tuple[Machine, ...]:
        """The machines that were launched and not ended, by instance id."""
        with self._lock:
            return tuple(self._machines[instance_id].machine for instance_id in sorted(self._machines))

    def close(self) -> None:
        """Power everything off, stop the thread, remove the machines' folders."""
        with self._lock:
            for unsubscribe in self._watched.values():
                unsubscribe()
            for running in self._machines.values():
                running.end()
            self._machines.clear()
            self._watched.clear()
        asyncio.run_coroutine_threadsafe(self._cancel_all(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        remove(self.folder)

    async def _end(self, running: RunningMachine) -> None:
        await running.power_off()
        await running.leave()

    def _running(self, instance_id: str) -> RunningMachine:
        """A machine that was launched and not ended. Raises NoSuchMachine."""
        with self._lock:
            running = self._machines.get(instance_id)
        if running is None:
            raise NoSuchMachine(instance_id)
        return running

    def _changed(self, cluster: EmulatedCluster, change: Change) -> None:
        """Something changed in a cluster; told in the thread that changed it."""
        if change.kind in _RUNS_ON_MACHINES:
            with self._lock:
                self._daemon_sets.pop(cluster, None)
            self._spawn(lambda: self._sync(cluster))
        elif change.kind in _MOUNTED_ON_MACHINES:
            self._spawn(lambda: self._secrets_changed(cluster))

    def _daemon_sets_of(self, cluster: EmulatedCluster) -> Sequence[Object]:
        with self._lock:
            known = self._daemon_sets.get(cluster)
            if known is None:
                known = self._daemon_sets[cluster] = cluster.daemon_sets()
        return known

    async def _sync(self, cluster: EmulatedCluster) -> None:
        await asyncio.gather(*(running.sync() for running in self._of(cluster)))

    async def _secrets_changed(self, cluster: EmulatedCluster) -> None:
        for running in self._of(cluster):
            running.secrets_changed()

    def _of(self, cluster: EmulatedCluster) -> list[RunningMachine]:
        with self._lock:
            return [running for running in self._machines.values() if running.cluster is cluster]

    def _spawn(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have something done in the machines' thread."""

        def start() -> None:
            task = self._loop.create_task(work())
            self._tasks.add(task)
            task.add_done_callback(self._finished)

        self._loop.call_soon_threadsafe(start)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("an emulated machine failed", exc_info=task.exception())

    async def _cancel_all(self) -> None:
        told: set[asyncio.Task[Any]] = set()
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            # Not before their first step: anyio starts what it was given in a task of its own, and a task cancelled
            # before that leaves it behind, never awaited. Those are ended by the task that waits for them.
            begun = {task for task in tasks - told if _has_begun(task)}
            for task in begun:
                task.cancel()
            told |= begun
            await asyncio.sleep(0)
        await asyncio.gather(*told, return_exceptions=True)
        await self._loop.shutdown_default_executor()


def _has_begun(task: asyncio.Task[Any]) -> bool:
    # The closing of an asynchronous generator is a task, too, and no coroutine.
    work = task.get_coro()
    return not iscoroutine(work) or getcoroutinestate(work) != CORO_CREATED
