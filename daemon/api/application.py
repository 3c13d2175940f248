# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API's ASGI application: who calls, whether that may be, what the body says; then operations/, and an answer.

Every refusal is `{code, message}`, with `problems` where the body is wrong. The token is looked at before the body:
what nobody vouches for is not read. Another tenant's clusters look as if they were not there.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cache, partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    InvalidInput,
    OperationError,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT, TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.permissions import Caller, Permission
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.api_tokens import (
    TokenRefused,
    authenticate,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session, acting_for

from ..fleet_now import read_fleet
from ..page import AGAIN_SECONDS, HEADERS, render
from ..web.answers import STATUS, error, other_method, unknown_path
from ..web.bad_tokens import BadTokens
from ..web.requests import Refused, read_bearer, read_body, read_password
from ..web.store_calls import StoreCalls
from .bodies import first_of, read
from .call import Call
from .calls import CALLS
from .openapi import document
from .spelling import as_api_spells

_LOG = logging.getLogger(__name__)

BODY_BYTES = 512 * 1024
"""Of a request: a cluster with ten node pools that have all their labels and taints is about 300 KiB."""

_SLOW_AT_ONCE = 4
_SLOW_SECONDS = 90.0
"""For a call that asks a cluster: the way in, where it has to be granted first, takes a minute at EKS."""

_DESCRIPTION = "/api/openapi.json"
"""Where the OpenAPI stands."""

Metrics = Callable[[], tuple[bytes, str]]
"""Gives a body and its content type."""

Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class _Vouched:
    """A caller, and where it calls from."""

    caller: Caller
    address: str


class Api:
    """What the calls share."""

    def __init__(self, *, session: Session, metrics: Metrics | None = None) -> None:
        """Keep the doors. The arguments are the server's (server.py)."""
        self._session = replace(session, sleep=partial(_sleep, session))
        self._metrics = metrics
        self._bad_tokens = BadTokens()
        self._calls = StoreCalls(name="api-store")
        self._slow = StoreCalls(name="api-cluster", at_once=_SLOW_AT_ONCE, seconds=_SLOW_SECONDS)

    def application(self) -> Starlette:
        """The ASGI application."""
        answers: list[tuple[str, str, Answer]] = [("POST", call.path, partial(self._call, call)) for call in CALLS]
        answers += [("GET", _DESCRIPTION, self._describe), ("GET", "/healthz", _live)]
        if self._metrics is not None:
            answers.append(("GET", "/metrics", partial(self._measure, self._metrics)))
        application = Starlette(
            routes=[
                *(Route(path, partial(self._answer, answer), methods=[method]) for method, path, answer in answers),
                Route("/status", self._page, methods=["GET"]),
            ],
            exception_handlers={HTTPException: _no_such_call},
        )
        application.router.redirect_slashes = False
        return application

    def stop_waiting(self) -> None:
        """Nobody is kept waiting here."""

    def close(self) -> None:
        """Ask nothing more."""
        self._calls.close()
        self._slow.close()

    async def _answer(self, answer: Answer, request: Request) -> Response:
        try:
            return await answer(request)
        except Refused as refused:
            return _refusal(refused.status, refused.code, refused.message, close=refused.close)
        except InvalidInput as wrong:
            return _invalid(wrong)
        except OperationError as refused:
            return _refusal(STATUS[refused.code], refused.code, str(refused))
        except StoreUnavailable:
            return error(503, Code.UNAVAILABLE, "there was no answer in time: come again")
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception:  # noqa: BLE001 -- the last edge: told by a reply, and in the log by kind and place
            _LOG.exception("a call failed: %s", request.url.path)
            return error(500, Code.UNAVAILABLE, "a fault of the API's own: come again")

    async def _call(self, call: Call, request: Request) -> Response:
        vouched = await self._vouched(request, call.permission)
        caller = vouched.caller
        content = await read_body(request, most_bytes=BODY_BYTES)
        # In a thread, so that nobody waits for the one whose body has much wrong with it.
        body = await self._calls.ask(partial(read, call.takes, content))
        session = acting_for(self._session, caller, needs=call.permission, tenant_id=TenantId(body.tenant_id))
        ask = self._slow if call.slow else self._calls
        try:
            view = await ask.ask(partial(call.do, session, body))
        except InvalidInput as wrong:
            raise InvalidInput(first_of(list(as_api_spells(wrong.problems)))) from None
        if call.permission == Permission.KUBERNETES_UPDATE:
            what = f"{call.resource}.{call.method} by {caller.name} ({caller.token_id}) of tenant {caller.tenant_id}"
            _LOG.info("done: %s", what, extra={"address": vouched.address})
        # An answer may hold a credential.
        headers = {"Cache-Control": "no-store"}
        return Response(view.model_dump_json(by_alias=True), media_type="application/json", headers=headers)

    async def _describe(self, request: Request) -> Response:
        await read_body(request)
        return Response(_description(), media_type="application/json")

    async def _measure(self, metrics: Metrics, request: Request) -> Response:
        vouched = await self._vouched(request, Permission.METRICS_READ)
        vouched.caller.require(Permission.METRICS_READ, tenant_id=PLATFORM_TENANT)
        await read_body(request)
        content, kind = await self._calls.ask(metrics)
        return Response(content, headers={"Content-Type": kind})

    async def _page(self, request: Request) -> Response:
        """The status page, refused as a browser understands it."""
        answered = await self._answer(self._show, request)
        if answered.status_code == 401:
            # So the browser asks its person, and keeps what it is told until it is closed.
            answered.headers["WWW-Authenticate"] = 'Basic realm="bc-fleetd", charset="UTF-8"'
        elif answered.status_code == 503:
            # A page that is left open shows the fleet again when the database is back.
            answered.headers["Refresh"] = str(AGAIN_SECONDS)
        return answered

    async def _show(self, request: Request) -> Response:
        vouched = await self._vouched(request, Permission.STATUS_READ, credential=read_password(request))
        vouched.caller.require(Permission.STATUS_READ, tenant_id=PLATFORM_TENANT)
        await read_body(request)
        # Both in the thread: five thousand rows take a while.
        content = await self._calls.ask(lambda: render(read_fleet(self._session)))
        return HTMLResponse(content, headers=HEADERS)

    async def _vouched(self, request: Request, permission: Permission, *, credential: Secret | None = None) -> _Vouched:
        """The caller, who may do such things at all.

        Arguments:
            credential: the token, where it did not come as a bearer's.

        Raises:
            Refused: 401, 429.
            OperationError: UNAUTHENTICATED, FORBIDDEN.
        """
        bearer = credential or read_bearer(request)
        address = request.client.host if request.client else ""
        now = self._session.clock.now()
        if self._bad_tokens.must_wait(address, bearer, now=now):
            raise Refused(429, Code.UNAUTHENTICATED, "too many bad tokens: come again in a minute", close=True)
        try:
            caller = await self._calls.ask(partial(authenticate, self._session, bearer))
        except TokenRefused as refused:
            _LOG.warning("a token was refused: %s", refused.reason, extra={"address": address})
            self._bad_tokens.bad(address, bearer, now=now)
            raise
        self._bad_tokens.good(bearer)
        # Whoever may not do this for itself may not do it for anybody: said before the body is read.
        caller.require(permission, tenant_id=caller.tenant_id)
        return _Vouched(caller, address)


@cache
def _description() -> bytes:
    return json.dumps(document(CALLS)).encode()


def _sleep(session: Session, seconds: float) -> None:
    """Wait for a cluster, unless the daemon is told to stop: a thread that waits would keep the process."""
    if session.stopping.is_set():
        raise OperationError(Code.UNAVAILABLE, "the API stops: come again")
    session.sleep(seconds)


async def _live(request: Request) -> Response:
    await read_body(request)
    return JSONResponse({"status": "ok"})


def _refusal(status: int, code: Code, message: str, *, close: bool = False) -> Response:
    # What was refused for its sender was not read to its end: the connection is of no use any more.
    unread = status in (401, 403)
    answer = error(status, code, message, close=close or unread)
    if status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    if status == 429:
        answer.headers["Retry-After"] = "60"
    return answer


def _invalid(wrong: InvalidInput) -> Response:
    problems = [{"path": one.path, "message": one.message} for one in wrong.problems]
    return error(400, Code.INVALID_INPUT, str(wrong), problems=problems)


def _no_such_call(_request: Request, raised: Exception) -> Response:
    headers = (raised.headers if isinstance(raised, HTTPException) else None) or {}
    allowed = sorted(method.strip() for method in headers.get("Allow", "").split(",") if method)
    return other_method(allowed) if allowed else unknown_path(f"{_DESCRIPTION} describes all that there are")
