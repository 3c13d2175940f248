# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All machines end at once, wherever each of them is just then."""

from __future__ import annotations

import asyncio
import gc
from threading import Event

import anyio

from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.machines import EmulatedMachines
from ansible_collections.better_compute.fleet.tests.integration.machines.conftest import START


async def begins_to_connect() -> None:
    """As httpcore does: the connection's task is made, and has not taken its first step yet."""
    async with anyio.create_task_group() as attempts:
        attempts.start_soon(anyio.sleep_forever)


def test_a_machine_that_is_just_about_to_connect_leaves_nothing_behind() -> None:
    machines = EmulatedMachines(engine=Engine(clock=VirtualClock(START)), clusters=lambda _: None)
    loop = machines._loop
    held = Event()
    # Both are queued before the loop turns, so that the machine takes its first step just before it is told to end.
    loop.call_soon_threadsafe(held.wait)
    work = asyncio.run_coroutine_threadsafe(begins_to_connect(), loop)
    ending = asyncio.run_coroutine_threadsafe(machines._cancel_all(), loop)
    held.set()
    ending.result()
    assert work.cancelled()
    machines.close()
    # What was never awaited says so when it goes, which pytest makes an error.
    gc.collect()
