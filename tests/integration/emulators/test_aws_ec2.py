# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EC2's instance types and subnets, as boto3 sees them."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from ansible_collections.better_compute.fleet.emulators.aws import network
from ansible_collections.better_compute.fleet.emulators.aws.instance_types import catalogue

from .conftest import Aws

ARM = "processor-info.supported-architecture"


def test_instance_types_are_described_whole_as_the_catalogue_has_them(aws: Aws) -> None:
    names = ["g5g.xlarge", "m7g.large", "p5.48xlarge"]
    found = aws.client("ec2").describe_instance_types(InstanceTypes=names)["InstanceTypes"]
    assert [kind["InstanceType"] for kind in found] == names
    by_name = {kind["InstanceType"]: kind for kind in found}
    assert by_name["m7g.large"]["ProcessorInfo"]["SupportedArchitectures"] == ["arm64"]
    assert by_name["g5g.xlarge"]["GpuInfo"]["Gpus"][0]["Manufacturer"] == "NVIDIA"
    assert by_name["p5.48xlarge"]["GpuInfo"]["Gpus"][0]["Count"] == 8
    for kind in found:
        # What boto3's own model does not know yet, it leaves out.
        known = {key: value for key, value in catalogue()[kind["InstanceType"]].items() if key in kind}
        assert known.keys() == kind.keys()
        assert json.dumps(known["EbsInfo"], sort_keys=True) == json.dumps(kind["EbsInfo"], sort_keys=True)
        assert known["VCpuInfo"] == kind["VCpuInfo"]
        assert known["MemoryInfo"] == kind["MemoryInfo"]


def test_instance_types_come_in_pages_and_by_architecture(aws: Aws) -> None:
    paginator = aws.client("ec2").get_paginator("describe_instance_types")
    pages = list(paginator.paginate(Filters=[{"Name": ARM, "Values": ["arm64"]}], PaginationConfig={"PageSize": 50}))
    names = [kind["InstanceType"] for page in pages for kind in page["InstanceTypes"]]
    assert len(pages) > 1
    assert len(names) == len(set(names))
    assert "m7g.large" in names
    assert "m7i.large" not in names


def test_an_instance_type_that_does_not_exist_is_named(aws: Aws) -> None:
    with pytest.raises(ClientError, match=r"do not exist: \[p99.huge\]") as error:
        aws.client("ec2").describe_instance_types(InstanceTypes=["p99.huge", "m7i.large"])
    assert error.value.response["Error"]["Code"] == "InvalidInstanceType"


def test_subnets_can_be_filtered_and_two_may_be_in_one_zone(aws: Aws) -> None:
    filters = [{"Name": "availability-zone", "Values": ["us-east-1a", "us-east-1c"]}]
    found = aws.client("ec2").describe_subnets(Filters=filters)["Subnets"]
    assert [subnet["AvailabilityZone"] for subnet in found] == ["us-east-1a", "us-east-1c", "us-east-1a"]
    with pytest.raises(ClientError, match="filter 'tag:mine' is invalid"):
        aws.client("ec2").describe_subnets(Filters=[{"Name": "tag:mine", "Values": ["x"]}])


def test_a_cluster_in_a_zone_without_room_is_refused_and_told_the_zones_that_have_some(aws: Aws) -> None:
    subnets = ["subnet-0000000000000000a", "subnet-0000000000000000e"]
    with pytest.raises(ClientError, match="Cannot create cluster 'one' because us-east-1e") as error:
        aws.create_cluster(resourcesVpcConfig={"subnetIds": subnets})
    assert error.value.response["Error"]["Code"] == "UnsupportedAvailabilityZoneException"
    valid = error.value.response["validZones"]  # type: ignore[typeddict-item] # a field of EKS's errors
    assert valid == ["us-east-1a", "us-east-1b", "us-east-1c"]


def test_two_subnets_in_one_zone_are_one_zone(aws: Aws) -> None:
    both = [subnet.id for subnet in network.SUBNETS if subnet.zone == "us-east-1a"]
    assert len(both) == 2
    with pytest.raises(ClientError, match="at least two different AZs"):
        aws.create_cluster(resourcesVpcConfig={"subnetIds": both})
