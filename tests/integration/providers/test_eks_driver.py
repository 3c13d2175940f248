# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What only EKS does: what is asked of it, and what is read of it. Real boto3 against the AWS emulator."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import errors as ours
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Deletion
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks import node_groups
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.driver import EksDriver
from ansible_collections.better_compute.fleet.tests.conformance.life import active_cluster, active_node_pool, node_pool
from ansible_collections.better_compute.fleet.tests.support.eks_subject import CLUSTER, NODE_POOL, EksSubject

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient


def asked(subject: EksSubject, after: int) -> list[str]:
    return [entry.call.name for entry in subject.engine.log.entries(after=after, cloud="aws")]


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
    driver.ensure_node_pool(
        CLUSTER, dataclasses.replace(NODE_POOL, spot=True, places=("subnet-0000000000000000b",)), None
    )
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
        NODE_POOL, name="cpu", machine_type="m7i.large", gpus_per_node=0, nodes=0, disk_gib=None
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
        dataclasses.replace(subject, settings=settings).open().node_places()


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


def test_a_cluster_is_gone_although_what_its_workloads_made_outlives_it(subject: EksSubject, driver: EksDriver) -> None:
    active_cluster(subject)
    subject.aws.console.add_load_balancer(CLUSTER.name, "web")
    driver.delete_cluster(CLUSTER)
    subject.settle()
    assert driver.delete_cluster(CLUSTER) is Deletion.GONE
    assert subject.leftovers() == ["load-balancer web"]
