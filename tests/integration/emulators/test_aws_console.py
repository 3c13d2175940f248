# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others do to EKS's clusters and node groups, as whoever reads them afterwards sees it."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from ansible_collections.better_compute.fleet.emulators.aws.errors import AwsError

from .conftest import Aws

BLUE = {"key": "team", "value": "blue", "effect": "NO_SCHEDULE"}
GREEN = {"key": "team", "value": "green", "effect": "NO_SCHEDULE"}


@pytest.fixture
def aws(aws: Aws) -> Aws:
    """With an ACTIVE node group `h100` of one to four machines in cluster `one`; it has two."""
    aws.active_cluster()
    scaling = {"minSize": 1, "desiredSize": 2, "maxSize": 4}
    aws.active_node_group(scalingConfig=scaling, labels={"a": "1", "b": "1"}, taints=[BLUE])
    return aws


def desired(aws: Aws) -> int:
    size: int = aws.node_group()["scalingConfig"]["desiredSize"]
    return size


def test_the_autoscaler_s_machines_come_and_go_at_once_and_eks_s_desired_size_follows_late(aws: Aws) -> None:
    aws.emulator.console.autoscale("one", "h100", 4)
    assert (len(aws.machines.running), desired(aws), aws.node_group()["status"]) == (4, 2, "ACTIVE")
    aws.clock.advance(aws.timings.desired_follows)
    assert desired(aws) == 4
    aws.emulator.console.autoscale("one", "h100", 1)
    aws.clock.advance(aws.timings.desired_follows)
    assert (len(aws.machines.running), desired(aws)) == (1, 1)


@pytest.mark.parametrize(("size", "said"), [(5, "above max value 4"), (0, "below min value 1")])
def test_the_autoscaler_stays_within_the_bounds(aws: Aws, size: int, said: str) -> None:
    with pytest.raises(AwsError, match=f"New SetDesiredCapacity value {size} is {said} for the AutoScalingGroup"):
        aws.emulator.console.autoscale("one", "h100", size)
    assert len(aws.machines.running) == 2


def test_an_update_of_other_things_leaves_what_the_autoscaler_wanted(aws: Aws) -> None:
    aws.emulator.console.autoscale("one", "h100", 4)
    aws.eks.update_nodegroup_config(clusterName="one", nodegroupName="h100", labels={"removeLabels": ["a"]})
    aws.clock.advance(aws.timings.node_group_update)
    assert (len(aws.machines.running), desired(aws)) == (4, 4)


def test_an_edit_by_hand_is_there_at_once_and_on_the_machines(aws: Aws) -> None:
    scaling = {"desiredSize": 3, "maxSize": 3}
    aws.emulator.console.edit_node_group("one", "h100", scaling=scaling, labels={"b": "2", "c": "3"}, taints=[GREEN])
    group = aws.node_group()
    assert (group["status"], group["labels"], group["taints"]) == ("ACTIVE", {"b": "2", "c": "3"}, [GREEN])
    assert group["scalingConfig"] == {"minSize": 1, "desiredSize": 3, "maxSize": 3}
    machines = aws.machines.running.values()
    assert [(m.labels["b"], "a" in m.labels, m.taints[0]["value"]) for m in machines] == [("2", False, "green")] * 3


def test_an_edit_by_hand_touches_only_what_it_names_and_is_refused_like_any_other(aws: Aws) -> None:
    before = aws.node_group()
    aws.emulator.console.edit_node_group("one", "h100", taints=[])
    after = aws.node_group()
    assert after["taints"] == []
    assert {**before, "taints": [], "modifiedAt": after["modifiedAt"]} == after
    with pytest.raises(AwsError, match="desired capacity 2 can't be greater than max size 1"):
        aws.emulator.console.edit_node_group("one", "h100", scaling={"maxSize": 1})


def test_a_degraded_group_says_why_refuses_updates_and_recovers(aws: Aws) -> None:
    aws.emulator.console.degrade("one", "h100", code="InstanceLimitExceeded", message="Quota.", resource_ids=["asg"])
    group = aws.node_group()
    assert group["status"] == "DEGRADED"
    issue = {"code": "InstanceLimitExceeded", "message": "Quota.", "resourceIds": ["asg"]}
    assert group["health"]["issues"] == [issue]
    with pytest.raises(ClientError, match="Nodegroup cannot be updated as it is currently not in Active State"):
        aws.eks.update_nodegroup_config(clusterName="one", nodegroupName="h100", scalingConfig={"maxSize": 5})
    aws.emulator.console.recover("one", "h100")
    assert (aws.node_group()["status"], aws.node_group()["health"]["issues"]) == ("ACTIVE", [])


def test_a_degraded_group_stays_degraded_also_at_size_0_until_an_instance_was_launched(aws: Aws) -> None:
    aws.emulator.console.edit_node_group("one", "h100", scaling={"minSize": 0})
    aws.emulator.capacity.take_away("p5.48xlarge", "us-east-1a")
    aws.emulator.capacity.take_away("p5.48xlarge", "us-east-1b")
    aws.emulator.console.autoscale("one", "h100", 4)
    assert aws.node_group()["status"] == "DEGRADED"
    aws.emulator.console.autoscale("one", "h100", 0)
    aws.clock.advance(3600)
    assert (aws.node_group()["status"], aws.engine.inventory.machines()) == ("DEGRADED", 0)
    aws.emulator.capacity.give_back()
    aws.emulator.console.autoscale("one", "h100", 1)
    assert (aws.node_group()["status"], aws.node_group()["health"]["issues"]) == ("ACTIVE", [])


def test_aws_can_move_a_control_plane_to_another_version_by_itself(aws: Aws) -> None:
    aws.emulator.console.move_cluster("one", "1.35")
    assert aws.eks.describe_cluster(name="one")["cluster"]["version"] == "1.35"
    assert aws.eks.list_updates(name="one")["updateIds"] == []
