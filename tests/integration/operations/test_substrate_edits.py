# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of one pool beside other writers: whoever comes second is told, whatever the two of them wanted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet as fleets
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import substrate_edits
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.fleet import PlannedFleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.child import POOL
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools

Writer = Callable[[Session], PlannedFleet]


def resize(session: Session) -> PlannedFleet:
    """A document with another size."""
    data = put(document(), "pools.0.policy.substrate.flavors.0.nodes", 3)
    return fleets.plan_fleet(session, parse_document(data), prune=False, refresh=False)


def prune(session: Session) -> PlannedFleet:
    """A document without the pool, with prune."""
    return fleets.plan_fleet(session, parse_document(without_pools()), prune=True, refresh=False)


def edit(session: Session) -> PlannedFleet:
    """bc_substrate with another size."""
    flavors = {"flavors": [{"name": "h100", "nodes": 2}]}
    planned, _pool = substrate_edits.plan_substrate(
        session, pool=POOL, tenant_id=PLATFORM_TENANT, edit=flavors, prune=False, refresh=False
    )
    return planned


def prune_flavors(session: Session) -> PlannedFleet:
    """bc_substrate with prune."""
    flavors = {"flavors": [{"name": "h100"}]}
    planned, _pool = substrate_edits.plan_substrate(
        session, pool=POOL, tenant_id=PLATFORM_TENANT, edit=flavors, prune=True, refresh=False
    )
    return planned


def archive(session: Session) -> PlannedFleet:
    """bc_substrate with state absent."""
    planned, _pool = substrate_edits.plan_archiving(session, pool=POOL, tenant_id=PLATFORM_TENANT)
    return planned


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (resize, edit),
        (edit, resize),
        (edit, prune),
        (prune, edit),
        (archive, prune_flavors),
        (prune_flavors, archive),
        (edit, edit),
    ],
    ids=lambda writer: writer.__name__,
)
def test_a_plan_whose_records_moved_is_refused_whoever_moved_them(
    fleet_on_either: Fleet, first: Writer, second: Writer
) -> None:
    session = fleet_on_either.session
    fleet_on_either.apply(document())
    slow, quick = second(session), first(session)
    fleets.apply_fleet(session, quick)
    rows = fleet_on_either.rows()
    with pytest.raises(OperationError, match="plan again") as refused:
        fleets.apply_fleet(session, slow)
    assert refused.value.code == Code.CONFLICT
    assert fleet_on_either.rows() == rows


def test_an_edit_and_the_document_that_does_not_have_it_do_not_fight_but_follow_one_another(fleet: Fleet) -> None:
    fleet.apply(document())
    fleets.apply_fleet(fleet.session, edit(fleet.session))
    assert fleet.node_pools()["h100"].shape.nodes == 2
    back = fleets.plan_fleet(fleet.session, parse_document(document()), prune=False, refresh=False)
    assert [(change.title, change.fields[0].before, change.fields[0].after) for change in back.plan.changes] == [
        (f"{POOL}/h100", 2, 1)
    ]


def test_an_edit_of_a_pool_on_its_way_out_is_refused(fleet: Fleet) -> None:
    fleet.apply(document())
    fleet.apply(put(document(), "pools.0.policy", {}), prune=True)
    with pytest.raises(OperationError, match="is being torn down") as refused:
        substrate_edits.plan_substrate(
            fleet.session, pool=POOL, tenant_id=PLATFORM_TENANT, edit={}, prune=False, refresh=False
        )
    assert refused.value.code == Code.INVALID_STATE


def test_a_plan_of_one_pool_asks_nothing_about_another(fleet: Fleet) -> None:
    two = document()
    two["pools"].append({**two["pools"][0], "name": "other"})
    fleet.settle(fleet.apply(two))
    mark = fleet.scene.engine.log.mark
    substrate_edits.plan_substrate(
        fleet.session, pool=POOL, tenant_id=PLATFORM_TENANT, edit={}, prune=False, refresh=True
    )
    asked = [entry.call.name for entry in fleet.scene.engine.log.entries(after=mark, cloud="aws")]
    assert sorted(asked) == [
        "eks.DescribeCluster",
        "eks.DescribeNodegroup",
        "eks.DescribeNodegroup",
        "eks.ListNodegroups",
    ]
