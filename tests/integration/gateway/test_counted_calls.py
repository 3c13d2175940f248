# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the gateway counts of the calls that it answers, on real TLS."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from ansible_collections.better_compute.fleet.daemon.gateway import GatewayServer
from ansible_collections.better_compute.fleet.daemon.metrics import Metrics
from ansible_collections.better_compute.fleet.daemon.web.certificate import Certificate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.census import Census
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, reservations
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.census import take_census
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock
from ansible_collections.better_compute.fleet.tests.support.scrapes import scrape
from ansible_collections.better_compute.fleet.tests.support.wire_client import wire_client


@pytest.fixture
def metrics(store: Store) -> Metrics:
    def count() -> Census:
        with store.read() as tx:
            return take_census(tx)

    return Metrics(count=count, workers=1)


@pytest.fixture
def gateway(store: Store, clock: HandClock, certificate: Certificate, metrics: Metrics) -> Iterator[GatewayServer]:
    with GatewayServer(
        store=store, clock=clock, certificate=certificate, host="127.0.0.1", port=0, metrics=metrics.gateway
    ) as server:
        yield server


def test_joins_refusals_heartbeats_and_long_polls_are_counted(
    gateway: GatewayServer, metrics: Metrics, store: Store, pool: PoolRecord, token: str
) -> None:
    with wire_client(gateway.port) as client:
        node_id = str(client.join(token=token).body["nodeId"])
        assert client.heartbeat(node_id).status == 200
        assert client.join(token="bcj_" + "0" * 43, nonce="m" * 22, identity="j" * 43).status == 401
        version = client.bookings(node_id).body["version"]
        waiting = threading.Thread(
            target=lambda: client.bookings(node_id, version=version, wait_seconds=20), daemon=True
        )
        waiting.start()
        until = time.monotonic() + 10
        while not scrape(metrics).value("bc_fleetd_gateway_long_polls"):
            assert time.monotonic() < until
            time.sleep(0.01)
        with store.write() as tx:
            booked = rows.reservation(pool.id, gpus=1)
            reservations.add_reservation(tx, booked)
            reservations.bind(tx, booked.id, NodeId(node_id), ["GPU-0"])
        waiting.join(20)
    told = scrape(metrics)
    assert told.value("bc_fleetd_gateway_joins_total", pool=pool.id) == 1
    assert told.value("bc_fleetd_gateway_joins_refused_total", reason="unknown_token") == 1
    assert told.value("bc_fleetd_gateway_requests_total", call="heartbeat", status="200") == 1
    assert told.value("bc_fleetd_gateway_requests_total", call="join", status="401") == 1
    assert told.value("bc_fleetd_gateway_requests_total", call="bookings", status="200") == 2
    assert told.value("bc_fleetd_gateway_long_polls") == 0
    assert told.value("bc_fleetd_gateway_request_duration_seconds_count", call="join") == 2
    assert token not in told.text
