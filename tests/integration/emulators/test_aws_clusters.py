# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EKS clusters, as boto3 sees them."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from .conftest import CLUSTER_ROLE, SUBNETS, Aws


def code(error: pytest.ExceptionInfo[ClientError]) -> tuple[int, str]:
    response = error.value.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


def test_a_cluster_is_creating_without_endpoint_and_ca_until_it_is_active(aws: Aws) -> None:
    created = aws.create_cluster()
    assert (created["status"], created.get("endpoint"), created["certificateAuthority"]) == ("CREATING", None, {})
    aws.clock.advance(539)
    assert aws.eks.describe_cluster(name="one")["cluster"]["status"] == "CREATING"
    aws.clock.advance(1)
    cluster = aws.eks.describe_cluster(name="one")["cluster"]
    assert cluster["status"] == "ACTIVE"
    assert cluster["endpoint"].startswith("https://127.0.0.1:")
    assert cluster["certificateAuthority"]["data"]


def test_a_deleted_cluster_is_deleting_and_then_gone_with_all_that_was_in_it(aws: Aws) -> None:
    aws.active_cluster()
    assert aws.exists("access-entry")
    aws.eks.delete_cluster(name="one")
    assert aws.eks.describe_cluster(name="one")["cluster"]["status"] == "DELETING"
    aws.clock.advance(180)
    with pytest.raises(ClientError) as error:
        aws.eks.describe_cluster(name="one")
    assert code(error) == (404, "ResourceNotFoundException")
    assert aws.engine.inventory.items() == ()
    assert aws.apis.running == set()


def test_describe_never_shows_how_the_creator_became_an_administrator(aws: Aws) -> None:
    created = aws.create_cluster()
    assert created["accessConfig"] == {"authenticationMode": "API_AND_CONFIG_MAP"}


def test_a_second_cluster_of_the_name_is_refused(aws: Aws) -> None:
    aws.create_cluster()
    with pytest.raises(ClientError, match="Cluster already exists with name: one") as error:
        aws.create_cluster()
    assert code(error) == (409, "ResourceInUseException")


def test_the_same_request_token_gives_the_same_cluster_and_other_parameters_are_refused(aws: Aws) -> None:
    first = aws.create_cluster(clientRequestToken="token")
    aws.clock.advance(540)
    again = aws.create_cluster(clientRequestToken="token")
    assert (again["arn"], again["createdAt"], again["status"]) == (first["arn"], first["createdAt"], "ACTIVE")
    with pytest.raises(ClientError) as error:
        aws.create_cluster("two", clientRequestToken="token")
    assert code(error) == (400, "InvalidParameterException")
    assert aws.exists("cluster") == ["one"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"roleArn": "arn:aws:iam::111111111111:role/nobody"}, "could not be assumed"),
        ({"resourcesVpcConfig": {"subnetIds": [SUBNETS[0], "subnet-9"]}}, "'subnet-9' does not exist"),
        ({"resourcesVpcConfig": {"subnetIds": [SUBNETS[0]]}}, "at least two different AZs"),
        ({"resourcesVpcConfig": {"subnetIds": SUBNETS, "endpointPublicAccess": False}}, "cannot be false"),
        ({"version": "1.19"}, "unsupported Kubernetes version"),
        ({"tags": {"aws:mine": "no"}}, "reserved"),
        ({"tags": {f"k{number}": "" for number in range(51)}}, "at most 50"),
        ({"tags": {"k" * 129: ""}}, "at most 128"),
        ({"tags": {"k": "v" * 257}}, "at most 256"),
        ({"accessConfig": {"authenticationMode": "NONE"}}, "enum value set"),
    ],
)
def test_a_cluster_that_aws_would_refuse_is_refused(aws: Aws, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ClientError, match=said) as error:
        aws.create_cluster(**changes)
    assert code(error)[0] == 400
    assert aws.engine.inventory.items() == ()


@pytest.mark.parametrize(("name", "said"), [("-one", "regular expression"), ("c" * 101, "at most 100")])
def test_a_name_that_breaks_the_pattern_or_is_too_long_is_refused(aws: Aws, name: str, said: str) -> None:
    with pytest.raises(ClientError, match=said):
        aws.create_cluster(name)


def test_without_access_entries_asked_for_there_are_none(aws: Aws) -> None:
    assert aws.create_cluster(accessConfig={})["accessConfig"] == {"authenticationMode": "CONFIG_MAP"}


def test_a_cluster_that_is_being_created_or_deleted_cannot_be_deleted(aws: Aws) -> None:
    aws.create_cluster()
    with pytest.raises(ClientError, match="in progress") as error:
        aws.eks.delete_cluster(name="one")
    assert code(error) == (409, "ResourceInUseException")
    aws.clock.advance(540)
    aws.eks.delete_cluster(name="one")
    with pytest.raises(ClientError, match="already being deleted"):
        aws.eks.delete_cluster(name="one")


def test_names_come_in_pages(aws: Aws) -> None:
    for number in range(5):
        aws.create_cluster(f"c{number}")
    first = aws.eks.list_clusters(maxResults=2)
    assert first["clusters"] == ["c0", "c1"]
    pages = aws.eks.get_paginator("list_clusters").paginate(PaginationConfig={"PageSize": 2})
    assert [name for page in pages for name in page["clusters"]] == [f"c{number}" for number in range(5)]
    with pytest.raises(ClientError, match="at most 100"):
        aws.eks.list_clusters(maxResults=101)


def test_tags_of_a_cluster_can_be_changed(aws: Aws) -> None:
    arn = aws.create_cluster(tags={"a": "1"})["arn"]
    aws.eks.tag_resource(resourceArn=arn, tags={"b": "2"})
    aws.eks.untag_resource(resourceArn=arn, tagKeys=["a"])
    assert aws.eks.list_tags_for_resource(resourceArn=arn)["tags"] == {"b": "2"}
    assert aws.eks.describe_cluster(name="one")["cluster"]["tags"] == {"b": "2"}


def test_the_spec_s_subnets_exist_in_two_zones(aws: Aws) -> None:
    subnets = aws.client("ec2").describe_subnets(SubnetIds=SUBNETS)["Subnets"]
    zones = {subnet["SubnetId"]: subnet["AvailabilityZone"] for subnet in subnets}
    assert zones == dict(zip(SUBNETS, ["us-east-1a", "us-east-1b"], strict=True))
    with pytest.raises(ClientError) as error:
        aws.client("ec2").describe_subnets(SubnetIds=["subnet-9"])
    assert code(error) == (400, "InvalidSubnetID.NotFound")


def test_the_spec_s_roles_exist(aws: Aws) -> None:
    assert aws.client("iam").get_role(RoleName="eks-cluster")["Role"]["Arn"] == CLUSTER_ROLE


def test_what_the_emulator_does_not_do_it_says(aws: Aws) -> None:
    with pytest.raises(ClientError, match="no ListAddons"):
        aws.eks.list_addons(clusterName="one")
