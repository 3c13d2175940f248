# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In what a DOKS node pool is not as it is wanted, and what a PUT carries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import NodeBounds
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.comparison import (
    differences,
    update_body,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.node_pools import observe
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.tags import to_tags
from ansible_collections.better_compute.fleet.tests.support.doks_descriptions import AUTOMATIC, BLUE, cluster, pool
from ansible_collections.better_compute.fleet.tests.support.doks_subject import NODE_POOL
from ansible_collections.better_compute.fleet.tests.support.emulated_subject import TAGS


def paths(spec: Any = NODE_POOL, **changes: Any) -> list[str]:
    found = observe(pool(**changes), cluster())
    return [item.path for item in differences(spec, found)]


def test_what_is_as_wanted_differs_in_nothing() -> None:
    assert paths() == []


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        (replace(NODE_POOL, machine_type="gpu-h100x1-80gb", gpus_per_node=0), "machineType"),
        (replace(NODE_POOL, spot=True), "spot"),
        (replace(NODE_POOL, disk_gib=100), "diskGiB"),
        (replace(NODE_POOL, disk_type="ssd"), "diskType"),
        (replace(NODE_POOL, places=("nyc2-a",)), "zones"),
        (replace(NODE_POOL, gpus_per_node=4), "accelerators.count"),
    ],
)
def test_the_shape_is_for_life(spec: Any, path: str) -> None:
    [found] = differences(spec, observe(pool(), cluster()))
    assert (found.path, found.in_place) == (path, False)


def test_accelerators_that_are_not_declared_are_the_sizes_own_business() -> None:
    assert paths(replace(NODE_POOL, gpus_per_node=0)) == []


def test_a_count_that_the_autoscaler_moved_is_its_own_within_the_bounds() -> None:
    scaled = {"auto_scale": True, "min_nodes": 2, "max_nodes": 6, "count": 5}
    kept = replace(NODE_POOL, bounds=NodeBounds(least=2, most=6), keep_count=True)
    assert paths(kept, **scaled) == []
    assert paths(replace(kept, keep_count=False), **scaled) == ["totalNodes"]
    assert paths(kept, **{**scaled, "count": 9}) == ["totalNodes"]


def test_autoscaling_that_ends_shows_in_its_bounds() -> None:
    assert paths(auto_scale=True, min_nodes=1, max_nodes=9) == ["autoscaling.minNodes", "autoscaling.maxNodes"]


def test_the_taint_that_doks_gives_gpu_nodes_is_never_too_many_and_stays() -> None:
    spec = replace(NODE_POOL, taints=(BLUE,))
    held = pool(taints=[AUTOMATIC, BLUE.to_data()])
    found = observe(held, cluster())
    assert differences(spec, found) == ()
    assert AUTOMATIC in update_body(spec, found, held)["taints"]


def test_a_put_carries_what_the_user_has_and_nobody_declared() -> None:
    held = pool(labels={**NODE_POOL.labels, "by": "hand"}, taints=[BLUE.to_data()])
    body = update_body(replace(NODE_POOL, nodes=7), observe(held, cluster()), held)
    assert body == {
        "name": "h100",
        "count": 7,
        "tags": ["finance:gpu", *to_tags(TAGS)],
        "labels": {**NODE_POOL.labels, "by": "hand"},
        "taints": [{"key": "team", "value": "blue", "effect": "NoSchedule"}],
        "auto_scale": False,
    }


def test_a_put_takes_labels_that_are_not_declared_away_but_no_reserved_ones() -> None:
    held = pool(labels={**NODE_POOL.labels, "by": "hand", "doks.digitalocean.com/x": "1"})
    spec = replace(NODE_POOL, labels_declared=True)
    assert paths(spec, labels=held["labels"]) == ["labels"]
    labels = update_body(spec, observe(held, cluster()), held)["labels"]
    assert labels == {**NODE_POOL.labels, "doks.digitalocean.com/x": "1"}


def test_a_put_leaves_the_autoscalers_count_alone_unless_it_is_to_move() -> None:
    held = pool(auto_scale=True, min_nodes=2, max_nodes=6, count=5)
    kept = replace(NODE_POOL, bounds=NodeBounds(least=2, most=6), keep_count=True)
    assert "count" not in update_body(kept, observe(held, cluster()), held)
    lower = replace(kept, bounds=NodeBounds(least=2, most=4))
    assert update_body(lower, observe(held, cluster()), held)["count"] == 4
    assert update_body(kept, observe(pool(), cluster()), pool())["count"] == 4
