# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a node group or an update failed: EKS's issues as one typed error. Quota first, then capacity, then the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model.errors import (
    InvalidRequest,
    PermissionDenied,
    ProviderError,
    ProviderQuotaExceeded,
    StockedOut,
    Throttled,
    Unavailable,
)
from ..messages import bounded

if TYPE_CHECKING:
    from mypy_boto3_eks.type_defs import IssueTypeDef

_BY_CODE: dict[str, type[ProviderError]] = {
    **dict.fromkeys(
        (
            "InstanceLimitExceeded",
            "LimitExceeded",
            "IamLimitExceeded",
            "EniLimitReached",
            "Ec2LaunchTemplateMaxLimitExceeded",
            "Ec2LaunchTemplateVersionMaxLimitExceeded",
        ),
        ProviderQuotaExceeded,
    ),
    **dict.fromkeys(("AutoScalingGroupRateLimitExceeded", "IamThrottling"), Throttled),
    **dict.fromkeys(("AccessDenied", "AutoScalingGroupOptInRequired", "OperationNotPermitted"), PermissionDenied),
    **dict.fromkeys(
        (
            "ClusterUnreachable",
            "InternalFailure",
            "NodeTerminationFailure",
            "PodEvictionFailure",
            "AutoScalingGroupInstanceRefreshActive",
            "Unknown",
        ),
        Unavailable,
    ),
}
"""NodegroupIssueCode and, for updates, ErrorCode of the API's model.

The rest names something that the account's owner must mend: InvalidRequest.
"""

# A launch that EC2 refused has one code whatever the reason; EC2's own code, or its sentence, is in the text.
_QUOTA_TEXT = re.compile(
    r"VcpuLimitExceeded|InstanceLimitExceeded|MaxSpotInstanceCountExceeded|vCPU limit|current limit|quota",
    re.IGNORECASE,
)
_CAPACITY_TEXT = re.compile(
    r"Insufficient(Instance|Host)?Capacity|UnfulfillableCapacity|SpotMaxPriceTooLow"
    r"|(do not|don't) (currently )?have (sufficient|enough)|no (Spot )?capacity available",
    re.IGNORECASE,
)
# Auto Scaling, IAM and EC2 throttle EKS itself, which passes that on under whatever code the step has.
_THROTTLED_TEXT = re.compile(r"rate exceeded|throttl|too many requests|RequestLimitExceeded", re.IGNORECASE)
_NOT_JOINED = "NodeCreationFailure"
"""Final: EKS gives up after a quarter of an hour, and the machines keep running. Beside another issue it is only that
one's consequence; by itself the account's owner must find out why machines do not reach the cluster."""

_LAUNCH_FAILURES = frozenset({"AsgInstanceLaunchFailures", _NOT_JOINED, "Unknown"})

_FIRST = (ProviderQuotaExceeded, StockedOut, PermissionDenied, InvalidRequest, Throttled, Unavailable)
"""Which issue is the reason when there are several."""


def failure(issues: Sequence[IssueTypeDef]) -> ProviderError:
    """The reason, typed by the weightiest issue, with all issues in its text, that one first.

    Arguments:
        issues: `health.issues` of a node group that failed or is degraded, or in the same form the errors of an update.
    """
    if not issues:
        return Unavailable("EKS gives no reason")
    kinds = sorted(((_kind(issue), issue) for issue in issues), key=lambda pair: _weight(*pair))
    return kinds[0][0](bounded("; ".join(_line(issue) for _kind, issue in kinds)))


def _kind(issue: IssueTypeDef) -> type[ProviderError]:
    code, text = issue.get("code", "Unknown"), issue.get("message", "")
    if code in _LAUNCH_FAILURES:
        if _QUOTA_TEXT.search(text):
            return ProviderQuotaExceeded
        if _CAPACITY_TEXT.search(text):
            return StockedOut
    if _THROTTLED_TEXT.search(text):
        return Throttled
    return _BY_CODE.get(code, InvalidRequest)


def _weight(kind: type[ProviderError], issue: IssueTypeDef) -> tuple[bool, int]:
    """What to sort by: the smallest is the reason."""
    return (kind is InvalidRequest and issue.get("code") == _NOT_JOINED, _FIRST.index(kind))


def _line(issue: IssueTypeDef) -> str:
    # EKS fills the list with DUMMY_<uuid> where there never was an instance.
    resources = [resource for resource in issue.get("resourceIds", []) if not resource.startswith("DUMMY_")]
    text = f"{issue.get('code', 'Unknown')}: {issue.get('message', 'no message')}"
    return f"{text} [{', '.join(resources)}]" if resources else text
