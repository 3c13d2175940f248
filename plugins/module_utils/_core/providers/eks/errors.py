# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""AWS's errors in the contract's words: by code; by text only where AWS gives two different things one code.

Codes and texts: botocore's models of EKS, EC2, IAM and STS, and replies quoted in public reports.
"""

from __future__ import annotations

import re

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

_BY_CODE: dict[str, type[ProviderError]] = {
    # A code stands here without its "Exception": services differ in whether they write it.
    **dict.fromkeys(
        (
            "Throttling",
            "Throttled",
            "RequestThrottled",
            "TooManyRequests",
            "RequestLimitExceeded",
            "EC2Throttled",
            "BandwidthLimitExceeded",
            "PriorRequestNotComplete",
            "SlowDown",
        ),
        Throttled,
    ),
    **dict.fromkeys(
        (
            "Server",
            "ServiceUnavailable",
            "Unavailable",
            "InternalError",
            "InternalFailure",
            "InternalServerError",
            "RequestTimeout",
            # 428: a new role or policy has not reached EKS yet.
            "ResourcePropagationDelay",
        ),
        Unavailable,
    ),
    **dict.fromkeys(
        (
            "AccessDenied",
            "AuthFailure",
            "ExpiredToken",
            "IncompleteSignature",
            "InvalidAccessKeyId",
            "InvalidClientTokenId",
            "InvalidSignature",
            "MissingAuthenticationToken",
            "OptInRequired",
            "RequestExpired",
            "SignatureDoesNotMatch",
            "Unauthorized",
            "UnauthorizedOperation",
            "UnrecognizedClient",
        ),
        PermissionDenied,
    ),
    **dict.fromkeys(
        (
            "ResourceLimitExceeded",
            "LimitExceeded",
            "ServiceQuotaExceeded",
            "InstanceLimitExceeded",
            "VcpuLimitExceeded",
            "MaxSpotInstanceCountExceeded",
        ),
        ProviderQuotaExceeded,
    ),
    **dict.fromkeys(
        ("InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacity", "UnfulfillableCapacity"),
        StockedOut,
    ),
    **dict.fromkeys(("ResourceNotFound", "NotFound", "NoSuchEntity"), NotFound),
}

_BY_TEXT: tuple[tuple[frozenset[str], re.Pattern[str], type[ProviderError]], ...] = (
    (
        frozenset({"Client", "InvalidRequest", "InvalidParameter"}),
        re.compile(r"rate exceeded|too many requests", re.IGNORECASE),
        Throttled,
    ),
    # IAM is eventually consistent: a role made a moment ago cannot be assumed yet. Come again, rather than Throttled:
    # we did not ask too often. A role that can never be assumed looks the same, so its text is shown each time.
    (
        frozenset({"InvalidParameter", "InvalidRequest"}),
        re.compile(r"could not be assumed", re.IGNORECASE),
        Unavailable,
    ),
    (
        frozenset({"Client"}),
        re.compile(r"no (cluster|node ?group|update) found|(cluster|node ?group) not found", re.IGNORECASE),
        NotFound,
    ),
    # "Cluster 'x' is not in ACTIVE status": what CreateNodegroup says while the cluster is busy.
    (
        frozenset({"InvalidRequest", "InvalidParameter"}),
        re.compile(r"\bnot (currently )?(in )?(an? )?active\b", re.IGNORECASE),
        OperationInProgress,
    ),
    # 409 is one code for three things.
    (frozenset({"ResourceInUse"}), re.compile(r"\battached\b", re.IGNORECASE), InUse),
    (frozenset({"ResourceInUse"}), re.compile(r"already (exists|in use)", re.IGNORECASE), AlreadyExists),
    (frozenset({"ResourceInUse"}), re.compile(""), OperationInProgress),
)

_SERVER_ERROR_STATUS = 500
_SIGNATURE_CODES = frozenset({"SignatureDoesNotMatch", "InvalidSignature", "IncompleteSignature"})


def translate(error: Exception) -> ProviderError:
    """The contract's error for an exception of botocore.

    Arguments:
        error: a ClientError (the service answered with an error), a ResponseParserError (the answer is not AWS's) or a
            BotoCoreError (no answer, or no call made).
    """
    from botocore.exceptions import ClientError
    from botocore.parsers import ResponseParserError

    if isinstance(error, ClientError):
        reply = error.response
        body = reply.get("Error", {})
        return service_error(
            operation=error.operation_name,
            code=str(body.get("Code", "")),
            message=str(body.get("Message", "")),
            status=reply.get("ResponseMetadata", {}).get("HTTPStatusCode", 0),
        )
    if isinstance(error, ResponseParserError):
        # Its text quotes the whole body, which may be a proxy's page or anything.
        return Unavailable("the answer is not one of AWS's: is there a proxy in between?")
    return _sdk_error(error)


def service_error(*, operation: str, code: str, message: str, status: int) -> ProviderError:
    """The contract's error for an error reply of a service.

    Arguments:
        operation: the API's name of the call, e.g. `CreateCluster`.
        code: the service's error code, with or without "Exception".
        message: the service's own text.
        status: the HTTP status, 0 when unknown.
    """
    if code.removesuffix("Exception") in _SIGNATURE_CODES:
        # The rest of the text is the request as AWS saw it: with a session token in it, for temporary credentials.
        message = message.partition("\n")[0]
    text = bounded(f"{operation}: {message or 'no message'} ({code or status})")
    return _kind(code=code.removesuffix("Exception"), message=message, status=status)(text)


def _kind(*, code: str, message: str, status: int) -> type[ProviderError]:
    if code in _BY_CODE:
        return _BY_CODE[code]
    for codes, pattern, kind in _BY_TEXT:
        if code in codes and pattern.search(message):
            return kind
    if code.endswith(".NotFound"):  # EC2: InvalidSubnetID.NotFound
        return NotFound
    if status == 0 or status >= _SERVER_ERROR_STATUS:
        return Unavailable
    # A gateway in between answers without a code that the models know.
    return {401: PermissionDenied, 403: PermissionDenied, 408: Unavailable, 429: Throttled}.get(status, InvalidRequest)


def _sdk_error(error: Exception) -> ProviderError:
    from botocore import exceptions

    text = bounded(str(error))
    denied = (
        exceptions.NoCredentialsError,
        exceptions.PartialCredentialsError,
        exceptions.CredentialRetrievalError,
        exceptions.ProfileNotFound,
        exceptions.TokenRetrievalError,
        exceptions.SSOError,
        exceptions.UnauthorizedSSOTokenError,
        exceptions.ConfigParseError,
    )
    if isinstance(error, denied):
        return PermissionDenied(text)
    never = (exceptions.ParamValidationError, exceptions.ValidationError, exceptions.BaseEndpointResolverError)
    if isinstance(error, never):
        return InvalidRequest(text)
    # Connections, time-outs, TLS, replies that make no sense: the call may have had its effect.
    return Unavailable(text)
