# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine of the load: one kept-alive connection over pinned TLS, and the calls of the wire, as bcd makes them.

It is bcd's share of the wire without bcd's cost: bytes put together by hand, so that one process can be thousands.
"""

from __future__ import annotations

import asyncio
import asyncio.sslproto
import base64
import json
import secrets
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from bcd.pinning import pin_of, pinned_context

_READ_BYTES: Final = 8 * 1024
"""asyncio's TLS takes 256 KiB for each connection otherwise; a reply here has 150 bytes."""

_GPUS: Final = 8
"""As a p5.48xlarge has."""

_HEAD_END: Final = b"\r\n\r\n"


class CallFailed(Exception):
    """A call without the answer that it should have had; says which one came, as `<status> <code>`, or what broke."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """Where the gateway is.

    Attributes:
        pin: base64 of the SHA-256 of its key, as it tells it itself.
    """

    port: int
    pin: str


class Connection(asyncio.Protocol):
    """One connection that has one call under way at most."""

    def __init__(self) -> None:
        """Nothing is under way."""
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._reply: asyncio.Future[tuple[int, bytes]] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The handshake is done."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Part of a reply, or all of it."""
        self._received += data
        end = self._received.find(_HEAD_END)
        if end < 0 or self._reply is None or self._reply.done():
            return
        head = bytes(self._received[:end]).lower()
        _before, _name, after = head.partition(b"content-length:")
        whole = end + len(_HEAD_END) + int(after.partition(b"\r\n")[0])
        if len(self._received) >= whole:
            body = bytes(self._received[end + len(_HEAD_END) : whole])
            del self._received[:whole]
            self._reply.set_result((int(head[9:12]), body))

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone, and with it the reply."""
        self._transport = None
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(CallFailed(f"the connection was lost: {type(exc).__name__}"))

    @property
    def is_open(self) -> bool:
        """Whether another call can be made."""
        return self._transport is not None and not self._transport.is_closing()

    async def call(self, request: bytes) -> tuple[int, bytes]:
        """Send a request. Gives the reply's status and body."""
        if self._transport is None:
            raise CallFailed("the connection was lost before the call")
        self._reply = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._reply

    def close(self) -> None:
        """End it without a word."""
        if self._transport is not None:
            self._transport.abort()


async def connect(gateway: Gateway) -> Connection:
    """A connection whose peer holds the pinned key.

    Raises:
        CallFailed: it cannot be had.
    """
    # Of this process only: it is nothing but the load.
    asyncio.sslproto.SSLProtocol.max_size = _READ_BYTES
    try:
        transport, connection = await asyncio.get_running_loop().create_connection(
            Connection, "127.0.0.1", gateway.port, ssl=pinned_context(), server_hostname=""
        )
    except OSError as error:
        raise CallFailed(f"no connection: {error.strerror or type(error).__name__}") from error
    shown: ssl.SSLObject = transport.get_extra_info("ssl_object")
    if _pin(shown.getpeercert(binary_form=True) or b"") != gateway.pin:
        connection.close()
        raise CallFailed("the gateway's key is another one")
    return connection


@cache
def _pin(certificate: bytes) -> str:
    return base64.b64encode(pin_of(certificate)).decode()


@dataclass(slots=True, kw_only=True)
class Machine:
    """One machine: nobody yet, then a node.

    Attributes:
        name: of its Node; what it reports.
        node_id: from its join on.
    """

    gateway: Gateway
    name: str
    node_id: str = ""
    _identity: str = field(default="", repr=False)
    _join_body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    _heartbeat: bytes = field(default=b"", repr=False)
    _connection: Connection | None = None
    _polling: Connection | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def join(self, token: str) -> None:
        """Join the token's pool, with a connection that is kept. Tried again it is the same join.

        Raises:
            CallFailed: it was refused, or there was no answer.
        """
        if not self._identity:
            self._identity = secrets.token_urlsafe(32)
            self._join_body = self._make_join_body()
        reply = await self._call(_request("/v1/join", token, self._join_body))
        self.node_id = str(reply["nodeId"])
        self._heartbeat = _request("/v1/heartbeat", self._identity, {"nodeId": self.node_id})

    async def beat(self) -> str:
        """Send a heartbeat. Gives the version of the machine's bookings.

        Raises:
            CallFailed: it was refused, or there was no answer.
        """
        return str((await self._call(self._heartbeat))["bookingsVersion"])

    async def poll(self, version: str, *, wait_seconds: int) -> str:
        """Ask for its bookings as a long poll, on a connection of its own. Gives their version.

        Raises:
            CallFailed: it was refused, or there was no answer.
        """
        body = {"nodeId": self.node_id, "version": version, "waitSeconds": wait_seconds}
        if self._polling is None or not self._polling.is_open:
            self._polling = await connect(self.gateway)
        reply = await self._polling.call(_request("/v1/bookings", self._identity, body))
        return str(_understood(*reply)["version"])

    def end(self) -> None:
        """Be gone."""
        for connection in (self._connection, self._polling):
            if connection is not None:
                connection.close()

    async def _call(self, request: bytes) -> Mapping[str, Any]:
        async with self._turn:
            if self._connection is None or not self._connection.is_open:
                self._connection = await connect(self.gateway)
            return _understood(*await self._connection.call(request))

    def _make_join_body(self) -> dict[str, Any]:
        gpus = [{"id": f"GPU-{secrets.token_hex(16)}", "model": "NVIDIA H100 80GB HBM3"} for _gpu in range(_GPUS)]
        return {
            "nonce": secrets.token_urlsafe(16),
            "identity": self._identity,
            "hostname": self.name.partition(".")[0],
            "bcdVersion": "1.0.0",
            "inventory": {"os": {"kubernetesNodeName": self.name}, "gpus": gpus},
        }


def _request(path: str, bearer: str, body: Mapping[str, Any]) -> bytes:
    content = json.dumps(body, separators=(",", ":")).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {bearer}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\nUser-Agent: bcd/1.0.0\r\n\r\n"
    )
    return head.encode() + content


def _understood(status: int, body: bytes) -> Mapping[str, Any]:
    reply: Mapping[str, Any] = json.loads(body)
    if status != 200:
        raise CallFailed(f"{status} {reply.get('code')}")
    return reply
