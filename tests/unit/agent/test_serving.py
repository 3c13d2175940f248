# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bcd run`: heartbeats, and bookings that outlive the gateway's absence."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from ansible_collections.better_compute.fleet.tests.support.bcd_bench import GPUS, Bench, bench
from ansible_collections.better_compute.fleet.tests.support.gateway_double import BOOKINGS, HEARTBEAT, JOIN
from bcd.gateway import Booked, Booking
from bcd.inventory import Gpu
from bcd.serving import Served
from bcd.state import StateFolder

RESERVATION = "rsv_" + "1" * 26
OTHER = "rsv_" + "2" * 26


def advertised(b: Bench) -> frozenset[str]:
    """What a bcd that starts now would advertise."""
    state = StateFolder(b.state)
    identity = state.identity()
    assert identity is not None
    return Served(state=state, node_id=identity.node_id).advertised


async def until_kept(b: Bench, *devices: str) -> None:
    """Wait until exactly these devices are kept as booked."""
    file = b.state / "bookings.json"
    while True:
        data: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {"bookings": []}
        if {device for booking in data["bookings"] for device in booking["deviceIds"]} == set(devices):
            return
        await asyncio.sleep(0)


async def _heartbeats(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        await b.bcd("join")
        async with b.running():
            await b.gateway.until(HEARTBEAT, count=4)
            first, *rest = b.gateway.of(HEARTBEAT)
            assert [gpu["id"] for gpu in first.body["inventory"]["gpus"]] == ["GPU-0", "GPU-1"]
            assert all("inventory" not in request.body for request in rest)
        assert all(9 <= wait <= 10 for wait in b.clock.waits)


def test_bcd_is_heard_of_every_ten_seconds_and_tells_its_inventory_once(tmp_path: Path) -> None:
    asyncio.run(_heartbeats(tmp_path))


async def _changed_inventory(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        b.gpus = None
        await b.bcd("join")
        async with b.running():
            await b.gateway.until(HEARTBEAT, count=2)
            b.gpus = GPUS
            told = len(b.gateway.of(HEARTBEAT)) + 1
            await b.gateway.until(HEARTBEAT, count=told + 1)
            b.gpus = None
            await b.gateway.until(HEARTBEAT, count=told + 4)
            b.gpus = (Gpu(id="GPU-0", model="NVIDIA H100 80GB HBM3"),)
            await b.gateway.until(HEARTBEAT, count=told + 8)
        told_gpus = [len(r.body["inventory"]["gpus"]) for r in b.gateway.of(HEARTBEAT) if "inventory" in r.body]
        assert told_gpus == [2, 1]


def test_a_changed_inventory_is_told_and_one_that_cannot_be_read_is_not(tmp_path: Path) -> None:
    asyncio.run(_changed_inventory(tmp_path))


async def _one_connection(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        await b.bcd("join")
        before = b.gateway.connections
        async with b.running():
            await b.gateway.until(HEARTBEAT, count=20)
        assert b.gateway.connections == before + 1


def test_heartbeats_share_one_connection(tmp_path: Path) -> None:
    asyncio.run(_one_connection(tmp_path))


async def _booked_by_heartbeat(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        await b.bcd("join")
        async with b.running():
            await b.gateway.until(HEARTBEAT)
            await b.gateway.book((RESERVATION, ("GPU-0",)), (OTHER, ("GPU-1",)))
            await until_kept(b, "GPU-0", "GPU-1")
            await b.gateway.book((OTHER, ("GPU-1",)))
            await until_kept(b, "GPU-1")
        assert advertised(b) == {"GPU-1"}


def test_without_a_long_poll_a_heartbeat_finds_out_what_is_booked(tmp_path: Path) -> None:
    asyncio.run(_booked_by_heartbeat(tmp_path))


async def _booked_by_long_poll(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        b.long_poll_seconds = 30
        await b.bcd("join")
        async with b.running():
            asked = await b.gateway.until(BOOKINGS, count=2)
            assert asked.body["waitSeconds"] == 30
            await b.gateway.book((RESERVATION, ("GPU-0",)))
            await until_kept(b, "GPU-0")


def test_the_long_poll_brings_a_booking_at_once(tmp_path: Path) -> None:
    asyncio.run(_booked_by_long_poll(tmp_path))


async def _gateway_away(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        await b.bcd("join")
        await b.gateway.book((RESERVATION, ("GPU-0",)))
        async with b.running() as task:
            await until_kept(b, "GPU-0")
            await b.gateway.stop()
            await b.clock.until_waited(10)
            assert not task.done()
            assert advertised(b) == {"GPU-0"}
        async with b.running() as task:
            await b.clock.until_waited(5)
            assert advertised(b) == {"GPU-0"}
            assert not task.done()
            await b.gateway.book()
            await b.gateway.start()
            await until_kept(b)


def test_what_is_booked_is_served_while_the_gateway_is_away_also_after_a_restart(tmp_path: Path) -> None:
    asyncio.run(_gateway_away(tmp_path))


async def _refused(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        await b.bcd("join")
        await b.gateway.book((RESERVATION, ("GPU-0",)))
        async with b.running() as task:
            await until_kept(b, "GPU-0")
            for status, code in ((403, "FORBIDDEN"), (404, "NOT_FOUND"), (500, "CONFLICT")):
                b.gateway.refuse(HEARTBEAT, status=status, code=code, message="not now")
                await b.gateway.until(HEARTBEAT, count=len(b.gateway.of(HEARTBEAT)) + 3)
                b.gateway.accept(HEARTBEAT)
            await b.gateway.until(HEARTBEAT, count=len(b.gateway.of(HEARTBEAT)) + 3)
            assert not task.done()
        assert advertised(b) == {"GPU-0"}
        assert len(b.gateway.of(JOIN)) == 1


def test_no_refusal_but_401_changes_anything(tmp_path: Path) -> None:
    asyncio.run(_refused(tmp_path))


async def _rejoins(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        b.long_poll_seconds = 30
        await b.bcd("join")
        await b.gateway.book((RESERVATION, ("GPU-0",)))
        async with b.running():
            await until_kept(b, "GPU-0")
            b.gateway.nodes.clear()
            b.give_token("bcj_the-second-token-of-the-test")
            again = await b.gateway.until(JOIN, count=2)
            before = len(b.gateway.of(HEARTBEAT))
            heard = await b.gateway.until(HEARTBEAT, count=before + 2)
            assert heard.bearer == again.body["identity"]
            await b.gateway.book()
            await until_kept(b)


def test_a_running_bcd_that_is_no_longer_known_joins_again_by_itself(tmp_path: Path) -> None:
    asyncio.run(_rejoins(tmp_path))


def test_under_another_identity_the_bookings_stand_and_their_version_means_nothing(tmp_path: Path) -> None:
    served = Served(state=StateFolder(tmp_path), node_id="node_" + "1" * 26)
    served.take(Booked(version="7", bookings=(Booking(reservation_id=RESERVATION, device_ids=("GPU-0",)),)))
    served.known_as("node_" + "1" * 26)
    assert (served.version, set(served.advertised)) == ("7", {"GPU-0"})
    served.known_as("node_" + "2" * 26)
    assert (served.version, set(served.advertised)) == ("", {"GPU-0"})
