# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet's records in memory: written as the store would write them, converged and torn down as passes would."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import (
    ClusterRecord,
    NodePoolRecord,
    SubstrateRecord,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    Intent,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.writes import DesiredWrites

ZONES = ("us-east-1a", "us-east-1b")
PLACES = {"subnet-0000000000000000a": "us-east-1a", "subnet-0000000000000000b": "us-east-1b"}

Row = TypeVar("Row")


def written(records: Records, writes: DesiredWrites) -> Records:
    """The records after an apply."""
    raises = {raised.id: raised for raised in writes.cluster_raises}
    changes = {change.id: change for change in writes.node_pool_changes}

    def raised(row: ClusterRecord) -> ClusterRecord:
        wish = raises.get(row.id)
        if wish is None:
            return row
        version = row.version if wish.version is None else wish.version
        return replace(row, generation=row.generation + 1, state=wish.state, version=version)

    def changed(row: NodePoolRecord) -> NodePoolRecord:
        change = changes.get(row.id)
        if change is None:
            return row
        version = row.version + 1
        sized = version if change.sized else row.sized_version
        return replace(row, shape=change.shape, state=change.state, version=version, sized_version=sized)

    return Records(
        serial=records.serial + 1,
        sites=_put([row for row in records.sites if row.id not in writes.dropped_sites], writes.sites, "id"),
        accounts=_put(
            [row for row in records.accounts if row.id not in writes.dropped_accounts], writes.accounts, "id"
        ),
        pools=_put(records.pools, writes.pools, "id"),
        clusters=(*(raised(row) for row in records.clusters), *writes.clusters),
        node_pools=(*(changed(row) for row in records.node_pools), *writes.node_pools),
        substrates=_put(records.substrates, writes.substrates, "pool_id"),
        quotas=_put(
            [row for row in records.quotas if (row.tenant_id, row.pool_id) not in writes.dropped_quotas],
            writes.quotas,
            "tenant_id",
            "pool_id",
        ),
    )


def converged(records: Records) -> Records:
    """The records after passes that found everything as it should be: zones read, all ready, what goes is gone."""
    going = {row.id for row in records.pools if row.intent == Intent.TEAR_DOWN}

    def cluster(row: ClusterRecord) -> ClusterRecord:
        if row.substrate_pool_id in going or row.state == ClusterState.DELETED:
            return replace(row, state=ClusterState.DELETED)
        return replace(row, state=ClusterState.READY, observed_generation=row.generation, ready_before=True)

    clusters = tuple(cluster(row) for row in records.clusters)
    standing = {row.id for row in clusters if row.state != ClusterState.DELETED}

    def node_pool(row: NodePoolRecord) -> NodePoolRecord:
        if row.state in (NodePoolState.DELETING, NodePoolState.DELETED) or row.cluster_id not in standing:
            return replace(row, state=NodePoolState.DELETED)
        return replace(row, state=NodePoolState.READY, observed_version=row.version)

    def substrate(row: SubstrateRecord) -> SubstrateRecord:
        return replace(row, state=SubstrateState.DELETED if row.pool_id in going else SubstrateState.READY)

    return replace(
        records,
        accounts=tuple(replace(row, places=PLACES) for row in records.accounts),
        clusters=clusters,
        node_pools=tuple(node_pool(row) for row in records.node_pools),
        substrates=tuple(substrate(row) for row in records.substrates),
    )


def _put(rows: Any, new: tuple[Row, ...], *keys: str) -> tuple[Row, ...]:
    """Rows with new ones in the place of those that have the same key."""

    def key(row: Row) -> tuple[Any, ...]:
        return tuple(getattr(row, name) for name in keys)

    by_key: dict[tuple[Any, ...], Row] = {key(row): row for row in (*rows, *new)}
    return tuple(by_key.values())
