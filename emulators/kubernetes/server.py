# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP/1.1 over TLS on a free loopback port, for one cluster."""

from __future__ import annotations

import socket
import ssl
import sys
import threading
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from ..engine import Answer, ReplyLost
from .certificates import make_server_context
from .requests import Request
from .statuses import ApiRefusal, not_emulated

_HOST = "127.0.0.1"
_MAXIMUM_BODY_BYTES = 3 * 1024 * 1024
"""What a kube-apiserver takes."""


class TellsTime(Protocol):
    """What a server needs of a clock."""

    def now(self) -> datetime:
        """The present, with its time zone."""


class Answering(Protocol):
    """A cluster as its server sees it."""

    name: str

    @property
    def clock(self) -> TellsTime:
        """Tells the Date of answers."""

    def answer(self, request: Request) -> Answer:
        """Answer one request.

        Raises:
            ReplyLost: drop the connection.
        """


class ApiServer:
    """Serves a cluster until it is closed.

    Attributes:
        url: `https://127.0.0.1:<port>`.
        ca_pem: what its certificate is to be checked against.
    """

    def __init__(self, cluster: Answering) -> None:
        """Start to listen; answers from now on."""
        context, self.ca_pem = make_server_context(cluster=cluster.name, host=_HOST)
        self._server = _Server(cluster, context)
        self.url = f"https://{_HOST}:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.05},
            name=f"kubernetes-{cluster.name}",
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        """Stop to listen and end every connection."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.end_connections()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, cluster: Answering, context: ssl.SSLContext) -> None:
        super().__init__((_HOST, 0), _Handler)
        self.cluster = cluster
        self._connections: set[socket.socket] = set()
        self._connections_lock = threading.Lock()
        # The handshake is left to the connection's own thread, so that a slow client holds up nobody.
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def server_bind(self) -> None:
        """Bind without asking a name server for the host's name, as http.server would."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = _HOST, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, so that it can be ended."""
        with self._connections_lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection."""
        with self._connections_lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def end_connections(self) -> None:
        """End what is still open: keep-alive connections wait for a next request that will not come."""
        with self._connections_lock:
            open_now = list(self._connections)
        for connection in open_now:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                # The other side was faster.
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave out clients that went away or did not trust the certificate: tests do both on purpose."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def handle_any(self) -> None:
        """Answer any method."""
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            self._send(not_emulated("a body of a length that is not said before").to_answer())
            return
        body = self.rfile.read(int(length))
        if len(body) > _MAXIMUM_BODY_BYTES:
            self._send(ApiRefusal(413, f"Request entity too large: limit is {_MAXIMUM_BODY_BYTES}").to_answer())
            return
        request = Request(
            method=self.command,
            target=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )
        try:
            answer = self.server.cluster.answer(request)
        except ReplyLost:
            self.close_connection = True
            return
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    # The names that http.server looks for.
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 -- as above

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The Date of an answer, by the cluster's clock."""
        return super().date_time_string(self.server.cluster.clock.now().timestamp() if timestamp is None else timestamp)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name
        """Write nothing: the engine's request log has it."""
