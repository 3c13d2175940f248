# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What only EKS does: what is asked of it, what is read of it, and who gets in. Real boto3 against the AWS emulator."""

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
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Deletion
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks import node_groups
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.clients import Clients
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.driver import EksDriver
from ansible_collections.better_compute.fleet.tests.conformance.life import active_cluster, active_node_pool, node_pool
from ansible_collections.better_compute.fleet.tests.support.eks_subject import (
    CLUSTER,
    NODE_POOL,
    EksSubject,
    eks_subject,
)

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient
    from mypy_boto3_iam import IAMClient


@pytest.fixture
def subject(tmp_path: Path) -> Iterator[EksSubject]:
    with eks_subject(tmp_path) as fresh:
        yield fresh


@pytest.fixture
def driver(subject: EksSubject) -> EksDriver:
    return subject.open()


@pytest.fixture
def eks(subject: EksSubject) -> EKSClient:
    """EKS without the driver in between."""
    return subject.clients.eks


def asked(subject: EksSubject, after: int) -> list[str]:
    return [entry.call.name for entry in subject.engine.log.entries(after=after, cloud="aws")]


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


@pytest.mark.parametrize("private", [False, True])
def test_a_cluster_is_made_with_access_entries_and_without_a_hidden_administrator(
    subject: EksSubject, driver: EksDriver, eks: EKSClient, private: bool
) -> None:
    driver.ensure_cluster(dataclasses.replace(CLUSTER, private_nodes=private))
    subject.settle()
    made = eks.describe_cluster(name=CLUSTER.name)["cluster"]
    assert made["accessConfig"]["authenticationMode"] == "API_AND_CONFIG_MAP"
    assert eks.list_access_entries(clusterName=CLUSTER.name)["accessEntries"] == []
    assert made["resourcesVpcConfig"]["endpointPrivateAccess"] is private
    assert made["resourcesVpcConfig"]["endpointPublicAccess"] is True
    assert made["resourcesVpcConfig"]["subnetIds"] == list(subject.settings.subnet_ids)
    observed = driver.get_cluster(CLUSTER)
    assert observed is not None
    assert observed.private_nodes is private
    assert observed.outputs is not None
    assert observed.outputs.global_id == made["arn"]


def test_a_node_group_is_made_as_the_flavor_says(subject: EksSubject, driver: EksDriver, eks: EKSClient) -> None:
    active_cluster(subject)
    driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, spot=True, zones=("us-east-1b",)), None)
    made = eks.describe_nodegroup(clusterName=CLUSTER.name, nodegroupName="h100")["nodegroup"]
    assert made["amiType"] == "AL2023_x86_64_NVIDIA"
    assert made["capacityType"] == "SPOT"
    assert made["instanceTypes"] == ["p5.48xlarge"]
    assert made["scalingConfig"] == {"minSize": 4, "maxSize": 4, "desiredSize": 4}
    assert made["diskSize"] == 200
    assert made["subnets"] == ["subnet-0000000000000000b"]
    assert made["nodeRole"] == subject.settings.node_role_arn


def test_a_node_group_without_gpus_and_nodes_gets_the_plain_image_and_room_for_one_node(
    subject: EksSubject, driver: EksDriver, eks: EKSClient
) -> None:
    active_cluster(subject)
    plain = dataclasses.replace(
        NODE_POOL, name="cpu", machine_type="m7i.large", gpus_per_node=0, nodes=0, disk_gib=None, zones=()
    )
    driver.ensure_node_pool(CLUSTER, plain, None)
    subject.settle()
    made = eks.describe_nodegroup(clusterName=CLUSTER.name, nodegroupName="cpu")["nodegroup"]
    assert made["amiType"] == "AL2023_x86_64_STANDARD"
    assert made["scalingConfig"] == {"minSize": 0, "maxSize": 1, "desiredSize": 0}
    assert made["subnets"] == list(subject.settings.subnet_ids)
    assert made["status"] == "ACTIVE"


def test_a_converged_pass_reads_the_cluster_the_list_and_each_node_group_once(subject: EksSubject) -> None:
    observed = active_node_pool(subject)
    before = subject.engine.log.mark
    driver = subject.open()
    cluster = driver.ensure_cluster(CLUSTER)
    pools = driver.get_node_pools(CLUSTER)
    driver.ensure_node_pool(CLUSTER, NODE_POOL, pools[0])
    driver.bootstrap_access(cluster)
    assert pools == (observed,)
    assert asked(subject, before) == ["eks.DescribeCluster", "eks.ListNodegroups", "eks.DescribeNodegroup"]


def test_names_are_read_page_after_page(
    subject: EksSubject, driver: EksDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    active_cluster(subject)
    for name in ("a", "b", "c"):
        driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, name=name), None)
    monkeypatch.setattr(node_groups, "NAMES_PER_PAGE", 1)
    assert [pool.name for pool in driver.get_node_pools(CLUSTER)] == ["a", "b", "c"]


def test_a_page_that_fails_fails_the_list(
    subject: EksSubject, driver: EksDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    active_cluster(subject)
    for name in ("a", "b"):
        driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, name=name), None)
    monkeypatch.setattr(node_groups, "NAMES_PER_PAGE", 1)
    subject.engine.faults.add(
        "aws", "eks.ListNodegroups", Error(status=503, code="ServiceUnavailableException", message="no"), nth=2
    )
    with pytest.raises(ours.Unavailable):
        driver.get_node_pools(CLUSTER)


def test_a_group_that_goes_between_list_and_description_is_left_out(subject: EksSubject, driver: EksDriver) -> None:
    active_node_pool(subject)
    gone = Error(status=404, code="ResourceNotFoundException", message="No node group found for name: h100.")
    subject.engine.faults.add("aws", "eks.DescribeNodegroup", gone)
    assert driver.get_node_pools(CLUSTER) == ()


def test_a_node_group_on_a_cluster_that_is_being_made_means_wait(driver: EksDriver) -> None:
    driver.ensure_cluster(CLUSTER)
    with pytest.raises(ours.OperationInProgress, match="not in ACTIVE"):
        driver.ensure_node_pool(CLUSTER, NODE_POOL, None)


def test_a_cluster_that_is_being_made_is_not_deleted_yet(driver: EksDriver) -> None:
    driver.ensure_cluster(CLUSTER)
    with pytest.raises(ours.OperationInProgress):
        driver.delete_cluster(CLUSTER)


def test_a_cluster_with_node_groups_is_in_use(subject: EksSubject, driver: EksDriver) -> None:
    active_node_pool(subject)
    with pytest.raises(ours.InUse, match="nodegroups attached"):
        driver.delete_cluster(CLUSTER)


def test_nothing_is_sent_to_a_node_group_that_is_busy(subject: EksSubject, driver: EksDriver) -> None:
    active_cluster(subject)
    creating = driver.ensure_node_pool(CLUSTER, NODE_POOL, None)
    before = subject.calls()
    assert driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=9), creating) is creating
    assert subject.calls() == before


def test_a_busy_node_group_that_looks_active_means_wait(subject: EksSubject, driver: EksDriver) -> None:
    observed = active_node_pool(subject)
    driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=5), observed)
    with pytest.raises(ours.OperationInProgress):
        driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=6), observed)


def test_a_stockout_is_the_failure_of_the_node_group_and_is_left_for_the_pass_to_judge(
    subject: EksSubject, driver: EksDriver
) -> None:
    active_cluster(subject)
    subject.aws.capacity.take_away(NODE_POOL.machine_type, "us-east-1a")
    driver.ensure_node_pool(CLUSTER, NODE_POOL, None)
    subject.settle()
    observed = node_pool(driver, CLUSTER, NODE_POOL.name)
    assert observed is not None
    assert observed.status is ProviderStatus.FAILED
    assert isinstance(observed.failure, ours.StockedOut)
    assert "InsufficientInstanceCapacity" in str(observed.failure)
    assert "DUMMY" not in str(observed.failure)
    before = subject.calls()
    assert driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=1), observed) is observed
    assert subject.calls() == before
    assert driver.delete_node_pool(CLUSTER, NODE_POOL.name, NODE_POOL.tags) is Deletion.UNDER_WAY


def test_a_degraded_node_group_that_takes_no_change_shows_why_it_is_degraded(
    subject: EksSubject, driver: EksDriver
) -> None:
    healthy = active_node_pool(subject)
    subject.aws.capacity.take_away(NODE_POOL.machine_type, "us-east-1a")
    driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=6), healthy)
    subject.settle()
    degraded = node_pool(driver, CLUSTER, NODE_POOL.name)
    assert degraded is not None
    assert degraded.status is ProviderStatus.DEGRADED
    assert isinstance(degraded.failure, ours.StockedOut)
    assert driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=2), degraded) is degraded


def test_a_group_that_was_deleted_can_be_made_again_in_another_shape(subject: EksSubject, driver: EksDriver) -> None:
    active_node_pool(subject)
    driver.delete_node_pool(CLUSTER, NODE_POOL.name, NODE_POOL.tags)
    subject.settle()
    other = dataclasses.replace(NODE_POOL, machine_type="g6.xlarge")
    assert driver.ensure_node_pool(CLUSTER, other, None).status is ProviderStatus.CREATING


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"machine_type": "p9.mega"}, "p9.mega"),
        ({"zones": ("us-east-1c",)}, "no subnet of eksSubnetIds is in us-east-1c"),
        ({"labels": {"kubernetes.io/x": "y"}}, "reserved prefixes"),
    ],
)
def test_what_eks_will_never_take_is_an_invalid_request_that_says_what_and_makes_nothing(
    subject: EksSubject, driver: EksDriver, change: dict[str, str], text: str
) -> None:
    active_cluster(subject)
    before = subject.writes()
    with pytest.raises(ours.InvalidRequest, match=text):
        driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, **change), None)  # type: ignore[arg-type]  # one field each
    assert subject.writes() == before


def test_a_subnet_that_does_not_exist_is_named(subject: EksSubject) -> None:
    unknown = "subnet-0123456789abcdef0"
    settings = dataclasses.replace(subject.settings, subnet_ids=(*subject.settings.subnet_ids, unknown))
    with pytest.raises(ours.InvalidRequest, match=unknown):
        dataclasses.replace(subject, settings=settings).open().node_zones()


def test_a_role_that_cannot_be_assumed_yet_means_come_again(subject: EksSubject, driver: EksDriver) -> None:
    text = "Role could not be assumed because the trusted entity is not correct"
    refusal = Error(status=400, code="InvalidParameterException", message=text)
    subject.engine.faults.add("aws", "eks.CreateCluster", refusal)
    with pytest.raises(ours.Unavailable, match="could not be assumed"):
        driver.ensure_cluster(CLUSTER)
    assert driver.ensure_cluster(CLUSTER).status is ProviderStatus.CREATING


def test_a_name_that_eks_still_holds_means_wait(subject: EksSubject, driver: EksDriver) -> None:
    taken = Error(
        status=409, code="ResourceInUseException", message=f"Cluster already exists with name: {CLUSTER.name}"
    )
    subject.engine.faults.add("aws", "eks.CreateCluster", taken)
    with pytest.raises(ours.OperationInProgress, match="already exists"):
        driver.ensure_cluster(CLUSTER)


def test_the_other_spelling_of_not_found_is_understood(subject: EksSubject, driver: EksDriver) -> None:
    spelling = Error(status=400, code="ClientException", message=f"No cluster found for name: {CLUSTER.name}.")
    subject.engine.faults.add("aws", "eks.DescribeCluster", spelling)
    assert driver.delete_cluster(CLUSTER) is Deletion.GONE


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
