# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloud's authenticator as a kube-apiserver asks it: a token-review webhook (authentication.k8s.io/v1) over TLS.

It judges nothing itself: the emulated cloud does, with the very function that its emulated Kubernetes APIs ask. Who is
an administrator there comes back in `system:masters`, everybody else without any group that is bound to a role.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ansible_collections.better_compute.fleet.emulators.kubernetes import ClusterUser
from ansible_collections.better_compute.fleet.emulators.kubernetes.certificates import make_server_context

Judge = Callable[[str], ClusterUser | None]

_HOST = "127.0.0.1"
_POLL_SECONDS = 0.05
"""How soon the server notices that it is to stop."""


def _nobody(token: str) -> None:
    del token


class TokenReviews:
    """Serves from construction to `close`.

    Attributes:
        url: where it is to be asked.
        ca_pem: what its certificate is to be checked against.
        judge: who a bearer token is. Nobody, until a test says otherwise. Its answers of "yes" count for some seconds
            at the API (ten, unless told otherwise), so one token must not mean two users within them.
    """

    def __init__(self) -> None:
        """Listen on a free loopback port."""
        context, self.ca_pem = make_server_context(cluster="token-reviews", host=_HOST)
        self.judge: Judge = _nobody
        self._server = ThreadingHTTPServer((_HOST, 0), self._handler())
        self._server.daemon_threads = True
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://{_HOST}:{self._server.server_address[1]}/review"
        serve = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": _POLL_SECONDS}, name="reviews", daemon=True
        )
        serve.start()
        self._thread = serve

    def close(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def review(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The TokenReview with its status."""
        user = self.judge(asked["spec"]["token"])
        status: dict[str, Any] = {"authenticated": user is not None}
        if user is not None:
            status["user"] = {"username": user.name, "groups": ["system:masters"] if user.admin else []}
        return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        reviews = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(reviews.review(asked)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class's name
                """Say nothing."""

        return Handler
