# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Auto Scaling groups behind EKS's node groups, as boto3 sees them."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from .conftest import Aws


@pytest.fixture
def aws(aws: Aws) -> Aws:
    """With an ACTIVE node group `h100` of one to four machines in cluster `one`; it has two."""
    aws.active_cluster()
    aws.active_node_group(scalingConfig={"minSize": 1, "desiredSize": 2, "maxSize": 4})
    return aws


def described(aws: Aws) -> Any:
    name = aws.node_group()["resources"]["autoScalingGroups"][0]["name"]
    (group,) = aws.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
    return group


def terminate(aws: Aws, instance_id: str, *, decrement: bool) -> Any:
    answer = aws.client("autoscaling").terminate_instance_in_auto_scaling_group(
        InstanceId=instance_id, ShouldDecrementDesiredCapacity=decrement
    )
    return answer["Activity"]


def test_a_node_group_names_its_auto_scaling_group_which_lists_its_machines(aws: Aws) -> None:
    group = described(aws)
    assert group["AutoScalingGroupName"].startswith("eks-h100-")
    assert [group[name] for name in ("MinSize", "DesiredCapacity", "MaxSize")] == [1, 2, 4]
    assert {instance["InstanceId"] for instance in group["Instances"]} == set(aws.machines.running)
    assert {"eks:cluster-name", "eks:nodegroup-name"} == {tag["Key"] for tag in group["Tags"]}


def test_one_machine_is_removed_and_eks_s_desired_size_follows_late(aws: Aws) -> None:
    gone, kept = aws.machines.running
    assert terminate(aws, gone, decrement=True)["AutoScalingGroupName"] == described(aws)["AutoScalingGroupName"]
    assert list(aws.machines.running) == [kept]
    assert (described(aws)["DesiredCapacity"], aws.node_group()["scalingConfig"]["desiredSize"]) == (1, 2)
    aws.clock.advance(aws.timings.desired_follows)
    assert aws.node_group()["scalingConfig"]["desiredSize"] == 1


def test_removing_a_machine_at_the_minimum_is_refused(aws: Aws) -> None:
    first, second = aws.machines.running
    terminate(aws, first, decrement=True)
    with pytest.raises(ClientError, match="Currently, desiredSize equals minSize") as error:
        terminate(aws, second, decrement=True)
    assert error.value.response["Error"]["Code"] == "ValidationError"
    assert list(aws.machines.running) == [second]


def test_a_machine_removed_without_decrement_is_replaced(aws: Aws) -> None:
    gone = next(iter(aws.machines.running))
    terminate(aws, gone, decrement=False)
    aws.clock.advance(aws.timings.replace)
    assert (len(aws.machines.running), gone in aws.machines.running) == (2, False)


def test_the_desired_capacity_is_set_within_the_bounds(aws: Aws) -> None:
    name = described(aws)["AutoScalingGroupName"]
    scaling = aws.client("autoscaling")
    scaling.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=4)
    assert len(aws.machines.running) == 4
    with pytest.raises(ClientError, match="above max value 4"):
        scaling.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=5)


def test_what_does_not_exist_is_not_found(aws: Aws) -> None:
    scaling = aws.client("autoscaling")
    assert scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["none"])["AutoScalingGroups"] == []
    with pytest.raises(ClientError, match="none not found"):
        scaling.set_desired_capacity(AutoScalingGroupName="none", DesiredCapacity=1)
    with pytest.raises(ClientError, match="No managed instance found for instance ID: i-0"):
        terminate(aws, "i-0", decrement=True)


@pytest.mark.parametrize("wanted", [{}, {"AutoScalingGroupName": "none", "DesiredCapacity": -1}])
def test_a_request_that_makes_no_sense_is_refused(aws: Aws, wanted: dict[str, Any]) -> None:
    with pytest.raises(ClientError) as error:
        aws.client("autoscaling").set_desired_capacity(**wanted)
    assert error.value.response["Error"]["Code"] == "ValidationError"
