# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of each pool's substrate: one row for each pool that has or had one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..model.ids import AccountId, ClusterId, PoolId, TenantId
from ..model.records import SubstrateRecord
from ..model.states import SubstrateState
from .tables import tables
from .transaction import Tx

if TYPE_CHECKING:
    from sqlalchemy import Row


def substrate(tx: Tx, pool_id: PoolId) -> SubstrateRecord | None:
    """The pool's substrate; None for a pool that never had one."""
    row = tx.find(tables().substrates, key={"pool_id": pool_id})
    return None if row is None else _substrate(row)


def substrates(tx: Tx) -> tuple[SubstrateRecord, ...]:
    """Every substrate, the deleted ones too."""
    table = tables().substrates
    return tuple(_substrate(row) for row in tx.rows(table.select().order_by(table.c.pool_id)))


def substrates_of(tx: Tx, pool_ids: Iterable[PoolId]) -> tuple[SubstrateRecord, ...]:
    """The substrates of these pools, the deleted ones too, in no order; a pool that never had one is left out."""
    table = tables().substrates
    return tuple(_substrate(row) for row in tx.rows_of(table.select(), table.c.pool_id, pool_ids))


def put_substrate(tx: Tx, rec: SubstrateRecord) -> bool:
    """Record the substrate as given. Returns whether anything was written."""
    return put_substrates(tx, (rec,))


def put_substrates(tx: Tx, recs: Iterable[SubstrateRecord]) -> bool:
    """As put_substrate, for many."""
    rows = (
        {
            "pool_id": rec.pool_id,
            "tenant_id": rec.tenant_id,
            "account_id": rec.account_id,
            "cluster_id": rec.cluster_id,
            "mode": rec.mode,
            "state": rec.state.value,
            "message": rec.message,
            "observed_generation": rec.observed_generation,
            "claim_held": rec.claim_held,
            "nodes_listed": rec.nodes_listed,
            "nodes_joined": rec.nodes_joined,
            "waiting_nodes": rec.waiting_nodes,
            "waiting_since": rec.waiting_since,
            "vanished_at": rec.vanished_at,
            "upgrade_version": rec.upgrade_version,
            "upgrade_since": rec.upgrade_since,
        }
        for rec in recs
    )
    return tx.put_all(tables().substrates, key=("pool_id",), rows=rows)


def set_upgrade(tx: Tx, pool_id: PoolId, *, version: str | None, since: datetime | None) -> None:
    """Record what flavors wait to be brought to, and nothing else of the substrate."""
    waits = {"upgrade_version": version, "upgrade_since": since}
    tx.change(tables().substrates, key={"pool_id": pool_id}, values=waits)


def _substrate(row: Row[Any]) -> SubstrateRecord:
    values = row._mapping
    return SubstrateRecord(
        pool_id=PoolId(values["pool_id"]),
        tenant_id=TenantId(values["tenant_id"]),
        account_id=AccountId(values["account_id"]),
        cluster_id=ClusterId(values["cluster_id"]),
        mode=values["mode"],
        state=SubstrateState(values["state"]),
        message=values["message"],
        observed_generation=values["observed_generation"],
        claim_held=values["claim_held"],
        nodes_listed=values["nodes_listed"],
        nodes_joined=values["nodes_joined"],
        waiting_nodes=values["waiting_nodes"],
        waiting_since=values["waiting_since"],
        vanished_at=values["vanished_at"],
        upgrade_version=values["upgrade_version"],
        upgrade_since=values["upgrade_since"],
    )
