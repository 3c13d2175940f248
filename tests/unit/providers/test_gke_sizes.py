# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes next about a node pool's size, from what stands there alone. The label never lies."""

from __future__ import annotations

import dataclasses
import itertools
import random

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidRequest
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    NodeBounds,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import NodePoolSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.sizes import (
    NODES_LABEL,
    Asked,
    Rebound,
    Resize,
    Standing,
    first_size,
    next_of_size,
)

ZONES = ("us-central1-a", "us-central1-b")
BOUNDS = (None, NodeBounds(least=2, most=8), NodeBounds(least=6, most=10))


def spec(nodes: int, bounds: NodeBounds | None = None, *, keep_count: bool = False) -> NodePoolSpec:
    return NodePoolSpec(
        name="h100",
        machine_type="a3-highgpu-8g",
        nodes=nodes,
        places=ZONES,
        spot=False,
        disk_gib=None,
        gpus_per_node=8,
        labels={},
        tags={"a": "b"},
        bounds=bounds,
        keep_count=keep_count,
    )


def pool(label: str | None, bounds: NodeBounds | None = None) -> ObservedNodePool:
    tags = {} if label is None else {NODES_LABEL: label}
    asked = Asked.of(tags)
    return ObservedNodePool(
        name="h100",
        status=ProviderStatus.ACTIVE,
        machine_type="a3-highgpu-8g",
        nodes=(asked.per_zone if asked else 1) * len(ZONES),
        spot=False,
        disk_gib=None,
        labels={},
        tags=tags,
        bounds=bounds,
        places=frozenset(ZONES),
    )


@pytest.mark.parametrize(
    ("label", "asked"),
    [
        ("5", Asked(per_zone=5)),
        ("0", Asked(per_zone=0)),
        ("5-asking", Asked(per_zone=5, standing=Standing.ASKING)),
        ("5-autoscaled", Asked(per_zone=5, standing=Standing.AUTOSCALED)),
        ("", None),
        ("five", None),
        ("5-", None),
        ("-5", None),
        ("٥", None),
        ("1234567", None),
    ],
)
def test_a_label_is_read_as_it_is_written_and_nonsense_as_none(label: str, asked: Asked | None) -> None:
    assert Asked.of({NODES_LABEL: label}) == asked
    if asked:
        assert asked.label == {NODES_LABEL: label}


@dataclasses.dataclass
class Reality:
    """What GKE holds: the size of each zone, beside what it shows."""

    shown: ObservedNodePool
    per_zone: int
    was_set: bool = False

    def take(self, step: Resize | Rebound | Asked, bounds: NodeBounds | None) -> None:
        """Carry a step out; an autoscaler that is on then moves the size."""
        self.was_set = isinstance(step, Resize)
        if isinstance(step, Resize):
            self.per_zone = step.per_zone
        elif isinstance(step, Rebound):
            self.shown = dataclasses.replace(self.shown, bounds=bounds)
        else:
            self.shown = pool(step.label[NODES_LABEL], self.shown.bounds)
        if self.shown.bounds:
            self.per_zone += 7

    @property
    def honest(self) -> bool:
        """Whether a label that is sure tells how it is."""
        asked = Asked.of(self.shown.tags)
        return asked is None or asked.standing is not Standing.SET or asked.per_zone == self.per_zone


WISHES = [
    spec(nodes, bounds, keep_count=keeps)
    for nodes, bounds, keeps in itertools.product((4, 6), BOUNDS, (False, True))
    if bounds or not keeps
]


@pytest.mark.parametrize("label", ["2", "3-asking", "3-autoscaled", None])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_no_label_ever_lies_whenever_something_else_is_wanted_or_what_was_sent_is_forgotten(
    label: str | None, bounds: NodeBounds | None
) -> None:
    chance = random.Random(f"{label}{bounds}")
    for _life in range(200):
        reality = Reality(pool(label, bounds), 2)
        if bounds and label == "2":
            reality.shown = pool("2-autoscaled", bounds)  # somebody else's doing is not what this is about
        for wanted in chance.choices(WISHES, k=5):
            for turn in range(20):
                step = next_of_size(wanted, reality.shown, was_set=reality.was_set and chance.random() < 0.8)
                if step is None or (turn > 0 and chance.random() < 0.2):
                    break
                reality.take(step, wanted.bounds)
                assert reality.honest
            else:
                raise AssertionError("it never ends")
            if step is None:
                assert reality.shown.bounds == wanted.bounds
                assert wanted.bounds or reality.per_zone * len(ZONES) == wanted.nodes


def test_a_fixed_total_is_shared_evenly_and_one_with_bounds_is_rounded_within_them() -> None:
    assert first_size(spec(4)) == Asked(per_zone=2)
    with pytest.raises(InvalidRequest, match="3 nodes in 2 zones"):
        first_size(spec(3))
    assert first_size(spec(3, NodeBounds(least=1, most=8))).per_zone == 2
    assert first_size(spec(3, NodeBounds(least=1, most=3))).per_zone == 1
    assert first_size(spec(1, NodeBounds(least=4, most=8))).per_zone == 2
