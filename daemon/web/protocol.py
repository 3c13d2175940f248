# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP/1.1 as uvicorn speaks it, but quiet, prompt, and with two things more: heads must come in time, and what is no
HTTP is refused as every other error is, in JSON and with the status that wire/ names.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code

HEAD_BYTES = 8 * 1024
"""Of a request (wire: x-limits)."""

HEAD_SECONDS = 10.0
"""From a connection's first moment, or a request's first byte, to the end of its head. bcd sends it in one go."""


class _InOnePiece:
    """A transport that sends in one piece what is written in one go: a reply's head and body are two writes.

    Each piece is a TLS record, a call of the system, and a process woken at the other end.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = bytearray()

    def write(self, data: bytes) -> None:
        if not self._held:
            self._loop.call_soon(self._send)
        self._held += data

    def close(self) -> None:
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._held:
            held, self._held = self._held, bytearray()
            self._transport.write(held)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class WireProtocol(H11Protocol):
    """One connection."""

    _head_is_late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn's own
        """A connection whose handshake is done: the head of its first request is due."""
        super().connection_made(_InOnePiece(transport, self.loop))  # type: ignore[arg-type]  # a transport's stand-in
        # uvicorn logs each request's path when anybody listens to any logger, whatever its access_log says.
        self.access_log = False
        # A long reply is several writes. asyncio turns Nagle's algorithm off by itself only where it made the socket.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Bytes came: part of a head, or what follows one."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._expect_head()
        else:
            self._expect_no_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._expect_no_head()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The gateway stops: an idle connection is cut, because its bcd would not hear it before its next call."""
        # A transport that is closed twice forgets its connection (asyncio of Python 3.11), and cannot be cut any more.
        if not self.transport.is_closing():
            super().shutdown()
        if self.transport.is_closing():
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or is too long: called by uvicorn while it handles h11's error."""
        error = sys.exc_info()[1]
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        if status == 431:
            msg = f"the headers of a request have at most {HEAD_BYTES} bytes"
        # An answer under way is not to be mixed with this one.
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            content = json.dumps({"code": Code.INVALID_INPUT, "message": msg}).encode()
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(content)).encode()),
                (b"connection", b"close"),
            ]
            for event in (
                h11.Response(status_code=status, headers=headers),
                h11.Data(data=content),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _expect_head(self) -> None:
        if self._head_is_late is None:
            self._head_is_late = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _expect_no_head(self) -> None:
        if self._head_is_late is not None:
            self._head_is_late.cancel()
            self._head_is_late = None
