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

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidRequest, StockedOut
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import ClusterId, PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import owner_tags
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ObservedNodePool
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import NodePoolSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.clusters import is_ours
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.node_groups import (
    observe,
    scaling,
    shape_differences,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.request_token import (
    request_token,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.subnets import subnets_in

if TYPE_CHECKING:
    from mypy_boto3_eks.type_defs import NodegroupTypeDef

TAGS = owner_tags(cluster_id=ClusterId("kcl_1"), pool_id=PoolId("pool_1"))
SPEC = NodePoolSpec(
    name="h100",
    machine_type="p5.48xlarge",
    nodes=4,
    zones=("us-east-1a", "us-east-1b"),
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
    assert shape_differences(SPEC, seen()) == []


def test_every_difference_of_shape_is_named_with_both_values() -> None:
    other = dataclasses.replace(SPEC, machine_type="g6.xlarge", spot=True, disk_gib=100)
    assert shape_differences(other, seen()) == [
        "machine type from p5.48xlarge to g6.xlarge",
        "capacity from ON_DEMAND to SPOT",
        "disk GiB from 200 to 100",
    ]


def test_a_disk_that_is_left_to_the_provider_is_no_difference() -> None:
    assert shape_differences(dataclasses.replace(SPEC, disk_gib=None), seen()) == []


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


def test_a_node_pool_gets_all_subnets_of_its_zones() -> None:
    zone_of = {"subnet-a": "us-east-1a", "subnet-b": "us-east-1b", "subnet-a2": "us-east-1a"}
    assert subnets_in(("us-east-1a",), zone_of) == ["subnet-a", "subnet-a2"]
    assert subnets_in(("us-east-1a", "us-east-1b"), zone_of) == ["subnet-a", "subnet-b", "subnet-a2"]


def test_a_zone_without_a_subnet_is_named_beside_those_that_have_one() -> None:
    with pytest.raises(InvalidRequest, match=r"in us-east-1c: they are in us-east-1a$"):
        subnets_in(("us-east-1a", "us-east-1c"), {"subnet-a": "us-east-1a"})


def test_ours_is_what_carries_all_of_our_marks_and_nothing_is_ours_without_marks() -> None:
    assert is_ours(tags={**TAGS, "team": "x"}, wanted=TAGS)
    assert not is_ours(tags=dict([*TAGS.items()][:1]), wanted=TAGS)
    assert not is_ours(tags={"team": "x"}, wanted={})
