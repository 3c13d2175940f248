# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections: however many one source opens, and however slowly it speaks, another one gets in."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.gateway import Certificate, GatewayServer
from ansible_collections.better_compute.fleet.daemon.web import listening, server
from ansible_collections.better_compute.fleet.daemon.web.bad_tokens import MOST_IN_WINDOW
from ansible_collections.better_compute.fleet.daemon.web.sources import source
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store
from ansible_collections.better_compute.fleet.tests.support.prepared_databases import copy_of
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock
from ansible_collections.better_compute.fleet.tests.support.wire_client import WireClient, tls, wire_client

MOST = 8
ITS_SHARE = 6
"""Of one source by itself: three quarters."""

NOBODY = "node_" + "0" * 26


@pytest.fixture
def store_url(sqlite_template: Path, tmp_path: Path) -> str:
    """One database will do: connections do not get so far."""
    return copy_of(sqlite_template, to=tmp_path / "fleet.db")


@pytest.fixture
def small(
    store: Store, clock: HandClock, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GatewayServer]:
    """A gateway that has few connections at once."""
    monkeypatch.setattr(listening, "MOST_CONNECTIONS", MOST)
    with GatewayServer(store=store, clock=clock, certificate=certificate, host="127.0.0.1", port=0) as made:
        yield made


def opened(gateway: GatewayServer, *, source: str = "127.0.0.2") -> socket.socket:
    """A connection from this address, without a handshake."""
    return socket.create_connection(("127.0.0.1", gateway.port), timeout=20, source_address=(source, 0))


def is_cut(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_one_source_takes_no_more_than_its_share_and_another_gets_in(
    small: GatewayServer, caplog: pytest.LogCaptureFixture
) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(tls().wrap_socket(opened(small))) for _ in range(ITS_SHARE)]
        for _ in range(2):
            with opened(small) as one_more:
                assert is_cut(one_more)
        with wire_client(small.port) as other:
            assert other.heartbeat(NOBODY).status == 401
        assert len(held) == ITS_SHARE
    told = [record for record in caplog.records if "too many connections" in record.getMessage()]
    assert [(record.levelno, record.address) for record in told] == [  # type: ignore[attr-defined] # an `extra`
        (logging.WARNING, "127.0.0.2")
    ]


def test_what_is_closed_makes_room_whoever_closes_it(small: GatewayServer) -> None:
    counted = small._socket.connections
    for _ in range(3):
        with ExitStack() as stack:
            for _ in range(ITS_SHARE):
                stack.enter_context(tls().wrap_socket(opened(small)))
            until(lambda: counted.count == ITS_SHARE)
        until(lambda: counted.count == 0)
    with opened(small) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")  # no handshake: the gateway closes it
        assert is_cut(connection)
    until(lambda: counted.count == 0)


def test_a_handshake_that_does_not_come_costs_the_connection(
    store: Store, clock: HandClock, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)
    with (
        GatewayServer(store=store, clock=clock, certificate=certificate, host="127.0.0.1", port=0) as hasty,
        opened(hasty) as connection,
    ):
        assert is_cut(connection)


def test_who_somebody_says_to_come_from_is_not_believed(client: WireClient, clock: HandClock) -> None:
    for number in range(MOST_IN_WINDOW):
        told = {"X-Forwarded-For": f"192.0.2.{number}", "Forwarded": f"for=192.0.2.{number}"}
        assert client.call("/v1/heartbeat", {"nodeId": NOBODY}, bearer="g" * 43, headers=told).status == 401
    told = {"X-Forwarded-For": "198.51.100.1"}
    assert client.call("/v1/heartbeat", {"nodeId": NOBODY}, bearer="g" * 43, headers=told).status == 429


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
    ],
)
def test_a_source_is_an_address_or_the_network_of_one_holder(address: str, counted_as: str) -> None:
    assert source(address) == counted_as
