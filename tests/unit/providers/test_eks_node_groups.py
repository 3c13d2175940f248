# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is sent for a node group, and what is read of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StockedOut
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import ClusterId, PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import owner_tags
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    NodeBounds,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.node_groups import (
    observe,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.request_token import (
    request_token,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.ownership import is_ours

if TYPE_CHECKING:
    from mypy_boto3_eks.type_defs import NodegroupTypeDef

TAGS = owner_tags(cluster_id=ClusterId("kcl_1"), pool_id=PoolId("pool_1"))
GROUP: dict[str, Any] = {
    "nodegroupName": "h100",
    "status": "ACTIVE",
    "instanceTypes": ["p5.48xlarge"],
    "capacityType": "ON_DEMAND",
    "scalingConfig": {"minSize": 4, "maxSize": 4, "desiredSize": 4},
    "diskSize": 200,
    "tags": TAGS,
}


def seen(**changes: object) -> ObservedNodePool:
    """What is seen of a group that EKS describes like this. (EKS leaves out what a group does not have.)"""
    return observe(cast("NodegroupTypeDef", GROUP | changes))


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("CREATING", ProviderStatus.CREATING),
        ("ACTIVE", ProviderStatus.ACTIVE),
        ("UPDATING", ProviderStatus.UPDATING),
        ("DELETING", ProviderStatus.DELETING),
        ("DEGRADED", ProviderStatus.DEGRADED),
        ("CREATE_FAILED", ProviderStatus.FAILED),
        ("DELETE_FAILED", ProviderStatus.FAILED),
        ("SOMETHING_NEW", ProviderStatus.UPDATING),
    ],
)
def test_each_status_of_eks_has_its_word(status: str, word: ProviderStatus) -> None:
    assert seen(status=status).status is word


@pytest.mark.parametrize("status", ["CREATE_FAILED", "DEGRADED"])
def test_a_failed_group_carries_its_reason_and_a_healthy_one_none(status: str) -> None:
    health = {"issues": [{"code": "AsgInstanceLaunchFailures", "message": "InsufficientInstanceCapacity - none"}]}
    assert seen(status=status, health=health).failure.__class__ is StockedOut
    assert seen().failure is None


def test_what_a_group_holds_is_seen_in_the_contracts_words() -> None:
    found = seen(
        scalingConfig={"minSize": 2, "maxSize": 9, "desiredSize": 4},
        subnets=["subnet-b", "subnet-a"],
        amiType="AL2023_x86_64_NVIDIA",
        version="1.34",
        taints=[{"key": "gpu", "effect": "NO_SCHEDULE"}, {"key": "b", "value": "x", "effect": "SOMETHING_NEW"}],
    )
    assert (found.nodes, found.bounds) == (4, NodeBounds(least=2, most=9))
    assert found.places == {"subnet-a", "subnet-b"}
    assert (found.image, found.version) == ("AL2023_x86_64_NVIDIA", "1.34")
    assert found.taints == (Taint(key="b", effect="SOMETHING_NEW", value="x"), Taint(key="gpu", effect="NoSchedule"))


def test_the_same_request_has_the_same_token_and_another_attempt_or_shape_another() -> None:
    request = {"clusterName": "bc-1", "nodegroupName": "h100", "tags": TAGS}
    token = request_token(request)
    assert token == request_token(dict(reversed(request.items())))
    assert len({token, request_token(request, attempt=1), request_token(request | {"diskSize": 3})}) == 3


def test_ours_is_what_carries_all_of_our_marks_and_nothing_is_ours_without_marks() -> None:
    assert is_ours(tags={**TAGS, "team": "x"}, wanted=TAGS)
    assert not is_ours(tags=dict([*TAGS.items()][:1]), wanted=TAGS)
    assert not is_ours(tags={"team": "x"}, wanted={})
