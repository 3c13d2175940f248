# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hundred bcds whose gateway goes and comes back: all are there within 20 s, and no second brings a crowd.

They run in an event loop whose time jumps to whatever is due next; the gateway is made of two coroutines, because what
is measured is when somebody comes, not what is said.
"""

from __future__ import annotations

import asyncio
import logging
import random
import selectors
from collections import Counter
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, cast

import pytest

from bcd.errors import Unreachable
from bcd.gateway import Booked, Gateway
from bcd.host import Host
from bcd.inventory import Inventory
from bcd.secret import Secret
from bcd.serving import Served, serve
from bcd.state import Identity, StateFolder

MACHINES = 100
NOTHING = Booked(version="", bookings=())


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self.now


class _Jumping(selectors.SelectSelector):
    def __init__(self, loop: JumpingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._loop.now += timeout or 0.0
        return super().select(0)


class Gate:
    """A gateway as far as coming to it is concerned.

    Attributes:
        came: when which call of which machine was answered, in order.
    """

    def __init__(self, loop: JumpingLoop) -> None:
        self._loop = loop
        self._stopped = asyncio.Event()
        self.up = True
        self.came: list[tuple[float, str, str]] = []

    def stop(self) -> None:
        """Answer the long polls, and nobody after that: as the real one does."""
        self.up = False
        self._stopped.set()

    def start(self) -> None:
        self.up = True
        self._stopped = asyncio.Event()

    async def heartbeat(self, *, identity: Secret, node_id: str, inventory: Inventory | None) -> str:
        self._come("heartbeat", node_id)
        return NOTHING.version

    async def bookings(self, *, identity: Secret, node_id: str, version: str, wait_seconds: int) -> Booked:
        self._come("bookings", node_id)
        try:
            async with asyncio.timeout(wait_seconds):
                await self._stopped.wait()
        except TimeoutError:
            pass
        return NOTHING

    def first_since(self, moment: float, call: str) -> dict[str, float]:
        """How many seconds after this moment each machine made this call for the first time."""
        found: dict[str, float] = {}
        for at, made, node_id in self.came:
            if at >= moment and made == call:
                found.setdefault(node_id, at - moment)
        return found

    def _come(self, call: str, node_id: str) -> None:
        if not self.up:
            raise Unreachable("nobody listens")
        self.came.append((self._loop.now, call, node_id))


def bcd(number: int, gate: Gate, folder: Path) -> Coroutine[Any, Any, None]:
    node_id = f"node_{number:026d}"
    identity = Identity(secret=Secret("x"), node_id=node_id, heartbeat_seconds=10)
    served = Served(state=StateFolder(folder / str(number)), node_id=node_id)
    host = Host(read_gpus=lambda: (), chance=random.Random(number))
    return serve(identity=identity, served=served, gateway=cast("Gateway", gate), node_name="", host=host)


async def _away(loop: JumpingLoop, folder: Path, *, seconds: float) -> tuple[Gate, float]:
    gate = Gate(loop)
    tasks = [asyncio.create_task(bcd(number, gate, folder)) for number in range(MACHINES)]
    await asyncio.sleep(300)  # they began together, and are spread by now
    gate.stop()
    await asyncio.sleep(seconds)
    gate.start()
    back = loop.now
    await asyncio.sleep(60)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return gate, back


@pytest.mark.parametrize("seconds", [2.0, 600.0], ids=["restarted", "ten-minutes"])
def test_all_come_back_within_20_seconds_and_no_second_brings_a_crowd(
    tmp_path: Path, seconds: float, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "bcd.serving")  # thousands of lines take longer than all else
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        loop = cast("JumpingLoop", runner.get_loop())
        gate, back = runner.run(_away(loop, tmp_path, seconds=seconds))
    # An ordinary second brings a tenth of the heartbeats, and a thirtieth of the long polls.
    for call, latest, most in (("heartbeat", 20.0, 0.3), ("bookings", 22.0, 0.2)):
        waited = gate.first_since(back, call)
        assert len(waited) == MACHINES
        assert max(waited.values()) <= latest
        by_second = Counter(int(wait) for wait in waited.values())
        assert max(by_second.values()) <= most * MACHINES, (call, sorted(by_second.items()))
