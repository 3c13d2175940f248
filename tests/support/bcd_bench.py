# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One bcd and one gateway in one event loop, with pauses that take no time: what bcd's own tests are made of."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.better_compute.fleet.tests.support.gateway_double import Certificate, GatewayDouble
from bcd.command import execute
from bcd.host import Host
from bcd.inventory import Gpu

NODE_NAME = "ip-10-0-0-1.ec2.internal"
TOKEN = "bcj_the-first-token-of-the-test"
GPUS = (Gpu(id="GPU-0", model="NVIDIA H100 80GB HBM3"), Gpu(id="GPU-1", model="NVIDIA H100 80GB HBM3"))


class SkippingClock:
    """Time that passes as soon as anybody waits. Remembers the waits."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self._waited = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self._waited.set()
        await asyncio.sleep(0)

    async def until_waited(self, times: int) -> None:
        """Return after so many more waits."""
        target = len(self.waits) + times
        while len(self.waits) < target:
            self._waited.clear()
            await self._waited.wait()

    def busy(self) -> AbstractContextManager[None]:
        return nullcontext()


class BriskClock(SkippingClock):
    """Time that passes a hundred times as fast: for what other threads have a part in, such as gRPC's."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 100)
        await super().sleep(seconds)


@dataclass(kw_only=True)
class Bench:
    """A machine with a state folder and a token file, and the gateway it is told of.

    Attributes:
        gpus: what its NVML would say; None when there is no driver.
        pins: what its DaemonSet says; the gateway's own unless a test sets others.
        unhealthy: the GPUs that have gone bad.
        device_plugins: the folder of its kubelet's sockets; None for a machine without a kubelet.
    """

    folder: Path
    gateway: GatewayDouble
    clock: SkippingClock = field(default_factory=SkippingClock)
    gpus: tuple[Gpu, ...] | None = GPUS
    pins: str = ""
    long_poll_seconds: int = 0
    unhealthy: frozenset[str] = frozenset()
    device_plugins: Path | None = None

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def token_file(self) -> Path:
        return self.folder / "token"

    def give_token(self, token: str = TOKEN, *, uses: int = 1) -> None:
        """Make a token good at the gateway, and mount it."""
        self.gateway.tokens[token] += uses
        self.token_file.write_text(token + "\n")

    def environ(self) -> Mapping[str, str]:
        return {
            "BCD_GATEWAY_URL": self.gateway.url,
            "BCD_PINS": self.pins or self.gateway.certificate.pin,
            "BCD_NODE_NAME": NODE_NAME,
            "BCD_STATE_DIR": str(self.state),
            "BCD_JOIN_TOKEN_FILE": str(self.token_file),
            "BCD_RESOURCE_NAME": "bc.dev/gpu",
            "BCD_CONTROL_PLANE_URL": "",
            "BCD_DEVICE_PLUGIN_DIR": str(self.device_plugins or ""),
        }

    async def bcd(self, command: str) -> int:
        """One run of the container."""
        host = Host(
            hostname="ip-10-0-0-1",
            read_gpus=lambda: self.gpus,
            read_unhealthy=lambda: self.unhealthy,
            clock=self.clock,
            chance=random.Random(1),
            long_poll_seconds=self.long_poll_seconds,
        )
        return await execute(command, environ=self.environ(), host=host)

    @asynccontextmanager
    async def running(self, command: str = "run") -> AsyncIterator[asyncio.Task[int]]:
        """The container in the background; killed at the end."""
        task = asyncio.create_task(self.bcd(command))
        try:
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


@asynccontextmanager
async def bench(folder: Path, *, certificate: Certificate | None = None) -> AsyncIterator[Bench]:
    """A bench with a gateway that listens. Ends with the schema's judgement on all that bcd has sent."""
    gateway = GatewayDouble(certificate)
    await gateway.start()
    try:
        async with asyncio.timeout(30):
            yield Bench(folder=folder, gateway=gateway)
    finally:
        await gateway.stop()
    assert gateway.problems == []
