# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Node list in small pages, on the emulated API and on a real one."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Call, Hook
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import node_list
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.node_list import list_nodes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ClusterNode

from .conftest import LABEL, OTHER_POOL, POOL, AnyWorld

THREE_PAGES = 5


@pytest.fixture
def world(any_world: AnyWorld) -> AnyWorld:
    return any_world


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_list, "_PAGE_NODES", 2)


def put_nodes(world: AnyWorld) -> None:
    for number in range(THREE_PAGES):
        world.cluster.put_node(f"ip-10-0-0-{number}.ec2.internal", labels={LABEL: POOL})


def test_an_empty_list_is_a_list(world: AnyWorld) -> None:
    assert list_nodes(world.open(), pool_id=POOL) == ()


def test_only_the_pools_nodes_are_listed_by_name(world: AnyWorld) -> None:
    uid_of_b = world.cluster.put_node("b", labels={LABEL: POOL})
    uid_of_a = world.cluster.put_node("a", labels={LABEL: POOL})
    world.cluster.put_node("c", labels={LABEL: OTHER_POOL})
    world.cluster.put_node("d", labels={})
    listed = [(node.name, node.uid) for node in list_nodes(world.open(), pool_id=POOL)]
    assert listed == [("a", uid_of_a), ("b", uid_of_b)]


def test_a_node_tells_its_node_pool_zone_and_capacity(world: AnyWorld) -> None:
    marks = {
        LABEL: POOL,
        "eks.amazonaws.com/nodegroup": "h100",
        "topology.kubernetes.io/zone": "us-east-1a",
        "better-compute.dev/capacity": "spot",
    }
    uid = world.cluster.put_node("a", labels=marks)
    (listed,) = list_nodes(world.open(), pool_id=POOL)
    assert listed.age is not None
    assert timedelta() <= listed.age < timedelta(minutes=1)
    assert listed == ClusterNode(name="a", uid=uid, spot=True, node_pool="h100", zone="us-east-1a", age=listed.age)


def test_a_list_of_several_pages_is_read_to_the_end(world: AnyWorld) -> None:
    put_nodes(world)
    api = world.open()
    mark = world.engine.log.mark
    assert len(list_nodes(api, pool_id=POOL)) == THREE_PAGES
    assert [entry.call.name for entry in world.engine.log.entries(after=mark)] == ["LIST nodes"] * 3


def test_the_pages_are_of_one_moment(world: AnyWorld) -> None:
    put_nodes(world)

    def lose_some(_call: Call) -> None:
        world.cluster.remove_node("ip-10-0-0-0.ec2.internal")
        world.cluster.remove_node("ip-10-0-0-2.ec2.internal")

    world.engine.faults.add("kubernetes", "LIST nodes", Hook(on_before=lose_some), nth=2)
    assert len(list_nodes(world.open(), pool_id=POOL)) == THREE_PAGES
