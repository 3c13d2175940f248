# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulator's one loopback port: tells AWS's services apart, checks signatures, and passes requests on.

A service is recognised as AWS's own front door cannot be fooled about it: by the scope that the request is signed for.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from ..engine import Answer, Call, Engine, InjectedError, ReplyLost
from ..http_server import Environ, HttpServer, StartResponse
from . import auto_scaling, ec2, moto_services, query_protocol, rendering, signature
from .account import REGION, Account
from .eks import EksService, shapes
from .errors import AwsError
from .moto_services import MotoServices
from .signature import Request

CLOUD: Final = "aws"

_TARGETS: Final = ("RoleArn", "AutoScalingGroupName", "InstanceId")
"""The fields of the query protocol that say what a request is about."""


class AwsServer(HttpServer):
    """Serves EKS, EC2, Auto Scaling, IAM and STS at `url`."""

    def __init__(self, *, engine: Engine, account: Account, eks: EksService) -> None:
        """Listen on a free loopback port; `start` serves it."""
        self._engine = engine
        self._account = account
        self._eks = eks
        self._moto = MotoServices(account)
        super().__init__(self._serve, name="emulated-aws")

    def _serve(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        request = _request(environ)
        service = "eks"
        try:
            signed = signature.read_header(request.headers)
            service = signed.service
            call = _call(service, request)
            answer = self._engine.handle(call, lambda: self._answer(environ, request, signed))
        except AwsError as error:
            answer = rendering.refusal(service, error)
        except InjectedError as error:
            answer = rendering.refusal(service, AwsError(error.status, error.code, error.message))
        except ReplyLost:
            connection: socket.socket = environ["werkzeug.socket"]
            connection.shutdown(socket.SHUT_RDWR)
            answer = Answer(status=500)
        start_response(f"{answer.status} -", [*answer.headers.items(), ("Content-Length", str(len(answer.body)))])
        return [answer.body]

    def _answer(self, environ: Environ, request: Request, signed: signature.Signature) -> Answer:
        """The effect of a request, with AWS's refusals already worded."""
        try:
            # boto3 signs with the machine's clock, whatever the engine's one says.
            caller = signature.verify(
                signed, request, account=self._account, now=datetime.now(UTC), today=self._engine.clock.now()
            )
            if signed.region != REGION:
                raise AwsError(403, "InvalidSignatureException", f"Credential should be scoped to region '{REGION}'.")
            if signed.service == "eks":
                return self._eks.answer(request, caller)
            if signed.service == "ec2":
                return ec2.answer(request)
            if signed.service == auto_scaling.SERVICE:
                return auto_scaling.answer(request, self._eks.auto_scaling_groups)
            return self._moto.answer(signed.service, environ, request, caller)
        except AwsError as error:
            return rendering.refusal(signed.service, error)


def _request(environ: Environ) -> Request:
    path, _question_mark, query = environ["REQUEST_URI"].partition("?")
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    if environ.get("CONTENT_TYPE"):
        headers["content-type"] = environ["CONTENT_TYPE"]
    length = int(environ.get("CONTENT_LENGTH") or 0)
    return Request(
        method=environ["REQUEST_METHOD"],
        path=path,
        query=query,
        headers=headers,
        body=environ["wsgi.input"].read(length),
    )


def _call(service: str, request: Request) -> Call:
    """What the request log and the fault script call it.

    Raises:
        AwsError: no such service or operation.
    """
    if service == "eks":
        operation, path = shapes.route(request.method, request.path)
        return Call(
            cloud=CLOUD,
            name=f"eks.{operation.name}",
            target=shapes.target(path, request.body),
            mutating=shapes.is_mutating(operation),
        )
    if service not in (*moto_services.SERVICES, "ec2", auto_scaling.SERVICE):
        raise AwsError(501, "NotImplementedException", f"The emulator has no service {service}.")
    fields = query_protocol.fields(request)
    name = fields.get("Action", "")
    return Call(
        cloud=CLOUD,
        name=f"{service}.{name}",
        target=next((fields[name] for name in _TARGETS if name in fields), ""),
        mutating=query_protocol.is_mutating(name),
    )
