# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who gets into a cluster on EKS, and how: access entries and signed tokens. Real boto3 against the AWS emulator."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ansible_collections.better_compute.fleet.emulators.aws.account import Credentials
from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import errors as ours
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.clients import Clients
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.driver import EksDriver
from ansible_collections.better_compute.fleet.tests.conformance.life import active_cluster
from ansible_collections.better_compute.fleet.tests.support.eks_subject import CLUSTER, EksSubject

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient
    from mypy_boto3_iam import IAMClient


def assume(subject: EksSubject, role: str) -> Credentials:
    """The key of a role that the operator assumes.

    Arguments:
        role: the role's ARN.
    """
    keys = subject.clients.sts.assume_role(RoleArn=role, RoleSessionName="someone@example.com")["Credentials"]
    found = subject.aws.account.credentials(keys["AccessKeyId"])
    assert found is not None
    return found


DAEMON = "arn:aws:iam::111111111111:role/fleet-daemon"
OPERATOR = "arn:aws:iam::111111111111:role/fleet-operator"


def test_a_wrong_secret_is_denied_and_not_shown(subject: EksSubject, tmp_path: Path) -> None:
    wrong = dataclasses.replace(subject.aws.operator, secret_access_key="THE-WRONG-SECRET")
    with pytest.raises(ours.PermissionDenied) as caught:
        subject.through(wrong, tmp_path).open().get_cluster(CLUSTER)
    assert "THE-WRONG-SECRET" not in repr(caught.value)


def test_nobody_is_let_in_before_access_is_granted(subject: EksSubject, driver: EksDriver) -> None:
    assert not subject.accepts(driver.bootstrap_access(active_cluster(subject)))


def test_a_token_opens_only_the_cluster_that_it_was_made_for(subject: EksSubject, driver: EksDriver) -> None:
    cluster = active_cluster(subject)
    driver.grant_access(CLUSTER)
    assert subject.accepts(driver.bootstrap_access(cluster))
    assert not subject.accepts(driver.bootstrap_access(dataclasses.replace(cluster, name="bc-other")))


def test_a_token_is_good_until_the_time_that_it_tells(subject: EksSubject, driver: EksDriver) -> None:
    cluster = active_cluster(subject)
    driver.grant_access(CLUSTER)
    access = driver.bootstrap_access(cluster)
    subject.clock.advance((access.expires_at - subject.clock.now()).total_seconds())
    assert subject.accepts(access)
    subject.clock.advance(60)
    assert not subject.accepts(access)


def test_an_assumed_role_gets_in_as_its_role_and_its_next_session_too(subject: EksSubject, tmp_path: Path) -> None:
    cluster = active_cluster(subject)
    daemon = subject.through(assume(subject, DAEMON), tmp_path)
    daemon.open().grant_access(CLUSTER)
    assert subject.clients.eks.list_access_entries(clusterName=CLUSTER.name)["accessEntries"] == [DAEMON]
    assert subject.accepts(daemon.open().bootstrap_access(cluster))
    next_session = subject.through(assume(subject, DAEMON), tmp_path)
    assert subject.accepts(next_session.open().bootstrap_access(cluster))


def test_two_principals_each_get_an_entry_and_take_back_only_their_own(subject: EksSubject, tmp_path: Path) -> None:
    cluster = active_cluster(subject)
    person, daemon = subject, subject.through(assume(subject, DAEMON), tmp_path)
    for someone in (person, daemon):
        someone.open().grant_access(CLUSTER)
    daemon.open().revoke_access(CLUSTER)
    assert not subject.accepts(daemon.open().bootstrap_access(cluster))
    assert subject.accepts(person.open().bootstrap_access(cluster))


@pytest.fixture
def role_with_a_path(subject: EksSubject) -> Iterator[str]:
    """The name of a role as IAM Identity Center makes them, with a path."""
    iam: IAMClient = subject.clients.iam
    trust = json.dumps({"Version": "2012-10-17", "Statement": []})
    name = "AWSReservedSSO_Operators_0123456789abcdef"
    iam.create_role(RoleName=name, Path="/aws-reserved/sso.amazonaws.com/", AssumeRolePolicyDocument=trust)
    yield name
    iam.delete_role(RoleName=name)


def test_a_role_with_a_path_gets_its_entry_with_the_path(
    subject: EksSubject, role_with_a_path: str, tmp_path: Path
) -> None:
    active_cluster(subject)
    role = subject.clients.iam.get_role(RoleName=role_with_a_path)["Role"]["Arn"]
    subject.through(assume(subject, role), tmp_path).open().grant_access(CLUSTER)
    assert subject.clients.eks.list_access_entries(clusterName=CLUSTER.name)["accessEntries"] == [role]


def test_where_iam_does_not_tell_the_role_is_taken_to_have_no_path(subject: EksSubject, tmp_path: Path) -> None:
    active_cluster(subject)
    denied = Error(status=403, code="AccessDenied", message="not authorized to perform: iam:GetRole")
    subject.engine.faults.add("aws", "iam.GetRole", denied)
    subject.through(assume(subject, DAEMON), tmp_path).open().grant_access(CLUSTER)
    entries = subject.clients.eks.list_access_entries(clusterName=CLUSTER.name)["accessEntries"]
    assert entries == [DAEMON]


def test_an_entry_that_somebody_else_made_is_used_and_stays(
    subject: EksSubject, driver: EksDriver, eks: EKSClient
) -> None:
    cluster = active_cluster(subject)
    me = subject.aws.operator.principal_arn
    eks.create_access_entry(clusterName=CLUSTER.name, principalArn=me)
    driver.grant_access(CLUSTER)
    assert subject.accepts(driver.bootstrap_access(cluster))
    driver.revoke_access(CLUSTER)
    assert eks.list_access_entries(clusterName=CLUSTER.name)["accessEntries"] == [me]


def test_an_adopted_clusters_owner_is_told_whom_to_let_in_and_how_and_the_entry_stays(
    subject: EksSubject, driver: EksDriver, eks: EKSClient
) -> None:
    active_cluster(subject)
    adopted = dataclasses.replace(CLUSTER, tags={}, adopted=True)
    me = subject.aws.operator.principal_arn
    told = driver.access_needed(adopted)
    of_it = f"--region {CLUSTER.location} --cluster-name {CLUSTER.name} --principal-arn {me}"
    assert f"`aws eks create-access-entry {of_it}`" in told
    assert "policy-arn arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy" in told
    eks.create_access_entry(clusterName=CLUSTER.name, principalArn=me)
    mark = subject.engine.log.mark
    driver.revoke_access(adopted)
    assert subject.engine.log.entries(after=mark) == ()
    assert eks.list_access_entries(clusterName=CLUSTER.name)["accessEntries"] == [me]


def test_a_grant_that_got_only_half_way_is_completed(subject: EksSubject, driver: EksDriver) -> None:
    cluster = active_cluster(subject)
    broken = Error(status=500, code="ServerException", message="no")
    subject.engine.faults.add("aws", "eks.AssociateAccessPolicy", broken)
    with pytest.raises(ours.Unavailable):
        driver.grant_access(CLUSTER)
    assert not subject.accepts(driver.bootstrap_access(cluster))
    driver.grant_access(CLUSTER)
    assert subject.accepts(driver.bootstrap_access(cluster))


def test_ambient_temporary_credentials_sign_tokens_that_are_accepted(
    subject: EksSubject, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = active_cluster(subject)
    key = assume(subject, OPERATOR)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key.secret_access_key)
    monkeypatch.setenv("AWS_SESSION_TOKEN", str(key.session_token))
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    settings = dataclasses.replace(subject.settings, credential="ambient")
    ambient = dataclasses.replace(subject, settings=settings, clients=Clients.open(settings))
    ambient.open().grant_access(CLUSTER)
    assert subject.accepts(ambient.open().bootstrap_access(cluster))


def test_a_token_shows_in_no_repr(subject: EksSubject, driver: EksDriver) -> None:
    access = driver.bootstrap_access(active_cluster(subject))
    assert access.token.reveal() not in repr(access)
