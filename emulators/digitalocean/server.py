# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulator's loopback TLS port: checks the token, passes requests on, words refusals as DigitalOcean does."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable
from functools import partial
from threading import Thread
from typing import Any, Final
from urllib.parse import parse_qsl
from uuid import uuid4

from werkzeug.serving import WSGIRequestHandler, make_server

from ..engine import Answer, Call, Engine, InjectedError, ReplyLost
from ..kubernetes.certificates import make_server_context
from .service import CLOUD, KubernetesService, Refusal

_HOST: Final = "127.0.0.1"
_POLL_SECONDS: Final = 0.02
"""How soon the server notices that it is to stop."""
_PREFIX: Final = "/v2/kubernetes/clusters"

StartResponse = Callable[[str, list[tuple[str, str]]], object]


class _Handler(WSGIRequestHandler):
    """Quiet, with connections that stay open and answers that leave at once."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002 - werkzeug's name
        """Say nothing: the request log knows it all."""


class DigitalOceanServer:
    """Serves the API at `url`; `ca_pem` is what its certificate is to be checked against."""

    def __init__(self, *, engine: Engine, service: KubernetesService, token: str) -> None:
        """Listen on a free loopback port; `start` serves it."""
        self._engine = engine
        self._service = service
        self._token = token
        context, self.ca_pem = make_server_context(cluster="digitalocean", host=_HOST)
        self._server = make_server(_HOST, 0, self._serve, threaded=True, request_handler=_Handler, ssl_context=context)
        self._thread = Thread(
            target=partial(self._server.serve_forever, poll_interval=_POLL_SECONDS),
            name="emulated-digitalocean",
            daemon=True,
        )
        self.url = f"https://{_HOST}:{self._server.server_port}"

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        path = environ["PATH_INFO"]
        parts = [part for part in path.removeprefix(_PREFIX).split("/") if part]
        template = "/".join("{id}" if index % 2 == 0 else part for index, part in enumerate(parts))
        call = Call(
            cloud=CLOUD,
            name=f"{method} clusters" + (f"/{template}" if template else ""),
            target="/".join(parts),
            mutating=method != "GET",
        )
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))

        def effect() -> Answer:
            try:
                if environ.get("HTTP_AUTHORIZATION") != f"Bearer {self._token}":
                    raise Refusal(401, "unauthorized", "Unable to authenticate you")
                if not path.startswith(_PREFIX):
                    raise Refusal(404, "not_found", "The resource you requested could not be found.")
                query = dict(parse_qsl(environ.get("QUERY_STRING", "")))
                status, data = self._service.answer(
                    method, parts, query=query, body=_object(body), url=f"{self.url}{path}"
                )
            except Refusal as refusal:
                return _refused(refusal)
            return _json(status, data) if data is not None else Answer(status=status)

        try:
            answer = self._engine.handle(call, effect)
        except InjectedError as error:
            answer = _refused(Refusal(error.status, error.code, error.message))
        except ReplyLost:
            connection: socket.socket = environ["werkzeug.socket"]
            connection.shutdown(socket.SHUT_RDWR)
            answer = Answer(status=500)
        start_response(f"{answer.status} -", [*answer.headers.items(), ("Content-Length", str(len(answer.body)))])
        return [answer.body]


def _object(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body or b"{}")
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise Refusal(400, "bad_request", "error parsing request body")
    return data


def _refused(refusal: Refusal) -> Answer:
    return _json(refusal.status, {"id": refusal.code, "message": refusal.message, "request_id": str(uuid4())})


def _json(status: int, data: dict[str, Any]) -> Answer:
    return Answer(status=status, body=json.dumps(data).encode(), headers={"Content-Type": "application/json"})
