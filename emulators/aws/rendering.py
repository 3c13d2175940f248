# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How AWS's services word answers and refusals.

EKS does in JSON; STS, IAM and Auto Scaling in the query protocol's XML, EC2 in XML of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import uuid4
from xml.sax.saxutils import escape

from ..engine import Answer
from .errors import AwsError

XML: Final = "text/xml; charset=utf-8"
"""The content type of the query protocol and of EC2."""

_NOT_A_SERVER_ERROR: Final = 500


def refusal(service: str, error: AwsError) -> Answer:
    """The answer that carries a refusal.

    Arguments:
        service: `eks`, `ec2`, `autoscaling`, `sts`, `iam`.
    """
    return _RENDERERS.get(service, _json)(error)


def xml(value: Any, *, item: str, decapitalize: bool = False) -> str:
    """A value as the XML protocols have it.

    Arguments:
        value: objects, lists and plain values; None within an object is left out.
        item: what an entry of a list is called.
        decapitalize: whether names begin in lower case, as EC2's do.
    """
    if isinstance(value, dict):
        parts = []
        for key, inner in value.items():
            if inner is not None:
                name = key[:1].lower() + key[1:] if decapitalize else key
                parts.append(f"<{name}>{xml(inner, item=item, decapitalize=decapitalize)}</{name}>")
        return "".join(parts)
    if isinstance(value, list):
        return "".join(f"<{item}>{xml(inner, item=item, decapitalize=decapitalize)}</{item}>" for inner in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape(str(value))


def _json(error: AwsError) -> Answer:
    body = {**error.about, "message": error.message}
    return Answer(
        status=error.status,
        body=json.dumps(body).encode(),
        headers={
            "Content-Type": "application/json",
            "x-amzn-errortype": error.code,
            "x-amzn-requestid": str(uuid4()),
        },
    )


def _query(error: AwsError) -> Answer:
    side = "Sender" if error.status < _NOT_A_SERVER_ERROR else "Receiver"
    code = _QUERY_CODES.get(error.code, error.code)
    body = (
        f"<ErrorResponse><Error><Type>{side}</Type><Code>{escape(code)}</Code>"
        f"<Message>{escape(error.message)}</Message></Error><RequestId>{uuid4()}</RequestId></ErrorResponse>"
    )
    return Answer(status=error.status, body=body.encode(), headers={"Content-Type": XML})


def _ec2(error: AwsError) -> Answer:
    code = _EC2_CODES.get(error.code, error.code)
    body = (
        f"<Response><Errors><Error><Code>{escape(code)}</Code><Message>{escape(error.message)}</Message></Error>"
        f"</Errors><RequestID>{uuid4()}</RequestID></Response>"
    )
    return Answer(status=error.status, body=body.encode(), headers={"Content-Type": XML})


_RENDERERS: Final[Mapping[str, Callable[[AwsError], Answer]]] = {
    "autoscaling": _query,
    "sts": _query,
    "iam": _query,
    "ec2": _ec2,
}

_QUERY_CODES: Final = {
    "UnrecognizedClientException": "InvalidClientTokenId",
    "InvalidSignatureException": "SignatureDoesNotMatch",
    "ExpiredTokenException": "ExpiredToken",
    "MissingAuthenticationTokenException": "MissingAuthenticationToken",
}
"""What the query protocol calls the errors that JSON services name otherwise."""

_EC2_CODES: Final = {
    "UnrecognizedClientException": "AuthFailure",
    "InvalidSignatureException": "AuthFailure",
    "ExpiredTokenException": "RequestExpired",
}
