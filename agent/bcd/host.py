# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What bcd needs of its machine: time, chance, a network, a name, GPUs. Real ones here, made-up ones elsewhere."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import httpcore

from .health import NvmlEvents
from .inventory import Gpu, read_nvml


class Clock(Protocol):
    """What bcd waits with. Emulated machines pass one that is moved by hand."""

    async def sleep(self, seconds: float) -> None:
        """Return when this many seconds have passed on the clock."""

    def busy(self) -> AbstractContextManager[None]:
        """Around an exchange that is over at once: a clock that is moved by hand is not moved on meanwhile."""


class SystemClock:
    """Waits in real time."""

    async def sleep(self, seconds: float) -> None:
        """Return when this many seconds have passed."""
        await asyncio.sleep(seconds)

    def busy(self) -> AbstractContextManager[None]:
        """Nothing: real time waits for nobody."""
        return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A machine, as far as bcd is concerned. The defaults are the machine that the process runs on.

    Attributes:
        hostname: what the machine calls itself.
        read_gpus: its GPUs now, or None when that cannot be told (no driver yet).
        read_unhealthy: the ids of those that have gone bad. Asked by one thread at a time.
        device_plugins: the folder with the sockets of its kubelet and of the kubelet's plugins; None for a machine
            whose kubelet nobody serves.
        clock: what every pause is taken on.
        chance: what jitter comes from. Not for secrets.
        network: what opens its connections.
        long_poll_seconds: how long a bookings call may stay open; 0 asks only when a heartbeat tells of a change,
            so that every pause of bcd is one on its clock.
    """

    hostname: str = field(default_factory=socket.gethostname)
    read_gpus: Callable[[], tuple[Gpu, ...] | None] = read_nvml
    read_unhealthy: Callable[[], frozenset[str]] = field(default_factory=lambda: NvmlEvents().read_unhealthy)
    device_plugins: Path | None = None
    clock: Clock = field(default_factory=SystemClock)
    chance: random.Random = field(default_factory=random.Random)
    network: httpcore.AsyncNetworkBackend = field(default_factory=httpcore.AnyIOBackend)
    # Under the minute after which common proxies and NATs drop a silent connection.
    long_poll_seconds: int = 30
