# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Google's error replies and conditions, in the contract's words."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import errors
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.errors import (
    condition_error,
    service_error,
)


@pytest.mark.parametrize(
    ("status", "reason", "message", "kind"),
    [
        ("FAILED_PRECONDITION", "CLUSTER_ALREADY_HAS_OPERATION", "busy", errors.OperationInProgress),
        (
            "FAILED_PRECONDITION",
            "",
            "Cluster is running incompatible operation operation-1.",
            errors.OperationInProgress,
        ),
        ("FAILED_PRECONDITION", "", "Operation o-1 is currently creating a node pool.", errors.OperationInProgress),
        ("FAILED_PRECONDITION", "", "something else", errors.InvalidRequest),
        ("RESOURCE_EXHAUSTED", "", "Concurrent operations quota (5) reached", errors.OperationInProgress),
        ("RESOURCE_EXHAUSTED", "", "Quota exceeded for read requests per minute", errors.Throttled),
        ("PERMISSION_DENIED", "", "Insufficient regional quota to satisfy request", errors.ProviderQuotaExceeded),
        ("PERMISSION_DENIED", "", 'Required "container.clusters.create" permission(s)', errors.PermissionDenied),
        ("NOT_FOUND", "", 'Not found: node pool "x" not found.', errors.NotFound),
        ("ALREADY_EXISTS", "", "Already exists: projects/p", errors.AlreadyExists),
        ("ABORTED", "", "etag", errors.OperationInProgress),
        ("A_STATUS_OF_TOMORROW", "", "", errors.Unavailable),
    ],
)
def test_a_reply_is_typed_by_what_the_caller_should_do(
    status: str, reason: str, message: str, kind: type[errors.ProviderError]
) -> None:
    error = service_error(operation="CreateNodePool", status=status, message=message, reason=reason)

    assert type(error) is kind
    assert message in str(error)


def test_a_long_text_is_cut() -> None:
    assert len(str(service_error(operation="GetCluster", status="INTERNAL", message="x" * 5000))) == 600


def test_a_condition_of_lacking_machines_or_quota_is_typed_and_no_other_is() -> None:
    assert type(condition_error(code="GCE_STOCKOUT", message="none")) is errors.StockedOut
    assert type(condition_error(code="GCE_QUOTA_EXCEEDED", message="none")) is errors.ProviderQuotaExceeded
    assert condition_error(code="CA_EXPIRING", message="soon") is None
