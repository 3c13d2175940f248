# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a wanted node pool: each field of the API, at and beyond its limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import (
    Autoscaling,
    Flavor,
    Gpus,
    Taint,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import new_pool_id
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.constraints import (
    all_problems,
    change_problems,
    size_problems,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.wanted import (
    FIXED_SIZE,
    WantedNodePool,
)
from ansible_collections.better_compute.fleet.tests.support import rows

GCP = rows.account(provider="gcp", config={"zones": ["us-central1-a", "us-central1-b"]})
CLUSTER = rows.cluster(new_pool_id(rows.START))
ACCOUNT = rows.account(places={"subnet-1": "eu-west-1a", "subnet-2": "eu-west-1b"})


def wanted(**different: Any) -> WantedNodePool:
    made = WantedNodePool(pool="gpu-fleet", name="system", machine_type="m7i.large", node_count=2)
    return replace(made, **different)


def paths(one: WantedNodePool) -> list[str]:
    return [problem.path for problem in all_problems(one, CLUSTER, ACCOUNT)]


def bounds(least: int, most: int) -> Autoscaling:
    return Autoscaling(min_nodes=least, max_nodes=most)


def taints(*keys: str) -> tuple[Taint, ...]:
    return tuple(Taint(key=key, effect="NoSchedule") for key in keys)


@pytest.mark.parametrize(
    "right",
    [
        {"name": "a"},
        {"name": f"a{'-' * 38}9"},
        {"machine_type": "9"},
        {"machine_type": f"m{'.' * 62}"},
        {"node_count": 0},
        {"node_count": 1000},
        {"node_count": 0, "autoscaling": bounds(0, 1)},
        {"node_count": 1000, "autoscaling": bounds(1000, 1000)},
        {"autoscaling": FIXED_SIZE},
        {"disk_gib": 10},
        {"disk_gib": 65536},
        {"accelerators": Gpus(type="nvidia-l4", count=1)},
        {"accelerators": Gpus(type="9", count=16)},
        {"zones": ()},
        {"zones": ("eu-west-1a", "eu-west-1b")},
        {"labels": {f"l{number}": "x" for number in range(32)}},
        {"labels": {"example.com/team": "A.b_c-9"}},
        {"taints": taints(*(f"t{number}" for number in range(32)))},
        {"taints": (Taint(key="k", effect="NoExecute", value="v" * 63), Taint(key="k", effect="PreferNoSchedule"))},
        {"idempotency_key": "A.b_c:-9"},
        {"idempotency_key": "k" * 128},
        pytest.param({"pool": None, "cluster_id": CLUSTER.id}, id="cluster_id"),  # a new id each time
    ],
    ids=str,
)
def test_what_is_within_the_limits_is_right(right: dict[str, Any]) -> None:
    assert paths(wanted(**right)) == []


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        *(({"name": name}, "name") for name in ("", "A", "9a", "a-", "a" * 41, "abc\n", "a²", "a٣", "a_b", "é")),
        *(({"machine_type": text}, "machine_type") for text in ("", ".m", "M7I", "m" * 64, "m7i.large\n", "m 7")),
        *(({"node_count": count}, "node_count") for count in (-1, 1001, True, 10**30)),
        ({"autoscaling": bounds(-1, 5)}, "autoscaling.min_nodes"),
        ({"autoscaling": bounds(0, 0)}, "autoscaling.max_nodes"),
        ({"autoscaling": bounds(1, 1001)}, "autoscaling.max_nodes"),
        ({"autoscaling": bounds(3, 2)}, "autoscaling.min_nodes"),
        ({"autoscaling": bounds(3, 9)}, "node_count"),
        ({"autoscaling": bounds(0, 1)}, "node_count"),
        *(({"disk_gib": gib}, "disk_gib") for gib in (9, 65537, True)),
        ({"disk_type": "GP3"}, "disk_type"),
        ({"disk_type": "pd-balanced"}, "disk_type"),
        ({"accelerators": Gpus(type="NVIDIA", count=1)}, "accelerators.type"),
        *(({"accelerators": Gpus(type="nvidia-l4", count=count)}, "accelerators.count") for count in (0, 17)),
        ({"zones": ("eu-west-1a",) * 11}, "zones"),
        ({"zones": ("eu-west-1a", "EU")}, "zones[1]"),
        ({"zones": ("eu-west-2a",)}, "zones"),
        ({"zones": ("eu-west-10a",)}, "zones"),
        ({"zones": ("eu-west-1c",)}, "zones"),
        ({"labels": {f"l{number}": "x" for number in range(33)}}, "labels"),
        ({"labels": {"-a": "x"}}, "labels.-a"),
        ({"labels": {"a/b/c": "x"}}, "labels.a/b/c"),
        ({"labels": {"a": "x y"}}, "labels.a"),
        ({"labels": {"a": "v" * 64}}, "labels.a"),
        ({"labels": {"a": "no\n"}}, "labels.a"),
        ({"labels": {"a": ""}}, "labels.a"),
        ({"labels": {"a": False}}, "labels.a"),
        ({"labels": {"a": 1}}, "labels.a"),
        ({"labels": {"better-compute.dev/capacity": "spot"}}, "labels.better-compute.dev/capacity"),
        ({"labels": {"node.kubernetes.io/x": "y"}}, "labels.node.kubernetes.io/x"),
        ({"labels": {"eks.amazonaws.com/x": "y"}}, "labels.eks.amazonaws.com/x"),
        ({"labels": {f"{'a' * 60}.b/cd": "y"}}, f"labels.{'a' * 60}"),
        ({"taints": taints(*(f"t{number}" for number in range(33)))}, "taints"),
        ({"taints": taints("a", "-")}, "taints[1].key"),
        ({"taints": taints("a", "a")}, "taints[1].key"),
        ({"taints": (Taint(key="a", effect="NoSchedule", value="v" * 64),)}, "taints[0].value"),
        ({"taints": (Taint(key="a", effect="Never"),)}, "taints[0].effect"),
        *(({"idempotency_key": key}, "idempotency_key") for key in ("", "k" * 129, "a b", "k\n", "é")),
        ({"pool": None}, "pool"),
    ],
    ids=str,
)
def test_what_is_beyond_a_limit_is_told_once_with_its_path(wrong: dict[str, Any], path: str) -> None:
    assert paths(wanted(**wrong)) == [path]
    assert paths(wanted(**wrong, path="node_pools[3]")) == [f"node_pools[3].{path}"]


def test_every_problem_is_told_at_once() -> None:
    wrong = wanted(name="A", node_count=-1, disk_gib=1, disk_type="x", zones=("us-east-1a",), labels={"a": "b c"})
    assert paths(wrong) == ["name", "node_count", "disk_gib", "disk_type", "labels.a", "zones"]


SHAPE = Flavor(
    name="system",
    machine_type="m7i.large",
    nodes=2,
    zones=("eu-west-1a", "eu-west-1b"),
    labels={"team": "a", "tier": "b"},
    taints=(Taint(key="a", effect="NoSchedule"), Taint(key="b", effect="NoExecute")),
)
STANDING = rows.node_pool(CLUSTER.id, name="system", shape=SHAPE)
PLAIN = rows.node_pool(CLUSTER.id, name="system", shape=Flavor(name="system", machine_type="m7i.large", nodes=2))


@pytest.mark.parametrize(
    ("standing", "same"),
    [
        (STANDING, {"zones": ("eu-west-1b", "eu-west-1a", "eu-west-1a")}),
        (STANDING, {"labels": {"tier": "b", "team": "a"}}),
        (STANDING, {"taints": tuple(reversed(SHAPE.taints or ()))}),
        (STANDING, {"spot": False}),
        (PLAIN, {"zones": (), "labels": {}, "taints": ()}),
        (STANDING, {}),
    ],
)
def test_what_is_said_in_another_order_or_left_out_is_no_change(standing: Any, same: dict[str, Any]) -> None:
    assert change_problems(wanted(**same), standing) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("machine_type", "m7i.xlarge"),
        ("spot", True),
        ("disk_gib", 50),
        ("disk_type", "gp3"),
        ("accelerators", Gpus(type="nvidia-l4", count=1)),
        ("zones", ("eu-west-1a",)),
        ("zones", ()),
        ("labels", {"team": "a"}),
        ("labels", {"team": "a", "tier": "c"}),
        ("taints", (Taint(key="a", effect="NoSchedule"),)),
        ("taints", ()),
    ],
)
def test_what_never_changes_is_told_with_what_to_do(field: str, value: object) -> None:
    [problem] = change_problems(wanted(**{field: value}), STANDING)
    assert problem.path == field
    assert "delete it and create another" in problem.message


def test_a_count_is_judged_by_the_bounds_that_will_stand() -> None:
    bounded = replace(STANDING, shape=replace(SHAPE, autoscaling=bounds(1, 3)))
    assert size_problems(wanted(node_count=3), bounded) == []
    assert size_problems(wanted(node_count=4, autoscaling=FIXED_SIZE), bounded) == []
    assert [one.path for one in size_problems(wanted(node_count=4), bounded)] == ["node_count"]
    [told] = size_problems(WantedNodePool(name="system", autoscaling=bounds(5, 6)), bounded)
    assert "2 is recorded, so give a count with these bounds" in told.message


@pytest.mark.parametrize("location", ["us-central1", "us-central1-a"])
def test_nodes_of_a_gke_cluster_stand_in_any_zone_of_its_region(location: str) -> None:
    cluster = replace(CLUSTER, location=location)
    there, abroad = wanted(zones=("us-central1-b",)), wanted(zones=("us-central2-b",))
    assert all_problems(there, cluster, GCP) == []
    [problem] = all_problems(abroad, cluster, GCP)
    assert problem.message == "expected zones of the cluster's region us-central1, found us-central2-b"
