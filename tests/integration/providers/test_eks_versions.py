# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machine images and Kubernetes versions on EKS."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error, Hook, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import errors as ours
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ObservedCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import ClusterSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks import updates
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.clusters import UPGRADE_RETRY
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.driver import EksDriver
from ansible_collections.better_compute.fleet.tests.conformance.life import active_cluster, active_node_pool, node_pool
from ansible_collections.better_compute.fleet.tests.support.eks_subject import CLUSTER, NODE_POOL, EksSubject

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient

OLD = dataclasses.replace(CLUSTER, version="1.32")
NEW = dataclasses.replace(CLUSTER, version="1.34")
GROUP_AT_NEW = dataclasses.replace(NODE_POOL, version="1.34")


def asked(subject: EksSubject, after: int) -> list[str]:
    return [entry.call.name for entry in subject.engine.log.entries(after=after, cloud="aws")]


def made(subject: EksSubject, spec: ClusterSpec = OLD) -> None:
    subject.open().ensure_cluster(spec)
    subject.settle()


def version(cluster: ObservedCluster | None) -> str | None:
    return cluster.outputs.version if cluster and cluster.outputs else None


@pytest.mark.parametrize(
    ("machine_type", "gpus", "image"),
    [
        ("p5.48xlarge", 8, "AL2023_x86_64_NVIDIA"),
        ("g5g.xlarge", 1, "AL2023_ARM_64_NVIDIA"),
        ("m7i.large", 0, "AL2023_x86_64_STANDARD"),
        ("m7g.large", 0, "AL2023_ARM_64_STANDARD"),
    ],
)
def test_the_image_is_that_of_the_machines_architecture_and_gpus(
    subject: EksSubject, driver: EksDriver, eks: EKSClient, machine_type: str, gpus: int, image: str
) -> None:
    active_cluster(subject)
    spec = dataclasses.replace(NODE_POOL, machine_type=machine_type, gpus_per_node=gpus)
    before = subject.engine.log.mark
    driver.ensure_node_pool(CLUSTER, spec, None)
    assert asked(subject, before) == ["ec2.DescribeInstanceTypes", "eks.CreateNodegroup"]
    subject.settle()
    assert eks.describe_nodegroup(clusterName=CLUSTER.name, nodegroupName="h100")["nodegroup"]["amiType"] == image
    found = node_pool(driver, CLUSTER, "h100")
    assert found is not None
    assert driver.compare(spec, found) == ()


def test_a_cluster_is_made_with_its_version_and_its_node_groups_begin_with_that(
    subject: EksSubject, driver: EksDriver
) -> None:
    made(subject)
    assert version(driver.get_cluster(CLUSTER)) == "1.32"
    assert active_node_pool(subject).version == "1.32"


def test_a_version_that_eks_does_not_have_is_refused(driver: EksDriver) -> None:
    with pytest.raises(ours.InvalidRequest, match=r"1\.99"):
        driver.ensure_cluster(dataclasses.replace(CLUSTER, version="1.99"))


def test_an_update_of_a_cluster_that_does_not_show_yet_is_not_sent_again(
    subject: EksSubject, driver: EksDriver, eks: EKSClient
) -> None:
    made(subject)
    before = subject.engine.log.mark
    for _time in range(10):
        assert driver.ensure_cluster(NEW).status is ProviderStatus.UPDATING
    assert eks.describe_cluster(name=CLUSTER.name)["cluster"]["status"] == "ACTIVE"
    subject.clock.advance(60)
    assert eks.describe_cluster(name=CLUSTER.name)["cluster"]["status"] == "UPDATING"
    assert driver.ensure_cluster(NEW).status is ProviderStatus.UPDATING
    assert asked(subject, before).count("eks.UpdateClusterVersion") == 1


def test_an_upgrade_that_ended_since_the_cluster_was_read_is_not_sent_again(
    subject: EksSubject, driver: EksDriver
) -> None:
    made(subject)
    driver.ensure_cluster(NEW)
    before = subject.writes()
    subject.engine.faults.add("aws", "eks.ListUpdates", Hook(on_before=lambda _call: subject.settle()))
    assert driver.ensure_cluster(NEW).status is ProviderStatus.UPDATING
    assert version(driver.get_cluster(NEW)) == "1.33"
    assert subject.writes() == before


def test_another_update_of_a_cluster_means_wait(subject: EksSubject, driver: EksDriver) -> None:
    made(subject)
    text = "Cannot VersionUpdate because cluster currently has update 1 in progress"
    busy = Error(status=409, code="ResourceInUseException", message=text)
    subject.engine.faults.add("aws", "eks.UpdateClusterVersion", busy)
    assert driver.ensure_cluster(NEW).status is ProviderStatus.UPDATING


def test_an_upgrade_of_a_cluster_whose_reply_is_lost_has_one_effect(subject: EksSubject, driver: EksDriver) -> None:
    made(subject)
    subject.engine.faults.add("aws", "eks.UpdateClusterVersion", LostReply())
    before = subject.writes()
    wanted = dataclasses.replace(CLUSTER, version="1.33")
    with pytest.raises(ours.Unavailable):
        driver.ensure_cluster(wanted)
    for _time in range(10):
        assert subject.open().ensure_cluster(wanted).status is ProviderStatus.UPDATING
    subject.settle()
    for _time in range(10):
        assert version(subject.open().ensure_cluster(wanted)) == "1.33"
    assert subject.writes() == before + 1


def test_an_upgrade_of_a_cluster_that_eks_gave_up_is_told_for_a_while_and_then_sent_again(
    subject: EksSubject, driver: EksDriver
) -> None:
    made(subject)
    subject.aws.failures.add(
        "update", code="InsufficientFreeAddresses", message="no addresses", resource_ids=["DUMMY_1", "subnet-1"]
    )
    driver.ensure_cluster(NEW)
    subject.clock.advance(timedelta(minutes=10).total_seconds())
    before = subject.writes()
    for _time in range(10):
        with pytest.raises(ours.InvalidRequest, match=r"InsufficientFreeAddresses: no addresses \[subnet-1\]"):
            driver.ensure_cluster(NEW)
    assert version(driver.get_cluster(NEW)) == "1.32"
    assert subject.writes() == before
    subject.clock.advance(UPGRADE_RETRY.total_seconds())
    assert driver.ensure_cluster(NEW).status is ProviderStatus.UPDATING
    subject.settle()
    assert version(driver.get_cluster(NEW)) == "1.33"
    assert subject.writes() == before + 1


def test_of_two_upgrades_that_eks_gave_up_the_newer_is_told(subject: EksSubject, driver: EksDriver) -> None:
    made(subject)
    for code in ("SubnetNotFound", "SecurityGroupNotFound"):
        subject.clock.advance(UPGRADE_RETRY.total_seconds())
        subject.aws.failures.add("update", code=code, message="gone")
        driver.ensure_cluster(NEW)
        subject.clock.advance(timedelta(minutes=10).total_seconds())
        with pytest.raises(ours.InvalidRequest, match=code):
            driver.ensure_cluster(NEW)


def test_of_many_updates_of_a_cluster_only_so_many_are_read(
    subject: EksSubject, driver: EksDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(subject)
    for step in ("1.33", "1.34"):
        driver.ensure_cluster(dataclasses.replace(CLUSTER, version=step))
        subject.settle()
    monkeypatch.setattr(updates, "MOST_LOOKED_AT", 1)
    before = subject.engine.log.mark
    driver.ensure_cluster(dataclasses.replace(CLUSTER, version="1.35"))
    assert asked(subject, before) == [
        "eks.DescribeCluster",
        "eks.ListUpdates",
        "eks.DescribeUpdate",
        "eks.UpdateClusterVersion",
    ]


def test_a_version_that_aws_raised_by_itself_is_left_alone(subject: EksSubject, driver: EksDriver) -> None:
    made(subject)
    subject.aws.console.move_cluster(CLUSTER.name, "1.33")
    before = subject.engine.log.mark
    assert version(driver.ensure_cluster(OLD)) == "1.33"
    assert asked(subject, before) == ["eks.DescribeCluster"]


def test_a_node_group_too_old_for_the_next_version_holds_the_cluster_back_with_eks_own_words(
    subject: EksSubject, driver: EksDriver
) -> None:
    made(subject, dataclasses.replace(CLUSTER, version="1.31"))
    active_node_pool(subject)
    wanted = dataclasses.replace(CLUSTER, version="1.35")
    for step in ("1.32", "1.33", "1.34"):
        driver.ensure_cluster(wanted)
        subject.settle()
        assert version(driver.get_cluster(wanted)) == step
    with pytest.raises(ours.InvalidRequest, match="h100"):
        driver.ensure_cluster(wanted)


def test_a_node_group_is_changed_first_and_then_upgraded(subject: EksSubject, driver: EksDriver) -> None:
    made(subject, dataclasses.replace(CLUSTER, version="1.33"))
    active_node_pool(subject)
    driver.ensure_cluster(NEW)
    subject.settle()
    wanted = dataclasses.replace(GROUP_AT_NEW, nodes=2)
    before = subject.engine.log.mark
    for _time in range(3):
        found = node_pool(driver, CLUSTER, "h100")
        sent = driver.ensure_node_pool(CLUSTER, wanted, found)
        wanted = dataclasses.replace(wanted, update_id=sent.update_id or wanted.update_id)
        subject.settle()
    writes = [entry.call.name for entry in subject.engine.log.entries(after=before, mutating=True)]
    assert writes == ["eks.UpdateNodegroupConfig", "eks.UpdateNodegroupVersion"]
    found = node_pool(driver, CLUSTER, "h100")
    assert found is not None
    assert (found.version, found.nodes) == ("1.34", 2)


def test_an_upgrade_of_a_node_group_whose_reply_is_lost_replaces_the_machines_once(
    subject: EksSubject, driver: EksDriver
) -> None:
    made(subject, dataclasses.replace(CLUSTER, version="1.33"))
    stale = active_node_pool(subject)
    driver.ensure_cluster(NEW)
    subject.settle()
    subject.engine.faults.add("aws", "eks.UpdateNodegroupVersion", LostReply())
    before = subject.writes()
    with pytest.raises(ours.Unavailable):
        driver.ensure_node_pool(CLUSTER, GROUP_AT_NEW, stale)
    for _time in range(10):
        with pytest.raises(ours.OperationInProgress):
            subject.open().ensure_node_pool(CLUSTER, GROUP_AT_NEW, stale)
    subject.settle()
    for _time in range(10):
        found = node_pool(driver, CLUSTER, "h100")
        assert found is not None
        assert driver.ensure_node_pool(CLUSTER, GROUP_AT_NEW, found).version == "1.34"
    assert subject.writes() == before + 1


def test_an_upgrade_of_a_node_group_that_eks_gave_up_is_told(subject: EksSubject, driver: EksDriver) -> None:
    made(subject, dataclasses.replace(CLUSTER, version="1.33"))
    stale = active_node_pool(subject)
    driver.ensure_cluster(NEW)
    subject.settle()
    subject.aws.failures.add("update", code="PodEvictionFailure", message="Reached max retries")
    sent = driver.ensure_node_pool(CLUSTER, GROUP_AT_NEW, stale)
    subject.settle()
    found = node_pool(driver, CLUSTER, "h100")
    assert found is not None
    assert found.version == "1.33"
    with pytest.raises(ours.Unavailable, match="PodEvictionFailure"):
        driver.ensure_node_pool(CLUSTER, dataclasses.replace(GROUP_AT_NEW, update_id=sent.update_id), found)
