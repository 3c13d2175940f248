# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How Google refuses: a gRPC status, its text and, sometimes, the reason in an ErrorInfo."""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.any_pb2 import Any as Packed
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode

_HTTP: Final = {
    StatusCode.INVALID_ARGUMENT: 400,
    StatusCode.FAILED_PRECONDITION: 400,
    StatusCode.UNAUTHENTICATED: 401,
    StatusCode.PERMISSION_DENIED: 403,
    StatusCode.NOT_FOUND: 404,
    StatusCode.ALREADY_EXISTS: 409,
    StatusCode.ABORTED: 409,
    StatusCode.RESOURCE_EXHAUSTED: 429,
    StatusCode.INTERNAL: 500,
    StatusCode.UNIMPLEMENTED: 501,
    StatusCode.UNAVAILABLE: 503,
    StatusCode.DEADLINE_EXCEEDED: 504,
}
"""The HTTP status of each (google.rpc.Code)."""

_CODES: Final = {status: code for code, status in reversed(_HTTP.items())}

BUSY: Final = "CLUSTER_ALREADY_HAS_OPERATION"


class GcpError(Exception):
    """A refusal. Nothing has happened."""

    def __init__(self, code: StatusCode, message: str, *, reason: str | None = None) -> None:
        """Arguments: reason: ErrorInfo's; None for a refusal without details."""
        super().__init__(f"{code.name}: {message}")
        self.code = code
        self.message = message
        self.reason = reason

    @property
    def http_status(self) -> int:
        """The HTTP status that goes with it."""
        return _HTTP[self.code]

    def to_status(self) -> Status:
        """The message that travels in the trailers."""
        number: int = self.code.value[0]
        status = Status(code=number, message=self.message)
        if self.reason is not None:
            packed: Any = Packed()
            packed.Pack(ErrorInfo(reason=self.reason, domain="container.googleapis.com"))
            status.details.append(packed)
        return status


def of_http_status(status: int, code: str, message: str) -> GcpError:
    """A scripted refusal. Arguments: code: a status code's name (`FAILED_PRECONDITION`); else `status` decides."""
    named = StatusCode.__members__.get(code)
    return GcpError(named if named in _HTTP else _CODES.get(status, StatusCode.UNAVAILABLE), message)


def invalid(message: str) -> GcpError:
    """400: the request can never work."""
    return GcpError(StatusCode.INVALID_ARGUMENT, message)


def not_found(what: str) -> GcpError:
    """404."""
    return GcpError(StatusCode.NOT_FOUND, f"Not found: {what}.")


def already_exists(what: str) -> GcpError:
    """409."""
    return GcpError(StatusCode.ALREADY_EXISTS, f"Already exists: {what}.")


def busy(operation: str) -> GcpError:
    """400: another operation stands in the way."""
    return GcpError(
        StatusCode.FAILED_PRECONDITION, f"Cluster is running incompatible operation {operation}.", reason=BUSY
    )
