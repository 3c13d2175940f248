# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is sent for a node group, and what is read of it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StockedOut
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import ClusterId, PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import owner_tags
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ObservedNodePool
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import NodePoolSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.clusters import is_ours
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.node_groups import (
    differences,
    observe,
    scaling,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.request_token import (
    request_token,
)

if TYPE_CHECKING:
    from mypy_boto3_eks.type_defs import NodegroupTypeDef

TAGS = owner_tags(cluster_id=ClusterId("kcl_1"), pool_id=PoolId("pool_1"))
SPEC = NodePoolSpec(
    name="h100",
    machine_type="p5.48xlarge",
    nodes=4,
    places=("subnet-a", "subnet-b"),
    spot=False,
    disk_gib=200,
    gpus_per_node=8,
    labels={},
    tags=TAGS,
)
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


@given(st.integers(min_value=0, max_value=450))
def test_a_fixed_size_keeps_minimum_desired_and_maximum_in_order(nodes: int) -> None:
    block = scaling(nodes)
    assert block["minSize"] == block["desiredSize"] == nodes
    assert block["maxSize"] == max(1, nodes)


def test_the_same_shape_has_no_differences() -> None:
    assert differences(SPEC, seen()) == ()


def test_every_difference_of_shape_is_named_with_both_values() -> None:
    other = dataclasses.replace(SPEC, machine_type="g6.xlarge", spot=True, disk_gib=100)
    assert [(item.path, item.held, item.wanted, item.in_place) for item in differences(other, seen())] == [
        ("machineType", "p5.48xlarge", "g6.xlarge", False),
        ("spot", False, True, False),
        ("diskGiB", 200, 100, False),
    ]


def test_a_disk_that_is_left_to_the_provider_is_no_difference() -> None:
    assert differences(dataclasses.replace(SPEC, disk_gib=None), seen()) == ()


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


def test_the_same_request_has_the_same_token_and_another_attempt_or_shape_another() -> None:
    request = {"clusterName": "bc-1", "nodegroupName": "h100", "tags": TAGS}
    token = request_token(request)
    assert token == request_token(dict(reversed(request.items())))
    assert len({token, request_token(request, attempt=1), request_token(request | {"diskSize": 3})}) == 3


def test_ours_is_what_carries_all_of_our_marks_and_nothing_is_ours_without_marks() -> None:
    assert is_ours(tags={**TAGS, "team": "x"}, wanted=TAGS)
    assert not is_ours(tags=dict([*TAGS.items()][:1]), wanted=TAGS)
    assert not is_ours(tags={"team": "x"}, wanted={})
