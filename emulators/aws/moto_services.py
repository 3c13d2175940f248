# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""IAM and STS: moto's own Flask applications, for the emulated account."""

from __future__ import annotations

import io
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from ..engine import Answer
from . import query_protocol
from .account import ACCOUNT_ID, Account, Credentials
from .errors import AwsError
from .signature import Request

if TYPE_CHECKING:
    from flask import Flask

SERVICES: Final = ("iam", "sts")


class MotoServices:
    """Hands requests on to moto. Each service is loaded when it is first asked for."""

    def __init__(self, account: Account) -> None:
        """Arguments: account: whose roles can be assumed."""
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

        fields = query_protocol.fields(request)
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

                self._apps[service] = create_backend_app(service)  # type: ignore[arg-type] # one of SERVICES
            return self._apps[service]
