# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""AWS's error replies and the SDK's exceptions in the contract's words."""

from __future__ import annotations

import pytest
from botocore import exceptions

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import errors as ours
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.errors import (
    service_error,
    translate,
)


@pytest.mark.parametrize(
    ("code", "status", "message", "kind"),
    [
        ("ThrottlingException", 429, "Rate exceeded", ours.Throttled),
        ("Throttling", 400, "Rate exceeded", ours.Throttled),
        ("TooManyRequestsException", 429, "Too Many Requests", ours.Throttled),
        ("RequestLimitExceeded", 503, "Request limit exceeded.", ours.Throttled),
        ("InvalidRequestException", 400, "Rate exceeded", ours.Throttled),
        ("InvalidParameterException", 400, "rate exceeded for role", ours.Throttled),
        ("", 429, "", ours.Throttled),
        ("ServerException", 500, "Internal failure", ours.Unavailable),
        ("ServiceUnavailableException", 503, "Service is unavailable", ours.Unavailable),
        ("502", 502, "Bad Gateway", ours.Unavailable),
        ("ResourcePropagationDelayException", 428, "not yet", ours.Unavailable),
        (
            "InvalidParameterException",
            400,
            "Role could not be assumed because the trusted entity is not correct",
            ours.Unavailable,
        ),
        ("ResourceInUseException", 409, "Cluster already exists with name: bc-1", ours.AlreadyExists),
        (
            "ResourceInUseException",
            409,
            "The specified access entry resource is already in use on this cluster.",
            ours.AlreadyExists,
        ),
        ("ResourceInUseException", 409, "Cluster has nodegroups attached", ours.InUse),
        ("ResourceInUseException", 409, "Cluster has an update in progress", ours.OperationInProgress),
        (
            "ResourceInUseException",
            409,
            "Nodegroup cannot be updated as it is currently not in Active State",
            ours.OperationInProgress,
        ),
        ("InvalidRequestException", 400, "Cluster 'bc-1' is not in ACTIVE status", ours.OperationInProgress),
        ("ResourceNotFoundException", 404, "No cluster found for name: bc-1.", ours.NotFound),
        ("ClientException", 400, "No cluster found for name: bc-1.", ours.NotFound),
        ("InvalidSubnetID.NotFound", 400, "The subnet ID 'subnet-1' does not exist", ours.NotFound),
        ("NoSuchEntity", 404, "The role with name x cannot be found.", ours.NotFound),
        ("ResourceLimitExceededException", 400, "You reached the limit of clusters", ours.ProviderQuotaExceeded),
        ("AccessDeniedException", 403, "not authorized to perform: eks:CreateCluster", ours.PermissionDenied),
        ("UnauthorizedOperation", 403, "You are not authorized", ours.PermissionDenied),
        ("ExpiredTokenException", 403, "The security token included in the request is expired", ours.PermissionDenied),
        ("UnrecognizedClientException", 403, "The security token is invalid.", ours.PermissionDenied),
        ("Whatever", 403, "no", ours.PermissionDenied),
        ("InvalidParameterException", 400, "Subnets specified must be in at least two AZs", ours.InvalidRequest),
        ("UnsupportedAvailabilityZoneException", 400, "us-east-1e", ours.InvalidRequest),
        ("ClientException", 400, "nonsense", ours.InvalidRequest),
    ],
)
def test_a_reply_becomes_the_error_that_says_what_to_do_next(
    code: str, status: int, message: str, kind: type[ours.ProviderError]
) -> None:
    assert service_error(operation="Call", code=code, message=message, status=status).__class__ is kind


def test_the_text_names_the_call_and_keeps_the_providers_own_message() -> None:
    error = service_error(operation="CreateCluster", code="X", message="Please\n  mend it", status=400)
    assert str(error) == "CreateCluster: Please mend it (X)"


def test_a_long_message_is_cut() -> None:
    assert len(str(service_error(operation="Call", code="X", message="y" * 10_000, status=400))) <= 600


@pytest.mark.parametrize("code", ["SignatureDoesNotMatch", "InvalidSignatureException"])
def test_the_session_token_that_aws_quotes_after_a_wrong_signature_is_left_out(code: str) -> None:
    message = (
        "The request signature does not match.\n\nThe Canonical String was\n'POST\nx-amz-security-token:TOPSECRET'"
    )
    error = service_error(operation="CreateCluster", code=code, message=message, status=403)
    assert isinstance(error, ours.PermissionDenied)
    assert "TOPSECRET" not in str(error)


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (exceptions.ReadTimeoutError(endpoint_url="https://x"), ours.Unavailable),
        (exceptions.ConnectTimeoutError(endpoint_url="https://x"), ours.Unavailable),
        (exceptions.ConnectionClosedError(endpoint_url="https://x"), ours.Unavailable),
        (exceptions.EndpointConnectionError(endpoint_url="https://x"), ours.Unavailable),
        (exceptions.NoCredentialsError(), ours.PermissionDenied),
        (exceptions.ProfileNotFound(profile="x"), ours.PermissionDenied),
        (exceptions.CredentialRetrievalError(provider="x", error_msg="y"), ours.PermissionDenied),
        (exceptions.ParamValidationError(report="x"), ours.InvalidRequest),
        (exceptions.NoRegionError(), ours.InvalidRequest),
        (exceptions.ClientError({}, "ListNodegroups"), ours.Unavailable),
    ],
)
def test_an_exception_of_the_sdk_becomes_a_provider_error(raised: Exception, kind: type[ours.ProviderError]) -> None:
    assert translate(raised).__class__ is kind
