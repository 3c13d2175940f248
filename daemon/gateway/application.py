# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway's ASGI application: three calls, checked, answered from nodes/ and booking/, and quiet about secrets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.standing import bookings_for_node
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import Clock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    OperationError,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import HEARTBEAT_SECONDS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolNode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.heartbeat import (
    Heartbeats,
    authenticate,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.joining import (
    JoinRefused,
    JoinRequest,
    join,
    report_inventory,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store

from .bad_tokens import BadTokens
from .messages import MAX_REQUEST_BYTES, BookingsBody, HeartbeatBody, Inventory, JoinBody, parse

_LOG = logging.getLogger(__name__)

_STORE_CALLS_AT_ONCE = 16
"""Threads that wait for the database. More would only queue there."""

_BODY_SECONDS = 10.0
"""For a request's body to arrive; bcd sends a few KiB in one go."""

_LOOK_AGAIN_SECONDS = 1.0
"""How soon a long poll sees a booking that another process made."""

_MAX_BEARER = 512
"""Characters of a credential (wire: x-limits)."""

_STATUS = {
    Code.INVALID_INPUT: 400,
    Code.UNAUTHENTICATED: 401,
    Code.FORBIDDEN: 403,
    Code.NOT_FOUND: 404,
    Code.CONFLICT: 409,
    Code.INVALID_STATE: 409,
    Code.QUOTA_EXCEEDED: 409,
    Code.UNSUPPORTED: 400,
}

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Refused(Exception):
    status: int
    message: str
    code: Code


class Gateway:
    """What the routes share."""

    def __init__(self, *, store: Store, clock: Clock, heartbeats: Heartbeats) -> None:
        """Keep the doors.

        Arguments:
            heartbeats: where heartbeats are noted; whoever runs the gateway flushes them.
        """
        self._store = store
        self._clock = clock
        self._heartbeats = heartbeats
        self._bad_tokens = BadTokens()
        self._limiter: CapacityLimiter | None = None

    def application(self) -> Starlette:
        """The ASGI application."""
        calls = (("/v1/join", self._join), ("/v1/heartbeat", self._heartbeat), ("/v1/bookings", self._bookings))
        return Starlette(routes=[Route(path, partial(self._answer, call), methods=["POST"]) for path, call in calls])

    async def _answer(self, call: Callable[[Request], Awaitable[dict[str, Any]]], request: Request) -> Response:
        try:
            return JSONResponse(await call(request))
        except _Refused as refused:
            return _error(refused.status, refused.code, refused.message)
        except JoinRefused as refused:
            _LOG.warning("join from %s refused: %s", _address(request), refused.reason)
            return self._refuse(request, refused)
        except OperationError as error:
            return self._refuse(request, error)
        except StoreUnavailable:
            return _error(503, Code.INVALID_STATE, "the gateway cannot reach its records: come again")
        except ClientDisconnect:
            return Response(status_code=400)

    def _refuse(self, request: Request, error: OperationError) -> Response:
        if error.code == Code.UNAUTHENTICATED:
            self._bad_tokens.count(_address(request), self._clock.now())
        return _error(_STATUS[error.code], error.code, str(error))

    async def _join(self, request: Request) -> dict[str, Any]:
        token = self._bearer(request)
        body = parse(JoinBody, await _body(request))
        wanted = JoinRequest(
            token=token,
            nonce=body.nonce,
            identity=Secret(body.identity),
            hostname=body.hostname,
            reported_node_name=body.inventory.os.kubernetes_node_name,
            devices=body.inventory.devices,
        )
        joined = await self._ask(partial(join, self._store, wanted))
        _LOG.info("node %s joined pool %s", joined.node_id, joined.pool_id)
        return {"nodeId": joined.node_id, "heartbeatSeconds": HEARTBEAT_SECONDS}

    async def _heartbeat(self, request: Request) -> dict[str, Any]:
        identity = self._bearer(request)
        body = parse(HeartbeatBody, await _body(request))
        node = await self._node(identity, body.node_id)
        if body.inventory is not None:
            await self._ask(partial(self._report, node, body.inventory))
        self._heartbeats.beat(node)
        standing = await self._ask(partial(bookings_for_node, self._store, node.id))
        return {"bookingsVersion": standing.version}

    def _report(self, node: PoolNode, told: Inventory) -> None:
        with self._store.write() as tx:
            report_inventory(
                tx,
                node,
                hostname=node.hostname,
                reported_node_name=told.os.kubernetes_node_name,
                devices=told.devices,
            )

    async def _bookings(self, request: Request) -> dict[str, Any]:
        identity = self._bearer(request)
        body = parse(BookingsBody, await _body(request))
        node = await self._node(identity, body.node_id)
        loop = asyncio.get_running_loop()
        until = loop.time() + body.wait_seconds
        while True:
            standing = await self._ask(partial(bookings_for_node, self._store, node.id))
            left = until - loop.time()
            if standing.version != body.version or left <= 0 or await request.is_disconnected():
                break
            await asyncio.sleep(min(_LOOK_AGAIN_SECONDS, left))
        return {
            "version": standing.version,
            "bookings": [
                {"reservationId": one.reservation_id, "deviceIds": list(one.device_ids)} for one in standing.bookings
            ],
        }

    async def _node(self, identity: Secret, node_id: str) -> PoolNode:
        node = await self._ask(partial(authenticate, self._store, identity))
        if node.id != node_id:
            raise _Refused(403, "this identity is another node's", Code.FORBIDDEN)
        return node

    def _bearer(self, request: Request) -> Secret:
        """The credential of a request, once it is known to be worth a look."""
        if self._bad_tokens.too_many(_address(request), self._clock.now()):
            raise _Refused(429, "too many credentials that are none: come again in a minute", Code.UNAUTHENTICATED)
        scheme, _, credential = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not 1 <= len(credential) <= _MAX_BEARER or not credential.isascii():
            raise _Refused(401, "expected 'Authorization: Bearer' with a credential", Code.UNAUTHENTICATED)
        return Secret(credential)

    async def _ask(self, call: Callable[[], Result]) -> Result:
        """Ask the store in one of a bounded number of threads."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(_STORE_CALLS_AT_ONCE)
        return await to_thread.run_sync(call, limiter=self._limiter)


async def _body(request: Request) -> bytes:
    """The body, if it is small enough and comes soon enough."""
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for chunk in request.stream():
                size += len(chunk)
                if size > MAX_REQUEST_BYTES:
                    raise _Refused(413, f"a body has at most {MAX_REQUEST_BYTES} bytes", Code.INVALID_INPUT)
                chunks.append(chunk)
    except TimeoutError:
        raise _Refused(408, "the body did not arrive in time", Code.INVALID_INPUT) from None
    return b"".join(chunks)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _error(status: int, code: Code, message: str) -> JSONResponse:
    return JSONResponse({"code": str(code), "message": message[:512]}, status_code=status)
