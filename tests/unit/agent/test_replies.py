# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the gateway answers is checked before it is believed."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.support.gateway_double import make_certificate
from bcd.errors import GatewayError, Refused, Unreachable
from bcd.gateway import Gateway
from bcd.host import Host
from bcd.secret import Secret
from bcd.settings import read_settings

NODE = "node_" + "0" * 26
IDENTITY = Secret("I" * 43)


@asynccontextmanager
async def answering(folder: Path, answer: bytes) -> AsyncIterator[Gateway]:
    """A client of a gateway that answers everything with these bytes and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}")
        writer.write(answer)
        await writer.drain()
        writer.close()

    certificate = make_certificate()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    file = folder / "gateway.pem"
    file.write_bytes(certificate.pem)
    context.load_cert_chain(file)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    settings = read_settings(
        {
            "BCD_GATEWAY_URL": f"https://localhost:{port}",
            "BCD_PINS": certificate.pin,
            "BCD_NODE_NAME": "node",
            "BCD_STATE_DIR": str(folder),
            "BCD_JOIN_TOKEN_FILE": str(folder / "token"),
        }
    )
    gateway = Gateway(settings, Host())
    try:
        yield gateway
    finally:
        await gateway.aclose()
        server.close()


def http(status: int, content: bytes) -> bytes:
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content


async def _ask(folder: Path, answer: bytes) -> None:
    async with answering(folder, answer) as gateway:
        await gateway.bookings(identity=IDENTITY, node_id=NODE, version="", wait_seconds=0)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"not HTTP at all\r\n\r\n",
        http(200, b""),
        http(200, b"[]"),
        http(200, b"\xff"),
        http(200, b"[" * 60000),
        http(200, json.dumps({"version": "1", "bookings": [], "pad": "x" * 70000}).encode()),
        http(200, b'{"version": 1, "bookings": []}'),
        http(200, b'{"version": "1\\n", "bookings": []}'),
        http(200, b'{"version": "1"}'),
        http(200, b'{"version": "1", "bookings": [{"reservationId": "x", "deviceIds": ["GPU-0"]}]}'),
        http(200, b'{"version": "1", "bookings": [{"reservationId": "rsv_%s", "deviceIds": [1]}]}' % (b"0" * 26)),
        http(200, b'{"version": "1", "bookings": [{"reservationId": "rsv_%s"}]}' % (b"0" * 26)),
        http(302, b""),
        http(401, b"<html>a proxy's</html>"),
        http(401, b'{"code": "UNAUTHENTICATED"}'),
        http(500, b'{"code": "UNAUTHENTICATED", "message": ""}'),
        http(200, b"{}")[:-1],
    ],
)
def test_an_answer_that_makes_no_sense_is_no_answer(tmp_path: Path, answer: bytes) -> None:
    with pytest.raises(Unreachable):
        asyncio.run(_ask(tmp_path, answer))


def test_a_refusal_is_told_with_its_code_and_without_anything_that_could_hurt(tmp_path: Path) -> None:
    message = f"no {IDENTITY.reveal()}\n\x1b[31m" + "x" * 1000
    content = json.dumps({"code": "UNAUTHENTICATED", "message": message}).encode()
    with pytest.raises(Refused) as raised:
        asyncio.run(_ask(tmp_path, http(401, content)))
    assert raised.value.unauthenticated
    assert raised.value.code == "UNAUTHENTICATED"
    assert IDENTITY.reveal() not in str(raised.value)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400


async def _nobody_listens(folder: Path) -> None:
    async with answering(folder, b"") as gateway:
        pass
    await gateway.heartbeat(identity=IDENTITY, node_id=NODE, inventory=None)


def test_nobody_listening_is_told_with_the_address(tmp_path: Path) -> None:
    with pytest.raises(GatewayError, match=r"no answer from https://localhost:\d+"):
        asyncio.run(_nobody_listens(tmp_path))


async def _hung_up_on(folder: Path) -> str:
    """What is told of a gateway that ends each connection before it has shaken hands."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    environ = {
        "BCD_GATEWAY_URL": f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}",
        "BCD_PINS": make_certificate().pin,
        "BCD_NODE_NAME": "node",
        "BCD_STATE_DIR": str(folder),
        "BCD_JOIN_TOKEN_FILE": str(folder / "token"),
    }
    gateway = Gateway(read_settings(environ), Host())
    try:
        with pytest.raises(Unreachable) as told:
            await gateway.heartbeat(identity=IDENTITY, node_id=NODE, inventory=None)
    finally:
        await gateway.aclose()
        server.close()
    return str(told.value)


def test_a_gateway_that_hangs_up_is_told_with_a_reason(tmp_path: Path) -> None:
    why = asyncio.run(_hung_up_on(tmp_path)).rpartition(": ")[2]
    assert why.endswith("Error"), "the connection's error has no words of its own"
