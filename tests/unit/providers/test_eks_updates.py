# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of an update of EKS."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import errors as ours
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.updates import Fate, read

if TYPE_CHECKING:
    from mypy_boto3_eks.type_defs import UpdateTypeDef

UPDATE: dict[str, Any] = {
    "id": "u-1",
    "status": "InProgress",
    "type": "VersionUpdate",
    "params": [{"type": "Version", "value": "1.34"}, {"type": "PlatformVersion", "value": "eks.1"}],
    "createdAt": datetime(2026, 11, 30, tzinfo=UTC),
    "errors": [],
}


def as_eks_has_it(**changes: object) -> UpdateTypeDef:
    return cast("UpdateTypeDef", UPDATE | changes)


@pytest.mark.parametrize(
    ("status", "fate"),
    [
        ("InProgress", Fate.UNDER_WAY),
        ("Successful", Fate.DONE),
        ("Failed", Fate.GIVEN_UP),
        ("Cancelled", Fate.GIVEN_UP),
        ("SomethingNew", Fate.UNDER_WAY),
    ],
)
def test_each_status_has_its_fate_and_only_what_was_given_up_a_reason(status: str, fate: Fate) -> None:
    found = read(as_eks_has_it(status=status))
    assert found.fate is fate
    assert (found.reason is not None) is (fate is Fate.GIVEN_UP)


def test_the_version_that_it_leads_to_is_known() -> None:
    assert read(as_eks_has_it()).version == "1.34"
    assert read(as_eks_has_it(params=[{"type": "MinSize", "value": "1"}])).version is None


def test_of_several_errors_the_quota_is_the_reason_and_all_are_told() -> None:
    errors = [
        {"errorCode": "NodeCreationFailure", "errorMessage": "did not join", "resourceIds": ["DUMMY_1"]},
        {"errorCode": "EniLimitReached", "errorMessage": "too many", "resourceIds": ["subnet-1"]},
    ]
    reason = read(as_eks_has_it(status="Failed", errors=errors)).reason
    assert isinstance(reason, ours.ProviderQuotaExceeded)
    assert str(reason) == (
        "EKS gave up the update u-1 (Failed): EniLimitReached: too many [subnet-1]; NodeCreationFailure: did not join"
    )


def test_one_that_was_given_up_without_a_reason_may_be_tried_again() -> None:
    assert isinstance(read(as_eks_has_it(status="Cancelled")).reason, ours.Unavailable)
