# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP/1.1 as uvicorn speaks it with httptools, but quiet, prompt, and with more of its own: heads must come in time
and are bounded before they end, and what is no HTTP is refused as every other error is, in JSON and with the status
that wire/ names.

Limits: llhttp, which reads here, lets pass what changes neither a request nor where it ends: empty lines before it, and
in its first line more than one blank, or RTSP/1.1 for HTTP/1.1.
"""

from __future__ import annotations

import asyncio
import json
import socket
from dataclasses import dataclass
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code

HEAD_BYTES = 8 * 1024
"""Of a request (wire: x-limits)."""

HEAD_SECONDS = 10.0
"""From a connection's first moment, or a request's first byte, to the end of its head. bcd sends it in one go."""

UNREAD_SECONDS = 30.0
"""For which a client may leave more than UNREAD_BYTES of its answers unread. Without it one that reads nothing would
keep its connection, and what is written to it, for ever."""

UNREAD_BYTES = 64 * 1024
"""Of answers, written to a connection and not read yet, when no further one is begun. asyncio's own for TLS is eight
times that, which every connection may have."""

_TOO_LONG = f"the headers of a request have at most {HEAD_BYTES} bytes"

MOST_WAITING = 16
"""Requests of one connection that wait for the answer to an earlier one. bcd sends none before it has its answer, nor
does any client that we know of; each is kept in memory, however little its sender may."""

WHOLE = "better_compute.whole"
"""An extension in a request's ASGI scope: all of its body has come."""


@dataclass(frozen=True, slots=True)
class _Refused(Exception):
    """A request that is refused for its head. Raised in the parser's callbacks."""

    status: int
    message: str


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


class WireProtocol(HttpToolsProtocol):
    """One connection."""

    _head_is_late: asyncio.TimerHandle | None = None
    _is_unread: asyncio.TimerHandle | None = None
    _has_head = False  # of the request that is being read: what comes is its body
    _has_ended = False  # with the bytes at hand: a head, a piece of a body, or a request
    _unended_bytes = 0  # since anything has
    _owes_an_answer = False
    _refused = False  # nothing is read any more
    _last_words: bytes | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn's own
        """A connection whose handshake is done: the head of its first request is due."""
        super().connection_made(_InOnePiece(transport, self.loop))  # type: ignore[arg-type]  # a transport's stand-in
        # uvicorn logs each request's path when anybody listens to any logger, whatever its access_log says.
        self.access_log = False
        # A long reply is several writes. asyncio turns Nagle's algorithm off by itself only where it made the socket.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.set_write_buffer_limits(high=UNREAD_BYTES)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Bytes came: part of a head, or what follows one."""
        # asyncio hands over what has come already, also when the connection is about to be closed.
        if self._refused or self.transport.is_closing():
            return
        self._unset_keepalive_if_required()
        self._has_ended = False
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError as error:
            wrong = error.__context__
            if isinstance(wrong, _Refused):
                self._refuse(wrong.status, wrong.message)
            else:
                self._refuse(400, "this is no HTTP request")
            return
        # The parser keeps what has not ended: a header, say, or what follows the size of a chunk.
        self._unended_bytes = 0 if self._has_ended else self._unended_bytes + len(data)
        if self._unended_bytes > HEAD_BYTES:
            self._refuse(431, _TOO_LONG)
        elif self._owes_an_answer:
            self._expect_no_head()
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._expect_no_head()
        self._has_been_read()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client has left much of its answers unread."""
        super().pause_writing()
        self._has_been_read()
        self._is_unread = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read most of them."""
        self._has_been_read()
        super().resume_writing()

    def shutdown(self) -> None:
        """The gateway stops: an idle connection is cut, because its bcd would not hear it before its next call."""
        # A transport that is closed twice forgets its connection (asyncio of Python 3.11), and cannot be cut any more.
        if not self.transport.is_closing():
            super().shutdown()
        if self.transport.is_closing():
            self.transport.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer, which is nobody's business here."""
        if not self._has_head:
            self.headers.append((name.lower(), value.rstrip(b" \t")))

    def on_headers_complete(self) -> None:
        """A head is there.

        Raises:
            _Refused: it asks for what is not served here, or could be read in more than one way.
        """
        self._check_head()
        if len(self.pipeline) >= MOST_WAITING:
            raise _Refused(
                400, f"at most {MOST_WAITING} requests of a connection wait for the answer to an earlier one"
            )
        super().on_headers_complete()
        self._has_head = self._has_ended = self._owes_an_answer = True

    def on_body(self, body: bytes) -> None:
        """A piece of a request's body."""
        self._has_ended = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request is there as a whole."""
        self._has_head, self._has_ended = False, True
        self.scope["extensions"] = {WHOLE: {}}
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """A request was answered."""
        self._owes_an_answer = bool(self.pipeline)
        super().on_response_complete()
        if self._last_words is not None and not self._owes_an_answer:
            self._end_with(self._last_words)

    def _check_head(self) -> None:
        head_bytes = len(self.url)
        hosts = 0
        for name, value in self.headers:
            head_bytes += len(name) + len(value)
            if name == b"host":
                hosts += 1
            elif name == b"transfer-encoding" and value.lower() != b"chunked":
                raise _Refused(501, "the only Transfer-Encoding here is chunked")
            elif name == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
        version = self.parser.get_http_version()
        if head_bytes > HEAD_BYTES:
            raise _Refused(431, _TOO_LONG)
        if version not in ("1.1", "1.0"):
            raise _Refused(400, "this is HTTP/1.1")
        if hosts > 1 or (not hosts and version == "1.1"):
            raise _Refused(400, "a request has one Host")
        # The parser would take a body for what follows in the other protocol. CONNECT is such a request too.
        if self.parser.should_upgrade():
            raise _Refused(400, "another protocol is not spoken here")
        if not self.url.startswith(b"/") or b"#" in self.url:
            raise _Refused(400, "a request names the path of a call, and no more")

    def _refuse(self, status: int, message: str) -> None:
        """Say so when everything before has been answered: two answers are not to be mixed. Then close."""
        self._refused = True
        self._expect_no_head()
        content = json.dumps({"code": Code.INVALID_INPUT, "message": message}).encode()
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(content)
        refusal = STATUS_LINE[status] + head + content
        if self._has_head and self.pipeline:
            self.pipeline.popleft()  # the newest: it was not begun with
            self._last_words = refusal
        elif self._has_head:
            has_begun = self.cycle.response_started
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self._end_with(b"" if has_begun else refusal)
        elif self._owes_an_answer:
            self._last_words = refusal
        else:
            self._end_with(refusal)

    def _end_with(self, refusal: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(refusal)
            self.transport.close()

    def _expect_head(self) -> None:
        if self._head_is_late is None:
            self._head_is_late = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _expect_no_head(self) -> None:
        if self._head_is_late is not None:
            self._head_is_late.cancel()
            self._head_is_late = None

    def _has_been_read(self) -> None:
        if self._is_unread is not None:
            self._is_unread.cancel()
            self._is_unread = None
