# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A teardown waits for bookings to end: one list that misses most Nodes ends none of them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ansible_collections.better_compute.fleet.emulators.kubernetes import EmulatedCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Reservation
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ReservationState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import passes
from ansible_collections.better_compute.fleet.tests.support.life import remains
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, Place
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.tenants_cluster import adopting, made_by_a_tenant
from ansible_collections.better_compute.fleet.tests.support.life.world import document


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """A pool that is torn down and waits for a booking."""

    fleet: Fleet
    pool_id: PoolId
    inside: EmulatedCluster
    booked: Reservation

    def lose_all(self) -> None:
        """No Node is listed any more, and the machines are silent."""
        for node in self.inside.nodes():
            name = node["metadata"]["name"]
            self.fleet.scene.world.machines.cut_off(self.fleet.instance_of(name))
            self.inside.remove_node(name)
        self.fleet.scene.clock.advance(45)

    def one_pass(self) -> str:
        """One pass, now; what the substrate says after it."""
        passes.run_once(self.fleet.session, [self.pool_id])
        [(_state, _listed, _waiting, message)] = remains(self.fleet.scene)["substrates"]
        text: str = message
        return text

    def booking(self) -> ReservationState:
        """How the booking stands now."""
        return self.fleet.reservation(self.booked).state


@pytest.fixture(params=["created", "adopted"])
def leaving(fleet: Fleet, place: Place, request: pytest.FixtureRequest) -> Leaving:
    """A pool on a cluster of its own, and on a tenant's."""
    if request.param == "created":
        fleet.join_all(document())
        inside = fleet.scene.world.apis.cluster(fleet.cluster().name)
        assert inside is not None
    else:
        cluster = made_by_a_tenant(fleet, place, AWS)
        cluster.admit()
        fleet.join_all(adopting(place, cluster, AWS.flavor("h100", zones=[AWS.zone])))
        inside = cluster.inside
    pool_id, booked = fleet.pool_id, fleet.book(name="job", gpus=8)
    fleet.apply(place.document({}), prune=True)
    return Leaving(fleet=fleet, pool_id=pool_id, inside=inside, booked=booked)


@pytest.mark.parametrize("passes_before", [0, 1], ids=["the-first-pass", "a-later-pass"])
def test_one_list_without_nodes_ends_no_booking_and_another_that_says_so_too_does(
    leaving: Leaving, passes_before: int
) -> None:
    for _ in range(passes_before):
        assert leaving.one_pass() == "waiting for 1 booking to end"
    leaving.lose_all()
    message = leaving.one_pass()
    assert "most Nodes vanished at once" in message
    assert "waiting for 1 booking to end" in message
    assert leaving.booking() == ReservationState.BOUND
    leaving.fleet.scene.clock.advance(10)
    leaving.one_pass()
    assert leaving.booking() == ReservationState.BOUND, "ten seconds later it may be the same bad moment"
    leaving.fleet.scene.clock.advance(16)
    leaving.one_pass()
    assert leaving.booking() == ReservationState.RELEASED


def test_once_nothing_is_booked_nodes_that_go_are_no_news(leaving: Leaving) -> None:
    leaving.fleet.release(leaving.booked)
    told = []
    for _ in range(60):
        told.append(leaving.one_pass())
        if leaving.fleet.has_nothing_to_do():
            break
        leaving.fleet.scene.clock.advance(20)
    assert leaving.fleet.has_nothing_to_do()
    assert any("being deleted" in message for message in told)
    assert not [message for message in told if "vanished" in message]
