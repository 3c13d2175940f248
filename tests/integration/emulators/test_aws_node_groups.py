# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EKS node groups and their instances, as boto3 sees them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ansible_collections.better_compute.fleet.emulators.aws import Machine

from .conftest import Aws


def code(error: pytest.ExceptionInfo[ClientError]) -> tuple[int, str]:
    response = error.value.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


@pytest.fixture
def aws(aws: Aws) -> Aws:
    """With an ACTIVE cluster `one`."""
    aws.active_cluster()
    return aws


def test_a_node_group_is_active_once_its_machines_are_up_spread_over_the_zones(aws: Aws) -> None:
    assert aws.create_node_group(nodes=4)["status"] == "CREATING"
    assert aws.engine.inventory.machines() == 0
    aws.clock.advance(60)
    assert aws.node_group()["status"] == "ACTIVE"
    zones = Counter(machine.zone for machine in aws.machines.running.values())
    assert zones == {"us-east-1a": 2, "us-east-1b": 2}
    assert aws.engine.inventory.machines() == 4


def test_a_node_group_waits_for_the_last_of_its_nodes(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    ready: list[Callable[[], None]] = []

    def boots_slowly(machine: Machine, tell: Callable[[], None]) -> None:
        ready.append(tell)

    monkeypatch.setattr(aws.machines, "launch", boots_slowly)
    aws.create_node_group(nodes=2)
    aws.clock.advance(120)
    ready[0]()
    assert aws.node_group()["status"] == "CREATING"
    ready[1]()
    assert aws.node_group()["status"] == "ACTIVE"


def test_nodes_that_never_join_fail_the_node_group_and_the_machines_keep_running(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[Machine] = []

    def never_boots(machine: Machine, tell: Callable[[], None]) -> None:
        launched.append(machine)

    monkeypatch.setattr(aws.machines, "launch", never_boots)
    aws.create_node_group(nodes=1)
    aws.clock.advance(900)
    group = aws.node_group()
    assert group["status"] == "CREATE_FAILED"
    (issue,) = group["health"]["issues"]
    assert (issue["code"], issue["resourceIds"]) == ("NodeCreationFailure", [launched[0].instance_id])
    assert aws.engine.inventory.machines() == 1


def test_a_node_group_of_no_nodes_is_active_without_machines(aws: Aws) -> None:
    aws.active_node_group(nodes=0)
    assert aws.node_group()["status"] == "ACTIVE"
    assert aws.machines.running == {}


def test_a_machine_is_what_its_node_group_says(aws: Aws) -> None:
    aws.active_node_group(
        nodes=1,
        capacityType="SPOT",
        labels={"mine": "yes"},
        taints=[{"key": "gpu", "value": "yes", "effect": "NO_SCHEDULE"}],
    )
    (machine,) = aws.machines.running.values()
    assert (machine.cluster, machine.node_group, machine.spot) == ("one", "h100", True)
    assert (machine.gpus, machine.gpu_model) == (8, "H100")
    assert machine.node_name.startswith("ip-10-0-")
    assert machine.node_name.endswith(".ec2.internal")
    assert machine.provider_id == f"aws:///us-east-1a/{machine.instance_id}"
    assert machine.taints == ({"key": "gpu", "value": "yes", "effect": "NoSchedule"},)
    assert {
        "mine": "yes",
        "eks.amazonaws.com/nodegroup": "h100",
        "eks.amazonaws.com/capacityType": "SPOT",
        "topology.kubernetes.io/zone": "us-east-1a",
        "node.kubernetes.io/instance-type": "p5.48xlarge",
    }.items() <= machine.labels.items()


def test_a_node_group_on_a_cluster_that_is_not_active_is_refused(aws: Aws) -> None:
    aws.create_cluster("two")
    with pytest.raises(ClientError, match="not in ACTIVE status") as error:
        aws.create_node_group(clusterName="two")
    assert code(error) == (400, "InvalidRequestException")


def test_a_second_node_group_of_the_name_is_refused(aws: Aws) -> None:
    aws.create_node_group()
    with pytest.raises(ClientError, match="already exists") as error:
        aws.create_node_group()
    assert code(error) == (409, "ResourceInUseException")


def test_the_same_request_token_gives_the_same_node_group(aws: Aws) -> None:
    first = aws.create_node_group(clientRequestToken="token")
    assert aws.create_node_group(clientRequestToken="token")["nodegroupArn"] == first["nodegroupArn"]
    with pytest.raises(ClientError) as error:
        aws.create_node_group(nodes=3, clientRequestToken="token")
    assert code(error) == (400, "InvalidParameterException")
    aws.clock.advance(60)
    assert aws.engine.inventory.machines() == 2


def test_images_and_instance_types_of_arm_go_together_and_nodes_say_so(aws: Aws) -> None:
    aws.active_node_group("arm", instanceTypes=["m7g.large"], amiType="AL2023_ARM_64_STANDARD")
    aws.active_node_group("arm-gpu", instanceTypes=["g5g.xlarge"], amiType="AL2023_ARM_64_NVIDIA")
    assert aws.node_group("arm-gpu")["amiType"] == "AL2023_ARM_64_NVIDIA"
    assert {machine.labels["kubernetes.io/arch"] for machine in aws.machines.running.values()} == {"arm64"}
    assert {machine.gpus for machine in aws.machines.running.values()} == {0, 1}


@pytest.mark.parametrize("image", ["AL2023_ARM_64_STANDARD", "BOTTLEROCKET_ARM_64", "AL2_ARM_64"])
def test_an_arm_image_on_an_x86_machine_is_refused(aws: Aws, image: str) -> None:
    with pytest.raises(ClientError, match="not a valid instance type for requested amiType") as error:
        aws.create_node_group(instanceTypes=["m7i.large"], amiType=image)
    assert code(error) == (400, "InvalidParameterException")


@pytest.mark.parametrize("image", ["AL2023_x86_64_STANDARD", "BOTTLEROCKET_x86_64", "WINDOWS_CORE_2022_x86_64"])
def test_an_x86_image_on_an_arm_machine_is_refused(aws: Aws, image: str) -> None:
    with pytest.raises(ClientError, match="not a valid instance type for requested amiType") as error:
        aws.create_node_group(instanceTypes=["m7g.large"], amiType=image)
    assert code(error) == (400, "InvalidParameterException")


def test_an_image_that_the_api_s_model_does_not_know_is_refused(aws: Aws) -> None:
    with pytest.raises(ClientError, match="enum value set"):
        aws.create_node_group(amiType="AL1984_x86_64")


def scaling(low: int, desired: int, high: int) -> dict[str, Any]:
    return {"scalingConfig": {"minSize": low, "desiredSize": desired, "maxSize": high}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (scaling(3, 2, 4), "Minimum capacity 3 can't be greater than desired size 2"),
        (scaling(0, 5, 4), "desired capacity 5 can't be greater than max size 4"),
        (scaling(0, 0, 0), "at least 1"),
        (scaling(0, 451, 451), "limit exceeded"),
        ({"scalingConfig": {"desiredSize": 2}}, "needs minSize"),
        ({"instanceTypes": ["p99.huge"]}, r"do not exist: \[p99.huge\]"),
        ({"instanceTypes": ["p5.48xlarge"] * 21}, "between 1 and 20"),
        ({"launchTemplate": {"id": "lt-1"}}, "no launch templates"),
        ({"taints": [{"key": f"k{n}", "effect": "NO_SCHEDULE"} for n in range(51)]}, "at most 50"),
        ({"instanceTypes": ["m7i.large"]}, "not a valid instance type for requested amiType"),
        ({"amiType": "AL2023_ARM_64_STANDARD"}, "not a valid instance type for requested amiType"),
        ({"nodeRole": "arn:aws:iam::111111111111:role/nobody"}, "could not be assumed"),
        ({"subnets": ["subnet-9"]}, "does not exist"),
        ({"labels": {"eks.amazonaws.com/mine": "no"}}, "reserved prefixes"),
        ({"labels": {"node.kubernetes.io/mine": "no"}}, "reserved prefixes"),
        ({"labels": {"mine": ""}}, "at least 1"),
        ({"nodegroupName": "n" * 64}, "maximum length of 63"),
        ({"capacityType": "CHEAP"}, "enum value set"),
    ],
)
def test_a_node_group_that_aws_would_refuse_is_refused(aws: Aws, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ClientError, match=said) as error:
        aws.create_node_group(**changes)
    assert code(error)[0] == 400
    assert aws.exists("node-group") == []


def resize(aws: Aws, **scaling_config: int) -> Any:
    answer = aws.eks.update_nodegroup_config(
        clusterName="one",
        nodegroupName="h100",
        scalingConfig=scaling_config,  # type: ignore[arg-type] # a TypedDict in the stubs
    )
    return answer["update"]


def test_a_resize_is_an_update_that_adds_and_ends_machines(aws: Aws) -> None:
    aws.active_node_group(nodes=2)
    update = resize(aws, minSize=4, desiredSize=4, maxSize=4)
    assert (update["status"], aws.node_group()["status"]) == ("InProgress", "UPDATING")
    aws.clock.advance(20)
    described = aws.eks.describe_update(name="one", nodegroupName="h100", updateId=update["id"])["update"]
    assert described["status"] == "Successful"
    assert aws.node_group()["scalingConfig"] == {"minSize": 4, "desiredSize": 4, "maxSize": 4}
    assert (aws.node_group()["status"], len(aws.machines.running)) == ("ACTIVE", 4)
    resize(aws, minSize=1, desiredSize=1, maxSize=1)
    aws.clock.advance(20)
    assert len(aws.machines.running) == aws.engine.inventory.machines() == 1


def test_a_deleted_node_group_ends_its_machines_at_once_and_is_gone_later(aws: Aws) -> None:
    aws.active_node_group(nodes=2)
    aws.eks.delete_nodegroup(clusterName="one", nodegroupName="h100")
    assert aws.node_group()["status"] == "DELETING"
    assert aws.machines.running == {}
    with pytest.raises(ClientError, match="Cluster has nodegroups attached") as error:
        aws.eks.delete_cluster(name="one")
    assert code(error) == (409, "ResourceInUseException")
    aws.clock.advance(120)
    with pytest.raises(ClientError, match="No node group found for name: h100") as error:
        aws.node_group()
    assert code(error) == (404, "ResourceNotFoundException")
    assert error.value.response["nodegroupName"] == "h100"  # type: ignore[typeddict-item] # a field of EKS's errors
    assert (aws.exists("node-group"), aws.engine.inventory.machines()) == ([], 0)


def test_a_stockout_in_one_zone_fails_the_create_and_the_other_zone_s_machines_keep_running(aws: Aws) -> None:
    aws.emulator.capacity.take_away("p5.48xlarge", "us-east-1b")
    aws.create_node_group(nodes=4)
    aws.clock.advance(900)
    group = aws.node_group()
    assert group["status"] == "CREATE_FAILED"
    launch, join = group["health"]["issues"]
    assert launch["code"] == "AsgInstanceLaunchFailures"
    assert "Could not launch On-Demand Instances. InsufficientInstanceCapacity" in launch["message"]
    assert "us-east-1b" in launch["message"]
    assert join["code"] == "NodeCreationFailure"
    assert [text.startswith("DUMMY_") for text in join["resourceIds"]] == [True, True]
    assert aws.engine.inventory.machines() == 2
    aws.eks.delete_nodegroup(clusterName="one", nodegroupName="h100")
    aws.clock.advance(120)
    assert aws.engine.inventory.machines() == 0


def test_a_group_that_finds_no_capacity_to_grow_is_degraded_until_there_is_some(aws: Aws) -> None:
    aws.active_node_group(nodes=2)
    aws.emulator.capacity.take_away("p5.48xlarge", "us-east-1a")
    resize(aws, minSize=4, desiredSize=4, maxSize=4)
    aws.clock.advance(20)
    group = aws.node_group()
    assert (group["status"], group["health"]["issues"][0]["code"]) == ("DEGRADED", "AsgInstanceLaunchFailures")
    with pytest.raises(ClientError, match="not in Active State"):
        resize(aws, minSize=2, desiredSize=2)
    aws.emulator.capacity.give_back()
    aws.clock.advance(60)
    assert aws.node_group()["status"] == "ACTIVE"
    assert aws.engine.inventory.machines() == 4


def test_an_instance_that_is_lost_is_replaced_by_another(aws: Aws) -> None:
    aws.active_node_group(nodes=2)
    lost = next(iter(aws.machines.running))
    aws.emulator.lose_instance(lost)
    assert lost not in aws.machines.running
    assert aws.engine.inventory.machines() == 1
    aws.clock.advance(60)
    assert len(aws.machines.running) == aws.engine.inventory.machines() == 2
    assert lost not in aws.machines.running


def test_names_of_node_groups_come_in_pages(aws: Aws) -> None:
    for number in range(3):
        aws.create_node_group(f"n{number}", nodes=0)
    pages = aws.eks.get_paginator("list_nodegroups").paginate(clusterName="one", PaginationConfig={"PageSize": 2})
    assert [page["nodegroups"] for page in pages] == [["n0", "n1"], ["n2"]]
