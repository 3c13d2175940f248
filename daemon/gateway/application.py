# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway's ASGI application: three calls, checked, answered from nodes/ and booking/, and quiet about secrets.

Every refusal is `{code, message}` (wire/). 401 is said of an unknown credential alone: bcd joins anew when it hears it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.standing import (
    Bookings,
    bookings_for_nodes,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import Clock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    OperationError,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import HEARTBEAT_SECONDS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.credentials import good_credentials
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.heartbeat import Heartbeats
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.joining import (
    Joined,
    JoinRefused,
    JoinRequest,
    join_all,
    take_inventory,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store

from ..metrics import GatewayMetrics
from ..web.answers import STATUS, other_method, unknown_path
from ..web.answers import error as error_answer
from ..web.bad_tokens import BadTokens
from ..web.requests import Refused, read_bearer, read_body
from ..web.store_calls import StoreCalls
from .callers import READS_AT_ONCE, Caller, Callers, callers
from .good_credentials import GoodCredentials
from .messages import BookingsBody, HeartbeatBody, JoinBody, parse
from .together import Together
from .waiting import BookingsWatch

_LOG = logging.getLogger(__name__)

_WRITES_AT_ONCE = 4
"""Threads that write to the database: inventories that changed, and joins, which are many in one transaction."""

_JOINS_AT_ONCE = 2
"""Transactions of joins: what a lock holds up in one pool holds up no more than one of them at first."""

_MOST_JOINS = 100
"""In one transaction: a tenth of a second, for which SQLite keeps all other writers out."""

_JOIN_SECONDS = 60.0
"""After which bcd gives a join up."""

_ELSEWHERE = " (wire/bcd-gateway.v1.json); the API of the settings' [api] has an address of its own"
"""Whoever looks for the API finds the gateway first."""

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A request that is worth a look: its credential and its body."""

    address: str
    bearer: Secret
    body: bytes


class Gateway:
    """What the calls share."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        heartbeats: Heartbeats,
        metrics: GatewayMetrics,
        together_seconds: float,
    ) -> None:
        """Keep the doors.

        Arguments:
            heartbeats: where heartbeats are noted; whoever runs the gateway flushes them.
            metrics: counts what is answered.
            together_seconds: for which the first of those who call, or join, waits for others: one question for all.
        """
        self._metrics = metrics
        self._store = store
        self._clock = clock
        self._heartbeats = heartbeats
        self._bad_tokens = BadTokens()
        self._calls = StoreCalls(at_once=_WRITES_AT_ONCE)
        self._reads = StoreCalls(at_once=READS_AT_ONCE)
        self._callers = Callers(
            lambda identities: self._reads.ask(partial(callers, store, identities)), together_seconds=together_seconds
        )
        self._joins: Together[JoinRequest, Joined] = Together(
            lambda wanted: self._calls.ask(partial(join_all, store, wanted)),
            together_seconds=together_seconds,
            at_once=_JOINS_AT_ONCE,
            most=_MOST_JOINS,
            seconds=_JOIN_SECONDS,
        )
        self._good = GoodCredentials(lambda: self._reads.ask(partial(good_credentials, store)))
        self._watch = BookingsWatch(lambda nodes: self._reads.ask(partial(_standing, store, nodes)))

    def application(self) -> ASGIApp:
        """The ASGI application: plain, since three calls need no router, whose layers every heartbeat would pay for."""
        calls = {"/v1/join": self._join, "/v1/heartbeat": self._heartbeat, "/v1/bookings": self._bookings}

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive)
            call = calls.get(scope["path"])
            if call is None:
                response = self._no_such_call(unknown_path(f"bcd's calls are POST {', '.join(calls)}{_ELSEWHERE}"))
            elif scope["method"] != "POST":
                response = self._no_such_call(other_method(["POST"]))
            else:
                response = await self._counted(call, scope["path"], request)
            await response(scope, receive, send)

        return application

    def stop_waiting(self) -> None:
        """Answer all long polls now. To be called in the event loop."""
        self._watch.stop()

    def close(self) -> None:
        """Ask the store nothing more."""
        self._calls.close()
        self._reads.close()

    async def _counted(self, answer: Callable[[_Call], Awaitable[Answer]], path: str, request: Request) -> Response:
        began = time.monotonic()
        response = await self._answer(answer, request)
        self._metrics.answered(path.rpartition("/")[2], response.status_code, seconds=time.monotonic() - began)
        return response

    async def _answer(self, answer: Callable[[_Call], Awaitable[Answer]], request: Request) -> Response:
        try:
            # The body first: a connection whose request was read to its end can be used again after a refusal.
            body = await read_body(request)
            call = _Call(address=request.client.host if request.client else "", bearer=read_bearer(request), body=body)
            return JSONResponse(await self._checked(answer, call))
        except Refused as refused:
            return error_answer(refused.status, refused.code, refused.message, close=refused.close)
        except OperationError as error:
            return error_answer(STATUS[error.code], error.code, str(error))
        except StoreUnavailable:
            return error_answer(503, Code.INVALID_STATE, "the gateway cannot reach its records: come again")
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception:  # noqa: BLE001 -- the last edge: told by a reply, and in the log by kind and place
            _LOG.exception("a call failed: %s", request.url.path)
            return error_answer(500, Code.INVALID_STATE, "a fault of the gateway's own: come again")

    async def _checked(self, answer: Callable[[_Call], Awaitable[Answer]], call: _Call) -> Answer:
        """The answer, with the credential counted as good or bad by what became of it."""
        now = self._clock.now()
        too_many = self._bad_tokens.must_wait(call.address, call.bearer, now=now)
        if too_many and not await self._good.include(call.bearer):
            raise Refused(429, Code.UNAUTHENTICATED, "too many credentials that are none: come again in a minute")
        try:
            answered = await answer(call)
        except OperationError as error:
            if isinstance(error, JoinRefused):
                self._metrics.join_refused(error.why)
                _LOG.warning("a join was refused: %s", error.reason, extra={"address": call.address})
            if error.code == Code.UNAUTHENTICATED:
                self._bad_tokens.bad(call.address, call.bearer, now=now)
            raise
        self._bad_tokens.good(call.bearer)
        return answered

    async def _join(self, call: _Call) -> Answer:
        body = parse(JoinBody, call.body)
        wanted = JoinRequest(
            token=call.bearer,
            nonce=body.nonce,
            identity=Secret(body.identity),
            hostname=body.hostname,
            reported_node_name=body.inventory.os.kubernetes_node_name,
            devices=body.inventory.devices,
        )
        joined = await self._joins.ask(wanted)
        self._metrics.joined(joined.pool_id)
        _LOG.info("a node joined", extra={"pool": joined.pool_id, "node": joined.node_id, "address": call.address})
        return {"nodeId": joined.node_id, "heartbeatSeconds": HEARTBEAT_SECONDS}

    async def _heartbeat(self, call: _Call) -> Answer:
        body = parse(HeartbeatBody, call.body)
        caller = await self._caller(call.bearer, body.node_id)
        if body.inventory is not None:
            told = body.inventory
            await self._calls.ask(
                partial(
                    take_inventory,
                    self._store,
                    caller.node.id,
                    reported_node_name=told.os.kubernetes_node_name,
                    devices=told.devices,
                )
            )
        self._heartbeats.beat(caller.node)
        return {"bookingsVersion": caller.standing.version}

    async def _bookings(self, call: _Call) -> Answer:
        body = parse(BookingsBody, call.body)
        caller = await self._caller(call.bearer, body.node_id)
        standing = caller.standing
        if standing.version == body.version:
            with self._metrics.long_polls.track_inprogress():
                changed = await self._watch.changed(caller.node.id, body.version, seconds=body.wait_seconds)
            standing = changed or standing
        return {
            "version": standing.version,
            "bookings": [
                {"reservationId": one.reservation_id, "deviceIds": list(one.device_ids)} for one in standing.bookings
            ],
        }

    async def _caller(self, identity: Secret, node_id: str) -> Caller:
        caller = await self._callers.known(identity)
        if caller.node.id != node_id:
            raise OperationError(Code.FORBIDDEN, "this identity is another node's")
        return caller

    def _no_such_call(self, answer: Response) -> Response:
        self._metrics.answered("", answer.status_code, seconds=0.0)
        return answer


def _standing(store: Store, node_ids: frozenset[NodeId]) -> dict[NodeId, Bookings]:
    with store.read() as tx:
        return bookings_for_nodes(tx, node_ids)
