# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a node group failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import errors as ours
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.health import failure

if TYPE_CHECKING:
    from mypy_boto3_eks.type_defs import IssueTypeDef

STOCKOUT: IssueTypeDef = {
    "code": "AsgInstanceLaunchFailures",
    "message": (
        "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have sufficient"
        " p2.xlarge capacity in the Availability Zone you requested (us-east-1a). Launching EC2 instance failed."
    ),
    "resourceIds": ["eks-h100-0ab"],
}
NOT_JOINED: IssueTypeDef = {
    "code": "NodeCreationFailure",
    "message": "Instances failed to join the kubernetes cluster",
    "resourceIds": ["DUMMY_3cb6", "i-0123"],
}
NO_QUOTA: IssueTypeDef = {
    "code": "AsgInstanceLaunchFailures",
    "message": (
        "Could not launch On-Demand Instances. VcpuLimitExceeded - You have requested more vCPU capacity than your"
        " current vCPU limit of 0 allows for the instance bucket."
    ),
    "resourceIds": [],
}


def issue(code: str, message: str = "text") -> IssueTypeDef:
    return {"code": code, "message": message, "resourceIds": []}  # type: ignore[typeddict-item]  # any code at all


def test_a_stockout_is_the_reason_and_the_nodes_that_did_not_join_only_its_consequence() -> None:
    reason = failure([NOT_JOINED, STOCKOUT])
    assert reason.__class__ is ours.StockedOut
    assert str(reason).startswith("AsgInstanceLaunchFailures: Could not launch On-Demand Instances.")
    assert "NodeCreationFailure" in str(reason)


def test_machines_that_never_join_are_for_the_owner_to_mend_unless_something_else_kept_them_away() -> None:
    assert failure([NOT_JOINED]).__class__ is ours.InvalidRequest
    assert failure([NOT_JOINED, issue("InternalFailure")]).__class__ is ours.Unavailable
    assert failure([NOT_JOINED, issue("AsgInstanceLaunchFailures", "Rate exceeded")]).__class__ is ours.Throttled


def test_a_quota_comes_before_a_stockout() -> None:
    assert failure([STOCKOUT, NO_QUOTA]).__class__ is ours.ProviderQuotaExceeded


def test_dummy_resource_ids_are_left_out() -> None:
    text = str(failure([NOT_JOINED]))
    assert "DUMMY" not in text
    assert "[i-0123]" in text


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (issue("InstanceLimitExceeded"), ours.ProviderQuotaExceeded),
        (issue("AccessDenied"), ours.PermissionDenied),
        (issue("IamNodeRoleNotFound"), ours.InvalidRequest),
        (issue("InsufficientFreeAddresses"), ours.InvalidRequest),
        (issue("AsgInstanceLaunchFailures", "You have exceeded something"), ours.InvalidRequest),
        (issue("AsgInstanceLaunchFailures", "UnfulfillableCapacity - Unable to fulfill capacity"), ours.StockedOut),
        (issue("IamThrottling"), ours.Throttled),
        (issue("InternalFailure"), ours.Unavailable),
        (issue("SomethingNew"), ours.InvalidRequest),
        # Throttling of EKS itself, under whatever code.
        (issue("AutoScalingGroupRateLimitExceeded", "Rate exceeded"), ours.Throttled),
        (issue("AsgInstanceLaunchFailures", "Rate exceeded"), ours.Throttled),
        (issue("Ec2LaunchTemplateInvalidConfiguration", "Request limit: RequestLimitExceeded"), ours.Throttled),
        (issue("SomethingNew", "ThrottlingException: Rate exceeded"), ours.Throttled),
        # ErrorCode of updates.
        (issue("EniLimitReached"), ours.ProviderQuotaExceeded),
        (issue("OperationNotPermitted"), ours.PermissionDenied),
        (issue("PodEvictionFailure", "Reached max retries while trying to evict pods"), ours.Unavailable),
        (issue("NodeCreationFailure", "InsufficientInstanceCapacity - We currently …"), ours.StockedOut),
        (issue("Unknown", "VcpuLimitExceeded - You have requested more vCPU capacity"), ours.ProviderQuotaExceeded),
        (issue("SubnetNotFound"), ours.InvalidRequest),
    ],
)
def test_each_kind_of_issue_has_its_type(found: IssueTypeDef, kind: type[ours.ProviderError]) -> None:
    assert failure([found]).__class__ is kind


def test_a_failure_without_issues_says_so() -> None:
    assert str(failure([])) == "EKS gives no reason"
