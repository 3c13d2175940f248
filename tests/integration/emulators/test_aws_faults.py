# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripted faults as boto3 meets them, and what AWS says that comes by script only.

Of AWS's behaviours these are no cases here:
- addresses of the form `<hex>.<region>.eks.amazonaws.com`: all that answers is on loopback;
- volumes and network interfaces that outlive their cluster: as load balancers do
  (tests/integration/providers/test_eks_driver.py);
- scale-in protection, launch templates and their immutable ids, Auto Mode, Bottlerocket's own device plugin, nodes with
  resource names: the product asks for none of them, and the machines run no image but bcd's;
- a Spot replacement that starts before the old machine ends, and EKS's own drain: the old one's end is the harder case;
- the single permissions: the operator has all, and one that is missing is a scripted AccessDenied.
"""

from __future__ import annotations

from threading import Thread

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from ansible_collections.better_compute.fleet.emulators.engine import Call, Delay, Error, Hook, LostReply

from .conftest import Aws

THROTTLED = Error(status=429, code="TooManyRequestsException", message="Too Many Requests")


def test_a_scripted_error_looks_like_one_of_aws_s_and_comes_before_the_effect(aws: Aws) -> None:
    aws.engine.faults.add("aws", "eks.CreateCluster", THROTTLED)
    with pytest.raises(ClientError, match="Too Many Requests") as error:
        aws.create_cluster()
    assert error.value.response["Error"]["Code"] == "TooManyRequestsException"
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 429
    assert aws.exists("cluster") == []
    aws.create_cluster()


def test_a_scripted_error_of_sts_and_ec2_is_in_their_own_form(aws: Aws) -> None:
    denied = Error(status=403, code="AccessDenied", message="You & I <may> not")
    aws.engine.faults.add("aws", "*", denied, times=2)
    with pytest.raises(ClientError, match="You & I <may> not") as error:
        aws.client("sts").get_caller_identity()
    assert error.value.response["Error"]["Code"] == "AccessDenied"
    with pytest.raises(ClientError, match="You & I <may> not") as error:
        aws.client("ec2").describe_subnets()
    assert error.value.response["Error"]["Code"] == "AccessDenied"


@pytest.mark.parametrize(
    ("status", "error_code", "message"),
    [
        (400, "ClientException", "No cluster found for name: one."),
        (400, "InvalidParameterException", "Role could not be assumed because the trusted entity is not correct"),
        (403, "AccessDeniedException", "User: arn is not authorized to perform: eks:CreateCluster on resource: arn"),
        (428, "ResourcePropagationDelayException", "The role has not been propagated yet."),
        (429, "ThrottlingException", "Rate exceeded"),
        (500, "ServerException", "Internal error"),
        (503, "ServiceUnavailableException", "Service is currently unavailable"),
    ],
)
def test_what_eks_says_now_and_then_comes_by_script(aws: Aws, status: int, error_code: str, message: str) -> None:
    aws.engine.faults.add("aws", "eks.CreateCluster", Error(status=status, code=error_code, message=message))
    with pytest.raises(ClientError, match=message) as error:
        aws.create_cluster()
    assert error.value.response["Error"]["Code"] == error_code
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    aws.create_cluster()


def test_a_lost_reply_breaks_the_connection_after_the_effect(aws: Aws) -> None:
    aws.engine.faults.add("aws", "eks.CreateCluster", LostReply())
    with pytest.raises(ConnectionClosedError):
        aws.create_cluster()
    assert aws.exists("cluster") == ["one"]


def test_a_delay_holds_a_call_back_until_time_has_passed(aws: Aws) -> None:
    fault = aws.engine.faults.add("aws", "eks.ListClusters", Delay(seconds=60))
    caller = Thread(target=aws.eks.list_clusters)
    caller.start()
    while caller.is_alive():
        aws.clock.advance(20)
        caller.join(0.01)
    assert fault.struck == 1


def test_a_hook_runs_before_and_after_the_effect_with_the_call_s_name_and_target(aws: Aws) -> None:
    seen: list[tuple[Call, list[str]]] = []
    hook = Hook(
        on_before=lambda call: seen.append((call, aws.exists("cluster"))),
        on_after=lambda call: seen.append((call, aws.exists("cluster"))),
    )
    aws.engine.faults.add("aws", "eks.*", hook, times=None)
    aws.create_cluster()
    call = Call(cloud="aws", name="eks.CreateCluster", target="one", mutating=True)
    assert seen == [(call, []), (call, ["one"])]


def test_the_log_knows_reads_from_writes(aws: Aws) -> None:
    aws.active_cluster()
    aws.active_node_group(nodes=0)
    mark = aws.engine.log.mark
    aws.eks.describe_cluster(name="one")
    aws.eks.list_nodegroups(clusterName="one")
    aws.node_group()
    assert aws.engine.log.writes(after=mark) == ()
    assert aws.engine.log.counts(after=mark) == {
        "aws eks.DescribeCluster": 1,
        "aws eks.DescribeNodegroup": 1,
        "aws eks.ListNodegroups": 1,
    }
    assert [entry.call.target for entry in aws.engine.log.writes()] == ["one", "one/h100"]
