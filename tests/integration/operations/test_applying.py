# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two who write at the same time: documents, node pools, bookings."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import (
    fleet as fleets,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import (
    reservations,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.converging import (
    apply_node_pools,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.deciding import (
    Wish,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.wanted import (
    WantedNodePool,
)
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.child import POOL
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

EMPTY = parse_document({"version": 1})


def test_a_plan_whose_records_moved_is_refused(fleet_on_either: Fleet) -> None:
    session = fleet_on_either.session
    made = [fleets.plan_fleet(session, parse_document(document()), prune=False, refresh=False) for _ in range(2)]
    fleets.apply_fleet(session, made[0])
    with pytest.raises(OperationError, match="plan again") as refused:
        fleets.apply_fleet(session, made[1])
    assert refused.value.code == Code.CONFLICT


def test_what_was_in_use_stays_when_somebody_has_declared_something_meanwhile(fleet: Fleet) -> None:
    pruning = fleets.plan_fleet(fleet.session, EMPTY, prune=True, refresh=False)
    fleet.apply(put(document(), "pools.0.policy", {}))
    rows = fleet.rows()
    fleets.prune_what_was_in_use(fleet.session, pruning)
    assert fleet.rows() == rows


def test_a_name_that_two_book_anew_is_booked_once(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    fleet.apply(document())
    reservations.give_back(fleet.session, fleet.book(name="train", gpus=1))
    found = [reservations.find(fleet.session, pool=POOL, tenant_id=PLATFORM_TENANT, name="train") for _ in range(2)]
    first, second = (
        reservations.book(fleet.session, named, tenant_id=PLATFORM_TENANT, gpus=2, spot=False) for named in found
    )
    assert first.id == second.id
    with pytest.raises(OperationError, match="another request") as refused:
        reservations.book(fleet.session, found[1], tenant_id=PLATFORM_TENANT, gpus=3, spot=False)
    assert refused.value.code == Code.CONFLICT


def test_two_who_add_the_last_node_pool_at_once_do_not_go_over_the_quota(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    fleet.apply(document())

    def add(*names: str) -> None:
        wanted = [WantedNodePool(pool=POOL, name=name, machine_type="m7i.large", node_count=0) for name in names]
        apply_node_pools(fleet.session, tenant_id=PLATFORM_TENANT, wanted=wanted, wish=Wish.PRESENT)

    add(*(f"p{number}" for number in range(7)))
    with ThreadPoolExecutor(max_workers=4) as threads:
        ended = [threads.submit(add, f"last-{number}") for number in range(4)]
    refusals = [error for one in ended if (error := one.exception()) is not None]
    assert len(refusals) == 3
    assert {error.code for error in refusals if isinstance(error, OperationError)} == {Code.QUOTA_EXCEEDED}
    assert len(fleet.node_pools()) == 10
