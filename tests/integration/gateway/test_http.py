# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP as no client of ours speaks it: what two servers could read in two ways is refused, and all else is answered."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.gateway import GatewayServer
from ansible_collections.better_compute.fleet.daemon.web import protocol, requests
from ansible_collections.better_compute.fleet.tests.support.prepared_databases import copy_of
from ansible_collections.better_compute.fleet.tests.support.raw_wire import (
    answer,
    connected,
    head,
    is_cut,
    next_status,
)

BEARER = "Authorization: Bearer " + "i" * 43
CHUNKED = head(BEARER, "Transfer-Encoding: chunked")
EMPTY = "Content-Length: 0"


@pytest.fixture
def store_url(sqlite_template: Path, tmp_path: Path) -> str:
    """One database will do: hardly anything here gets so far."""
    return copy_of(sqlite_template, to=tmp_path / "fleet.db")


def beat(node_id: str, *lines: str) -> bytes:
    """A node's heartbeat."""
    body = json.dumps({"nodeId": node_id}).encode()
    return head(BEARER, f"Content-Length: {len(body)}", *lines) + body


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(head("Content-Length: 2", "Transfer-Encoding: chunked") + b"0\r\n\r\n", id="length, then chunked"),
        pytest.param(head("Transfer-Encoding: chunked", "Content-Length: 2") + b"0\r\n\r\n", id="chunked, then length"),
        pytest.param(head("Content-Length: 2", "Content-Length: 3") + b"{}", id="two lengths"),
        pytest.param(head("Content-Length: 2, 3") + b"{}", id="a list of lengths"),
        pytest.param(head("Content-Length: +2") + b"{}", id="a length with a sign"),
        pytest.param(head("Content-Length: 1_0") + b"{}", id="a length as Python writes it"),
        pytest.param(head("Content-Length:"), id="an empty length"),
        pytest.param(head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), id="chunked twice"),
        pytest.param(head("Transfer-Encoding:\x0bchunked"), id="a strange blank before chunked"),
        pytest.param(head("X: a", " b"), id="a folded header"),
        pytest.param(head("Transfer-Encoding:", " chunked"), id="a folded Transfer-Encoding"),
        pytest.param(head("X : a"), id="a blank before the colon"),
        pytest.param(head("X"), id="no colon"),
        pytest.param(head(": a"), id="no name"),
        pytest.param(head("X: a\0b"), id="a NUL"),
        pytest.param(head("X: a\rY: b"), id="a bare CR"),
        pytest.param(head("X: a\nY: b"), id="a bare LF"),
        pytest.param(head().replace(b"\r\n", b"\n"), id="bare LFs only"),
        pytest.param(head().replace(b"Host: x\r\n", b""), id="no Host"),
        pytest.param(head("Host: y"), id="two Hosts"),
        pytest.param(head("Connection: Upgrade", "Upgrade: h2c", "Content-Length: 2") + b"{}", id="an upgrade"),
        pytest.param(head().replace(b"POST /v1/heartbeat", b"CONNECT x:443"), id="CONNECT"),
        pytest.param(head(path="http://x/v1/heartbeat"), id="a proxy's path"),
        pytest.param(head(path="/v1/heartbeat#here"), id="a fragment"),
        pytest.param(head(path="/\xe9"), id="a path that is no ASCII"),
        pytest.param(head().replace(b"HTTP/1.1", b"HTTP/2.0"), id="HTTP/2 that is none"),
        pytest.param(head().replace(b"HTTP/1.1", b"HTTP/0.9"), id="HTTP/0.9"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="HTTP/2"),
        pytest.param(head().replace(b"POST", b"NONE"), id="no verb of HTTP's"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(gateway: GatewayServer, sent: bytes) -> None:
    with connected(gateway) as connection:
        connection.sendall(sent)
        status, data = answer(connection)
    assert (status, data["code"]) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("coding", ["gzip, chunked", "xchunked", "identity"])
def test_another_coding_than_chunked_is_refused(gateway: GatewayServer, coding: str) -> None:
    with connected(gateway) as connection:
        connection.sendall(head(f"Transfer-Encoding: {coding}"))
        assert answer(connection)[0] == 501


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"2 \r\n{}\r\n0\r\n\r\n", id="a blank after the size"),
        pytest.param(b"0x2\r\n{}\r\n0\r\n\r\n", id="a size with a prefix"),
        pytest.param(b"fffffffffffffffff\r\n{}", id="a size that no number holds"),
        pytest.param(b"2\n{}\n0\n\n", id="bare LFs"),
        pytest.param(b"2;a\n{}\r\n0\r\n\r\n", id="a bare LF in an extension"),
        pytest.param(b"2\r\n{}}\r\n0\r\n\r\n", id="more than its size"),
        pytest.param(b"2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n", id="a length as a trailer"),
    ],
)
def test_chunks_that_could_be_read_in_two_ways_are_refused_and_wait_for_nothing(
    gateway: GatewayServer, sent: bytes
) -> None:
    with connected(gateway) as connection:
        connection.sendall(CHUNKED + sent)
        assert answer(connection)[0] == 400
    until = time.monotonic() + requests.BODY_SECONDS / 2
    while gateway._server.server_state.tasks:
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize(
    "begun",
    [
        pytest.param(head().removesuffix(b"\r\n") + b"X: ", id="a header"),
        pytest.param(b"POST /", id="a path"),
        pytest.param(CHUNKED + b"2;x=", id="an extension of a chunk"),
        pytest.param(CHUNKED + b"2\r\n{}\r\n0\r\nX: ", id="a trailer"),
    ],
)
def test_what_does_not_end_is_refused_in_whatever_pieces_it_comes(gateway: GatewayServer, begun: bytes) -> None:
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        connection.sendall(begun)
        # What came in one go with the end of something else is not counted: a few KiB. Then the gateway stops reading.
        with suppress(OSError):
            for _ in range(16):
                connection.sendall(b"x" * 1024)
        assert next_status(replies) == 431


def test_many_headers_are_refused_as_one_long_one_is(gateway: GatewayServer) -> None:
    with connected(gateway) as connection:
        connection.sendall(head(*[f"X-{number}: {'x' * 60}" for number in range(150)]))
        assert answer(connection)[0] == 431


def test_a_head_as_large_as_allowed_is_read(gateway: GatewayServer) -> None:
    with connected(gateway) as connection:
        so_far = len(head(EMPTY, "Connection: close", "X: "))
        connection.sendall(head(EMPTY, "Connection: close", "X: " + "x" * (protocol.HEAD_BYTES - so_far)))
        assert answer(connection)[0] == 401


def test_a_request_that_comes_byte_by_byte_is_answered(gateway: GatewayServer, node_id: str) -> None:
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        for byte in beat(node_id):
            connection.sendall(bytes([byte]))
        assert next_status(replies) == 200
        connection.sendall(CHUNKED)
        body = json.dumps({"nodeId": node_id}).encode()
        for byte in b"2\r\n%s\r\n%x;x=y\r\n%s\r\n0\r\n\r\n" % (body[:2], len(body) - 2, body[2:]):
            connection.sendall(bytes([byte]))
        assert next_status(replies) == 200


def test_blanks_around_a_value_are_none_of_it(gateway: GatewayServer, node_id: str) -> None:
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        connection.sendall(beat(node_id).replace(BEARER.encode(), BEARER.encode().replace(b": ", b": \t ") + b" \t "))
        assert next_status(replies) == 200


def test_a_trailer_is_no_header(gateway: GatewayServer, node_id: str) -> None:
    body = json.dumps({"nodeId": node_id}).encode()
    chunks = b"%x\r\n%s\r\n0\r\n" % (len(body), body)
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        connection.sendall(head("Transfer-Encoding: chunked") + chunks + BEARER.encode() + b"\r\n\r\n")
        assert next_status(replies) == 401
        connection.sendall(CHUNKED + chunks + b"Authorization: Bearer other\r\n\r\n")
        assert next_status(replies) == 200


def test_who_asks_whether_to_go_on_is_told_so(gateway: GatewayServer, node_id: str) -> None:
    asked, _blank, body = beat(node_id, "Expect: 100-continue").partition(b"\r\n\r\n")
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        connection.sendall(asked + b"\r\n\r\n")
        assert next_status(replies) == 100
        connection.sendall(body)
        assert next_status(replies) == 200


def test_requests_sent_together_are_answered_in_their_order(gateway: GatewayServer, node_id: str) -> None:
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        connection.sendall(beat(node_id) + head(EMPTY) + head(EMPTY, path="/v1/nothing") + beat(node_id))
        assert [next_status(replies) for _ in range(4)] == [200, 401, 404, 200]
        connection.sendall(beat(node_id))
        assert next_status(replies) == 200


@pytest.mark.parametrize("wrong", [b"hello\r\n\r\n", CHUNKED + b"no size\r\n"])
def test_what_is_wrong_later_is_refused_after_what_is_right(gateway: GatewayServer, node_id: str, wrong: bytes) -> None:
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        connection.sendall(beat(node_id) + beat(node_id) + wrong + beat(node_id))
        assert [next_status(replies) for _ in range(4)] == [200, 200, 400, None]


def test_no_more_requests_are_kept_than_a_few(gateway: GatewayServer, node_id: str) -> None:
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        connection.sendall(beat(node_id) + head(EMPTY) * (protocol.MOST_WAITING + 1))
        answered = [next_status(replies) for _ in range(protocol.MOST_WAITING + 3)]
    assert answered == [200, *[401] * protocol.MOST_WAITING, 400, None]


@pytest.mark.parametrize("last", [head(EMPTY, "Connection: close"), head(EMPTY).replace(b"/1.1", b"/1.0")])
def test_after_the_last_request_nothing_is_read(gateway: GatewayServer, last: bytes) -> None:
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        connection.sendall(last + head(EMPTY))
        assert (next_status(replies), next_status(replies)) == (401, None)


def test_a_call_that_is_none_leaves_its_body_and_the_connection_alone(gateway: GatewayServer, node_id: str) -> None:
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        connection.sendall(head("Content-Length: 70000", path="/v1/nothing"))
        assert next_status(replies) == 404
        connection.sendall(b"x" * 70000 + beat(node_id))
        assert next_status(replies) == 200


def test_a_body_that_goes_on_after_its_answer_is_not_waited_for(
    gateway: GatewayServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        connection.sendall(head("Content-Length: 70000", path="/v1/nothing"))
        assert next_status(replies) == 404
        connection.sendall(b"x")
        assert is_cut(connection)


def test_an_idle_connection_is_closed_in_the_end(gateway: GatewayServer) -> None:
    with connected(gateway) as connection, connection.makefile("rb") as replies:
        connection.sendall(head(EMPTY))
        assert next_status(replies) == 401
        (kept,) = gateway._server.server_state.connections
        assert isinstance(kept, protocol.WireProtocol)
        waits = kept.timeout_keep_alive_task
        assert waits is not None
        assert waits.when() - kept.loop.time() > 75
        kept.loop.call_soon_threadsafe(kept.timeout_keep_alive_handler)
        assert next_status(replies) is None
