# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Long polls: answered when something is booked, whoever booked it, without a thread or a question each."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from ansible_collections.better_compute.fleet.daemon.gateway import Certificate, GatewayServer
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId, ReservationId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ReservationState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, open_store, reservations
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock
from ansible_collections.better_compute.fleet.tests.support.wire_client import Reply, WireClient, wire_client


@pytest.fixture
def polls() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(40) as threads:
        yield threads


@pytest.fixture
def version(client: WireClient, node_id: str) -> str:
    """The version of a node on which nothing stands."""
    return str(client.bookings(node_id).body["version"])


def poll(gateway: GatewayServer, node_id: str, version: str, *, seconds: int = 60) -> Reply:
    with wire_client(gateway.port) as client:
        return client.bookings(node_id, version=version, wait_seconds=seconds)


def book(store: Store, pool: PoolRecord, node_id: str, *device_ids: str) -> ReservationId:
    one = rows.reservation(pool.id, gpus=len(device_ids))
    with store.write() as tx:
        reservations.add_reservation(tx, one)
        reservations.bind(tx, one.id, NodeId(node_id), device_ids)
    return one.id


def until_all_wait(gateway: GatewayServer, count: int) -> None:
    """Return when so many polls wait."""
    watch = gateway._gateway._watch
    deadline = time.monotonic() + 30
    while len(watch._waiters) < count:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_version_that_is_not_held_is_answered_at_once(
    client: WireClient, node_id: str, store: Store, pool: PoolRecord
) -> None:
    reservation_id = book(store, pool, node_id, "GPU-1", "GPU-0")
    reply = client.bookings(node_id, version="", wait_seconds=60)
    assert reply.body["bookings"] == [{"reservationId": reservation_id, "deviceIds": ["GPU-0", "GPU-1"]}]


def test_a_poll_that_may_not_wait_is_answered_at_once(client: WireClient, node_id: str, version: str) -> None:
    began = time.monotonic()
    assert client.bookings(node_id, version=version, wait_seconds=0).body == {"version": version, "bookings": []}
    assert time.monotonic() - began < 0.9


def test_a_poll_during_which_nothing_happens_ends_with_the_same_version(
    client: WireClient, node_id: str, version: str
) -> None:
    began = time.monotonic()
    reply = client.bookings(node_id, version=version, wait_seconds=1)
    assert reply.body == {"version": version, "bookings": []}
    assert time.monotonic() - began >= 1


def test_a_booking_of_another_process_ends_the_wait(
    gateway: GatewayServer,
    node_id: str,
    version: str,
    store_url: str,
    clock: HandClock,
    pool: PoolRecord,
    polls: ThreadPoolExecutor,
) -> None:
    waiting = polls.submit(poll, gateway, node_id, version)
    until_all_wait(gateway, 1)
    another = open_store(store_url, clock=clock)
    reservation_id = book(another, pool, node_id, "GPU-0")
    another.close()
    reply = waiting.result(timeout=10)
    assert reply.body["bookings"] == [{"reservationId": reservation_id, "deviceIds": ["GPU-0"]}]


def test_the_end_of_a_booking_ends_the_wait(
    gateway: GatewayServer,
    client: WireClient,
    node_id: str,
    store: Store,
    pool: PoolRecord,
    version: str,
    polls: ThreadPoolExecutor,
) -> None:
    reservation_id = book(store, pool, node_id, "GPU-0")
    held = str(client.bookings(node_id).body["version"])
    waiting = polls.submit(poll, gateway, node_id, held)
    until_all_wait(gateway, 1)
    with store.write() as tx:
        reservations.end_reservation(tx, reservation_id, ReservationState.RELEASED, "")
    assert waiting.result(timeout=10).body == {"version": version, "bookings": []}


def test_many_polls_hold_no_thread_and_cost_one_question_a_second(
    gateway: GatewayServer,
    client: WireClient,
    token: str,
    version: str,
    node_id: str,
    store: Store,
    pool: PoolRecord,
    polls: ThreadPoolExecutor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = str(
        client.join(
            token=token, nonce="2" * 22, identity="2" * 43, inventory={"os": {"kubernetesNodeName": "ip-2"}, "gpus": []}
        ).body["nodeId"]
    )
    waiting = [polls.submit(poll, gateway, node_id, version) for _ in range(40)]
    until_all_wait(gateway, 40)
    asked: list[int] = []
    ask = gateway._gateway._reads.ask

    async def counted(call: object) -> object:
        asked.append(1)
        return await ask(call)  # type: ignore[arg-type] # whatever the gateway asks

    monkeypatch.setattr(gateway._gateway._reads, "ask", counted)
    began = time.monotonic()
    # Somebody else's booking wakes nobody.
    book(store, pool, other, "GPU-0")
    time.sleep(2.5)
    assert not any(one.done() for one in waiting)
    questions, seconds = len(asked), time.monotonic() - began
    assert questions <= seconds + 1
    assert sum(thread.name.startswith("gateway-store") for thread in threading.enumerate()) <= 16
    book(store, pool, node_id, "GPU-0")
    replies = [one.result(timeout=10) for one in waiting]
    assert {reply.body["bookings"][0]["deviceIds"][0] for reply in replies} == {"GPU-0"}


def test_a_database_that_goes_away_ends_the_wait_with_come_again(
    gateway: GatewayServer, node_id: str, version: str, polls: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = polls.submit(poll, gateway, node_id, version)
    until_all_wait(gateway, 1)
    monkeypatch.setattr("ansible_collections.better_compute.fleet.daemon.web.store_calls._SECONDS", 0.0)
    assert waiting.result(timeout=10).status == 503


def test_a_gateway_that_stops_keeps_nobody_waiting(
    store: Store, clock: HandClock, certificate: Certificate, polls: ThreadPoolExecutor, token: str
) -> None:
    with GatewayServer(store=store, clock=clock, certificate=certificate, host="127.0.0.1", port=0) as gateway:
        with wire_client(gateway.port) as client:
            node_id = str(client.join(token=token).body["nodeId"])
            version = str(client.bookings(node_id).body["version"])
        waiting: Future[Reply] = polls.submit(poll, gateway, node_id, version)
        until_all_wait(gateway, 1)
        began = time.monotonic()
    assert time.monotonic() - began < 2
    assert waiting.result(timeout=1).body == {"version": version, "bookings": []}
