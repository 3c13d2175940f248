# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulator's loopback TLS port: checks tokens and rates, passes requests on, words refusals."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import parse_qsl
from uuid import uuid4

from ..engine import Answer, Call, Engine, InjectedError, ReplyLost
from ..http_server import HOST, Environ, HttpServer, StartResponse
from ..kubernetes.certificates import make_server_context
from . import service
from .rate_limit import RateLimit
from .refusals import Refusal, forbidden, not_found, unauthorized
from .service import Request
from .state import CLOUD, State

_ROOT: Final = "/v2/"


class DigitalOceanServer(HttpServer):
    """Serves the API at `url`; `ca_pem` is what its certificate is to be checked against."""

    def __init__(self, *, engine: Engine, state: State, rate_limit: RateLimit) -> None:
        """Listen on a free loopback port; `start` serves it."""
        self._engine = engine
        self._state = state
        self._rate_limit = rate_limit
        context, self.ca_pem = make_server_context(cluster=CLOUD, host=HOST)
        super().__init__(self._serve, name="emulated-digitalocean", tls=context)

    def _serve(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        try:
            answer = self._engine.handle(_call(environ), lambda: self._answer(environ, body))
        except InjectedError as error:
            answer = _refused(Refusal(error.status, error.code, error.message))
        except ReplyLost:
            connection: socket.socket = environ["werkzeug.socket"]
            connection.shutdown(socket.SHUT_RDWR)
            answer = Answer(status=500)
        headers = {**answer.headers, **self._rate_limit.headers(), "Content-Length": str(len(answer.body))}
        start_response(f"{answer.status} -", list(headers.items()))
        return [answer.body]

    def _answer(self, environ: Environ, body: bytes) -> Answer:
        """The effect of a request, with DigitalOcean's refusals already worded."""
        try:
            parts = _parts(environ["PATH_INFO"])
            method: str = environ["REQUEST_METHOD"]
            self._let_in(environ.get("HTTP_AUTHORIZATION", ""), method, parts)
            request = Request(
                method=method,
                parts=parts,
                query=dict(parse_qsl(environ.get("QUERY_STRING", ""))),
                body=_object(body),
                url=f"{self.url}{environ['PATH_INFO']}",
            )
            with self._state.changing():
                status, data = service.answer(self._state, request)
                return Answer(status=status) if data is None else _json(status, data)
        except Refusal as refusal:
            return _refused(refusal)

    def _let_in(self, authorization: str, method: str, parts: tuple[str, ...]) -> None:
        scopes = self._state.tokens.scopes(authorization.removeprefix("Bearer "))
        if scopes is None or not authorization.startswith("Bearer "):
            raise unauthorized()
        self._rate_limit.count()
        if not parts:
            raise not_found()
        if service.scope(method, parts) not in scopes:
            raise forbidden()


def _parts(path: str) -> tuple[str, ...]:
    """The path below /v2; empty when it is not there."""
    return tuple(part for part in path.removeprefix(_ROOT).split("/") if part) if path.startswith(_ROOT) else ()


def _call(environ: Environ) -> Call:
    """What the request log and the fault script call it: the method and the path below /v2 (/kubernetes), ids hidden.

    Its target is the ids, and what stands between them.
    """
    method, parts = environ["REQUEST_METHOD"], _parts(environ["PATH_INFO"])
    parts = parts[1:] if parts[:1] == ("kubernetes",) else parts
    # Every second part is an id, but for what follows `destroy_with_associated_resources`.
    template = ["{id}" if index % 2 == 1 and part != "dangerous" else part for index, part in enumerate(parts)]
    return Call(
        cloud=CLOUD, name=f"{method} {'/'.join(template)}", target="/".join(parts[1:]), mutating=method != "GET"
    )


def _object(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body or b"{}")
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise Refusal(400, "bad_request", "error parsing request body")
    return data


def _refused(refusal: Refusal) -> Answer:
    answer = _json(refusal.status, {"id": refusal.code, "message": refusal.message, "request_id": str(uuid4())})
    if refusal.retry_after is None:
        return answer
    headers = {**answer.headers, "retry-after": str(refusal.retry_after)}
    return Answer(status=answer.status, body=answer.body, headers=headers)


def _json(status: int, data: dict[str, Any]) -> Answer:
    return Answer(status=status, body=json.dumps(data).encode(), headers={"Content-Type": "application/json"})
