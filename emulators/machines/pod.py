# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One pod on one machine: its init containers one after the other, then its containers for as long as it stands."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NoReturn

from ..engine import Clock
from .container_environment import CannotStart, relocate, resolve
from .scheduling import PodSpec
from .volumes import PodVolumes, remove

Object = Mapping[str, Any]

RunImage = Callable[[list[str], Mapping[str, str]], Awaitable[int]]
"""Runs a command with an environment; returns its exit code."""

# The kubelet's own: 10 s, doubled up to five minutes (CrashLoopBackOff), forgotten after ten minutes of running; the
# last is left out here.
RESTART_SECONDS: Final = 10.0
LONGEST_RESTART_SECONDS: Final = 300.0

logger = logging.getLogger(__name__)


class Pod:
    """A pod. Lives in the machines' event loop."""

    def __init__(
        self,
        pod: PodSpec,
        *,
        node_name: str,
        machine: Path,
        read: Callable[[str, str, str], Object | None],
        run_image: RunImage,
        clock: Clock,
        secret_sync_seconds: float,
    ) -> None:
        """Start it.

        Arguments:
            machine: the machine's folder.
            read: an object of the cluster by kind, name and namespace.
            run_image: what runs a container.
            secret_sync_seconds: how long the kubelet takes to notice that a mounted Secret has changed.
        """
        self._pod = pod
        self._node_name = node_name
        self._machine = machine
        self._folder = machine / "pods" / pod.key.replace("/", "-")
        self._read = read
        self._run_image = run_image
        self._clock = clock
        self._secret_sync_seconds = secret_sync_seconds
        self._secrets_changed = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    def secrets_changed(self) -> None:
        """Some Secret of the cluster has changed."""
        self._secrets_changed.set()

    async def kill(self) -> None:
        """End it without goodbye; its folder goes with it, its host paths stay."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        remove(self._folder)

    async def _run(self) -> None:
        try:
            await self._live()
        except Exception:
            # Nothing that a container does ends its pod: this is a mistake in the emulator or a DaemonSet beyond it.
            logger.exception("%s on %s failed", self._pod.daemon_set, self._node_name)

    async def _live(self) -> None:
        volumes = await self._mounted()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow_secrets(volumes))
            for container in self._pod.spec.get("initContainers") or []:
                await self._until_it_succeeds(container, volumes)
            for container in self._pod.spec["containers"]:
                tasks.create_task(self._for_ever(container, volumes))

    async def _mounted(self) -> PodVolumes:
        namespace = self._pod.namespace
        while True:
            try:
                volumes = PodVolumes(
                    self._pod.spec,
                    machine=self._machine,
                    pod=self._folder,
                    read_secret=lambda name: self._read("Secret", name, namespace),
                )
                volumes.sync()
            except CannotStart as problem:
                logger.warning("%s on %s: %s", self._pod.daemon_set, self._node_name, problem)
                await self._clock.sleep(RESTART_SECONDS)
            else:
                return volumes

    async def _follow_secrets(self, volumes: PodVolumes) -> NoReturn:
        while True:
            await self._secrets_changed.wait()
            await self._clock.sleep(self._secret_sync_seconds)
            self._secrets_changed.clear()
            try:
                volumes.sync()
            except CannotStart:
                # A running pod keeps the files of a Secret that it needs and that is gone.
                continue

    async def _until_it_succeeds(self, container: Object, volumes: PodVolumes) -> None:
        failures = 0
        while await self._once(container, volumes) != 0:
            await self._clock.sleep(min(RESTART_SECONDS * 2.0 ** min(failures, 10), LONGEST_RESTART_SECONDS))
            failures += 1

    async def _for_ever(self, container: Object, volumes: PodVolumes) -> NoReturn:
        ends = 0
        while True:
            await self._once(container, volumes)
            await self._clock.sleep(min(RESTART_SECONDS * 2.0 ** min(ends, 10), LONGEST_RESTART_SECONDS))
            ends += 1

    async def _once(self, container: Object, volumes: PodVolumes) -> int:
        """Run a container once; returns its exit code, 1 for one that cannot be made."""
        root = self._folder / "containers" / container["name"]
        try:
            environ = resolve(
                container,
                read_config_map=cache(lambda name: self._read("ConfigMap", name, self._pod.namespace)),
                fields={"spec.nodeName": self._node_name, "metadata.namespace": self._pod.namespace},
            )
        except CannotStart as problem:
            logger.warning("%s on %s: %s", self._pod.daemon_set, self._node_name, problem)
            return 1
        command = [*(container.get("command") or []), *(container.get("args") or [])]
        try:
            return await self._run_image(
                command, relocate(environ, container, mounts=volumes.mounts(container), root=root)
            )
        finally:
            remove(root)
