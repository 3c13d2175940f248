# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Google's errors in the contract's words: by status and reason; by text only where one status means several things.

Texts: replies quoted in public reports.
"""

from __future__ import annotations

import re
from typing import Any

from ...model.errors import (
    AlreadyExists,
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

_BY_STATUS: dict[str, type[ProviderError]] = {
    "NOT_FOUND": NotFound,
    "ALREADY_EXISTS": AlreadyExists,
    "PERMISSION_DENIED": PermissionDenied,
    "UNAUTHENTICATED": PermissionDenied,
    "RESOURCE_EXHAUSTED": Throttled,
    # A stale etag: somebody else changed it since; read again and come back.
    "ABORTED": OperationInProgress,
    "INVALID_ARGUMENT": InvalidRequest,
    "FAILED_PRECONDITION": InvalidRequest,
    "OUT_OF_RANGE": InvalidRequest,
    "UNIMPLEMENTED": InvalidRequest,
}
"""Any other (UNAVAILABLE, INTERNAL, DEADLINE_EXCEEDED, …) is Unavailable: the call may have had its effect."""

_BUSY_REASON = "CLUSTER_ALREADY_HAS_OPERATION"
_BUSY = re.compile(r"incompatible operation|operation \S+ is currently|please wait and try again", re.IGNORECASE)
_OPERATIONS = re.compile(r"concurrent operations|operations? quota", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient (regional |project )?quota|GCE_QUOTA_EXCEEDED", re.IGNORECASE)
_STOCKOUT = re.compile(r"GCE_STOCKOUT|does not have enough resources available", re.IGNORECASE)


def translate(error: Exception, *, operation: str) -> ProviderError:
    """The contract's error for an exception of Google's client.

    Arguments:
        error: a GoogleAPICallError (GKE answered with an error, or there was no answer), or another GoogleAPIError.
        operation: the client's name of the call, e.g. `create_node_pool`.
    """
    from google.api_core.exceptions import GoogleAPICallError

    name = "".join(part.title() for part in operation.split("_"))
    if not isinstance(error, GoogleAPICallError):
        return Unavailable(bounded(f"{name}: {error}"))
    return service_error(
        operation=name,
        status=getattr(error.grpc_status_code, "name", ""),
        message=str(error.message or ""),
        reason=str(error.reason or ""),
    )


def service_error(*, operation: str, status: str, message: str, reason: str = "") -> ProviderError:
    """The contract's error for an error reply.

    Arguments:
        operation: the API's name of the call, e.g. `CreateNodePool`.
        status: the gRPC status's name, e.g. `FAILED_PRECONDITION`.
        message: Google's own text.
        reason: the reason of the reply's ErrorInfo, or "".
    """
    kind = _kind(status=status, message=message, reason=reason)
    return kind(bounded(f"{operation}: {message or 'no message'} ({reason or status})"))


def operation_error(operation: Any) -> ProviderError | None:
    """Why GKE gave an operation up; None for one that is done.

    Arguments:
        operation: the API's Operation, whose status is DONE.
    """
    from google.rpc import code_pb2

    code, message = operation.error.code, operation.error.message
    if not code and not message:
        return None
    status = code_pb2.Code.Name(code) if code in code_pb2.Code.values() else str(code)
    why = service_error(operation=f"GKE gave up {operation.name}", status=status, message=message)
    # Machines that did not come are RESOURCE_EXHAUSTED as well: we did not ask too often.
    return Unavailable(str(why)) if isinstance(why, Throttled) else why


def condition_error(*, code: str, message: str) -> ProviderError | None:
    """What a condition of a cluster or node pool means: None for one that is no lack of machines or quota.

    Conditions stay after recovery: to be asked only of a resource whose status says that something is wrong.

    Arguments:
        code: the condition's code, e.g. `GCE_STOCKOUT`.
        message: its text.
    """
    told = f"{code} {message}"
    for pattern, kind in ((_STOCKOUT, StockedOut), (_QUOTA, ProviderQuotaExceeded)):
        if pattern.search(told):
            return kind(bounded(f"{message or 'no message'} ({code})"))
    return None


def _kind(*, status: str, message: str, reason: str) -> type[ProviderError]:
    if reason == _BUSY_REASON or (status == "FAILED_PRECONDITION" and _BUSY.search(message)):
        return OperationInProgress
    if status == "RESOURCE_EXHAUSTED" and _OPERATIONS.search(message):
        return OperationInProgress
    # A quota's refusal is a 403 too: only the text tells it from a missing permission.
    if _QUOTA.search(message):
        return ProviderQuotaExceeded
    if _STOCKOUT.search(message):
        return StockedOut
    return _BY_STATUS.get(status, Unavailable)
