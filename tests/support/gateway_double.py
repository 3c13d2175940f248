# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A gateway for tests of bcd and of the machines that run it: real TLS, judged by the wire schema, nothing recorded.

It runs in the event loop of whoever starts it. What it was sent, what was wrong with it, and how many bytes came after
the handshake are there to look at; replies can be lost, calls refused, bookings changed, and it can go away and return.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import ssl
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID

from ansible_collections.better_compute.fleet.tests.support import wire_schema

HEARTBEAT_SECONDS = 10

JOIN = "/v1/join"
HEARTBEAT = "/v1/heartbeat"
BOOKINGS = "/v1/bookings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A self-signed certificate and its key.

    Attributes:
        pem: certificate and key, PEM.
        pin: base64 of the SHA-256 of its SubjectPublicKeyInfo.
    """

    pem: bytes = field(repr=False)
    pin: str


def make_certificate() -> Certificate:
    """A fresh certificate that no name, issuer or date speaks for: it ended yesterday."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gateway.invalid")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now - timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    spki = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + certificate.public_bytes(Encoding.PEM)
    return Certificate(pem=pem, pin=base64.b64encode(hashlib.sha256(spki).digest()).decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request."""

    path: str
    bearer: str
    body: Mapping[str, Any]


class GatewayDouble:
    """The double.

    Attributes:
        tokens: join tokens that are good, and the uses that are left of each.
        nodes: node ids by identity.
        received: every request that made sense, in order.
        problems: what was wrong with the others. A test ends by asking that there are none.
        connections: TLS connections made.
        http_bytes: bytes that came after the handshake.
    """

    def __init__(self, certificate: Certificate | None = None) -> None:
        """Nothing is good yet: tokens are added by the test."""
        self.certificate = certificate or make_certificate()
        self.tokens: Counter[str] = Counter()
        self.nodes: dict[str, str] = {}
        self.joins: dict[str, str] = {}
        self.received: list[Received] = []
        self.problems: list[str] = []
        self.connections = 0
        self.http_bytes = 0
        self.port = 0
        self._version = 0
        self._bookings: list[dict[str, Any]] = []
        self._changed = asyncio.Condition()
        self._lose: Counter[str] = Counter()
        self._refusals: dict[str, tuple[int, dict[str, Any]]] = {}
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"https://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Listen: on a free port the first time, on the same one after `stop`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "gateway.pem"
            file.write_bytes(self.certificate.pem)
            context.load_cert_chain(file)
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Go away: nothing listens, and what was open is cut."""
        if self._server is not None:
            self._server.close()
            for task in list(self._open):
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)
            await self._server.wait_closed()
            self._server = None

    def lose_reply(self, path: str, *, times: int = 1) -> None:
        """Carry the next calls out and cut the connection in place of a reply."""
        self._lose[path] += times

    def refuse(self, path: str, *, status: int, code: str, message: str) -> None:
        """Refuse every call of a kind until `accept`."""
        self._refusals[path] = (status, {"code": code, "message": message})

    def accept(self, path: str) -> None:
        """Refuse it no longer."""
        del self._refusals[path]

    async def book(self, *bookings: tuple[str, tuple[str, ...]]) -> None:
        """Make these (reservation id, device ids) all that is booked, on every node."""
        async with self._changed:
            self._version += 1
            self._bookings = [{"reservationId": name, "deviceIds": list(devices)} for name, devices in bookings]
            self._changed.notify_all()

    async def until(self, path: str, *, count: int = 1) -> Received:
        """Wait until so many requests of a kind have come; returns the last of them."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.of(path)) >= count)
        return self.of(path)[count - 1]

    def of(self, path: str) -> list[Received]:
        """The requests of one kind."""
        return [request for request in self.received if request.path == path]

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.connections += 1
        try:
            while await self._answer_one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            self._open.discard(task)

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        self.http_bytes += len(head)
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip() for name, _colon, value in (line.partition(":") for line in lines)
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _version = first.split(" ")
        status, reply = await self._judge(method, path, headers, raw)
        async with self._changed:
            self._changed.notify_all()
        if self._lose[path]:
            self._lose[path] -= 1
            return False
        content = json.dumps(reply).encode()
        writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode()
            + content
        )
        await writer.drain()
        return True

    async def _judge(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> tuple[int, dict[str, Any]]:
        call = wire_schema.schema()["x-calls"].get(path)
        if method != "POST" or call is None:
            self.problems.append(f"{method} {path} is no call")
            return 404, _error("NOT_FOUND", "no such call")
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        found = wire_schema.problems(call["request"].rpartition("/")[2], json.loads(raw))
        found += wire_schema.problems(call["bearer"], bearer)
        if len(raw) > wire_schema.schema()["x-limits"]["requestBytes"]:
            found.append("too long")
        if headers.get("content-type") != "application/json":
            found.append("content type")
        if found:
            self.problems += [f"{path}: {problem}" for problem in found]
            return 400, _error("INVALID_INPUT", "; ".join(found)[:512])
        request = Received(path=path, bearer=bearer, body=json.loads(raw))
        self.received.append(request)
        if path in self._refusals:
            return self._refusals[path]
        reply = await self._reply(request)
        name = "error" if reply[0] >= 400 else call["reply"].rpartition("/")[2]
        self.problems += [f"the double's own: {problem}" for problem in wire_schema.problems(name, reply[1])]
        return reply

    async def _reply(self, request: Received) -> tuple[int, dict[str, Any]]:
        if request.path == JOIN:
            return self._join(request)
        if self.nodes.get(request.bearer) != request.body["nodeId"]:
            return 401, _error("UNAUTHENTICATED", "not a node")
        if request.path == HEARTBEAT:
            return 200, {"bookingsVersion": str(self._version)}
        async with self._changed:
            self._changed.notify_all()
            with suppress(TimeoutError):
                async with asyncio.timeout(request.body["waitSeconds"]):
                    await self._changed.wait_for(lambda: str(self._version) != request.body["version"])
        return 200, {"version": str(self._version), "bookings": self._bookings}

    def _join(self, request: Received) -> tuple[int, dict[str, Any]]:
        nonce, identity = request.body["nonce"], request.body["identity"]
        if nonce not in self.joins:
            if self.tokens[request.bearer] < 1:
                return 403, _error("FORBIDDEN", "this join token is not good, or no longer")
            self.tokens[request.bearer] -= 1
            self.joins[nonce] = f"node_{len(self.joins):026d}"
        self.nodes[identity] = self.joins[nonce]
        return 200, {"nodeId": self.joins[nonce], "heartbeatSeconds": HEARTBEAT_SECONDS}


def _error(code: str, message: str) -> dict[str, Any]:
    return {"code": code, "message": message}
