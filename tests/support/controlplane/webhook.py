# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A webhook as a kube-apiserver asks it: JSON by POST over TLS, on loopback, in a thread of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ansible_collections.better_compute.fleet.emulators.kubernetes.certificates import make_server_context

Answer = Callable[[dict[str, Any]], dict[str, Any]]
"""What is sent back for what was posted."""

_HOST = "127.0.0.1"
_POLL_SECONDS = 0.05
"""How soon the server notices that it is to stop."""


class Webhook:
    """Serves from construction to `close`.

    Attributes:
        url: where it is to be asked; any path will do.
        ca_pem: what its certificate is to be checked against.
    """

    def __init__(self, answer: Answer, *, name: str) -> None:
        """Listen on a free loopback port. Arguments: name: the thread's."""
        context, self.ca_pem = make_server_context(cluster=name, host=_HOST)
        self._server = ThreadingHTTPServer((_HOST, 0), _handler(answer))
        self._server.daemon_threads = True
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://{_HOST}:{self._server.server_address[1]}"
        serve = {"poll_interval": _POLL_SECONDS}
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs=serve, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(answer: Answer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(answer(asked)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class's name
            """Say nothing."""

    return Handler
