# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DigitalOcean's errors in the contract's words: by status; by text only where it gives two things one status.

Texts: provider-behaviours and the API's documentation. For what nobody has quoted yet (stockouts, names that are
taken, the last node pool) the patterns are wide, and what they miss is InvalidRequest with the text in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...model.errors import (
    AlreadyExists,
    InUse,
    InvalidRequest,
    NotFound,
    OperationInProgress,
    PermissionDenied,
    ProviderError,
    ProviderQuotaExceeded,
    StockedOut,
    Throttled,
    Unavailable,
)
from ..messages import bounded

_BY_ID: dict[str, type[ProviderError]] = {
    "unauthorized": PermissionDenied,
    "forbidden": PermissionDenied,
    "not_found": NotFound,
    "too_many_requests": Throttled,
    "server_error": Unavailable,
    "internal_server_error": Unavailable,
    "service_unavailable": Unavailable,
}
_BY_STATUS: dict[int, type[ProviderError]] = {
    401: PermissionDenied,
    403: PermissionDenied,
    404: NotFound,
    408: Unavailable,
    425: Unavailable,
    429: Throttled,
}
_SERVER_ERROR_STATUS = 500
_CONFLICT_STATUS = 409

_TAKEN = re.compile(r"already (exists|in use|taken)|must be unique|not unique|is taken", re.IGNORECASE)
_QUOTA = re.compile(
    r"droplet limit|(cluster|node|account|resource)s? limit|limit (reached|exceeded)|quota", re.IGNORECASE
)
_CAPACITY = re.compile(
    r"(out of|insufficient|not enough|no) (available )?(capacity|stock)|sold out"
    r"|(currently|temporarily) (unavailable|not available|restricted)",
    re.IGNORECASE,
)
_LAST_NODE_POOL = re.compile(r"at least one (worker |node )?(node ?)?pool|last (node )?pool", re.IGNORECASE)
_BUSY = re.compile(
    r"(currently|is (still )?being) (provision|upgrad|updat|delet|chang)|in progress|not running", re.IGNORECASE
)


def translate(error: Exception) -> ProviderError:
    """The contract's error for an exception of pydo's.

    Arguments:
        error: an AzureError (no answer, or one that is an error), or what a reply that is no JSON raises.
    """
    from azure.core.exceptions import AzureError, DecodeError, HttpResponseError

    if isinstance(error, HttpResponseError) and not isinstance(error, DecodeError):
        return refusal(status=error.status_code or 0, body=_body(error))
    if isinstance(error, DecodeError) or not isinstance(error, AzureError):
        # Its text quotes the reply, which may hold anything.
        return Unavailable("the answer is not one of DigitalOcean's: is there a proxy in between?")
    # Connections, time-outs, TLS: the call may have had its effect.
    return Unavailable(bounded(str(error)))


def refusal(*, status: int, body: Mapping[str, Any]) -> ProviderError:
    """The contract's error for an error reply.

    Arguments:
        status: the HTTP status; 0 where pydo gives the body alone.
        body: `{id, message}`, empty where the reply has none.
    """
    code, message = str(body.get("id") or ""), str(body.get("message") or "no message")
    kind = _BY_ID.get(code) or _kind(status=status, message=message)
    return kind(bounded(f"{message} ({code or status})"))


def refusal_in(reply: object) -> ProviderError | None:
    """The error that pydo gave for a reply, None when it is none: most calls give a 404's body instead of raising."""
    if isinstance(reply, Mapping) and isinstance(reply.get("id"), str) and "message" in reply:
        return refusal(status=0, body=reply)
    return None


def asked_wait(error: Exception) -> float:
    """How many seconds Retry-After asks to wait; 0 where there is none. Only bursts have one."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", 0)))
    except ValueError:
        return 0.0


def _body(error: Any) -> Mapping[str, Any]:
    try:
        body = error.response.json()
    except (AttributeError, ValueError):
        return {}  # a page of somebody in between: its text is not ours to show
    return body if isinstance(body, Mapping) else {}


def _kind(*, status: int, message: str) -> type[ProviderError]:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status == 0 or status >= _SERVER_ERROR_STATUS:
        return Unavailable
    for pattern, kind in (
        (_QUOTA, ProviderQuotaExceeded),
        (_CAPACITY, StockedOut),
        (_TAKEN, AlreadyExists),
        (_LAST_NODE_POOL, InUse),
        (_BUSY, OperationInProgress),
    ):
        if pattern.search(message):
            return kind
    return OperationInProgress if status == _CONFLICT_STATUS else InvalidRequest
