# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of EKS node groups: what an update carries, what became of it, and what is read before it is sent."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error, Hook, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import errors as ours
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    NodeBounds,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import NodePoolSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.driver import EksDriver
from ansible_collections.better_compute.fleet.tests.conformance.life import active_cluster, active_node_pool, node_pool
from ansible_collections.better_compute.fleet.tests.support.eks_subject import CLUSTER, NODE_POOL, EksSubject

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient

GROWN = dataclasses.replace(NODE_POOL, nodes=6)
DECLARED = dataclasses.replace(
    NODE_POOL,
    bounds=NodeBounds(least=2, most=8),
    keep_count=True,
    labels={**NODE_POOL.labels, "team": "blue"},
    labels_declared=True,
    taints=(Taint(key="team", effect="NoSchedule", value="blue"),),
)


def asked(subject: EksSubject, after: int) -> list[str]:
    return [entry.call.name for entry in subject.engine.log.entries(after=after, cloud="aws")]


def standing(driver: EksDriver) -> ObservedNodePool:
    found = node_pool(driver, CLUSTER, NODE_POOL.name)
    assert found is not None
    return found


def ensure(driver: EksDriver, spec: NodePoolSpec, update_id: str | None = None) -> ObservedNodePool:
    """What a pass does: read, then ensure."""
    return driver.ensure_node_pool(CLUSTER, dataclasses.replace(spec, update_id=update_id), standing(driver))


def params(eks: EKSClient, update_id: str | None) -> dict[str, Any]:
    """What an update was asked to do, in EKS's own words."""
    update = eks.describe_update(name=CLUSTER.name, nodegroupName=NODE_POOL.name, updateId=update_id or "")["update"]
    return {param["type"]: json.loads(param["value"]) for param in update["params"]}


def test_an_update_carries_only_what_differs(subject: EksSubject, driver: EksDriver, eks: EKSClient) -> None:
    active_node_pool(subject, dataclasses.replace(DECLARED, labels={**NODE_POOL.labels, "team": "red", "old": "1"}))
    sent = ensure(driver, dataclasses.replace(DECLARED, bounds=NodeBounds(least=2, most=9)))
    assert params(eks, sent.update_id) == {
        "MaxSize": 9,
        "LabelsToAdd": {"team": "blue"},
        "LabelsToRemove": ["old"],
    }


def test_a_minimum_above_the_desired_size_raises_both_in_one_call(
    subject: EksSubject, driver: EksDriver, eks: EKSClient
) -> None:
    active_node_pool(subject, DECLARED)
    before = subject.writes()
    sent = ensure(driver, dataclasses.replace(DECLARED, bounds=NodeBounds(least=5, most=8)))
    assert params(eks, sent.update_id) == {"MinSize": 5, "DesiredSize": 5}
    assert subject.writes() == before + 1


def test_a_maximum_below_the_desired_size_lowers_both_in_one_call(
    subject: EksSubject, driver: EksDriver, eks: EKSClient
) -> None:
    active_node_pool(subject, DECLARED)
    sent = ensure(driver, dataclasses.replace(DECLARED, bounds=NodeBounds(least=2, most=3)))
    assert params(eks, sent.update_id) == {"MaxSize": 3, "DesiredSize": 3}


def test_a_converged_pass_over_all_that_can_be_declared_reads_and_writes_nothing(subject: EksSubject) -> None:
    version = "1.33"
    cluster = dataclasses.replace(CLUSTER, version=version)
    driver = subject.open()
    driver.ensure_cluster(cluster)
    subject.settle()
    active_node_pool(subject, DECLARED)
    subject.edit(labels=NODE_POOL.labels, taints=[])
    update_id = ensure(driver, DECLARED).update_id
    subject.settle()
    driver.ensure_node_pool(CLUSTER, dataclasses.replace(DECLARED, name="second"), None)
    subject.settle()
    before = subject.engine.log.mark
    driver = subject.open()
    driver.ensure_cluster(cluster)
    for found in driver.get_node_pools(CLUSTER):
        spec = dataclasses.replace(DECLARED, name=found.name, version=version, update_id=update_id)
        assert driver.ensure_node_pool(CLUSTER, spec, found) is found
    assert asked(subject, before) == ["eks.DescribeCluster", "eks.ListNodegroups", *["eks.DescribeNodegroup"] * 2]


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        ("EniLimitReached", "too many", ours.ProviderQuotaExceeded),
        ("AccessDenied", "you may not", ours.PermissionDenied),
        ("OperationNotPermitted", "you may not", ours.PermissionDenied),
        ("NodeCreationFailure", "InsufficientInstanceCapacity - We do not have enough", ours.StockedOut),
        ("PodEvictionFailure", "Reached max retries", ours.Unavailable),
        ("SubnetNotFound", "gone", ours.InvalidRequest),
        ("Unknown", "Rate exceeded", ours.Throttled),
    ],
)
def test_an_update_that_eks_gave_up_is_told_with_its_reason_and_without_dummies(
    subject: EksSubject, driver: EksDriver, code: str, message: str, kind: type[ours.ProviderError]
) -> None:
    active_node_pool(subject)
    subject.aws.failures.add("update", code=code, message=message, resource_ids=["DUMMY_1", "i-0123"])
    sent = ensure(driver, GROWN)
    subject.settle()
    before = subject.writes()
    with pytest.raises(ours.ProviderError) as caught:
        ensure(driver, GROWN, sent.update_id)
    assert caught.value.__class__ is kind
    assert f"{code}: {message} [i-0123]" in str(caught.value)
    assert str(sent.update_id) in str(caught.value)
    assert "DUMMY" not in str(caught.value)
    assert subject.writes() == before


def test_an_update_that_was_given_up_is_of_no_interest_once_nothing_differs(
    subject: EksSubject, driver: EksDriver
) -> None:
    active_node_pool(subject)
    subject.give_up_next_change()
    update_id = ensure(driver, GROWN).update_id
    subject.settle()
    before = subject.engine.log.mark
    assert ensure(driver, NODE_POOL, update_id).status is ProviderStatus.ACTIVE
    assert asked(subject, before) == ["eks.ListNodegroups", "eks.DescribeNodegroup"]


def test_an_update_that_is_under_way_though_the_group_looks_active_is_asked_about_and_nothing_else(
    subject: EksSubject, driver: EksDriver
) -> None:
    looks_active = active_node_pool(subject)
    sent = driver.ensure_node_pool(CLUSTER, GROWN, looks_active)
    before = subject.engine.log.mark
    found = driver.ensure_node_pool(CLUSTER, dataclasses.replace(GROWN, update_id=sent.update_id), looks_active)
    assert (found.status, found.update_id) == (ProviderStatus.UPDATING, sent.update_id)
    assert asked(subject, before) == ["eks.DescribeUpdate"]


def test_an_update_that_eks_does_not_know_any_more_is_sent_anew(subject: EksSubject, driver: EksDriver) -> None:
    active_node_pool(subject)
    sent = ensure(driver, GROWN, "00000000-0000-0000-0000-000000000000")
    assert sent.status is ProviderStatus.UPDATING
    subject.settle()
    assert standing(driver).nodes == GROWN.nodes


def test_an_update_that_ended_since_the_group_was_read_is_not_sent_again(
    subject: EksSubject, driver: EksDriver
) -> None:
    stale = active_node_pool(subject)
    sent = driver.ensure_node_pool(CLUSTER, GROWN, stale)
    subject.settle()
    before = subject.writes()
    found = driver.ensure_node_pool(CLUSTER, dataclasses.replace(GROWN, update_id=sent.update_id), stale)
    assert (found.status, found.nodes) == (ProviderStatus.ACTIVE, GROWN.nodes)
    assert subject.writes() == before


def test_a_group_that_went_since_it_was_read_means_come_again(subject: EksSubject, driver: EksDriver) -> None:
    stale = active_node_pool(subject)
    sent = driver.ensure_node_pool(CLUSTER, GROWN, stale)
    subject.settle()
    gone = Error(status=404, code="ResourceNotFoundException", message="No node group found for name: h100.")
    subject.engine.faults.add("aws", "eks.DescribeNodegroup", gone)
    with pytest.raises(ours.OperationInProgress):
        driver.ensure_node_pool(CLUSTER, dataclasses.replace(GROWN, update_id=sent.update_id), stale)


def test_a_count_that_was_set_once_is_the_autoscalers_from_then_on(subject: EksSubject, driver: EksDriver) -> None:
    autoscaled = dataclasses.replace(DECLARED, keep_count=False, nodes=3)
    active_node_pool(subject, DECLARED)
    sent = ensure(driver, autoscaled)
    subject.settle()
    assert standing(driver).nodes == 3
    subject.autoscale(7)
    before = subject.writes()
    assert ensure(driver, autoscaled, sent.update_id).nodes == 7
    assert subject.writes() == before
    subject.edit(labels=NODE_POOL.labels, taints=[])
    assert ensure(driver, autoscaled, sent.update_id).nodes == 7
    subject.settle()
    assert standing(driver).nodes == 7


def test_an_update_whose_reply_is_lost_has_one_effect_however_often_it_is_wanted(
    subject: EksSubject, driver: EksDriver
) -> None:
    active_node_pool(subject)
    subject.engine.faults.add("aws", "eks.UpdateNodegroupConfig", LostReply())
    before = subject.writes()
    stale = standing(driver)
    with pytest.raises(ours.Unavailable):
        driver.ensure_node_pool(CLUSTER, GROWN, stale)
    for _time in range(10):
        assert ensure(subject.open(), GROWN).status is ProviderStatus.UPDATING
        with pytest.raises(ours.OperationInProgress):
            subject.open().ensure_node_pool(CLUSTER, GROWN, stale)
    subject.settle()
    for _time in range(10):
        assert ensure(subject.open(), GROWN).nodes == GROWN.nodes
    assert subject.writes() == before + 1


def test_two_processes_that_see_the_same_difference_make_one_update(subject: EksSubject, driver: EksDriver) -> None:
    active_node_pool(subject)
    other = subject.open()
    seen = standing(other)

    def be_faster(_call: object) -> None:
        other.ensure_node_pool(CLUSTER, GROWN, seen)

    subject.engine.faults.add("aws", "eks.DescribeUpdate", Hook(on_before=be_faster))
    before = subject.writes()
    with pytest.raises(ours.OperationInProgress):
        driver.ensure_node_pool(CLUSTER, dataclasses.replace(GROWN, update_id="unknown"), seen)
    assert subject.writes() == before + 1


@pytest.mark.parametrize("code", ["InvalidRequestException", "InvalidParameterException"])
def test_a_throttle_that_eks_spells_as_an_invalid_request_is_waited_out(
    subject: EksSubject, driver: EksDriver, code: str
) -> None:
    active_node_pool(subject)
    throttle = Error(status=400, code=code, message="Rate exceeded")
    subject.engine.faults.add("aws", "eks.UpdateNodegroupConfig", throttle, times=2)
    assert ensure(driver, GROWN).status is ProviderStatus.UPDATING
    assert len(subject.waits) == 2


@pytest.mark.parametrize("code", ["AsgInstanceLaunchFailures", "AutoScalingGroupRateLimitExceeded"])
def test_a_create_that_fails_for_throttling_is_throttled(subject: EksSubject, driver: EksDriver, code: str) -> None:
    active_cluster(subject)
    subject.aws.failures.add("create", code=code, message="Rate exceeded", target=f"{CLUSTER.name}/*")
    driver.ensure_node_pool(CLUSTER, NODE_POOL, None)
    subject.settle()
    found = standing(driver)
    assert found.status is ProviderStatus.FAILED
    assert isinstance(found.failure, ours.Throttled)


def test_a_group_made_with_all_that_can_be_declared_has_it_from_the_start(
    subject: EksSubject, driver: EksDriver, eks: EKSClient
) -> None:
    active_node_pool(subject, DECLARED)
    made = eks.describe_nodegroup(clusterName=CLUSTER.name, nodegroupName=NODE_POOL.name)["nodegroup"]
    assert made["scalingConfig"] == {"minSize": 2, "maxSize": 8, "desiredSize": 4}
    assert made["taints"] == [{"key": "team", "effect": "NO_SCHEDULE", "value": "blue"}]
    assert made["labels"] == DECLARED.labels
    assert driver.compare(dataclasses.replace(DECLARED, keep_count=False), standing(driver)) == ()


def test_a_disk_type_is_refused_before_anything_is_sent(subject: EksSubject, driver: EksDriver) -> None:
    typed = dataclasses.replace(NODE_POOL, disk_type="gp3")
    observed = active_node_pool(subject)
    before = subject.calls()
    for seen in (None, observed):
        with pytest.raises(ours.InvalidRequest, match="gp3"):
            driver.ensure_node_pool(CLUSTER, typed, seen)
    assert subject.calls() == before
