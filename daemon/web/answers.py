# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a refusal is told: `{code, message}` in JSON, with the HTTP status that goes with the code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code

MESSAGE_CHARACTERS = 512
"""Of an error of the gateway's (wire: error)."""

STATUS = {
    Code.INVALID_INPUT: 400,
    Code.UNAUTHENTICATED: 401,
    Code.FORBIDDEN: 403,
    Code.NOT_FOUND: 404,
    Code.CONFLICT: 409,
    Code.INVALID_STATE: 409,
    Code.QUOTA_EXCEEDED: 409,
    Code.UNSUPPORTED: 400,
    Code.UNAVAILABLE: 503,
}
"""The HTTP status of each code."""


def error(
    status: int, code: Code, message: str, *, close: bool = False, problems: Sequence[Mapping[str, str]] = ()
) -> JSONResponse:
    """A refusal; with `close` the connection is of no use any more."""
    content: dict[str, Any] = {"code": str(code), "message": message[:MESSAGE_CHARACTERS]}
    if problems:
        content["problems"] = list(problems)
    return JSONResponse(content, status_code=status, headers={"Connection": "close"} if close else None)


def unknown_path(what_is_there: str) -> JSONResponse:
    """404 for a path that nobody answers. The path is not told back: it may hold anything."""
    return error(404, Code.NOT_FOUND, f"this path is unknown: {what_is_there}")


def other_method(allowed: Sequence[str]) -> JSONResponse:
    """405 for a path that is answered when it is asked by another method."""
    answer = error(405, Code.INVALID_INPUT, f"this method is not allowed here: use {' or '.join(allowed)}")
    answer.headers["Allow"] = ", ".join(allowed)
    return answer
