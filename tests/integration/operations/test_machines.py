# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be looked at of a pool's machines: the retired ones too, and what is charged until it is refunded."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState, ReservationState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.machines import machines_of
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import pool_nodes, reservations
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.joining_machines import new_node
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk


def test_a_retired_machine_is_still_there_to_be_looked_at(desk: Desk) -> None:
    store = desk.session.store
    gone, stays = (new_node(store, desk.pool, hostname=name, reported_node_name=name) for name in ("a", "b"))
    with store.write() as tx:
        pool_nodes.retire_node(tx, gone.id)
    looked = machines_of(desk.session, pool=desk.pool.name)
    assert {node.id: node.state for node in looked.nodes} == {gone.id: NodeState.RETIRED, stays.id: stays.state}


def test_what_a_booking_holds_is_charged_until_it_ends(desk: Desk) -> None:
    store = desk.session.store
    booking = rows.reservation(desk.pool.id, gpus=3)
    with store.write() as tx:
        reservations.add_reservation(tx, booking)
    assert machines_of(desk.session, pool=desk.pool.name).held_gpus == 3
    with store.write() as tx:
        reservations.end_reservation(tx, booking.id, ReservationState.PREEMPTED, "")
    assert machines_of(desk.session, pool=desk.pool.name).held_gpus == 0


def test_an_unknown_pool_is_not_found(desk: Desk) -> None:
    with pytest.raises(OperationError) as refused:
        machines_of(desk.session, pool="another")
    assert refused.value.code == Code.NOT_FOUND
