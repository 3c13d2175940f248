# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""1,000 Nodes join in one go: the emulated cloud's machines with the real bcd, the gateway, and the product's passes.

On virtual time, where machines that come up at one moment are let through one after the other. The crowd itself is in
tests/integration/machines/test_many_join_at_once.py.
"""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

FLAVORS = 4
"""EKS takes 450 Nodes in a node pool at most."""

ZONES = 2


def wide_document(nodes: int) -> dict[str, Any]:
    """The life's document with so many Nodes, of several flavors in two zones."""
    made = document(quotas=[])
    flavors = made["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[:] = [
        {**flavors[0], "name": f"h100-{number}", "nodes": nodes // FLAVORS // ZONES} for number in range(FLAVORS)
    ]
    return made


@pytest.mark.parametrize("nodes", [8, pytest.param(1000, marks=pytest.mark.sweep)])
def test_all_of_many_new_nodes_join_in_one_go_and_each_costs_one_use(fleet: Fleet, nodes: int) -> None:
    record = fleet.join_all(wide_document(nodes)).record
    assert (record.nodes_listed, record.nodes_joined, record.message) == (nodes, nodes, "")
    standing = fleet.nodes().values()
    assert {node.state for node in standing} == {NodeState.MATCHED}
    assert len({node.node_uid for node in standing}) == len({node.identity_hash for node in standing}) == nodes
    table = tables()
    with fleet.session.store.read() as tx:
        spent = tx.execute(select(func.count()).select_from(table.token_uses)).scalar_one()
        (allowed,) = tx.execute(select(table.join_tokens.c.max_uses)).scalars()
        live = tx.execute(select(func.count()).where(table.join_tokens.c.revoked_at.is_(None))).scalar_one()
    assert (spent, live) == (nodes, 0)
    assert allowed == nodes, "the token never allowed for more machines than there were"
