# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is asking: signatures, assumed roles, access entries and the bearer token of a cluster."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ansible_collections.better_compute.fleet.emulators.aws import Credentials, Timings

from .bearer_tokens import bearer_token as token
from .conftest import Aws

ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
DAEMON_ROLE = "arn:aws:iam::111111111111:role/fleet-daemon"
EVERYWHERE: Any = {"type": "cluster"}


@pytest.fixture
def timings() -> Timings:
    """So fast that botocore, which signs with the machine's clock, and the virtual clock agree."""
    return Timings().divided_by(1000)


def code(error: pytest.ExceptionInfo[ClientError]) -> tuple[int, str]:
    response = error.value.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


def daemon(aws: Aws) -> Credentials:
    """The keys of a session of the daemon's role."""
    answer = aws.client("sts").assume_role(RoleArn=DAEMON_ROLE, RoleSessionName="bc-fleetd")["Credentials"]
    credentials = aws.emulator.account.credentials(answer["AccessKeyId"])
    assert credentials is not None
    assert credentials.session_token == answer["SessionToken"]
    return credentials


def test_the_caller_is_told_apart_by_its_key(aws: Aws) -> None:
    assert aws.client("sts").get_caller_identity()["Arn"] == "arn:aws:iam::111111111111:user/operator"
    other = aws.emulator.account.user("somebody")
    assert aws.client("sts", other).get_caller_identity()["Arn"] == "arn:aws:iam::111111111111:user/somebody"
    session = aws.client("sts", daemon(aws)).get_caller_identity()
    assert session["Arn"] == "arn:aws:sts::111111111111:assumed-role/fleet-daemon/bc-fleetd"
    assert session["Account"] == "111111111111"


def test_a_wrong_secret_an_unknown_key_and_a_missing_session_token_are_refused(aws: Aws) -> None:
    wrong_secret = replace(aws.emulator.operator, secret_access_key="no")
    with pytest.raises(ClientError) as error:
        aws.client("eks", wrong_secret).list_clusters()
    assert code(error) == (403, "InvalidSignatureException")
    with pytest.raises(ClientError) as error:
        aws.client("sts", wrong_secret).get_caller_identity()
    assert code(error) == (403, "SignatureDoesNotMatch")
    for unknown in (
        replace(aws.emulator.operator, access_key_id="AKIANOBODYNOBODY0000"),
        replace(daemon(aws), session_token=None),
    ):
        with pytest.raises(ClientError) as error:
            aws.client("eks", unknown).list_clusters()
        assert code(error) == (403, "UnrecognizedClientException")


def test_a_refused_request_does_nothing(aws: Aws) -> None:
    with pytest.raises(ClientError):
        aws.client("eks", replace(aws.emulator.operator, secret_access_key="no")).create_cluster(
            name="one", roleArn="role", resourcesVpcConfig={}
        )
    assert aws.engine.inventory.items() == ()
    assert aws.engine.log.writes() == ()


def test_a_request_that_was_changed_after_it_was_signed_is_refused(aws: Aws) -> None:
    def change(request: Any, **_rest: object) -> None:
        request.body = request.body.replace(b"ours", b"mine")

    aws.eks.meta.events.register("before-send.eks.CreateCluster", change)
    with pytest.raises(ClientError) as error:
        aws.create_cluster(tags={"whose": "ours"})
    assert code(error) == (403, "InvalidSignatureException")
    assert aws.exists("cluster") == []


@pytest.mark.parametrize(
    ("minutes", "said"), [(-16, "Signature expired: .* is now earlier than"), (16, "is still later than")]
)
def test_a_caller_whose_clock_is_wrong_is_told_the_time(
    aws: Aws, monkeypatch: pytest.MonkeyPatch, minutes: int, said: str
) -> None:
    wrong = datetime.now(UTC) + timedelta(minutes=minutes)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda *_args, **_named: wrong)
    with pytest.raises(ClientError, match=said) as error:
        aws.eks.list_clusters()
    assert code(error) == (403, "InvalidSignatureException")


def test_a_session_ends(aws: Aws) -> None:
    session = daemon(aws)
    aws.clock.advance(3601)
    with pytest.raises(ClientError) as error:
        aws.client("eks", session).list_clusters()
    assert code(error) == (403, "ExpiredTokenException")


def test_a_role_that_does_not_exist_cannot_be_assumed(aws: Aws) -> None:
    with pytest.raises(ClientError, match="not authorized to perform: sts:AssumeRole") as error:
        aws.client("sts").assume_role(RoleArn=DAEMON_ROLE + "x", RoleSessionName="session")
    assert code(error) == (403, "AccessDenied")


def test_the_creator_s_token_is_an_administrator_s_when_that_was_wanted(aws: Aws) -> None:
    aws.active_cluster()
    principal = aws.emulator.authenticate(token(aws.emulator.operator), "one")
    assert principal is not None
    assert aws.emulator.is_admin(principal, "one")
    assert aws.eks.list_access_entries(clusterName="one")["accessEntries"] == [principal.principal_arn]


def test_a_creator_in_mode_config_map_is_an_administrator_that_no_entry_shows(aws: Aws) -> None:
    aws.active_cluster(accessConfig={"authenticationMode": "CONFIG_MAP"})
    principal = aws.emulator.authenticate(token(aws.emulator.operator), "one")
    assert principal is not None
    assert aws.emulator.is_admin(principal, "one")
    with pytest.raises(ClientError, match="authentication mode must be set") as error:
        aws.eks.list_access_entries(clusterName="one")
    assert code(error) == (400, "InvalidRequestException")


def test_a_creator_who_is_no_administrator_is_let_in_by_an_access_entry_and_a_policy(aws: Aws) -> None:
    aws.active_cluster(accessConfig={"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False})
    operator = aws.emulator.operator
    assert aws.emulator.authenticate(token(operator), "one") is None
    aws.eks.create_access_entry(clusterName="one", principalArn=operator.principal_arn, tags={"mine": "yes"})
    principal = aws.emulator.authenticate(token(operator), "one")
    assert principal is not None
    assert not aws.emulator.is_admin(principal, "one")
    for _time in range(2):
        aws.eks.associate_access_policy(
            clusterName="one", principalArn=operator.principal_arn, policyArn=ADMIN, accessScope=EVERYWHERE
        )
    assert aws.emulator.is_admin(principal, "one")
    policies = aws.eks.list_associated_access_policies(clusterName="one", principalArn=operator.principal_arn)
    assert [policy["policyArn"] for policy in policies["associatedAccessPolicies"]] == [ADMIN]
    aws.eks.disassociate_access_policy(clusterName="one", principalArn=operator.principal_arn, policyArn=ADMIN)
    assert not aws.emulator.is_admin(principal, "one")
    aws.eks.delete_access_entry(clusterName="one", principalArn=operator.principal_arn)
    assert aws.emulator.authenticate(token(operator), "one") is None
    assert aws.exists("access-entry") == []


def test_an_assumed_role_is_let_in_by_the_entry_of_its_role(aws: Aws) -> None:
    aws.active_cluster()
    session = daemon(aws)
    assert aws.emulator.authenticate(token(session), "one") is None
    aws.eks.create_access_entry(clusterName="one", principalArn=DAEMON_ROLE)
    aws.eks.associate_access_policy(
        clusterName="one", principalArn=DAEMON_ROLE, policyArn=ADMIN, accessScope=EVERYWHERE
    )
    principal = aws.emulator.authenticate(token(session), "one")
    assert principal is not None
    assert aws.emulator.is_admin(principal, "one")
    entry = aws.eks.describe_access_entry(clusterName="one", principalArn=DAEMON_ROLE)["accessEntry"]
    assert entry["principalArn"] == DAEMON_ROLE


def test_an_access_entry_is_made_once_and_only_for_principals_that_exist(aws: Aws) -> None:
    aws.active_cluster()
    aws.eks.create_access_entry(clusterName="one", principalArn=DAEMON_ROLE)
    with pytest.raises(ClientError, match="already in use") as error:
        aws.eks.create_access_entry(clusterName="one", principalArn=DAEMON_ROLE)
    assert code(error) == (409, "ResourceInUseException")
    for nobody in (DAEMON_ROLE + "x", "arn:aws:sts::111111111111:assumed-role/fleet-daemon/bc-fleetd"):
        with pytest.raises(ClientError, match="invalid principal") as error:
            aws.eks.create_access_entry(clusterName="one", principalArn=nobody)
        assert code(error) == (400, "InvalidParameterException")
    with pytest.raises(ClientError) as error:
        aws.eks.describe_access_entry(clusterName="one", principalArn=DAEMON_ROLE + "x")
    assert code(error) == (404, "ResourceNotFoundException")


def test_a_token_is_good_for_its_own_cluster_only(aws: Aws) -> None:
    aws.active_cluster()
    aws.active_cluster("two")
    assert aws.emulator.authenticate(token(aws.emulator.operator, cluster="two"), "one") is None
    assert aws.emulator.authenticate(token(aws.emulator.operator, cluster="two"), "two") is not None


def test_a_token_signed_for_the_emulator_s_own_address_is_as_good(aws: Aws) -> None:
    aws.active_cluster()
    assert aws.emulator.authenticate(token(aws.emulator.operator, url=aws.emulator.url), "one") is not None


def test_a_token_lives_fifteen_minutes_whatever_it_says_itself(aws: Aws) -> None:
    aws.active_cluster()
    good = token(aws.emulator.operator)
    signed_at = datetime.now(UTC)
    aws.clock.advance((signed_at - aws.clock.now() + timedelta(minutes=14)).total_seconds())
    assert aws.emulator.authenticate(good, "one") is not None
    aws.clock.advance(timedelta(minutes=1, seconds=1).total_seconds())
    assert aws.emulator.authenticate(good, "one") is None


def test_what_is_no_good_token_is_nobody(aws: Aws) -> None:
    aws.active_cluster()
    good = token(aws.emulator.operator)
    forged = token(replace(aws.emulator.operator, secret_access_key="no"))
    bad = [
        "",
        "k8s-aws-v1.",
        "k8s-aws-v1.%%%",
        good[:-8],
        good.removeprefix("k8s-aws-v1."),
        forged,
        "k8s-aws-v1." + base64.urlsafe_b64encode(b"https://sts/?Action=GetCallerIdentity").decode(),
    ]
    assert [aws.emulator.authenticate(text, "one") for text in bad] == [None] * len(bad)
    assert aws.emulator.authenticate(good, "no-such-cluster") is None


def test_no_secret_is_in_the_text_of_credentials(aws: Aws) -> None:
    session = daemon(aws)
    assert session.secret_access_key not in repr(session)
    assert str(session.session_token) not in repr(session)
