# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway as bcd calls it: the three calls of wire/bcd-gateway.v1.json over pinned TLS, each tried once.

Replies are checked before they are believed: size, JSON, types, patterns. Retrying is for those who call.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import httpcore

from . import __version__
from .errors import Refused, Unreachable
from .host import Host
from .inventory import Inventory
from .pinning import PinnedBackend, pinned_context
from .secret import Secret
from .settings import Settings

# Both from the schema's x-limits and README.
REPLY_BYTES = 65536
MAX_CONNECTIONS = 2

# For a whole call, the handshake included. A healthy gateway answers in milliseconds; this ends what hangs before two
# more heartbeats are due, and is long enough for the handshakes of a thousand machines that come back at one moment.
CALL_SECONDS = 15.0
# A join is worth waiting for: when a thousand machines come up at one moment, the last of them is answered after a
# thousand handshakes, and who gives up before has to begin with another one.
JOIN_SECONDS = 60.0
# Longer than two long polls, shorter than the 75 s that the gateway leaves an idle connection open.
IDLE_SECONDS = 70.0

MESSAGE_CHARACTERS = 300

_NODE_ID = re.compile(r"node_[0-9a-hjkmnp-tv-z]{26,52}", re.ASCII)
_RESERVATION_ID = re.compile(r"rsv_[0-9a-hjkmnp-tv-z]{26,52}", re.ASCII)
_DEVICE_ID = re.compile(r"[A-Za-z0-9._:-]{1,63}", re.ASCII)
_VERSION = re.compile(r"[A-Za-z0-9._:-]{0,64}", re.ASCII)
_CODE = re.compile(r"[A-Z_]{1,32}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The gateway's answer to a join."""

    node_id: str
    heartbeat_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """One reservation on this machine and the devices it holds."""

    reservation_id: str
    device_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Booked:
    """All that is booked on this machine, and the version that names this state of it."""

    version: str
    bookings: tuple[Booking, ...]


class Gateway:
    """A client of one gateway. Every call may raise WrongPin, Unreachable and Refused (see errors.py)."""

    def __init__(self, settings: Settings, host: Host) -> None:
        """Open nothing yet: connections come with the first call."""
        self._settings = settings
        self._clock = host.clock
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=pinned_context(),
            max_connections=MAX_CONNECTIONS,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=PinnedBackend(network=host.network, pins=settings.pins),
        )

    async def join(
        self, *, token: Secret, nonce: str, identity: Secret, hostname: str, inventory: Inventory
    ) -> Accepted:
        """Ask to become a node of the token's pool. Repeated with the same nonce and identity it is the same join."""
        body = {
            "nonce": nonce,
            "identity": identity.reveal(),
            "hostname": hostname,
            "bcdVersion": __version__,
            "inventory": inventory.to_wire(),
        }
        reply = await self._call("/v1/join", bearer=token, body=body, secrets=(identity,), seconds=JOIN_SECONDS)
        seconds = reply.get("heartbeatSeconds")
        if not isinstance(seconds, int) or isinstance(seconds, bool) or not 1 <= seconds <= 300:
            raise Unreachable("the gateway's reply to a join makes no sense: heartbeatSeconds")
        return Accepted(node_id=_text(reply, "nodeId", _NODE_ID), heartbeat_seconds=seconds)

    async def heartbeat(self, *, identity: Secret, node_id: str, inventory: Inventory | None) -> str:
        """Say that this machine lives. Returns the version of its bookings.

        Arguments:
            inventory: what it has, when the gateway may not know that yet.
        """
        body: dict[str, Any] = {"nodeId": node_id}
        if inventory is not None:
            body["inventory"] = inventory.to_wire()
        return _text(await self._call("/v1/heartbeat", bearer=identity, body=body), "bookingsVersion", _VERSION)

    async def bookings(self, *, identity: Secret, node_id: str, version: str, wait_seconds: int) -> Booked:
        """What is booked here.

        Arguments:
            version: the version that is held; the gateway answers when there is another, or when the wait is over.
            wait_seconds: how long it may keep the call open, 0 to 60.
        """
        body = {"nodeId": node_id, "version": version, "waitSeconds": wait_seconds}
        reply = await self._call("/v1/bookings", bearer=identity, body=body, wait_seconds=wait_seconds)
        listed = reply.get("bookings")
        if not isinstance(listed, list):
            raise Unreachable("the gateway's reply makes no sense: bookings")
        return Booked(version=_text(reply, "version", _VERSION), bookings=tuple(_booking(item) for item in listed))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._pool.aclose()

    async def _call(
        self,
        path: str,
        *,
        bearer: Secret,
        body: dict[str, Any],
        seconds: float = CALL_SECONDS,
        wait_seconds: int = 0,
        secrets: tuple[Secret, ...] = (),
    ) -> dict[str, Any]:
        # A long poll lasts as long as nothing happens.
        with nullcontext() if wait_seconds else self._clock.busy():
            status, raw = await self._exchange(path, bearer=bearer, body=body, seconds=seconds + wait_seconds)
        return _reply(status, raw, secrets=(bearer, *secrets))

    async def _exchange(self, path: str, *, bearer: Secret, body: dict[str, Any], seconds: float) -> tuple[int, bytes]:
        content = json.dumps(body, separators=(",", ":")).encode()
        host = self._settings.gateway_host
        try:
            async with (
                asyncio.timeout(seconds),
                self._pool.stream(
                    "POST",
                    httpcore.URL(
                        scheme=b"https",
                        host=host.encode(),
                        port=self._settings.gateway_port,
                        target=(self._settings.gateway_path + path).encode(),
                    ),
                    headers=[
                        (b"Host", f"{f'[{host}]' if ':' in host else host}:{self._settings.gateway_port}".encode()),
                        (b"Authorization", b"Bearer " + bearer.reveal().encode()),
                        (b"Content-Type", b"application/json"),
                        (b"Content-Length", str(len(content)).encode()),
                        (b"User-Agent", f"bcd/{__version__}".encode()),
                    ],
                    content=content,
                ) as response,
            ):
                raw = bytearray()
                async for chunk in response.aiter_stream():
                    raw += chunk
                    if len(raw) > REPLY_BYTES:
                        raise Unreachable(f"the gateway's reply is longer than {REPLY_BYTES} bytes")
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            # OSError covers the builtin TimeoutError and ssl.SSLError. Only a failure to connect is told in its own
            # words: what fails later may quote what was sent.
            told = str(error) if isinstance(error, httpcore.ConnectError) else ""
            why = told or type(error).__name__
            raise Unreachable(f"no answer from {self._settings.gateway}: {why}") from None
        return response.status, bytes(raw)


def _reply(status: int, raw: bytes, *, secrets: tuple[Secret, ...]) -> dict[str, Any]:
    """The body of a reply that says yes. Raises Refused for a 4xx with a code, else Unreachable."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        data = {}
    if status == 200 and data:
        return data
    code, message = data.get("code"), data.get("message")
    if 400 <= status < 500 and isinstance(code, str) and _CODE.fullmatch(code) and isinstance(message, str):
        for secret in secrets:
            message = message.replace(secret.reveal(), "…")
        text = "".join(char if char.isprintable() else " " for char in message[:MESSAGE_CHARACTERS])
        raise Refused(status=status, code=code, message=text)
    raise Unreachable(f"the gateway answered {status} without a reply that makes sense")


def _text(data: dict[str, Any], key: str, pattern: re.Pattern[str]) -> str:
    value = data.get(key)
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise Unreachable(f"the gateway's reply makes no sense: {key}")
    return value


def _booking(item: object) -> Booking:
    if not isinstance(item, dict) or not isinstance(item.get("deviceIds"), list):
        raise Unreachable("the gateway's reply makes no sense: bookings[]")
    devices = item["deviceIds"]
    if not all(isinstance(device, str) and _DEVICE_ID.fullmatch(device) for device in devices):
        raise Unreachable("the gateway's reply makes no sense: deviceIds")
    return Booking(reservation_id=_text(item, "reservationId", _RESERVATION_ID), device_ids=tuple(devices))
