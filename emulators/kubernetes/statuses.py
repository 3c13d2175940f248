# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals as the real API words them: a Status object with code, reason, message and details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class ApiRefusal(Exception):
    """A request that is refused. Carries what the Status object says."""

    def __init__(
        self, code: int, message: str, *, reason: str | None = None, details: Mapping[str, Any] | None = None
    ) -> None:
        """Arguments: code: HTTP status; reason: the machine-readable word, by the code when not given."""
        super().__init__(message)
        self.code = code
        self.reason = reason if reason is not None else _REASONS.get(code, "")
        self.details = dict(details or {})

    def to_status(self) -> dict[str, Any]:
        """The Status object."""
        return failure(self.code, self.reason, str(self), self.details)


def failure(code: int, reason: str, message: str, details: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A Status object that says what failed."""
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    if details:
        status["details"] = dict(details)
    return status


def not_found(plural: str, name: str) -> ApiRefusal:
    """404 for an object."""
    return ApiRefusal(404, f'{plural} "{name}" not found', details={"name": name, "kind": plural})


def conflict(plural: str, name: str, message: str) -> ApiRefusal:
    """409 because the object is not as the caller thinks."""
    return ApiRefusal(
        409,
        f'Operation cannot be fulfilled on {plural} "{name}": {message}',
        details={"name": name, "kind": plural},
    )


def invalid(kind: str, name: str, problems: Sequence[tuple[str, str]]) -> ApiRefusal:
    """422 with (field, message) for each problem."""
    text = ", ".join(f"{field}: {message}" for field, message in problems)
    causes = [{"reason": "FieldValueInvalid", "message": message, "field": field} for field, message in problems]
    return ApiRefusal(
        422,
        f'{kind} "{name}" is invalid: {text if len(problems) == 1 else f"[{text}]"}',
        details={"name": name, "kind": kind, "causes": causes},
    )
