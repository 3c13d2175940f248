# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where only GKE knows in how many zones a flavor stands: one short list never empties the pool, and none of its Nodes
is forgotten while it is missing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import work
from ansible_collections.better_compute.fleet.tests.support.life.clouds import GKE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds
from ansible_collections.better_compute.fleet.tests.support.life.tenants_cluster import adopting, made_by_a_tenant

NO_ZONES: Final = replace(GKE, config={})
THREE_ZONES: Final = replace(GKE, config={"zones": ["us-central1-a", "us-central1-b", "us-central1-c"]})
DOWN: Final = Error(status=503, code="UNAVAILABLE", message="come back later")


def created(clouds: FleetOnClouds) -> Any:
    """A document with two nodes in each of the three zones that GKE chooses."""
    return clouds.document(NO_ZONES, GKE.flavor("h100", nodes=2))


def adopted(clouds: FleetOnClouds, cloud: Cloud = THREE_ZONES) -> Any:
    """The same on a tenant's cluster in three zones, which the account names, too."""
    return adopting(clouds.place, made_by_a_tenant(clouds.fleet, clouds.place, cloud), GKE.flavor("h100", nodes=2))


def lose_all_but(clouds: FleetOnClouds, kept: int) -> None:
    """The Nodes of all others are missing in lists, and their machines are silent."""
    fleet = clouds.fleet
    world = fleet.scene.world
    inside = world.apis.cluster(f"gke_{world.gcp.project}_{GKE.location}_{fleet.cluster().name}")
    assert inside is not None
    for name in sorted(fleet.nodes())[kept:]:
        fleet.scene.world.machines.cut_off(fleet.instance_of(name))
        inside.remove_node(name)
    fleet.scene.clock.advance(45)


@pytest.mark.parametrize("declare", [created, adopted])
@pytest.mark.parametrize("provider_is_down", [False, True], ids=["up", "down"])
def test_a_list_that_misses_most_nodes_must_be_confirmed(
    clouds: FleetOnClouds, declare: Any, provider_is_down: bool
) -> None:
    fleet = clouds.fleet
    fleet.join_all(declare(clouds))
    assert len(fleet.nodes()) == 6
    if provider_is_down:
        fleet.scene.engine.faults.add("gcp", "*", DOWN, times=None)
    lose_all_but(clouds, 2)
    assert "most Nodes vanished at once" in fleet.one_pass().record.message
    assert len(fleet.nodes()) == 6
    fleet.scene.clock.advance(26)
    fleet.one_pass()
    assert len(fleet.nodes()) == 2


def test_fewer_that_were_declared_are_retired_by_the_first_list(clouds: FleetOnClouds) -> None:
    fleet = clouds.fleet
    fleet.join_all(created(clouds))
    mark: list[str] = []

    def is_told() -> bool:
        mark.append(fleet.view().record.message)
        return len(fleet.nodes()) == 3

    fleet.apply(clouds.document(NO_ZONES, GKE.flavor("h100", nodes=1)))
    fleet.live(until=is_told, minutes=10)
    assert len(fleet.nodes()) == 3
    assert not [message for message in mark if "vanished" in message]


@pytest.mark.parametrize("declare", [created, adopted])
def test_the_pool_is_looked_at_soon_until_all_its_nodes_are_listed(clouds: FleetOnClouds, declare: Any) -> None:
    fleet = clouds.fleet
    fleet.join_all(declare(clouds))
    lose_all_but(clouds, 4)
    fleet.one_pass()
    assert len(fleet.nodes()) == 4
    with fleet.session.store.read() as tx:
        due, now = work.due_of(tx, fleet.pool_id), tx.now
    assert due is not None
    assert due - now <= timedelta(seconds=30)


def test_zones_of_another_region_are_not_waited_for(clouds: FleetOnClouds) -> None:
    two_regions = replace(GKE, config={"zones": ["us-central1-a", "europe-west4-a"]})
    clouds.fleet.join_all(clouds.document(two_regions, GKE.flavor("h100", nodes=1)))
    assert len(clouds.fleet.nodes()) == 1
