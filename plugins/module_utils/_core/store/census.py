# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the whole fleet in five statements, whose cost grows with pools and nodes that stand, and not with their rows.

No row of a node is read: the database counts them.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ..model.census import Census, PoolCount
from ..model.ids import PoolId, TenantId
from ..model.liveness import CONNECTED_SECONDS
from ..model.states import ClusterState, NodePoolState, SubstrateState
from .standing import cluster_stands, node_pool_stands, not_retired
from .tables import tables
from .transaction import Tx
from .work import claimable_at, is_free

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Table


def take_census(tx: Tx) -> Census:
    """Count what stands, and what waits for a pass."""
    from sqlalchemy import case, func, select

    work, now = tables().work, tx.now
    free = is_free(now)
    waits = free & (work.c.due_at <= now)
    oldest = func.min(case((waits, claimable_at())), type_=work.c.due_at.type)
    units = tx.execute(
        select(
            func.count().label("units"),
            func.count(case((waits, 1))).label("due"),
            oldest.label("oldest_due"),
            func.count(case((~free, 1))).label("leased"),
        ).select_from(work)
    ).one()
    return Census(
        now=now,
        pools=_pools(tx),
        clusters={
            ClusterState(state): count for state, count in _by_state(tx, tables().clusters, cluster_stands()).items()
        },
        node_pools={
            NodePoolState(state): count
            for state, count in _by_state(tx, tables().node_pools, node_pool_stands()).items()
        },
        units=units.units,
        due=units.due,
        oldest_due=units.oldest_due,
        leased=units.leased,
    )


def _pools(tx: Tx) -> tuple[PoolCount, ...]:
    from sqlalchemy import select

    pools, substrates = tables().pools, tables().substrates
    connected = _connected(tx)
    chosen = (
        select(
            substrates.c.pool_id,
            substrates.c.tenant_id,
            pools.c.name,
            substrates.c.state,
            substrates.c.nodes_listed,
            substrates.c.nodes_joined,
            substrates.c.waiting_nodes,
        )
        .join(pools, pools.c.id == substrates.c.pool_id)
        .where(substrates.c.state != SubstrateState.DELETED.value)
        .order_by(substrates.c.pool_id)
    )
    return tuple(
        PoolCount(
            pool_id=PoolId(row.pool_id),
            tenant_id=TenantId(row.tenant_id),
            name=row.name,
            state=SubstrateState(row.state),
            nodes_listed=row.nodes_listed,
            nodes_joined=row.nodes_joined,
            nodes_waiting=row.waiting_nodes,
            nodes_connected=connected.get(row.pool_id, 0),
        )
        for row in tx.rows(chosen)
    )


def _connected(tx: Tx) -> dict[str, int]:
    """How many nodes of each pool have a connected bcd, as liveness.is_connected says."""
    from sqlalchemy import func, select

    nodes = tables().pool_nodes
    heard_since = tx.now - timedelta(seconds=CONNECTED_SECONDS)
    chosen = (
        select(nodes.c.pool_id, func.count().label("nodes"))
        .where(not_retired(), nodes.c.last_seen_at >= heard_since)
        .group_by(nodes.c.pool_id)
    )
    return {row.pool_id: row.nodes for row in tx.rows(chosen)}


def _by_state(tx: Tx, table: Table, stands: ColumnElement[bool]) -> dict[str, int]:
    from sqlalchemy import func, select

    chosen = select(table.c.state, func.count().label("many")).where(stands).group_by(table.c.state)
    return {row.state: row.many for row in tx.rows(chosen)}
