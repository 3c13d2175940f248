# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In what a node group is not as it is wanted, and what is sent for it. Pure."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    NodeBounds,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import NodePoolSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.comparison import (
    changed,
    delta,
    differences,
    first_size,
)

SPEC = NodePoolSpec(
    name="h100",
    machine_type="p5.48xlarge",
    nodes=4,
    places=("subnet-a", "subnet-b"),
    spot=False,
    disk_gib=200,
    gpus_per_node=8,
    labels={"better-compute.dev/substrate-pool": "pool_1"},
    tags={},
)
HELD = ObservedNodePool(
    name="h100",
    status=ProviderStatus.ACTIVE,
    machine_type="p5.48xlarge",
    nodes=4,
    spot=False,
    disk_gib=200,
    labels={"better-compute.dev/substrate-pool": "pool_1"},
    tags={},
    bounds=NodeBounds(least=4, most=4),
    places=frozenset({"subnet-b", "subnet-a"}),
    image="AL2023_x86_64_NVIDIA",
    version="1.34",
)
GPU_TAINT = Taint(key="gpu", effect="NoSchedule", value="present")
AUTOSCALED = dataclasses.replace(SPEC, bounds=NodeBounds(least=2, most=8), keep_count=True)


def held(**changes: Any) -> ObservedNodePool:
    return dataclasses.replace(HELD, **changes)


def wanted(**changes: Any) -> NodePoolSpec:
    return dataclasses.replace(SPEC, **changes)


def told(spec: NodePoolSpec, observed: ObservedNodePool) -> list[tuple[str, Any, Any, bool]]:
    return [(item.path, item.held, item.wanted, item.in_place) for item in differences(spec, observed)]


def test_what_is_as_wanted_has_no_differences_and_nothing_to_send() -> None:
    assert told(SPEC, HELD) == []
    assert delta(SPEC, HELD) == {}


def test_every_difference_of_shape_is_named_with_both_values_and_is_for_life() -> None:
    other = wanted(machine_type="g6.xlarge", spot=True, disk_gib=100, disk_type="gp3", places=("subnet-c",))
    assert told(other, HELD) == [
        ("machineType", "p5.48xlarge", "g6.xlarge", False),
        ("spot", False, True, False),
        ("zones", ["subnet-a", "subnet-b"], ["subnet-c"], False),
        ("diskGiB", 200, 100, False),
        ("diskType", None, "gp3", False),
    ]


def test_a_disk_that_is_left_to_the_provider_is_no_difference() -> None:
    assert told(wanted(disk_gib=None), HELD) == []


def test_the_order_of_subnets_means_nothing() -> None:
    assert told(wanted(places=("subnet-b", "subnet-a")), HELD) == []


@pytest.mark.parametrize(
    ("gpus", "image", "right"),
    [
        (8, "AL2023_x86_64_STANDARD", "AL2023_x86_64_NVIDIA"),
        (8, "AL2023_ARM_64_STANDARD", "AL2023_ARM_64_NVIDIA"),
        (0, "AL2023_x86_64_NVIDIA", "AL2023_x86_64_STANDARD"),
        (0, "AL2_x86_64_GPU", "AL2023_x86_64_STANDARD"),
        (0, "BOTTLEROCKET_ARM_64_NVIDIA", "AL2023_ARM_64_STANDARD"),
    ],
)
def test_an_image_of_the_wrong_kind_is_a_difference_for_life(gpus: int, image: str, right: str) -> None:
    assert told(wanted(gpus_per_node=gpus), held(image=image)) == [("image", image, right, False)]


@pytest.mark.parametrize(
    ("gpus", "image"),
    [
        (8, "AL2023_ARM_64_NVIDIA"),
        (8, "AL2_x86_64_GPU"),
        (8, "BOTTLEROCKET_x86_64_NVIDIA"),
        (8, "CUSTOM"),
        (8, ""),
        (0, "AL2023_ARM_64_STANDARD"),
        (0, "BOTTLEROCKET_x86_64"),
        (0, "CUSTOM"),
    ],
)
def test_any_image_of_the_right_kind_will_do_and_one_that_cannot_be_told(gpus: int, image: str) -> None:
    assert told(wanted(gpus_per_node=gpus), held(image=image)) == []


@pytest.mark.parametrize(("gpus", "declared"), [(0, False), (8, True)])
def test_another_value_of_a_label_is_a_difference_and_so_is_a_missing_one(gpus: int, declared: bool) -> None:
    spec = wanted(labels={"team": "blue", "tier": "1"}, labels_declared=declared)
    assert told(spec, held(labels={"team": "red"})) == [
        ("labels", {"team": "red"}, {"team": "blue", "tier": "1"}, True)
    ]
    assert delta(spec, held(labels={"team": "red"})) == {"labels": {"addOrUpdateLabels": {"team": "blue", "tier": "1"}}}


def test_a_label_too_many_is_a_difference_only_where_labels_are_declared() -> None:
    there = held(labels={**SPEC.labels, "team": "red"})
    assert told(SPEC, there) == []
    declared = wanted(labels_declared=True)
    assert told(declared, there) == [("labels", {"team": "red"}, {}, True)]
    assert delta(declared, there) == {"labels": {"removeLabels": ["team"]}}


@pytest.mark.parametrize(
    "key",
    [
        "better-compute.dev/capacity",
        "bc.dev/x",
        "eks.amazonaws.com/nodegroup",
        "node.kubernetes.io/instance-type",
        "k8s.io/x",
    ],
)
def test_our_own_labels_and_reserved_ones_are_never_too_many(key: str) -> None:
    assert told(wanted(labels_declared=True), held(labels={**SPEC.labels, key: "x"})) == []


def test_a_taint_on_a_group_that_had_none_is_a_difference() -> None:
    spec = wanted(taints=(GPU_TAINT,))
    plain = {"key": "gpu", "value": "present", "effect": "NoSchedule"}
    assert told(spec, HELD) == [("taints", [], [plain], True)]
    assert delta(spec, HELD) == {
        "taints": {"addOrUpdateTaints": [{"key": "gpu", "value": "present", "effect": "NO_SCHEDULE"}]}
    }


def test_taints_are_a_set() -> None:
    other = Taint(key="a", effect="NoExecute")
    assert told(wanted(taints=(GPU_TAINT, other)), held(taints=(other, GPU_TAINT))) == []


def test_taints_that_are_not_declared_are_left_alone_and_none_at_all_takes_them_away() -> None:
    there = held(taints=(GPU_TAINT,))
    assert told(wanted(taints=None), there) == []
    assert delta(wanted(taints=()), there) == {
        "taints": {"removeTaints": [{"key": "gpu", "value": "present", "effect": "NO_SCHEDULE"}]}
    }


def test_another_value_of_a_taint_is_sent_without_taking_the_taint_away() -> None:
    there = held(taints=(dataclasses.replace(GPU_TAINT, value="absent"), Taint(key="old", effect="PreferNoSchedule")))
    assert delta(wanted(taints=(GPU_TAINT,)), there) == {
        "taints": {
            "addOrUpdateTaints": [{"key": "gpu", "value": "present", "effect": "NO_SCHEDULE"}],
            "removeTaints": [{"key": "old", "effect": "PREFER_NO_SCHEDULE"}],
        }
    }


def test_from_one_fixed_size_to_another_is_one_difference_and_all_three_numbers() -> None:
    assert told(wanted(nodes=6), HELD) == [("totalNodes", 4, 6, True)]
    assert delta(wanted(nodes=6), HELD) == {"scalingConfig": {"minSize": 6, "maxSize": 6, "desiredSize": 6}}


def test_bounds_around_a_fixed_size_are_a_difference() -> None:
    there = held(bounds=NodeBounds(least=2, most=4))
    assert told(SPEC, there) == [("autoscaling.minNodes", 2, 4, True)]
    assert delta(SPEC, there) == {"scalingConfig": {"minSize": 4}}


def test_a_fixed_size_of_no_nodes_keeps_room_for_one() -> None:
    assert told(wanted(nodes=0), held(nodes=0, bounds=NodeBounds(least=0, most=1))) == []
    assert delta(wanted(nodes=0), HELD)["scalingConfig"] == {"minSize": 0, "maxSize": 1, "desiredSize": 0}


def test_a_count_that_the_autoscaler_moved_within_its_bounds_is_left_alone() -> None:
    assert told(AUTOSCALED, held(nodes=7, bounds=AUTOSCALED.bounds)) == []


def test_a_count_that_is_wanted_is_a_difference_within_the_bounds_too() -> None:
    spec = dataclasses.replace(AUTOSCALED, keep_count=False)
    there = held(nodes=7, bounds=AUTOSCALED.bounds)
    assert told(spec, there) == [("totalNodes", 7, 4, True)]
    assert delta(spec, there) == {"scalingConfig": {"desiredSize": 4}}


def test_other_bounds_are_sent_without_the_count_that_is_within_them() -> None:
    there = held(nodes=5, bounds=NodeBounds(least=4, most=6))
    assert told(AUTOSCALED, there) == [("autoscaling.minNodes", 4, 2, True), ("autoscaling.maxNodes", 6, 8, True)]
    assert delta(AUTOSCALED, there) == {"scalingConfig": {"minSize": 2, "maxSize": 8}}


def test_a_minimum_above_the_size_raises_both_together() -> None:
    there = held(nodes=1, bounds=NodeBounds(least=0, most=8))
    assert told(AUTOSCALED, there) == [("totalNodes", 1, 2, True), ("autoscaling.minNodes", 0, 2, True)]
    assert delta(AUTOSCALED, there) == {"scalingConfig": {"minSize": 2, "desiredSize": 2}}


def test_a_maximum_below_the_size_lowers_both_together() -> None:
    there = held(nodes=12, bounds=NodeBounds(least=2, most=20))
    assert delta(AUTOSCALED, there) == {"scalingConfig": {"maxSize": 8, "desiredSize": 8}}


_COUNTS = st.integers(min_value=0, max_value=450)
_BOUNDS = st.builds(lambda a, b: NodeBounds(least=min(a, b), most=max(1, a, b)), _COUNTS, _COUNTS)
_LABELS = st.dictionaries(st.sampled_from(["team", "tier", "k8s.io/x", "bc.dev/y"]), st.sampled_from(["1", "2"]))
_TAINTS = st.lists(
    st.builds(
        Taint,
        key=st.sampled_from(["a", "b"]),
        effect=st.sampled_from(["NoSchedule", "NoExecute"]),
        value=st.sampled_from(["", "x"]),
    ),
    unique_by=lambda taint: (taint.key, taint.effect),
).map(lambda some: tuple(sorted(some)))
_SPECS = st.builds(
    wanted,
    nodes=_COUNTS,
    bounds=st.none() | _BOUNDS,
    keep_count=st.booleans(),
    labels=_LABELS,
    labels_declared=st.booleans(),
    taints=st.none() | _TAINTS,
)
_HELD = st.builds(
    lambda bounds, share, labels, taints: held(
        nodes=bounds.least + share % (bounds.most - bounds.least + 1), bounds=bounds, labels=labels, taints=taints
    ),
    _BOUNDS,
    _COUNTS,
    _LABELS,
    _TAINTS,
)


@given(_SPECS)
def test_a_new_group_has_minimum_desired_and_maximum_in_order(spec: NodePoolSpec) -> None:
    block = first_size(spec).as_block()
    assert 0 <= block["minSize"] <= block["desiredSize"] <= block["maxSize"] >= 1


@given(_SPECS, _HELD)
def test_what_is_sent_leaves_no_difference_and_no_number_out_of_order(
    spec: NodePoolSpec, observed: ObservedNodePool
) -> None:
    after = changed(spec, observed)
    assert told(spec, after) == []
    assert delta(spec, after) == {}
    assert after.bounds is not None
    assert after.bounds.least <= after.nodes <= after.bounds.most


@given(_SPECS, _HELD)
def test_something_is_sent_exactly_when_there_is_a_difference_and_never_an_empty_block(
    spec: NodePoolSpec, observed: ObservedNodePool
) -> None:
    blocks = delta(spec, observed)
    assert bool(blocks) is bool(differences(spec, observed))
    assert all(part for block in blocks.values() for part in [block, *(v for v in block.values() if v != 0)])
