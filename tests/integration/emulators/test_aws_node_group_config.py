# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an EKS node group changes in place, and what EKS refuses of that."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from .conftest import Aws

BLUE = {"key": "team", "value": "blue", "effect": "NO_SCHEDULE"}
GREEN = {"key": "team", "value": "green", "effect": "NO_SCHEDULE"}
BUSY = {"key": "busy", "effect": "NO_EXECUTE"}


def code(error: pytest.ExceptionInfo[ClientError]) -> tuple[int, str]:
    response = error.value.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


@pytest.fixture
def aws(aws: Aws) -> Aws:
    """With an ACTIVE node group `h100` of two machines in cluster `one`."""
    aws.active_cluster()
    aws.active_node_group(labels={"tier": "a", "old": "yes"}, taints=[BLUE])
    return aws


def update(aws: Aws, **blocks: Any) -> Any:
    return aws.eks.update_nodegroup_config(clusterName="one", nodegroupName="h100", **blocks)["update"]


def updated(aws: Aws, **blocks: Any) -> Any:
    """The node group after the update."""
    update(aws, **blocks)
    aws.clock.advance(aws.timings.node_group_update)
    return aws.node_group()


def test_a_resize_may_name_only_some_of_the_numbers(aws: Aws) -> None:
    assert updated(aws, scalingConfig={"maxSize": 5})["scalingConfig"] == {"minSize": 2, "desiredSize": 2, "maxSize": 5}
    assert updated(aws, scalingConfig={"minSize": 3, "desiredSize": 3})["scalingConfig"] == {
        "minSize": 3,
        "desiredSize": 3,
        "maxSize": 5,
    }
    assert len(aws.machines.running) == 3


def test_labels_are_added_changed_and_removed_also_on_the_machines_that_stand(aws: Aws) -> None:
    before = set(aws.machines.running)
    group = updated(aws, labels={"addOrUpdateLabels": {"tier": "b", "new": "yes"}, "removeLabels": ["old", "unknown"]})
    assert (group["status"], group["labels"]) == ("ACTIVE", {"tier": "b", "new": "yes"})
    assert set(aws.machines.running) == before
    for machine in aws.machines.running.values():
        assert (machine.labels["tier"], machine.labels["new"], "old" in machine.labels) == ("b", "yes", False)
        assert machine.labels["eks.amazonaws.com/nodegroup"] == "h100"


def test_taints_are_added_changed_by_key_and_effect_and_removed(aws: Aws) -> None:
    assert updated(aws, taints={"addOrUpdateTaints": [GREEN, BUSY]})["taints"] == [GREEN, BUSY]
    group = updated(aws, taints={"removeTaints": [GREEN]})
    assert group["taints"] == [BUSY]
    assert [machine.taints for machine in aws.machines.running.values()] == [
        ({"key": "busy", "effect": "NoExecute"},)
    ] * 2


def test_the_update_config_is_replaced(aws: Aws) -> None:
    assert updated(aws, updateConfig={"maxUnavailablePercentage": 50})["updateConfig"] == {
        "maxUnavailablePercentage": 50
    }


def test_one_update_says_all_that_it_changes(aws: Aws) -> None:
    made = update(
        aws,
        scalingConfig={"maxSize": 4},
        labels={"addOrUpdateLabels": {"new": "yes"}, "removeLabels": ["old"]},
        taints={"addOrUpdateTaints": [GREEN]},
        updateConfig={"maxUnavailable": 2},
    )
    assert (made["type"], made["status"], made["errors"]) == ("ConfigUpdate", "InProgress", [])
    assert {param["type"]: param["value"] for param in made["params"]} == {
        "MaxSize": "4",
        "MaxUnavailable": "2",
        "LabelsToAdd": '{"new": "yes"}',
        "LabelsToRemove": '["old"]',
        "TaintsToAdd": '[{"key": "team", "value": "green", "effect": "NO_SCHEDULE"}]',
    }


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ({}, "No changes"),
        ({"scalingConfig": {}}, "No changes were provided in scalingConfig"),
        ({"labels": {}}, "No changes were provided in labels"),
        ({"labels": {"addOrUpdateLabels": {}, "removeLabels": []}}, "No changes were provided in labels"),
        ({"taints": {"addOrUpdateTaints": []}, "scalingConfig": {"maxSize": 4}}, "No changes were provided in taints"),
        ({"updateConfig": {}}, "No changes were provided in updateConfig"),
        ({"scalingConfig": {"minSize": 3}}, "Minimum capacity 3 can't be greater than desired size 2"),
        ({"scalingConfig": {"desiredSize": 3}}, "desired capacity 3 can't be greater than max size 2"),
        ({"scalingConfig": {"maxSize": 1}}, "desired capacity 2 can't be greater than max size 1"),
        ({"scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 0}}, "at least 1"),
        ({"scalingConfig": {"minSize": -1}}, "at least 0"),
        ({"labels": {"addOrUpdateLabels": {"kubernetes.io/mine": "no"}}}, "reserved prefixes"),
        ({"labels": {"addOrUpdateLabels": {"k8s.io/mine": "no"}}}, "reserved prefixes"),
        ({"labels": {"addOrUpdateLabels": {"eks.amazonaws.com/mine": "no"}}}, "reserved prefixes"),
        ({"labels": {"addOrUpdateLabels": {"mine": ""}}}, "at least 1"),
        ({"labels": {"addOrUpdateLabels": {"mine": "v" * 64}}}, "at most 63"),
        ({"labels": {"addOrUpdateLabels": {"k" * 64: "mine"}}}, "at most 63"),
        ({"taints": {"addOrUpdateTaints": [{"key": "a", "effect": "NoSchedule"}]}}, "NO_SCHEDULE, NO_EXECUTE"),
        ({"taints": {"addOrUpdateTaints": [{"key": "a"}]}}, "key and effect are required"),
        ({"taints": {"addOrUpdateTaints": [{**BUSY, "key": f"k{n}"} for n in range(50)]}}, "at most 50 taints"),
        ({"updateConfig": {"maxUnavailable": 1, "maxUnavailablePercentage": 10}}, "Only one of"),
        ({"updateConfig": {"maxUnavailable": 101}}, "maximum of 100"),
    ],
)
def test_an_update_that_aws_would_refuse_is_refused(aws: Aws, blocks: dict[str, Any], said: str) -> None:
    with pytest.raises(ClientError, match=said) as error:
        update(aws, **blocks)
    assert code(error) == (400, "InvalidParameterException")
    assert aws.node_group()["status"] == "ACTIVE"
    assert aws.eks.list_updates(name="one", nodegroupName="h100")["updateIds"] == []


def test_more_than_450_nodes_are_refused_also_of_an_update(aws: Aws) -> None:
    with pytest.raises(ClientError, match="450") as error:
        update(aws, scalingConfig={"maxSize": 451})
    assert code(error) == (400, "ResourceLimitExceededException")


def test_there_is_one_update_at_a_time(aws: Aws) -> None:
    update(aws, scalingConfig={"maxSize": 3})
    with pytest.raises(ClientError, match="not in Active State") as error:
        update(aws, labels={"removeLabels": ["old"]})
    assert code(error) == (409, "ResourceInUseException")
    with pytest.raises(ClientError) as error:
        aws.eks.delete_nodegroup(clusterName="one", nodegroupName="h100")
    assert code(error) == (409, "ResourceInUseException")


def test_an_update_with_a_known_request_token_is_the_same_update_and_other_parameters_are_refused(aws: Aws) -> None:
    first = update(aws, scalingConfig={"maxSize": 3}, clientRequestToken="token")["id"]
    assert update(aws, scalingConfig={"maxSize": 3}, clientRequestToken="token")["id"] == first
    with pytest.raises(ClientError) as error:
        update(aws, scalingConfig={"maxSize": 4}, clientRequestToken="token")
    assert code(error) == (400, "InvalidParameterException")
    assert aws.eks.list_updates(name="one", nodegroupName="h100")["updateIds"] == [first]


def test_a_failed_update_leaves_the_group_active_as_it_was_and_only_the_update_says_why(aws: Aws) -> None:
    before = aws.node_group()
    aws.emulator.failures.add("update", code="AccessDenied", message="No.", resource_ids=["r"], target="one/h100")
    failed = update(aws, scalingConfig={"minSize": 3, "desiredSize": 3, "maxSize": 3})
    assert aws.node_group()["status"] == "UPDATING"
    aws.clock.advance(aws.timings.node_group_update)
    assert aws.node_group() == before
    said = aws.eks.describe_update(name="one", nodegroupName="h100", updateId=failed["id"])["update"]
    assert said["status"] == "Failed"
    assert said["errors"] == [{"errorCode": "AccessDenied", "errorMessage": "No.", "resourceIds": ["r"]}]
    assert updated(aws, scalingConfig={"maxSize": 3})["scalingConfig"]["maxSize"] == 3


def test_updates_come_in_pages_and_one_that_is_not_there_is_not_found(aws: Aws) -> None:
    made = []
    for size in (3, 4, 5):
        made.append(update(aws, scalingConfig={"maxSize": size})["id"])
        aws.clock.advance(aws.timings.node_group_update)
    asked = aws.eks.get_paginator("list_updates").paginate(
        name="one", nodegroupName="h100", PaginationConfig={"PageSize": 2}
    )
    pages = list(asked)
    assert [len(page["updateIds"]) for page in pages] == [2, 1]
    assert sorted(update_id for page in pages for update_id in page["updateIds"]) == sorted(made)
    with pytest.raises(ClientError, match="No update found") as error:
        aws.eks.describe_update(name="one", nodegroupName="h100", updateId="00000000-0000-0000-0000-000000000000")
    assert code(error) == (404, "ResourceNotFoundException")


def test_what_a_script_names_as_a_reason_is_one_of_the_model_s_codes(aws: Aws) -> None:
    with pytest.raises(ValueError, match="NodeCreationFailure"):
        aws.emulator.failures.add("update", code="AsgInstanceLaunchFailures", message="")
