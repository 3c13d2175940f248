# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the GKE driver changes of node pools that stand: sizes that no description shows, autoscalers, whole sets."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InvalidRequest,
    OperationInProgress,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import NodeBounds
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import NodePoolSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.sizes import NODES_LABEL
from ansible_collections.better_compute.fleet.tests.support.gke_subject import CLUSTER, NODE_POOL, GkeSubject

RESIZED = ["UpdateNodePool", "SetNodePoolSize", "UpdateNodePool"]
BOUNDS = NodeBounds(least=2, most=8)
SIX = dataclasses.replace(NODE_POOL, nodes=6)
BOUNDED = dataclasses.replace(NODE_POOL, bounds=BOUNDS)
KEPT = dataclasses.replace(BOUNDED, keep_count=True)


def move(google: GkeSubject, per_zone: int) -> None:
    """Somebody, or something, sets another size behind our back."""
    google.gcp.console.edit_node_pool(google.node_pool_name(), nodes=per_zone)
    google.settle()


def send(google: GkeSubject, spec: NodePoolSpec, *changes: str) -> str:
    """Let one pass after another send these changes, and no more: what the last of them is called."""
    after, update_id = google.engine.log.mark, None
    for _change in changes:
        wanted = dataclasses.replace(spec, update_id=update_id)
        update_id = google.open().ensure_node_pool(CLUSTER, wanted, google.standing()).update_id
        google.settle()
    assert google.changes(after) == list(changes)
    assert update_id is not None
    return update_id


def test_a_size_is_asked_for_set_and_written_down(google: GkeSubject) -> None:
    google.stand()
    assert google.converge(SIX) == RESIZED
    assert google.machines_of() == 6
    assert google.shown().config.resource_labels[NODES_LABEL] == "3"
    assert google.shown().initial_node_count == 2
    assert google.converge(SIX) == []


def test_writing_a_size_down_replaces_no_machine_and_keeps_the_other_labels(google: GkeSubject) -> None:
    google.stand()
    google.converge(SIX)
    before = set(google.machines.running)
    google.converge(NODE_POOL)
    assert set(google.machines.running) < before
    held = dict(google.shown().config.resource_labels)
    assert held["goog-gke-node-pool-provisioning-model"] == "on-demand"
    assert google.standing().tags.items() >= NODE_POOL.tags.items()


def test_a_size_after_which_something_else_happened_is_set_again_before_it_is_written_down(google: GkeSubject) -> None:
    google.stand()
    send(google, SIX, "UpdateNodePool", "SetNodePoolSize")
    google.gcp.console.repair_node(google.node_pool_name(), min(google.machines.running))
    google.settle()
    assert google.converge(SIX) == ["SetNodePoolSize", "UpdateNodePool"]


def test_a_size_that_was_a_mistake_and_is_taken_back_before_it_is_written_down_does_not_stay(
    google: GkeSubject,
) -> None:
    google.stand()
    send(google, dataclasses.replace(NODE_POOL, nodes=60), "UpdateNodePool", "SetNodePoolSize")
    assert google.machines_of() == 60
    assert google.converge(NODE_POOL) == RESIZED
    assert google.machines_of() == 4


def test_a_size_that_was_wanted_otherwise_meanwhile_is_not_taken_for_the_new_one(google: GkeSubject) -> None:
    google.stand()
    update_id = send(google, SIX, "UpdateNodePool", "SetNodePoolSize")
    eight = dataclasses.replace(NODE_POOL, nodes=8, update_id=update_id)
    assert google.converge(eight) == RESIZED
    assert google.machines_of() == 8


def test_nothing_is_sent_while_a_size_is_being_set(google: GkeSubject) -> None:
    google.stand()
    send(google, SIX, "UpdateNodePool")
    driver, before = google.open(), google.standing()
    sent = driver.ensure_node_pool(CLUSTER, SIX, before)
    again = dataclasses.replace(SIX, update_id=sent.update_id)
    after = google.engine.log.mark
    for seen in (before, google.standing()):
        for spec in (again, SIX):
            assert driver.ensure_node_pool(CLUSTER, spec, seen).status is ProviderStatus.UPDATING
    assert google.changes(after) == []


def test_a_total_that_its_zones_cannot_share_is_refused_before_anything_is_sent(google: GkeSubject) -> None:
    google.stand()
    after = google.engine.log.mark
    with pytest.raises(InvalidRequest, match="5 nodes in 2 zones"):
        google.open().ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=5), google.standing())
    assert google.changes(after) == []


def test_a_label_that_somebody_took_away_means_that_the_size_is_set_again(google: GkeSubject) -> None:
    google.stand()
    google.clients.gke.update_node_pool(
        request={
            "name": google.node_pool_name(),
            "resource_labels": {
                "labels": {
                    key: value
                    for key, value in google.shown().config.resource_labels.items()
                    if key != NODES_LABEL and not key.startswith("goog-")
                }
            },
        },
        metadata=google.clients.tokens.metadata(),
    )
    google.settle()
    (told,) = google.open().compare(NODE_POOL, google.standing())
    assert (told.path, told.held, told.wanted) == ("totalNodes", None, 4)
    assert google.converge(NODE_POOL) == RESIZED


def test_an_autoscaler_gets_totals_and_the_label_says_so_before(google: GkeSubject) -> None:
    google.stand()
    assert google.converge(KEPT) == ["UpdateNodePool", "SetNodePoolAutoscaling"]
    shown = google.shown()
    assert (shown.autoscaling.total_min_node_count, shown.autoscaling.total_max_node_count) == (2, 8)
    assert shown.config.resource_labels[NODES_LABEL] == "2-autoscaled"
    assert google.standing().bounds == BOUNDS


def test_a_count_that_the_autoscaler_moved_is_left_alone_and_put_back_without_one(google: GkeSubject) -> None:
    google.stand(BOUNDED)
    google.gcp.console.autoscale(google.node_pool_name(), 8)
    google.settle()
    assert google.converge(KEPT) == []
    assert google.machines_of() == 8
    assert google.converge(NODE_POOL) == ["SetNodePoolAutoscaling", *RESIZED]
    assert google.machines_of() == 4
    assert google.shown().config.resource_labels[NODES_LABEL] == "2"


def test_an_autoscaler_that_somebody_switched_on_is_switched_off_and_the_size_put_back(google: GkeSubject) -> None:
    google.stand()
    bounds = {"enabled": True, "min_node_count": 1, "max_node_count": 5}
    google.gcp.console.edit_node_pool(google.node_pool_name(), bounds=bounds)
    google.gcp.console.autoscale(google.node_pool_name(), 10)
    google.settle()
    assert google.standing().bounds == NodeBounds(least=2, most=10)
    changes = google.converge(NODE_POOL)
    assert changes == ["UpdateNodePool", "SetNodePoolAutoscaling", *RESIZED]
    assert google.machines_of() == 4


def test_a_crash_between_two_steps_to_and_from_an_autoscaler_does_no_harm(google: GkeSubject) -> None:
    google.stand()
    for spec, machines in ((KEPT, 4), (NODE_POOL, 4), (dataclasses.replace(SIX, bounds=BOUNDS), 6), (NODE_POOL, 4)):
        for _step in range(5):  # what was sent is forgotten each time
            google.open().ensure_node_pool(CLUSTER, spec, google.standing())
            google.settle()
        google.converge(spec)
        assert google.machines_of() == machines


def test_a_count_asked_for_under_an_autoscaler_is_set_once(google: GkeSubject) -> None:
    google.stand(BOUNDED)
    asked = dataclasses.replace(SIX, bounds=BOUNDS)
    assert google.converge(asked) == RESIZED
    google.gcp.console.autoscale(google.node_pool_name(), 8)
    google.settle()
    assert google.converge(dataclasses.replace(asked, keep_count=True)) == []
    assert google.machines_of() == 8


def test_a_fixed_size_outside_of_the_bounds_is_brought_within_before_the_autoscaler_is_switched_on(
    google: GkeSubject,
) -> None:
    google.stand()
    wanted = dataclasses.replace(NODE_POOL, bounds=NodeBounds(least=6, most=8), keep_count=True)
    assert google.converge(wanted) == [*RESIZED, "SetNodePoolAutoscaling"]
    assert google.machines_of() == 6


def test_labels_and_taints_are_replaced_as_whole_sets_and_what_is_left_open_stays(google: GkeSubject) -> None:
    google.stand()
    google.edit(labels={"by": "hand"}, taints=[Taint(key="by", effect="NoExecute", value="hand")])
    assert google.converge(NODE_POOL) == ["UpdateNodePool"]
    held = google.standing()
    assert held.labels == {
        "by": "hand",
        "gke-no-default-nvidia-gpu-device-plugin": "true",
        **NODE_POOL.labels,
    }
    assert held.taints == (Taint(key="by", effect="NoExecute", value="hand"),)
    declared = dataclasses.replace(NODE_POOL, labels={**NODE_POOL.labels, "a": "b"}, labels_declared=True, taints=())
    assert google.converge(declared) == ["UpdateNodePool"]
    held = google.standing()
    assert held.labels == {"a": "b", "gke-no-default-nvidia-gpu-device-plugin": "true", **NODE_POOL.labels}
    assert held.taints == ()


def test_the_taint_that_gke_puts_on_gpus_is_nobodys_difference(google: GkeSubject) -> None:
    other = dataclasses.replace(NODE_POOL, name="cpu", machine_type="e2-standard-4", gpus_per_node=0, gpu_type=None)
    google.stand(other)
    team = Taint(key="team", effect="NoSchedule", value="blue")
    declared = dataclasses.replace(NODE_POOL, taints=(team,))
    google.open().ensure_node_pool(CLUSTER, declared, None)
    google.settle()
    gpu = Taint(key="nvidia.com/gpu", effect="NoSchedule", value="present")
    assert google.standing().taints == (gpu, team)
    assert google.converge(declared) == []
    assert google.converge(dataclasses.replace(NODE_POOL, taints=())) == ["UpdateNodePool"]
    assert google.standing().taints == (gpu,)


def test_the_taint_that_gke_may_put_on_spot_is_nobodys_difference(google: GkeSubject) -> None:
    google.stand()
    team = Taint(key="team", effect="NoSchedule", value="blue")
    declared = dataclasses.replace(NODE_POOL, name="spot", spot=True, taints=(team,))
    google.open().ensure_node_pool(CLUSTER, declared, None)
    google.settle()
    spot = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}
    blue = {"key": "team", "value": "blue", "effect": "NO_SCHEDULE"}
    google.gcp.console.edit_node_pool(google.node_pool_name("spot"), taints=[spot, blue])
    assert google.converge(declared) == []
    assert google.converge(dataclasses.replace(declared, taints=())) == ["UpdateNodePool"]
    assert [taint.key for taint in google.standing("spot").taints] == ["cloud.google.com/gke-spot"]


def test_a_change_that_somebody_makes_between_look_and_update_is_not_overwritten(google: GkeSubject) -> None:
    google.stand()
    wanted = dataclasses.replace(NODE_POOL, labels={**NODE_POOL.labels, "a": "b"})
    stale = google.standing()
    google.edit(labels={**stale.labels, "by": "hand"}, taints=[])
    google.open().ensure_node_pool(CLUSTER, wanted, stale)
    google.settle()
    assert google.standing().labels == {**stale.labels, "by": "hand", "a": "b"}


def test_a_node_pool_that_went_since_it_was_read_means_come_again(google: GkeSubject) -> None:
    google.stand()
    seen = google.standing()
    google.open().delete_node_pool(CLUSTER, NODE_POOL.name, NODE_POOL.tags)
    google.settle()
    with pytest.raises(OperationInProgress, match="just gone"):
        google.open().ensure_node_pool(CLUSTER, SIX, seen)


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(NODE_POOL, gpu_type="nvidia-l4"),
        dataclasses.replace(NODE_POOL, gpus_per_node=0, gpu_type=None),
        dataclasses.replace(NODE_POOL, disk_type="pd-ssd"),
        dataclasses.replace(NODE_POOL, places=("us-central1-a",)),
    ],
)
def test_what_only_another_node_pool_has_is_refused_without_a_call(google: GkeSubject, other: NodePoolSpec) -> None:
    google.stand()
    seen, before = google.standing(), google.calls()
    with pytest.raises(InvalidRequest, match="cannot change"):
        google.open().ensure_node_pool(CLUSTER, other, seen)
    assert google.calls() == before
