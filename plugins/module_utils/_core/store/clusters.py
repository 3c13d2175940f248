# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters and their node pools: what is wanted of them, and the status that a pass writes back.

The two are written by different hands at the same time. A status is written only onto the generation (version) that it
was found for; the caller that raises the generation therefore never loses its change to a pass that began before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..model.declared import Flavor
from ..model.errors import Code, OperationError
from ..model.ids import AccountId, ClusterId, NodePoolId, PoolId, TenantId
from ..model.records import ClusterRecord, NodePoolRecord
from ..model.states import ClusterMode, ClusterState, NodePoolState
from .shapes import flavor_of, outputs_of, plain_flavor, plain_outputs
from .standing import cluster_stands, node_pool_stands
from .tables import tables
from .transaction import Tx

if TYPE_CHECKING:
    from sqlalchemy import Row


def cluster(tx: Tx, cluster_id: ClusterId) -> ClusterRecord | None:
    """One cluster, deleted or not."""
    table = tables().clusters
    row = tx.find(table, key={"id": cluster_id})
    return None if row is None else _cluster(row)


def cluster_of_pool(tx: Tx, pool_id: PoolId) -> ClusterRecord | None:
    """The cluster that backs the pool, unless it is deleted."""
    table = tables().clusters
    row = tx.find(table, key={"substrate_pool_id": pool_id}, unless={"state": ClusterState.DELETED.value})
    return None if row is None else _cluster(row)


def clusters(tx: Tx) -> tuple[ClusterRecord, ...]:
    """Every cluster, the deleted ones too, oldest first."""
    table = tables().clusters
    return tuple(_cluster(row) for row in tx.rows(table.select().order_by(table.c.id)))


def clusters_of(tx: Tx, tenant_id: TenantId) -> tuple[ClusterRecord, ...]:
    """The tenant's clusters that are not deleted, those behind its pools too, oldest first."""
    table = tables().clusters
    chosen = table.select().where(table.c.tenant_id == tenant_id, cluster_stands())
    return tuple(_cluster(row) for row in tx.rows(chosen.order_by(table.c.id)))


def is_taken(tx: Tx, *, account_id: AccountId, location: str, name: str) -> bool:
    """Whether a cluster that is not deleted, whoever's, has this name there at the provider."""
    key = {"account_id": account_id, "location": location, "name": name}
    return tx.find(tables().clusters, key=key, unless={"state": ClusterState.DELETED.value}) is not None


def lock_cluster(tx: Tx, cluster_id: ClusterId) -> None:
    """Have no other transaction change or lock the cluster until this one ends: what is decided about it is so alone.

    Taken after the work unit and pools (fleet.lock_pool). On SQLite a write transaction shuts all others out anyway.
    """
    from sqlalchemy import select

    table = tables().clusters
    tx.row(select(table.c.id).where(table.c.id == cluster_id).with_for_update(key_share=True))


def add_cluster(tx: Tx, rec: ClusterRecord) -> None:
    """Record a cluster before the provider is asked for it.

    Raises:
        OperationError: CONFLICT when the pool has a cluster that is not deleted, or the account one of that name.
    """
    add_clusters(tx, (rec,))


def add_clusters(tx: Tx, recs: Iterable[ClusterRecord]) -> None:
    """As add_cluster, for many."""
    rows = [
        {
            "id": rec.id,
            "tenant_id": rec.tenant_id,
            "account_id": rec.account_id,
            "substrate_pool_id": rec.substrate_pool_id,
            "name": rec.name,
            "location": rec.location,
            "private_nodes": rec.private_nodes,
            "version": rec.version,
            "mode": rec.mode.value,
            "adopted": rec.adopted,
            "generation": rec.generation,
            **_cluster_status(rec),
        }
        for rec in recs
    ]
    tx.insert_all(tables().clusters, rows)


def raise_cluster_generation(tx: Tx, cluster_id: ClusterId, state: ClusterState, *, version: str | None = None) -> None:
    """Something else is wanted of the cluster now: no status that was found before is written any more.

    Arguments:
        version: the control plane's version that is wanted from now on; None leaves the wish as it is.
    """
    table = tables().clusters
    wish: dict[str, Any] = {} if version is None else {"version": version}
    tx.execute(
        table.update()
        .where(table.c.id == cluster_id)
        .values(generation=table.c.generation + 1, state=state.value, **wish)
    )


def set_cluster_status(tx: Tx, rec: ClusterRecord) -> bool:
    """Record the cluster's status, if it is still wanted as `rec` says.

    Returns:
        False when the generation moved meanwhile: nothing is written, look again.
    """
    key = {"id": rec.id, "generation": rec.generation}
    return tx.change(tables().clusters, key=key, values=_cluster_status(rec)) is not None


def claim_global_id(tx: Tx, cluster_id: ClusterId, global_id: str) -> None:
    """Claim the provider's cluster for this row: one row that is not deleted has it, whichever account reads it.

    Raises:
        OperationError: CONFLICT naming whoever has it.
    """
    table = tables().clusters
    try:
        # Within a savepoint, because after a refusal PostgreSQL would not answer the question who has it.
        with tx.savepoint():
            tx.change(table, key={"id": cluster_id}, values={"global_id": global_id})
    except OperationError:
        row = tx.find(table, key={"global_id": global_id}, unless={"state": ClusterState.DELETED.value})
        raise OperationError(
            Code.CONFLICT,
            f"the cluster {global_id} is used by {_owner(tx, row, asking=cluster_id)} already: one cluster backs one "
            "pool, whichever account reaches it; archive one of the two, and wait until its substrate is deleted",
        ) from None


def _owner(tx: Tx, row: Row[Any] | None, *, asking: ClusterId) -> str:
    """Whose cluster it is, for a person; None for one that went this moment. Another tenant's is not named."""
    asks = tx.find(tables().clusters, key={"id": asking})
    if row is None or asks is None:
        return "another cluster"
    if row.tenant_id != asks.tenant_id:
        return "somebody else"
    if row.substrate_pool_id is None:
        return f"cluster {row.name} ({row.id})"
    pool = tx.find(tables().pools, key={"id": row.substrate_pool_id})
    return f"pool {row.substrate_pool_id}" if pool is None else f"pool {pool.name} ({pool.id})"


def node_pools(tx: Tx, cluster_id: ClusterId, *, deleted: bool = False) -> tuple[NodePoolRecord, ...]:
    """The cluster's node pools by name, the deleted ones only when asked for."""
    table = tables().node_pools
    chosen = table.select().where(table.c.cluster_id == cluster_id).order_by(table.c.name, table.c.id)
    if not deleted:
        chosen = chosen.where(node_pool_stands())
    return tuple(_node_pool(row) for row in tx.rows(chosen))


def all_node_pools(tx: Tx) -> tuple[NodePoolRecord, ...]:
    """The node pools of every cluster that are not deleted, in one read."""
    table = tables().node_pools
    chosen = table.select().where(node_pool_stands())
    return tuple(_node_pool(row) for row in tx.rows(chosen.order_by(table.c.cluster_id, table.c.name)))


def node_pool(tx: Tx, node_pool_id: NodePoolId) -> NodePoolRecord | None:
    """One node pool, deleted or not."""
    table = tables().node_pools
    row = tx.find(table, key={"id": node_pool_id})
    return None if row is None else _node_pool(row)


def add_node_pool(tx: Tx, rec: NodePoolRecord) -> None:
    """Record a node pool before the provider is asked for it.

    Raises:
        OperationError: CONFLICT when the cluster has one of that name that is not deleted.
    """
    add_node_pools(tx, (rec,))


def add_node_pools(tx: Tx, recs: Iterable[NodePoolRecord]) -> None:
    """As add_node_pool, for many."""
    rows = [
        {
            "id": rec.id,
            "cluster_id": rec.cluster_id,
            "name": rec.name,
            "shape": plain_flavor(rec.shape),
            "version": rec.version,
            "sized_version": rec.sized_version,
            "of_flavor": rec.of_flavor,
            **_node_pool_status(rec),
        }
        for rec in recs
    ]
    tx.insert_all(tables().node_pools, rows)


def change_node_pool(
    tx: Tx, node_pool_id: NodePoolId, shape: Flavor, state: NodePoolState, *, sized: bool = True
) -> None:
    """Something else is wanted of the node pool now: no status that was found before is written any more.

    The counter of creates goes on: each create the provider sees needs a number of its own. What was refused before
    says nothing of what is wanted now: it may be asked for at once.

    Arguments:
        sized: whether the size is asked for anew: see NodePoolRecord.sized_version.
    """
    table = tables().node_pools
    version = table.c.version + 1
    values = {"version": version, "shape": plain_flavor(shape), "state": state.value, "message": ""}
    values |= dict.fromkeys(("update_id", "last_update_at", "last_create_at"))
    values |= {"sized_version": version} if sized else {}
    tx.execute(table.update().where(table.c.id == node_pool_id).values(**values))


def set_node_pool_status(tx: Tx, rec: NodePoolRecord) -> bool:
    """Record the node pool's status, if it is still wanted as `rec` says.

    Returns:
        False when the version moved meanwhile: nothing is written, look again.
    """
    key = {"id": rec.id, "version": rec.version}
    return tx.change(tables().node_pools, key=key, values=_node_pool_status(rec)) is not None


def _cluster_status(rec: ClusterRecord) -> dict[str, Any]:
    return {
        "state": rec.state.value,
        "message": rec.message,
        "observed_generation": rec.observed_generation,
        "outputs": plain_outputs(rec.outputs),
        "ready_before": rec.ready_before,
        "delete_attempts": rec.delete_attempts,
    }


def _node_pool_status(rec: NodePoolRecord) -> dict[str, Any]:
    return {
        "state": rec.state.value,
        "message": rec.message,
        "observed_version": rec.observed_version,
        "update_id": rec.update_id,
        "last_update_at": rec.last_update_at,
        "create_attempts": rec.create_attempts,
        "last_create_at": rec.last_create_at,
        "ever_joined": rec.ever_joined,
    }


def _cluster(row: Row[Any]) -> ClusterRecord:
    values = row._mapping
    return ClusterRecord(
        id=ClusterId(values["id"]),
        tenant_id=TenantId(values["tenant_id"]),
        account_id=AccountId(values["account_id"]),
        substrate_pool_id=None if values["substrate_pool_id"] is None else PoolId(values["substrate_pool_id"]),
        name=values["name"],
        location=values["location"],
        private_nodes=values["private_nodes"],
        version=values["version"],
        mode=ClusterMode(values["mode"]),
        adopted=values["adopted"],
        global_id=values["global_id"],
        state=ClusterState(values["state"]),
        message=values["message"],
        generation=values["generation"],
        observed_generation=values["observed_generation"],
        outputs=outputs_of(values["outputs"]),
        ready_before=values["ready_before"],
        delete_attempts=values["delete_attempts"],
    )


def _node_pool(row: Row[Any]) -> NodePoolRecord:
    values = row._mapping
    return NodePoolRecord(
        id=NodePoolId(values["id"]),
        cluster_id=ClusterId(values["cluster_id"]),
        name=values["name"],
        shape=flavor_of(values["shape"]),
        state=NodePoolState(values["state"]),
        message=values["message"],
        version=values["version"],
        observed_version=values["observed_version"],
        sized_version=values["sized_version"],
        update_id=values["update_id"],
        last_update_at=values["last_update_at"],
        create_attempts=values["create_attempts"],
        last_create_at=values["last_create_at"],
        ever_joined=values["ever_joined"],
        of_flavor=values["of_flavor"],
    )
