# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes, times and rates: what is too large, too slow or too often is refused, and nobody else suffers from it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.responses import Response
from starlette.types import ASGIApp

from ansible_collections.better_compute.fleet.daemon.gateway import Certificate, GatewayServer
from ansible_collections.better_compute.fleet.daemon.web import protocol, requests, server, store_calls
from ansible_collections.better_compute.fleet.daemon.web.bad_tokens import MOST_IN_WINDOW
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store
from ansible_collections.better_compute.fleet.tests.support import wire_schema
from ansible_collections.better_compute.fleet.tests.support.joining_machines import new_token
from ansible_collections.better_compute.fleet.tests.support.prepared_databases import copy_of
from ansible_collections.better_compute.fleet.tests.support.raw_wire import answer, connected, head, is_cut
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock
from ansible_collections.better_compute.fleet.tests.support.wire_client import WireClient, tls

LIMITS = wire_schema.schema()["x-limits"]
GUESS = "g" * 43


@pytest.fixture
def store_url(sqlite_template: Path, tmp_path: Path) -> str:
    """One database will do: what is refused here never gets so far."""
    return copy_of(sqlite_template, to=tmp_path / "fleet.db")


def test_the_limits_are_those_of_the_schema() -> None:
    assert LIMITS["requestBytes"] == requests.BODY_BYTES
    assert LIMITS["headerBytes"] == protocol.HEAD_BYTES
    assert LIMITS["bearerCharacters"] == requests.BEARER_CHARACTERS


def test_a_body_as_large_as_allowed_is_read(client: WireClient, node_id: str) -> None:
    body = json.dumps({"nodeId": node_id, "x": ""}).encode()
    filled = body.replace(b'""', b'"%s"' % (b"x" * (LIMITS["requestBytes"] - len(body))))
    assert len(filled) == LIMITS["requestBytes"]
    assert client.call("/v1/heartbeat", filled, bearer="i" * 43).status == 200


def test_a_larger_one_is_refused_before_it_is_sent(gateway: GatewayServer) -> None:
    with connected(gateway) as connection:
        connection.sendall(head("Authorization: Bearer x", f"Content-Length: {LIMITS['requestBytes'] + 1}"))
        status, data = answer(connection)
    assert (status, data["code"]) == (413, "INVALID_INPUT")


def test_a_larger_one_without_a_length_is_refused_as_soon_as_it_is_too_large(gateway: GatewayServer) -> None:
    with connected(gateway) as connection:
        connection.sendall(head("Authorization: Bearer x", "Transfer-Encoding: chunked"))
        size = LIMITS["requestBytes"] + 1
        connection.sendall(b"%x\r\n%s\r\n" % (size, b"x" * size))
        assert answer(connection)[0] == 413


def test_a_length_that_is_none_is_no_http(gateway: GatewayServer) -> None:
    with connected(gateway) as connection:
        connection.sendall(head("Content-Length: -1"))
        assert answer(connection)[0] == 400


@pytest.mark.parametrize("ended", [False, True])
def test_too_long_a_head_is_refused_whether_it_ends_or_not(gateway: GatewayServer, ended: bool) -> None:
    with connected(gateway) as connection:
        long = head("X-Long: " + "x" * LIMITS["headerBytes"], "Content-Length: 0")
        connection.sendall(long if ended else long.removesuffix(b"\r\n\r\n"))
        status, data = answer(connection)
    assert (status, data["code"]) == (431, "INVALID_INPUT")


def test_a_bearer_longer_than_any_of_ours_is_unauthenticated(client: WireClient) -> None:
    assert client.call("/v1/heartbeat", {}, bearer="x" * (LIMITS["bearerCharacters"] + 1)).status == 401


def test_what_is_no_http_is_refused_in_json(gateway: GatewayServer) -> None:
    with connected(gateway) as connection:
        connection.sendall(b"hello\r\n\r\n")
        status, data = answer(connection)
    assert (status, data["code"]) == (400, "INVALID_INPUT")


def test_a_head_that_does_not_come_to_its_end_costs_the_connection(
    gateway: GatewayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)
    for sent in (b"", b"POST /v1/heartbeat HTTP/1.1\r\n"):
        with connected(gateway) as connection:
            connection.sendall(sent)
            assert is_cut(connection)


def test_a_body_that_does_not_come_to_its_end_is_refused(
    gateway: GatewayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "BODY_SECONDS", 0.2)
    with connected(gateway) as connection:
        connection.sendall(head("Authorization: Bearer x", "Content-Length: 10") + b"{")
        assert answer(connection)[0] == 408


def test_a_client_that_goes_away_in_the_middle_harms_nobody(
    gateway: GatewayServer, client: WireClient, node_id: str
) -> None:
    with connected(gateway) as connection:
        connection.sendall(head("Authorization: Bearer x", "Content-Length: 10") + b"{")
    assert client.heartbeat(node_id).status == 200


def test_a_client_that_does_not_close_what_the_gateway_closed_is_cut_when_it_stops(gateway: GatewayServer) -> None:
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as plain:
        secure = tls().wrap_socket(plain)
        secure.sendall(head("Connection: close", "Content-Length: 0"))
        assert answer(secure)[0] == 401
        with socket.socket(fileno=secure.detach()) as connection:
            connection.settimeout(20)
            gateway.close()
            assert is_cut(connection)


def test_an_idle_connection_is_kept_for_the_next_heartbeat(client: WireClient, node_id: str) -> None:
    first = client.heartbeat(node_id)
    client.heartbeat(node_id, identity=GUESS)
    assert "connection" not in {name.lower() for name in first.headers}
    assert client.connected


def test_an_address_with_too_many_bad_credentials_has_to_wait(client: WireClient, clock: HandClock) -> None:
    node_id = "node_" + "0" * 26
    for _ in range(MOST_IN_WINDOW):
        assert client.heartbeat(node_id, identity=GUESS).status == 401
    assert client.heartbeat(node_id, identity=GUESS).status == 429
    clock.advance(minutes=1)
    assert client.heartbeat(node_id, identity=GUESS).status == 401


def test_nodes_at_that_address_go_on_and_join_as_ever(
    client: WireClient, node_id: str, token: str, store: Store, pool: PoolRecord
) -> None:
    fresh = new_token(store, pool, Secret("bcj_a-token-that-nobody-has-used"), max_uses=9)
    for _ in range(MOST_IN_WINDOW):
        client.heartbeat(node_id, identity=GUESS)
    assert client.heartbeat(node_id, identity=GUESS).status == 429
    # Neither has ever been shown; a pod on the same machine shows the guesses, say.
    assert client.heartbeat(node_id).status == 200
    other = {"os": {"kubernetesNodeName": "ip-2"}, "gpus": []}
    assert client.join(token=fresh.reveal(), nonce="m" * 22, identity="j" * 43, inventory=other).status == 200
    assert client.heartbeat(node_id, identity=GUESS).status == 429


def test_guesses_of_an_address_with_too_many_cost_no_question_each(
    client: WireClient, gateway: GatewayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    node_id = "node_" + "0" * 26
    for _ in range(MOST_IN_WINDOW + 1):
        client.heartbeat(node_id, identity=GUESS)

    def asked(*_: object) -> None:
        raise AssertionError("the store was asked")

    monkeypatch.setattr(gateway._gateway._reads, "ask", asked)
    for number in range(10):
        assert client.heartbeat(node_id, identity=f"{number:g>43}").status == 429


def test_bad_bodies_are_not_counted_as_bad_credentials(client: WireClient, node_id: str) -> None:
    for _ in range(MOST_IN_WINDOW + 1):
        assert client.call("/v1/heartbeat", {"nodeId": 1}, bearer="i" * 43).status == 400
    assert client.heartbeat(node_id).status == 200


def test_a_database_that_does_not_answer_means_come_again(
    client: WireClient, node_id: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_calls, "_SECONDS", 0.0)
    assert client.heartbeat(node_id).status == 503
    monkeypatch.undo()
    assert client.heartbeat(node_id).status == 200


def test_a_fault_of_the_gateway_is_told_as_one_and_by_kind_only(
    client: WireClient, node_id: str, gateway: GatewayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(_node: object) -> None:
        raise ValueError("the-secret")

    monkeypatch.setattr(gateway.heartbeats, "beat", fault)
    reply = client.heartbeat(node_id)
    assert reply.status == 500
    assert "the-secret" not in reply.body["message"]


def test_a_reply_does_not_wait_for_an_acknowledgement(client: WireClient, node_id: str, gateway: GatewayServer) -> None:
    client.heartbeat(node_id)
    (connection,) = gateway._server.server_state.connections
    plain = connection.transport.get_extra_info("socket")
    assert plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_event_loop_that_hangs_is_no_answer(
    client: WireClient, node_id: str, gateway: GatewayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "STUCK_SECONDS", 1.0)
    hangs, goes_on = threading.Event(), threading.Event()

    def hang(_node: object) -> None:
        hangs.set()
        assert goes_on.wait(30)

    monkeypatch.setattr(gateway.heartbeats, "beat", hang)
    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(client.heartbeat, node_id)
        assert hangs.wait(30)
        until(lambda: not gateway.answers)
        goes_on.set()
        assert call.result(30).status == 200
    until(lambda: gateway.answers)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class _Talkative:
    """Answers everything with more than any buffer between here and a client holds."""

    def application(self) -> ASGIApp:
        return Response(b"x" * 16_000_000)

    def stop_waiting(self) -> None:
        """Nobody is."""

    def close(self) -> None:
        """Nothing is open."""


def test_a_client_that_does_not_read_its_answers_costs_the_connection(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second answer waits for the first one to be read; and nobody else waits for it to be."""
    monkeypatch.setattr(protocol, "UNREAD_SECONDS", 0.2)
    with (
        server.WebServer(
            _Talkative(), name="talkative", certificate=certificate, host="127.0.0.1", port=0
        ) as talkative,
        connected(talkative) as connection,
    ):
        connection.sendall(2 * head("Content-Length: 0"))
        assert connection.recv(1) == b"H"
        end = time.monotonic() + 5
        while talkative._server.server_state.connections and time.monotonic() < end:
            pass
        assert not talkative._server.server_state.connections
