# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Node list: complete, or "unknown"."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Call, Error, Hook, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.node_list import list_nodes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ClusterAccessDenied,
    ClusterUnreachable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ClusterNode

from .conftest import LABEL, OTHER_POOL, POOL, World

TWO_PAGES = 501


def put_nodes(world: World, count: int) -> None:
    for number in range(count):
        world.cluster.put_node(f"ip-10-0-0-{number}.ec2.internal", labels={LABEL: POOL})


def test_an_empty_list_is_a_list(world: World) -> None:
    assert list_nodes(world.open(), pool_id=POOL) == ()


def test_only_the_pools_nodes_are_listed_by_name(world: World) -> None:
    world.cluster.put_node("b", labels={LABEL: POOL}, uid="2")
    world.cluster.put_node("a", labels={LABEL: POOL}, uid="1")
    world.cluster.put_node("c", labels={LABEL: OTHER_POOL})
    world.cluster.put_node("d", labels={})
    assert [(node.name, node.uid) for node in list_nodes(world.open(), pool_id=POOL)] == [("a", "1"), ("b", "2")]


@pytest.mark.parametrize(
    "label", ["eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "doks.digitalocean.com/node-pool"]
)
def test_a_node_tells_its_node_pool_zone_and_capacity(world: World, label: str) -> None:
    marks = {
        LABEL: POOL,
        label: "h100",
        "topology.kubernetes.io/zone": "us-east-1a",
        "better-compute.dev/capacity": "spot",
    }
    world.cluster.put_node("a", labels=marks, uid="1")
    world.clock.advance(7 * 60)
    assert list_nodes(world.open(), pool_id=POOL) == (
        ClusterNode(
            name="a",
            uid="1",
            spot=True,
            node_pool="h100",
            zone="us-east-1a",
            age=timedelta(minutes=7),
        ),
    )


def test_a_list_of_several_pages_is_read_to_the_end(world: World) -> None:
    put_nodes(world, TWO_PAGES)
    api = world.open()
    mark = world.engine.log.mark
    assert len(list_nodes(api, pool_id=POOL)) == TWO_PAGES
    assert [entry.call.name for entry in world.engine.log.entries(after=mark)] == ["LIST nodes", "LIST nodes"]


def test_the_pages_are_of_one_moment(world: World) -> None:
    put_nodes(world, TWO_PAGES)

    def lose_one(_call: Call) -> None:
        world.cluster.remove_node("ip-10-0-0-0.ec2.internal")
        world.cluster.remove_node("ip-10-0-0-99.ec2.internal")

    world.engine.faults.add("kubernetes", "LIST nodes", Hook(on_before=lose_one), nth=2)
    assert len(list_nodes(world.open(), pool_id=POOL)) == TWO_PAGES


def test_a_continuation_that_expired_makes_the_list_unknown(world: World) -> None:
    put_nodes(world, TWO_PAGES)
    late = Hook(on_before=lambda _call: world.clock.advance(301))
    world.engine.faults.add("kubernetes", "LIST nodes", late, nth=2)
    with pytest.raises(ClusterUnreachable, match="410"):
        list_nodes(world.open(), pool_id=POOL)


@pytest.mark.parametrize("page", [1, 2])
@pytest.mark.parametrize("status", [400, 404, 409, 410, 429, 500, 503])
def test_an_error_on_any_page_makes_the_list_unknown(world: World, page: int, status: int) -> None:
    put_nodes(world, TWO_PAGES)
    fault = Error(status=status, code="Scripted", message="no")
    world.engine.faults.add("kubernetes", "LIST nodes", fault, nth=page)
    with pytest.raises(ClusterUnreachable):
        list_nodes(world.open(), pool_id=POOL)


@pytest.mark.parametrize("page", [1, 2])
def test_a_lost_page_makes_the_list_unknown(world: World, page: int) -> None:
    put_nodes(world, TWO_PAGES)
    world.engine.faults.add("kubernetes", "LIST nodes", LostReply(), nth=page)
    with pytest.raises(ClusterUnreachable):
        list_nodes(world.open(), pool_id=POOL)


def test_a_credential_that_ends_on_the_way_is_told_as_such(world: World) -> None:
    put_nodes(world, TWO_PAGES)
    fault = Error(status=401, code="Unauthorized", message="Unauthorized")
    world.engine.faults.add("kubernetes", "LIST nodes", fault, nth=2)
    with pytest.raises(ClusterAccessDenied):
        list_nodes(world.open(), pool_id=POOL)
