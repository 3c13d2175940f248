# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes next about a node pool's size, from what stands there alone. The label never lies."""

from __future__ import annotations

import dataclasses
import itertools

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
        ("5", Asked(per_zone=5, autoscaled=False)),
        ("0", Asked(per_zone=0, autoscaled=False)),
        ("5-autoscaled", Asked(per_zone=5, autoscaled=True)),
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


def _after(step: Resize | Rebound | Asked, reality: Reality, wanted: NodePoolSpec) -> Reality:
    shown = reality.shown
    if isinstance(step, Resize):
        return Reality(shown, step.per_zone)
    if isinstance(step, Rebound):
        return Reality(dataclasses.replace(shown, bounds=wanted.bounds), reality.per_zone)
    return Reality(pool(step.label[NODES_LABEL], shown.bounds), reality.per_zone)


@pytest.mark.parametrize("remembers", [True, False])
@pytest.mark.parametrize("before", BOUNDS)
@pytest.mark.parametrize("after", BOUNDS)
@pytest.mark.parametrize("label", ["2", "3-autoscaled", None])
def test_every_way_ends_and_no_label_ever_lies(
    label: str | None, before: NodeBounds | None, after: NodeBounds | None, remembers: bool
) -> None:
    """From whatever stands there, to whatever is wanted, also when what was sent is forgotten now and then."""
    for nodes, keep_count in itertools.product((4, 6), (False, True)):
        wanted = spec(nodes, after, keep_count=keep_count and after is not None)
        asked = Asked.of({NODES_LABEL: label or ""})
        honest = asked is not None and not asked.autoscaled
        reality = Reality(pool(label, before), asked.per_zone if honest and asked else 5)
        done: int | None = None
        for turn in range(12):
            step = next_of_size(wanted, reality.shown, done=done)
            if step is None:
                break
            reality = _after(step, reality, wanted)
            done = step.per_zone if isinstance(step, Resize) and (remembers or turn % 2) else None
            now = Asked.of(reality.shown.tags)
            if now and not now.autoscaled and before is None and reality.shown.bounds is None and done is None:
                assert now.per_zone == reality.per_zone or isinstance(step, Resize)
        else:
            raise AssertionError("it never ends")
        assert reality.shown.bounds == after
        if after is None:
            assert reality.per_zone * len(ZONES) == nodes


def test_a_fixed_total_is_shared_evenly_and_one_with_bounds_is_rounded_within_them() -> None:
    assert first_size(spec(4)) == 2
    with pytest.raises(InvalidRequest, match="3 nodes in 2 zones"):
        first_size(spec(3))
    assert first_size(spec(3, NodeBounds(least=1, most=8))) == 2
    assert first_size(spec(3, NodeBounds(least=1, most=3))) == 1
    assert first_size(spec(1, NodeBounds(least=4, most=8))) == 2
