# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EKS's quotas, throttles in disguise, and creates and deletes that fail after they were accepted."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from ansible_collections.better_compute.fleet.emulators.aws import Timings
from ansible_collections.better_compute.fleet.emulators.engine import Error

from .conftest import Aws


def code(error: pytest.ExceptionInfo[ClientError]) -> tuple[int, str]:
    response = error.value.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


def test_a_region_has_a_hundred_clusters(aws: Aws) -> None:
    for number in range(100):
        aws.create_cluster(f"c{number}")
    with pytest.raises(ClientError) as error:
        aws.create_cluster()
    assert code(error) == (400, "ResourceLimitExceededException")


def test_a_cluster_has_thirty_node_groups(aws: Aws) -> None:
    aws.active_cluster()
    for number in range(30):
        aws.create_node_group(f"n{number}", nodes=0)
    with pytest.raises(ClientError) as error:
        aws.create_node_group(nodes=0)
    assert code(error) == (400, "ResourceLimitExceededException")


def test_a_node_group_has_450_nodes(aws: Aws) -> None:
    aws.active_cluster()
    with pytest.raises(ClientError) as error:
        aws.create_node_group(nodes=451)
    assert code(error) == (400, "ResourceLimitExceededException")
    aws.create_node_group(scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 450})


@pytest.mark.parametrize("name", ["InvalidRequestException", "InvalidParameterException"])
def test_a_throttle_can_be_spelled_as_a_bad_request(aws: Aws, name: str) -> None:
    aws.engine.faults.add("aws", "eks.CreateCluster", Error(status=400, code=name, message="Rate exceeded"))
    with pytest.raises(ClientError, match="Rate exceeded") as error:
        aws.create_cluster()
    assert code(error) == (400, name)
    aws.create_cluster()


@pytest.mark.parametrize("name", ["AsgInstanceLaunchFailures", "AutoScalingGroupRateLimitExceeded"])
def test_a_throttle_can_come_as_a_create_that_failed(aws: Aws, name: str) -> None:
    aws.active_cluster()
    aws.emulator.failures.add("create", code=name, message="Rate exceeded", target="one/h100")
    aws.active_node_group()
    group = aws.node_group()
    assert group["status"] == "CREATE_FAILED"
    assert group["health"]["issues"] == [{"code": name, "message": "Rate exceeded", "resourceIds": []}]
    assert aws.engine.inventory.machines() == 0
    aws.eks.delete_nodegroup(clusterName="one", nodegroupName="h100")
    aws.clock.advance(aws.timings.node_group_delete)
    aws.active_node_group()
    assert aws.node_group()["status"] == "ACTIVE"


def test_a_delete_that_failed_says_why_and_can_be_tried_again(aws: Aws) -> None:
    aws.active_cluster()
    aws.active_node_group()
    aws.emulator.failures.add("delete", code="Ec2SecurityGroupDeletionFailure", message="In use.", resource_ids=["sg"])
    for status in ("DELETE_FAILED", None):
        aws.eks.delete_nodegroup(clusterName="one", nodegroupName="h100")
        aws.clock.advance(aws.timings.node_group_delete)
        if status is not None:
            assert aws.node_group()["status"] == status
            assert aws.node_group()["health"]["issues"][0]["code"] == "Ec2SecurityGroupDeletionFailure"
    assert aws.exists("node-group") == []


def test_a_failure_strikes_what_fits_its_target_as_often_as_it_says(aws: Aws) -> None:
    aws.active_cluster()
    aws.emulator.failures.add("create", code="AccessDenied", message="", target="one/a*", times=2)
    for name in ("b1", "a1", "a2", "a3"):
        aws.active_node_group(name, nodes=0)
    statuses = [aws.node_group(name)["status"] for name in ("b1", "a1", "a2", "a3")]
    assert statuses == ["ACTIVE", "CREATE_FAILED", "CREATE_FAILED", "ACTIVE"]


class TestANameThatStaysTaken:
    @pytest.fixture
    def timings(self) -> Timings:
        return Timings(cluster_name_kept=30)

    def test_a_cluster_s_name_can_stay_taken_after_it_is_gone(self, aws: Aws) -> None:
        aws.active_cluster()
        aws.eks.delete_cluster(name="one")
        aws.clock.advance(aws.timings.cluster_delete)
        assert aws.eks.list_clusters()["clusters"] == []
        with pytest.raises(ClientError, match="Cluster already exists with name: one") as error:
            aws.create_cluster()
        assert code(error) == (409, "ResourceInUseException")
        aws.clock.advance(30)
        aws.create_cluster()
