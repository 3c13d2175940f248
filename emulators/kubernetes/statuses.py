# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals as the real API words them: a Status object with code, reason, message and details."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..engine import Answer

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    501: "NotImplemented",
    503: "ServiceUnavailable",
    504: "Timeout",
}

_CAUSES = {
    "Required value": "FieldValueRequired",
    "Duplicate value": "FieldValueDuplicate",
    "Not found": "FieldValueNotFound",
    "Unsupported value": "FieldValueNotSupported",
    "Too long": "FieldValueTooLong",
    "Forbidden": "FieldValueForbidden",
}


class ApiRefusal(Exception):
    """A request that is refused. Carries what the Status object says."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        reason: str | None = None,
        details: Mapping[str, Any] | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Arguments: code: HTTP status; reason: the machine-readable word, by the code when not given."""
        super().__init__(message)
        self.code = code
        self.reason = reason if reason is not None else _REASONS.get(code, "")
        self.details = dict(details or {})
        self.metadata = dict(metadata or {})

    def to_answer(self) -> Answer:
        """The answer with the Status object in it."""
        status = failure(self.code, self.reason, str(self), self.details)
        return rendered(self.code, status | {"metadata": self.metadata})


def rendered(code: int, body: Mapping[str, Any]) -> Answer:
    """The answer with an object in it."""
    return Answer(status=code, body=json.dumps(body).encode(), headers={"Content-Type": "application/json"})


def failure(code: int, reason: str, message: str, details: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A Status object that says what failed."""
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        **({"reason": reason} if reason else {}),
        "code": code,
    }
    if details:
        status["details"] = dict(details)
    return status


def not_emulated(what: str) -> ApiRefusal:
    """501 for what a kube-apiserver answers and this one does not, because the product never sends it.

    Never one of the API's own refusals: a 404 would tell the product that something is not there.

    Arguments:
        what: named in the message.
    """
    return ApiRefusal(501, f"the emulated Kubernetes API does not answer {what}: the product never sends it")


def not_found(resource: str, name: str) -> ApiRefusal:
    """404 for an object. `resource`: as messages name it, `daemonsets.apps`."""
    return ApiRefusal(404, f'{resource} "{name}" not found', details=_of(resource, name))


def already_exists(resource: str, name: str, *, is_going: bool) -> ApiRefusal:
    """409 because an object of that name stands there, or is just being deleted."""
    start = "object is being deleted: " if is_going else ""
    message = f'{start}{resource} "{name}" already exists'
    return ApiRefusal(409, message, reason="AlreadyExists", details=_of(resource, name))


def conflict(resource: str, name: str, message: str) -> ApiRefusal:
    """409 because the object is not as the caller thinks."""
    return ApiRefusal(
        409, f'Operation cannot be fulfilled on {resource} "{name}": {message}', details=_of(resource, name)
    )


def invalid(kind: str, name: str, problems: Sequence[tuple[str, str]]) -> ApiRefusal:
    """422 with (field, message) for each problem. `kind`: with its group, `DaemonSet.apps`."""
    text = ", ".join(f"{field}: {message}" for field, message in problems)
    causes = [{"reason": _cause(message), "message": message, "field": field} for field, message in problems]
    return ApiRefusal(
        422,
        f'{kind} "{name}" is invalid: {text if len(problems) == 1 else f"[{text}]"}',
        details={**_of(kind, name), "causes": causes},
    )


def _of(resource: str, name: str) -> dict[str, Any]:
    """The details that name an object."""
    kind, _dot, group = resource.partition(".")
    return {"name": name, **({"group": group} if group else {}), "kind": kind}


def _cause(message: str) -> str:
    """The machine-readable word for a problem, which its message begins with."""
    return next((reason for start, reason in _CAUSES.items() if message.startswith(start)), "FieldValueInvalid")
