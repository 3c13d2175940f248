# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real bcd against the real gateway, over real TLS with pins: what it joins, hears and keeps."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from ansible_collections.better_compute.fleet.daemon.gateway import Certificate, GatewayServer
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ReservationState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    join_tokens,
    pool_nodes,
    reservations,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.bcd_bench import GPUS, NODE_NAME, SkippingClock
from ansible_collections.better_compute.fleet.tests.support.joining_machines import new_token, nodes_of
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock
from bcd.command import execute
from bcd.host import Host

ANOTHER_PIN = "A" * 43 + "="
PATIENCE_SECONDS = 60


@dataclass(kw_only=True)
class Machine:
    """A machine with a bcd. Its pauses take no time; its long polls are real."""

    folder: Path
    gateway: GatewayServer
    pin: str
    clock: SkippingClock = field(default_factory=SkippingClock)

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def mount(self, token: str) -> None:
        (self.folder / "token").write_text(token)

    def kept(self, name: str) -> dict[str, Any]:
        """What bcd keeps under this name on its host; empty when it keeps nothing."""
        with suppress(FileNotFoundError):
            data: dict[str, Any] = json.loads((self.state / name).read_text())
            return data
        return {}

    async def bcd(self, command: str) -> int:
        environ = {
            "BCD_GATEWAY_URL": f"https://127.0.0.1:{self.gateway.port}",
            "BCD_PINS": self.pin,
            "BCD_NODE_NAME": NODE_NAME,
            "BCD_STATE_DIR": str(self.state),
            "BCD_JOIN_TOKEN_FILE": str(self.folder / "token"),
        }
        host = Host(
            hostname="ip-10-0-0-1",
            read_gpus=lambda: GPUS,
            clock=self.clock,
            chance=random.Random(1),
            long_poll_seconds=30,
        )
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await execute(command, environ=environ, host=host)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.bcd("run"))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def until_kept(self, *devices: str) -> None:
        """Wait until exactly these devices are kept as booked."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                data = self.kept("bookings.json")
                if data and {d for booking in data["bookings"] for d in booking["deviceIds"]} == set(devices):
                    return
                await asyncio.sleep(0.02)


@pytest.fixture
def machine(tmp_path: Path, gateway: GatewayServer, token: str) -> Machine:
    """A machine on whose Node the pool's join Secret is mounted."""
    made = Machine(folder=tmp_path, gateway=gateway, pin=gateway.pin)
    made.mount(token)
    return made


def logged(caplog: pytest.LogCaptureFixture, text: str) -> bool:
    return any(text in record.getMessage() for record in caplog.records)


async def until_it_has_tried(machine: Machine, *, times: int) -> None:
    """Let bcd join until it has waited so often for another try."""
    joining = asyncio.create_task(machine.bcd("join"))
    waiting = asyncio.create_task(machine.clock.until_waited(times))
    await asyncio.wait({joining, waiting}, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE_SECONDS)
    assert waiting.done(), "it joined"
    joining.cancel()
    with suppress(asyncio.CancelledError):
        await joining


def test_it_joins_once_and_is_the_same_node_after_a_restart(machine: Machine, store: Store, pool: PoolRecord) -> None:
    assert asyncio.run(machine.bcd("join")) == 0
    assert asyncio.run(machine.bcd("join")) == 0
    (node,) = nodes_of(store, pool)
    assert node.id == machine.kept("identity.json")["nodeId"]
    assert node.reported_node_name == NODE_NAME
    assert [device.id for device in node.devices] == ["GPU-0", "GPU-1"]
    with store.read() as tx:
        assert [one.uses for one in join_tokens.live_tokens(tx, pool.id)] == [1]


def test_it_is_heard_of_while_it_runs(
    machine: Machine, store: Store, pool: PoolRecord, clock: HandClock, gateway: GatewayServer
) -> None:
    async def life() -> None:
        await machine.bcd("join")
        clock.advance(minutes=5)
        async with machine.running():
            await machine.clock.until_waited(3)

    asyncio.run(life())
    gateway.heartbeats.flush(store)
    assert [node.last_seen_at for node in nodes_of(store, pool)] == [clock.now()]


def test_a_booking_reaches_it_and_its_end_too(machine: Machine, store: Store, pool: PoolRecord) -> None:
    async def life() -> None:
        await machine.bcd("join")
        node_id = NodeId(machine.kept("identity.json")["nodeId"])
        one = rows.reservation(pool.id, gpus=1)
        async with machine.running():
            await machine.until_kept()
            with store.write() as tx:
                reservations.add_reservation(tx, one)
                reservations.bind(tx, one.id, node_id, ["GPU-1"])
            await machine.until_kept("GPU-1")
            assert machine.kept("bookings.json")["bookings"][0]["reservationId"] == one.id
            with store.write() as tx:
                reservations.end_reservation(tx, one.id, ReservationState.RELEASED, "")
            await machine.until_kept()

    asyncio.run(life())


def test_a_gateway_with_another_key_hears_nothing_from_it(
    machine: Machine, store: Store, pool: PoolRecord, caplog: pytest.LogCaptureFixture
) -> None:
    machine.pin = ANOTHER_PIN
    asyncio.run(until_it_has_tried(machine, times=2))
    assert nodes_of(store, pool) == ()
    assert logged(caplog, "cannot join yet")


@pytest.mark.parametrize("bad", ["unknown", "revoked"])
def test_a_token_that_is_none_is_tried_until_a_good_one_is_mounted(
    machine: Machine, store: Store, pool: PoolRecord, token: str, bad: str, clock: HandClock
) -> None:
    if bad == "revoked":
        new_token(store, pool, Secret("revoked-" * 3), revoked_at=clock.now())
    machine.mount(f"{bad}-" * 3)
    asyncio.run(until_it_has_tried(machine, times=2))
    assert nodes_of(store, pool) == ()
    machine.mount(token)
    assert asyncio.run(machine.bcd("join")) == 0
    assert len(nodes_of(store, pool)) == 1


def test_a_join_whose_reply_is_lost_is_the_same_join_when_it_is_sent_again(
    machine: Machine, store: Store, pool: PoolRecord
) -> None:
    asyncio.run(machine.bcd("join"))
    identity = machine.kept("identity.json")
    # As if bcd had died before the reply: the join is still under way on its host.
    joining = {"nonce": nonce_of(store, pool), "identity": identity["identity"]}
    (machine.state / "identity.json").unlink()
    (machine.state / "joining.json").write_text(json.dumps(joining))
    assert asyncio.run(machine.bcd("join")) == 0
    assert machine.kept("identity.json") == identity
    with store.read() as tx:
        assert [one.uses for one in join_tokens.live_tokens(tx, pool.id)] == [1]


def nonce_of(store: Store, pool: PoolRecord) -> str:
    """The nonce of the pool's one join."""
    with store.read() as tx:
        return str(tx.execute(select(tables().token_uses.c.nonce)).scalar_one())


def test_a_retired_node_joins_anew_as_another(machine: Machine, store: Store, pool: PoolRecord) -> None:
    asyncio.run(machine.bcd("join"))
    first = machine.kept("identity.json")
    with store.write() as tx:
        pool_nodes.retire_node(tx, NodeId(first["nodeId"]))
    asyncio.run(machine.bcd("join"))
    second = machine.kept("identity.json")
    assert [node.id for node in nodes_of(store, pool)] == [second["nodeId"]]
    assert second["nodeId"] != first["nodeId"]
    assert second["identity"] != first["identity"]


def test_it_goes_on_serving_while_the_gateway_is_away(
    machine: Machine, store: Store, pool: PoolRecord, clock: HandClock, certificate: Certificate
) -> None:
    async def life() -> None:
        await machine.bcd("join")
        node_id = NodeId(machine.kept("identity.json")["nodeId"])
        one = rows.reservation(pool.id, gpus=1)
        with store.write() as tx:
            reservations.add_reservation(tx, one)
            reservations.bind(tx, one.id, node_id, ["GPU-0"])
        async with machine.running():
            await machine.until_kept("GPU-0")
            await asyncio.to_thread(machine.gateway.close)
            await machine.clock.until_waited(4)
            await machine.until_kept("GPU-0")
            with store.write() as tx:
                reservations.end_reservation(tx, one.id, ReservationState.RELEASED, "")
            with GatewayServer(
                store=store, clock=clock, certificate=certificate, host="127.0.0.1", port=machine.gateway.port
            ):
                await machine.until_kept()

    asyncio.run(life())
