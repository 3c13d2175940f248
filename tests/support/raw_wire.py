# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A TLS connection to the gateway on which a test says what no HTTP client would."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ansible_collections.better_compute.fleet.daemon.web.server import WebServer
from ansible_collections.better_compute.fleet.tests.support import wire_schema
from ansible_collections.better_compute.fleet.tests.support.wire_client import tls


@contextmanager
def connected(gateway: WebServer) -> Iterator[socket.socket]:
    """A TLS connection on which a test says what it likes."""
    with (
        socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as plain,
        tls().wrap_socket(plain) as connection,
    ):
        yield connection


def head(*lines: str, path: str = "/v1/heartbeat") -> bytes:
    """A call's head."""
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: x", *lines, "", ""]).encode()


def answer(connection: socket.socket) -> tuple[int, dict[str, str]]:
    """The status and body of what comes until the gateway closes the connection: one refusal."""
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    told, _blank, body = received.partition(b"\r\n\r\n")
    data: dict[str, str] = json.loads(body)
    assert wire_schema.problems("error", data) == []
    return int(told.split()[1]), data


def next_status(replies: BinaryIO) -> int | None:
    """The status of the next answer on a connection (`makefile`), which is read to its end; None when there is none."""
    status = replies.readline()
    if not status:
        return None
    content_bytes = 0
    while (line := replies.readline()) != b"\r\n":
        name, _colon, value = line.partition(b":")
        if name.lower() == b"content-length":
            content_bytes = int(value)
    replies.read(content_bytes)
    return int(status.split()[1])


def is_cut(connection: socket.socket) -> bool:
    """Wait for the end of the connection, however it ends."""
    try:
        return connection.recv(1) == b""
    except (ssl.SSLError, ConnectionError):
        return True
