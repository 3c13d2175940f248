# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pool a caller means by a name or an id."""

from __future__ import annotations

from ..model.errors import Code, OperationError
from ..model.ids import PoolId, TenantId, is_id
from ..model.records import PoolRecord
from ..store import Tx, fleet

SHOWN_CHARACTERS = 128
"""Of a name that nothing has: no name is longer."""


def pools_called(tx: Tx, pool: str) -> tuple[PoolRecord, ...]:
    """Whoever's pools of that name, archived or not; or the one of that id."""
    if not (pool.isprintable() and pool.isascii()):  # no other name was ever recorded, and not every database takes it
        return ()
    if not is_id(pool):
        return fleet.pools_named(tx, pool)
    record = fleet.pool(tx, PoolId(pool))
    return () if record is None else (record,)


def resolve_pool(tx: Tx, *, pool: str, tenant_id: TenantId, leaving: bool = False) -> PoolRecord:
    """A tenant's pool by name or id.

    Arguments:
        leaving: whether, where no pool of that name stands, the one that is being torn down is meant.

    Raises:
        OperationError: NOT_FOUND.
    """
    record = None
    if (
        asked := f"{pool}{tenant_id}"
    ).isprintable() and asked.isascii():  # no other name was ever recorded, and not every database takes it
        record = fleet.pool(tx, PoolId(pool)) if is_id(pool) else fleet.pool_named(tx, tenant_id, pool)
    if record is None and leaving:
        named = [one for one in fleet.pools(tx, archived=True) if (one.tenant_id, one.name) == (tenant_id, pool)]
        record = max(named, key=lambda one: one.id, default=None)
    if record is None or record.tenant_id != tenant_id:
        raise OperationError(
            Code.NOT_FOUND,
            f"tenant {tenant_id[:SHOWN_CHARACTERS]!r} has no pool {pool[:SHOWN_CHARACTERS]!r}: a document declares "
            "pools (bc_fleet), and bc_fleet_info lists the recorded ones",
        )
    return record
