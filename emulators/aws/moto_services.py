# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EC2, IAM and STS: moto's own Flask applications, for the emulated account."""

from __future__ import annotations

import io
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from ..engine import Answer
from .account import ACCOUNT_ID, Account, Credentials
from .errors import AwsError
from .signature import Request

if TYPE_CHECKING:
    from flask import Flask

SERVICES: Final = ("ec2", "iam", "sts")

_READS: Final = ("Describe", "Get", "List")
_READS_TOO: Final = ("AssumeRole",)
"""Makes keys, but nothing that could be left behind."""


def action(request: Request) -> dict[str, str]:
    """The fields of a request in the query protocol, `Action` among them, from its query and its body."""
    body = request.body.decode("utf-8", errors="replace")
    return dict([*parse_qsl(request.query), *parse_qsl(body)])


def is_mutating(name: str) -> bool:
    """Whether an action changes something that exists."""
    return not name.startswith((*_READS, *_READS_TOO))


class MotoServices:
    """Hands requests on to moto. Each service is loaded when it is first asked for."""

    def __init__(self, account: Account) -> None:
        """Arguments: account: whose network is seeded before EC2 is first asked."""
        self._account = account
        self._apps: dict[str, Flask] = {}
        self._lock = Lock()

    def answer(self, service: str, environ: dict[str, Any], request: Request, caller: Credentials) -> Answer:
        """Carry a request out.

        Arguments:
            environ: the WSGI environment that it came with.

        Raises:
            AwsError: what moto would let pass.
        """
        from werkzeug.wrappers import Response

        fields = action(request)
        if fields.get("Action") == "AssumeRole" and not self._account.role_exists(fields.get("RoleArn", "")):
            text = (
                f"User: {caller.caller_arn} is not authorized to perform: sts:AssumeRole "
                f"on resource: {fields.get('RoleArn')}"
            )
            raise AwsError(403, "AccessDenied", text)
        inner = {**environ, "wsgi.input": io.BytesIO(request.body), "HTTP_X_MOTO_ACCOUNT_ID": ACCOUNT_ID}
        response = Response.from_app(self._app(service), inner, buffered=True)
        kept = {name: value for name, value in response.headers.items() if name.lower() != "content-length"}
        return Answer(status=response.status_code, body=response.get_data(), headers=kept)

    def _app(self, service: str) -> Flask:
        with self._lock:
            if service not in self._apps:
                from moto.moto_server.werkzeug_app import create_backend_app

                if service == "ec2":
                    self._account.seed_network()
                self._apps[service] = create_backend_app(service)  # type: ignore[arg-type] # one of SERVICES
            return self._apps[service]
