# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes versions of EKS's control planes and node groups, and how machines are replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ansible_collections.better_compute.fleet.emulators.aws import Machine

from .conftest import Aws


def code(error: pytest.ExceptionInfo[ClientError]) -> tuple[int, str]:
    response = error.value.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


def cluster(aws: Aws) -> Any:
    return aws.eks.describe_cluster(name="one")["cluster"]


def upgrade(aws: Aws, version: str, **more: Any) -> Any:
    return aws.eks.update_cluster_version(name="one", version=version, **more)["update"]


def upgrade_group(aws: Aws, **wanted: Any) -> Any:
    return aws.eks.update_nodegroup_version(clusterName="one", nodegroupName="h100", **wanted)["update"]


def said_of(aws: Aws, update: Any, **group: Any) -> Any:
    return aws.eks.describe_update(name="one", updateId=update["id"], **group)["update"]


def behind(aws: Aws, nodes: int = 2, **changes: Any) -> None:
    """A cluster of 1.34 with a node group of 1.33."""
    aws.active_cluster(version="1.34")
    aws.active_node_group(nodes=nodes, version="1.33", **changes)


def test_a_cluster_and_its_groups_have_the_default_version_unless_another_is_given(aws: Aws) -> None:
    aws.active_cluster()
    aws.active_node_group()
    aws.active_node_group("older", version="1.31", releaseVersion="1.31.2-20261001")
    assert cluster(aws)["version"] == "1.34"
    assert (aws.node_group()["version"], aws.node_group()["releaseVersion"]) == ("1.34", "1.34.2-20261101")
    assert (aws.node_group("older")["version"], aws.node_group("older")["releaseVersion"]) == (
        "1.31",
        "1.31.2-20261001",
    )


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"version": "1.35"}, "cannot be newer than the cluster's version 1.34"),
        ({"version": "1.30"}, "unsupported Kubernetes version"),
        ({"releaseVersion": "1.33.2-20261101"}, "not valid for kubernetes version 1.34"),
    ],
)
def test_a_node_group_of_a_version_that_cannot_be_is_refused(aws: Aws, wanted: dict[str, Any], said: str) -> None:
    aws.active_cluster()
    with pytest.raises(ClientError, match=said) as error:
        aws.create_node_group(**wanted)
    assert code(error) == (400, "InvalidParameterException")


def test_a_control_plane_is_updated_by_one_minor_version_and_shows_that_late(aws: Aws) -> None:
    aws.active_cluster()
    update = upgrade(aws, "1.35")
    assert (update["type"], update["status"], cluster(aws)["status"]) == ("VersionUpdate", "InProgress", "ACTIVE")
    aws.clock.advance(aws.timings.cluster_update_shows)
    assert (cluster(aws)["status"], cluster(aws)["version"]) == ("UPDATING", "1.34")
    aws.clock.advance(aws.timings.cluster_update)
    assert (cluster(aws)["status"], cluster(aws)["version"]) == ("ACTIVE", "1.35")
    assert said_of(aws, update)["status"] == "Successful"
    assert aws.eks.list_updates(name="one")["updateIds"] == [update["id"]]


@pytest.mark.parametrize("version", ["1.32", "1.33", "1.35", "1.36", "2.0", "one"])
def test_a_control_plane_goes_one_minor_version_up_and_no_other_way(aws: Aws, version: str) -> None:
    aws.active_cluster(version="1.33")
    with pytest.raises(
        ClientError, match=f"Unsupported Kubernetes minor version update from 1.33 to {version}"
    ) as error:
        upgrade(aws, version)
    assert code(error) == (400, "InvalidParameterException")


def test_a_version_that_eks_does_not_have_yet_is_refused(aws: Aws) -> None:
    aws.active_cluster(version="1.35")
    with pytest.raises(ClientError, match=r"unsupported Kubernetes version 1\.36"):
        upgrade(aws, "1.36")


def test_a_cluster_has_one_update_at_a_time_also_while_it_shows_active(aws: Aws) -> None:
    aws.active_cluster(version="1.33")
    update = upgrade(aws, "1.34", clientRequestToken="token")
    assert upgrade(aws, "1.34", clientRequestToken="token")["id"] == update["id"]
    assert cluster(aws)["status"] == "ACTIVE"
    with pytest.raises(ClientError, match=f"has update {update['id']} in progress") as error:
        upgrade(aws, "1.34")
    assert code(error) == (409, "ResourceInUseException")
    with pytest.raises(ClientError, match="update in progress") as error:
        aws.eks.delete_cluster(name="one")
    assert code(error) == (409, "ResourceInUseException")


def test_a_control_plane_whose_update_fails_is_active_again_with_the_old_version(aws: Aws) -> None:
    aws.active_cluster()
    aws.emulator.failures.add("update", code="IpNotAvailable", message="No addresses are left.", target="one")
    update = upgrade(aws, "1.35")
    aws.clock.advance(aws.timings.cluster_update)
    assert (cluster(aws)["status"], cluster(aws)["version"]) == ("ACTIVE", "1.34")
    said = said_of(aws, update)
    assert (said["status"], said["errors"][0]["errorCode"]) == ("Failed", "IpNotAvailable")


def test_a_control_plane_leaves_no_node_group_more_than_three_minors_behind(aws: Aws) -> None:
    aws.active_cluster(version="1.34")
    aws.active_node_group(version="1.31")
    with pytest.raises(ClientError, match="h100 must be updated before") as error:
        upgrade(aws, "1.35")
    assert code(error) == (400, "InvalidRequestException")


def test_a_node_group_s_machines_are_all_replaced_by_others_while_maximum_and_desired_size_are_higher(aws: Aws) -> None:
    behind(aws, nodes=3)
    old = set(aws.machines.running)
    names = {machine.node_name for machine in aws.machines.running.values()}
    update = upgrade_group(aws, version="1.34")
    assert (update["type"], aws.node_group()["status"]) == ("VersionUpdate", "UPDATING")
    aws.clock.advance(aws.timings.node_group_update)
    # Two for each of the two zones.
    assert aws.node_group()["scalingConfig"] == {"minSize": 3, "desiredSize": 7, "maxSize": 7}
    assert aws.engine.inventory.machines() == 7
    assert aws.node_group()["version"] == "1.33"
    aws.clock.advance(aws.timings.node_group_roll)
    assert len(old & set(aws.machines.running)) == 2
    aws.clock.advance(3 * aws.timings.node_group_roll)
    group = aws.node_group()
    assert (group["status"], group["version"], group["releaseVersion"]) == ("ACTIVE", "1.34", "1.34.2-20261101")
    assert group["scalingConfig"] == {"minSize": 3, "desiredSize": 3, "maxSize": 3}
    assert len(aws.machines.running) == aws.engine.inventory.machines() == 3
    assert not old & set(aws.machines.running)
    assert not names & {machine.node_name for machine in aws.machines.running.values()}
    assert said_of(aws, update, nodegroupName="h100")["status"] == "Successful"


def test_as_many_machines_are_replaced_at_a_time_as_may_be_unavailable(aws: Aws) -> None:
    behind(aws, nodes=4, updateConfig={"maxUnavailablePercentage": 50})
    old = set(aws.machines.running)
    upgrade_group(aws, version="1.34")
    aws.clock.advance(aws.timings.node_group_update + aws.timings.node_group_roll)
    assert len(old & set(aws.machines.running)) == 2


def test_a_node_group_without_machines_has_another_version_at_once(aws: Aws) -> None:
    behind(aws, nodes=0)
    upgrade_group(aws, version="1.34")
    aws.clock.advance(aws.timings.node_group_update)
    assert (aws.node_group()["status"], aws.node_group()["version"]) == ("ACTIVE", "1.34")
    assert aws.engine.inventory.machines() == 0


def test_without_a_version_a_node_group_gets_the_newest_release_of_its_own(aws: Aws) -> None:
    behind(aws, nodes=1, releaseVersion="1.33.2-20261001")
    upgrade_group(aws)
    aws.clock.advance(aws.timings.node_group_update + 3 * aws.timings.node_group_roll)
    assert (aws.node_group()["version"], aws.node_group()["releaseVersion"]) == ("1.33", "1.33.2-20261101")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"version": "1.35"}, "cannot be newer than the cluster's version 1.34"),
        ({"version": "1.32"}, "Unsupported Kubernetes minor version update from 1.33 to 1.32"),
        ({"version": "1.34", "releaseVersion": "1.33.2-20261101"}, "not valid for kubernetes version 1.34"),
    ],
)
def test_an_update_to_a_version_that_cannot_be_is_refused(aws: Aws, wanted: dict[str, str], said: str) -> None:
    behind(aws)
    with pytest.raises(ClientError, match=said) as error:
        upgrade_group(aws, **wanted)
    assert code(error) == (400, "InvalidParameterException")
    assert aws.node_group()["status"] == "ACTIVE"


def test_machines_that_do_not_join_fail_the_update_and_the_old_ones_stay(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind(aws)
    old = set(aws.machines.running)

    def never_boots(machine: Machine, tell: Callable[[], None]) -> None:
        """Not even told of."""

    monkeypatch.setattr(aws.machines, "launch", never_boots)
    update = upgrade_group(aws, version="1.34")
    aws.clock.advance(aws.timings.node_group_update + aws.timings.node_wait)
    group = aws.node_group()
    assert (group["status"], group["version"], group["scalingConfig"]["desiredSize"]) == ("ACTIVE", "1.33", 2)
    said = said_of(aws, update, nodegroupName="h100")
    assert (said["status"], said["errors"][0]["errorCode"]) == ("Failed", "NodeCreationFailure")
    assert set(aws.machines.running) == old
    assert aws.engine.inventory.machines() == 2


def test_an_update_of_a_version_fails_by_script_without_a_machine_touched(aws: Aws) -> None:
    behind(aws)
    old = set(aws.machines.running)
    aws.emulator.failures.add("update", code="PodEvictionFailure", message="Reached max retries.", target="one/*")
    update = upgrade_group(aws, version="1.34")
    aws.clock.advance(aws.timings.node_group_update)
    assert (aws.node_group()["status"], aws.node_group()["version"]) == ("ACTIVE", "1.33")
    assert said_of(aws, update, nodegroupName="h100")["errors"][0]["errorCode"] == "PodEvictionFailure"
    assert set(aws.machines.running) == old


def test_a_cluster_that_could_not_be_created_is_failed_says_why_and_can_be_deleted(aws: Aws) -> None:
    aws.emulator.failures.add("create", code="InternalFailure", message="Sorry.", target="one")
    aws.active_cluster()
    assert cluster(aws)["status"] == "FAILED"
    assert cluster(aws)["health"]["issues"] == [{"code": "InternalFailure", "message": "Sorry.", "resourceIds": []}]
    aws.eks.delete_cluster(name="one")
    aws.clock.advance(aws.timings.cluster_delete)
    assert aws.engine.inventory.items() == ()
