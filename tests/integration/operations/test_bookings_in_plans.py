# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan that takes something away names the bookings that hold it up."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking import reserve
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT, TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet as fleets
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import substrate_edits
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.changes import Resource
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.plan import Plan
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools

ACME = TenantId("acme")


@pytest.fixture
def booked(fleet_on_either: Fleet) -> Fleet:
    """Two tenants have bookings on nodes that are not Spot, one of them a third on a Spot node, and one waits."""
    fleet = fleet_on_either
    data = document()
    data["quotas"] = [{"tenantId": tenant, "pool": fleet.pool, "gpus": 64} for tenant in ("platform", "acme")]
    fleet.join_all(data)
    for tenant, gpus, spot in ((ACME, 2, False), (ACME, 1, False), (PLATFORM_TENANT, 1, False), (ACME, 4, True)):
        made = reserve.reserve(fleet.session.store, tenant_id=tenant, pool_id=fleet.pool_id, gpus=gpus, spot=spot)
        assert made.node_id is not None
    waits = reserve.reserve(fleet.session.store, tenant_id=ACME, pool_id=fleet.pool_id, gpus=16)
    assert waits.node_id is None
    return fleet


def notes(plan: Plan) -> dict[str, str]:
    """The notes on clusters and node pools that go, by the change's title."""
    return {
        change.title: change.note
        for change in plan.changes
        if change.resource in (Resource.CLUSTER, Resource.NODE_POOL) and change.kind == "delete"
    }


def test_a_teardown_says_whose_bookings_it_waits_for(booked: Fleet) -> None:
    said = (
        "once its bookings have ended: nothing is force-released; waits for 4 bookings: 3 of tenant acme (7 GPUs), "
        "1 of tenant platform (1 GPUs)"
    )
    pruning = fleets.plan_fleet(booked.session, parse_document(without_pools()), prune=True, refresh=False)
    absent = fleets.plan_fleet(booked.session, parse_document(document()), prune=True, refresh=False, absent=True)
    archiving, _pool = substrate_edits.plan_archiving(booked.session, pool=booked.pool, tenant_id=PLATFORM_TENANT)
    for planned in (pruning, absent, archiving):
        assert notes(planned.plan) == {"gpu-fleet": said, "gpu-fleet/h100": "", "gpu-fleet/h100-spot": ""}
    assert said.rpartition("; ")[2].split(",")[0] in pruning.plan.render()


def test_a_flavor_that_goes_waits_for_those_on_its_own_nodes(booked: Fleet) -> None:
    data = document()
    flavors = data["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[:] = [flavor for flavor in flavors if not flavor.get("spot")]
    planned = fleets.plan_fleet(booked.session, parse_document(data), prune=True, refresh=False)
    assert notes(planned.plan) == {"gpu-fleet/h100-spot": "waits for 1 booking: 1 of tenant acme (4 GPUs)"}


def test_what_is_kept_waits_for_nobody(booked: Fleet) -> None:
    planned = fleets.plan_fleet(booked.session, parse_document(without_pools()), prune=False, refresh=False)
    assert not any("booking" in change.note for change in planned.plan.changes)


def test_where_nothing_is_booked_nothing_is_named(fleet: Fleet) -> None:
    fleet.apply(document())
    planned = fleets.plan_fleet(fleet.session, parse_document(without_pools()), prune=True, refresh=False)
    assert notes(planned.plan)["gpu-fleet"] == "once its bookings have ended: nothing is force-released"
