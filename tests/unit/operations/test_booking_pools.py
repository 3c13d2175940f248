# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of the pools of one name a tenant's booking means, whoever owns them."""

from __future__ import annotations

from itertools import permutations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import (
    PLATFORM_TENANT,
    PoolId,
    TenantId,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.booking_pools import (
    Candidate,
    pool_meant,
)
from ansible_collections.better_compute.fleet.tests.support import rows

ACME, GLOBEX = TenantId("acme"), TenantId("globex")


def pool(owner: str, *, quota: bool = True, archived: bool = False, booked: str = "", number: int = 0) -> Candidate:
    """A pool as it is to globex: `booked` is "" for never under the name, else "now" or "before"."""
    made = rows.pool(
        id=PoolId(f"pool_{number:026d}"), tenant_id=TenantId(owner), archived_at=rows.START if archived else None
    )
    last = rows.reservation(made.id, tenant_id=GLOBEX, ended_at=rows.START if booked == "before" else None)
    return Candidate(pool=made, has_quota=quota, last=last if booked else None)


OWN = pool("globex", number=1)
OWN_WITHOUT_QUOTA = pool("globex", quota=False, number=2)
OWN_GONE = pool("globex", archived=True, number=3)
OWN_GONE_LATER = pool("globex", archived=True, number=4)
PLATFORMS = pool(PLATFORM_TENANT, number=5)
PLATFORMS_GONE = pool(PLATFORM_TENANT, quota=False, archived=True, booked="now", number=6)
ANOTHERS = pool("acme", number=7)
ANOTHERS_BOOKED = pool("acme", booked="now", number=8)
ONCE_BOOKED = pool(PLATFORM_TENANT, quota=False, booked="before", number=9)
STRANGERS = pool("acme", quota=False, number=10)
STRANGERS_TOO = pool(PLATFORM_TENANT, quota=False, number=11)


@pytest.mark.parametrize(
    ("candidates", "meant"),
    [
        ([], None),
        ([STRANGERS, STRANGERS_TOO], None),
        ([STRANGERS, STRANGERS_TOO, ANOTHERS], ANOTHERS),
        ([OWN, PLATFORMS, ANOTHERS], OWN),
        ([OWN_WITHOUT_QUOTA, PLATFORMS], OWN_WITHOUT_QUOTA),
        ([PLATFORMS, ANOTHERS], PLATFORMS),
        ([OWN_GONE, PLATFORMS], PLATFORMS),
        ([OWN_GONE, OWN_GONE_LATER], OWN_GONE_LATER),
        ([OWN, PLATFORMS, ANOTHERS_BOOKED], ANOTHERS_BOOKED),
        ([OWN, PLATFORMS_GONE], PLATFORMS_GONE),
        ([ONCE_BOOKED], ONCE_BOOKED),
        ([ONCE_BOOKED, ANOTHERS], ANOTHERS),
        ([ONCE_BOOKED, OWN], OWN),
    ],
)
def test_what_stands_goes_first_then_what_is_open_then_what_is_nearest(
    candidates: list[Candidate], meant: Candidate | None
) -> None:
    for order in permutations(candidates):
        assert pool_meant(order, tenant_id=GLOBEX) == meant


def test_pools_of_two_other_tenants_are_told_apart_by_their_ids_only() -> None:
    both = [ANOTHERS, pool("zenith", number=12)]
    with pytest.raises(InvalidInput, match="acme and zenith each have a pool of that name: give its id"):
        pool_meant(both, tenant_id=GLOBEX)
    assert pool_meant([*both, PLATFORMS], tenant_id=GLOBEX) == PLATFORMS
