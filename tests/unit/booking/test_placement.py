# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a reservation is placed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.placement import Placement, place
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolNode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import (
    NOW,
    SILENT,
    devices,
    machine,
    matched,
)


def test_the_devices_come_from_one_node_in_order() -> None:
    found = place([matched("a", devices=devices("a", 4))], {}, gpus=2, spot=False, now=NOW)
    assert found == Placement(node_id=NodeId("node_a"), device_ids=("GPU-a-0", "GPU-a-1"))


def test_held_devices_are_passed_over() -> None:
    found = place([matched("a")], {NodeId("node_a"): {"GPU-a-0"}}, gpus=1, spot=False, now=NOW)
    assert found == Placement(node_id=NodeId("node_a"), device_ids=("GPU-a-1",))


def test_the_node_with_the_fewest_free_devices_is_taken() -> None:
    nodes = [matched("a", devices=devices("a", 8)), matched("b", devices=devices("b", 8))]
    held = {NodeId("node_b"): [device.id for device in devices("b", 6)]}
    found = place(nodes, held, gpus=2, spot=False, now=NOW)
    assert found is not None
    assert found.node_id == "node_b"


def test_two_halves_on_two_nodes_do_not_make_a_whole() -> None:
    assert place([matched("a"), matched("b")], {}, gpus=3, spot=False, now=NOW) is None


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(machine("a"), id="not matched yet"),
        pytest.param(matched("a", state=NodeState.CORDONED), id="cordoned"),
        pytest.param(matched("a", state=NodeState.RETIRED), id="retired"),
        pytest.param(matched("a", seen=SILENT), id="disconnected"),
    ],
)
def test_a_node_that_is_not_fit_takes_no_booking(node: PoolNode) -> None:
    assert place([node], {}, gpus=1, spot=False, now=NOW) is None


@pytest.mark.parametrize(("node_spot", "asked_spot", "fits"), [(0, 0, 1), (1, 1, 1), (1, 0, 0), (0, 1, 0)])
def test_spot_and_spot_only_goes_on_spot(node_spot: int, asked_spot: int, fits: int) -> None:
    found = place([matched("a", spot=bool(node_spot))], {}, gpus=1, spot=bool(asked_spot), now=NOW)
    assert (found is not None) == bool(fits)


@st.composite
def pools(draw: st.DrawFn) -> tuple[list[PoolNode], dict[NodeId, set[str]]]:
    nodes, held = [], {}
    for number in range(draw(st.integers(0, 5))):
        gpus = devices(str(number), draw(st.integers(0, 4)))
        node = matched(
            str(number),
            devices=gpus,
            spot=draw(st.booleans()),
            state=draw(st.sampled_from(list(NodeState))),
            seen=NOW - timedelta(seconds=draw(st.integers(0, 60))),
        )
        nodes.append(node)
        held[node.id] = {device.id for device in gpus if draw(st.booleans())}
    return nodes, held


@given(pool=pools(), gpus=st.integers(1, 4), spot=st.booleans())
def test_what_is_placed_is_free_fits_and_stands_where_it_may(
    pool: tuple[list[PoolNode], dict[NodeId, set[str]]], gpus: int, spot: bool
) -> None:
    nodes, held = pool
    found = place(nodes, held, gpus=gpus, spot=spot, now=NOW)
    fit = [
        node
        for node in nodes
        if node.state == NodeState.MATCHED
        and node.spot == spot
        and NOW - node.last_seen_at <= timedelta(seconds=30)
        and len(node.devices) - len(held[node.id]) >= gpus
    ]
    assert (found is not None) == bool(fit)
    if found is not None:
        node = next(node for node in fit if node.id == found.node_id)
        assert len(set(found.device_ids)) == gpus
        assert set(found.device_ids) <= {device.id for device in node.devices} - held[node.id]
        assert place(list(reversed(nodes)), held, gpus=gpus, spot=spot, now=NOW) == found
