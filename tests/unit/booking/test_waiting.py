# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a reservation is pending, in words that a person can act on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.placement import place
from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.waiting import why_pending
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolNode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import Intent, NodeState
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import (
    NOW,
    SILENT,
    devices,
    machine,
    matched,
)

BIG = devices("b", 8)
ROOM = "there is room"


def why(*nodes: PoolNode, held: dict[NodeId, list[str]] | None = None, **asked: Any) -> str:
    pool = rows.pool()
    asked = {"gpus": 2, "spot": False} | asked
    return why_pending(rows.reservation(pool.id, **asked), pool=pool, nodes=nodes, held=held or {}, now=NOW)


@pytest.mark.parametrize(
    ("nodes", "asked", "said"),
    [
        ([], {}, "no node of the pool has joined yet"),
        ([machine("a")], {}, "1 nodes have joined the pool and are not matched"),
        ([matched("a", spot=True)], {}, "every node of the pool that has joined is a Spot node"),
        ([matched("a")], {"spot": True}, "no Spot node of the pool has joined"),
        (
            [matched("a", state=NodeState.CORDONED), matched("b", seen=SILENT)],
            {},
            "none takes bookings now: 1 cordoned, 1 whose bcd is not connected",
        ),
        ([matched("a", devices=devices("a", 4)), matched("b")], {"gpus": 8}, "nodes that are not Spot has 4"),
        ([matched("b", devices=BIG)], {}, ROOM),
    ],
)
def test_each_reason_is_told_apart(nodes: list[PoolNode], asked: dict[str, Any], said: str) -> None:
    assert said in why(*nodes, **asked)


def test_what_is_taken_is_told_with_what_is_left() -> None:
    held = {NodeId("node_b"): [device.id for device in BIG[:7]]}
    said = why(matched("b", devices=BIG), held=held)
    assert said == "taken: 1 is the most that is free on one of the pool's nodes that are not Spot, and 2 are needed"


@pytest.mark.parametrize("gone", [{"intent": Intent.TEAR_DOWN}, {"archived_at": NOW}])
def test_a_pool_on_its_way_out_is_the_reason_whatever_room_it_has(gone: dict[str, Any]) -> None:
    pool = rows.pool(**gone)
    one = rows.reservation(pool.id, gpus=1, spot=False)
    said = why_pending(one, pool=pool, nodes=[matched("b", devices=BIG)], held={}, now=NOW)
    assert said == f"pool {pool.name} is being torn down and places nothing any more: give the reservation back"


def some_node(name: str) -> st.SearchStrategy[PoolNode]:
    return st.builds(
        lambda count, **rest: matched(name, devices=devices(name, count), **rest),
        st.integers(1, 4),
        state=st.sampled_from([NodeState.JOINED, NodeState.MATCHED, NodeState.CORDONED]),
        spot=st.booleans(),
        seen=st.sampled_from([NOW, SILENT]),
    )


@given(
    nodes=st.tuples(some_node("a"), some_node("b")),
    taken=st.integers(0, 4),
    gpus=st.integers(1, 4),
    spot=st.booleans(),
)
def test_it_says_that_there_is_room_exactly_where_a_place_is_found(
    nodes: tuple[PoolNode, ...], taken: int, gpus: int, *, spot: bool
) -> None:
    held = {NodeId("node_a"): [device.id for device in nodes[0].devices[:taken]]}
    placed = place(nodes, held, gpus=gpus, spot=spot, now=NOW)
    assert why(*nodes, held=held, gpus=gpus, spot=spot).startswith(ROOM) == (placed is not None)
