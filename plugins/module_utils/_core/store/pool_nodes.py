# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our side of each machine: what joined, what it was matched to, when it was last heard of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from ..model.ids import NodeId, PoolId
from ..model.records import Device, NodeIdentity, PoolNode
from ..model.states import NodeState
from .shapes import devices_of, plain_devices
from .standing import not_retired
from .statements import among
from .tables import tables
from .transaction import Tx

if TYPE_CHECKING:
    from sqlalchemy import Row, Select, Update


def pool_nodes(tx: Tx, pool_id: PoolId, *, retired: bool = False) -> tuple[PoolNode, ...]:
    """The pool's nodes, oldest first, the retired ones only when asked for."""
    table = tables().pool_nodes
    chosen = table.select().where(table.c.pool_id == pool_id).order_by(table.c.joined_at, table.c.id)
    if not retired:
        chosen = chosen.where(not_retired())
    return tuple(_node(row) for row in tx.rows(chosen))


def nodes_in(tx: Tx, pool_ids: Iterable[PoolId], states: Iterable[NodeState]) -> tuple[PoolNode, ...]:
    """The nodes of many pools in these states, oldest first, out of one read."""
    chosen = {"of_pools": sorted(set(pool_ids)), "states": sorted({state.value for state in states})}
    return tuple(_node(row) for row in tx.rows(_standing(), chosen))


@cache
def _standing() -> Select[Any]:
    table = tables().pool_nodes
    of_these = (among(table.c.pool_id, "of_pools"), among(table.c.state, "states"))
    return table.select().where(*of_these).order_by(table.c.joined_at, table.c.id)


def names_of(tx: Tx, node_ids: Iterable[NodeId]) -> dict[NodeId, str | None]:
    """The names of the Kubernetes Nodes that these nodes were matched to, by their ids, out of one read."""
    return {NodeId(row.id): row.node_name for row in tx.rows(_node_names(), {"of_ids": sorted(set(node_ids))})}


@cache
def _node_names() -> Select[Any]:
    from sqlalchemy import select

    table = tables().pool_nodes
    return select(table.c.id, table.c.node_name).where(among(table.c.id, "of_ids"))


def nodes_named(tx: Tx, names: Iterable[tuple[PoolId, str]]) -> dict[tuple[PoolId, str], list[PoolNode]]:
    """The nodes of these pools, the retired ones left out, whose bcd reported this name; where none did, of this
    hostname. Out of one read; no node, no entry.

    Arguments:
        names: pool and name; a hostname's in lower case. Only the ASCII letters of a recorded hostname are compared so.
    """
    wanted = set(names)
    pool_ids, shown = sorted({pool_id for pool_id, _name in wanted}), sorted({name for _pool_id, name in wanted})
    found: dict[tuple[PoolId, str], list[PoolNode]] = {}
    for row in tx.rows(_named(), {"of_pools": pool_ids, "names": shown}):
        if (row.pool_id, row.shown) in wanted:
            found.setdefault((PoolId(row.pool_id), row.shown), []).append(_node(row))
    return found


@cache
def _named() -> Select[Any]:
    from sqlalchemy import func, select

    table = tables().pool_nodes
    shown = func.coalesce(func.nullif(table.c.reported_node_name, ""), func.lower(table.c.hostname))
    return select(table, shown.label("shown")).where(
        among(table.c.pool_id, "of_pools"),
        not_retired(),
        among(shown, "names"),
    )


def node_pools_in(tx: Tx, pool_id: PoolId, state: NodeState) -> frozenset[str]:
    """The provider's names of the node pools that the pool's nodes in this state are of: without the nodes."""
    from sqlalchemy import select

    table = tables().pool_nodes
    chosen = select(table.c.node_pool).where(table.c.pool_id == pool_id, table.c.state == state.value).distinct()
    return frozenset(row.node_pool for row in tx.rows(chosen) if row.node_pool is not None)


def pools_of_silent(tx: Tx, since: datetime) -> frozenset[PoolId]:
    """The pools with a node that was matched to a Node and not heard since then; retired ones are left out."""
    from sqlalchemy import select

    table = tables().pool_nodes
    silent = (table.c.last_seen_at < since, table.c.node_uid.is_not(None), not_retired())
    return frozenset(PoolId(row.pool_id) for row in tx.rows(select(table.c.pool_id).where(*silent).distinct()))


def node(tx: Tx, node_id: NodeId) -> PoolNode | None:
    """One node, retired or not."""
    row = tx.find(tables().pool_nodes, key={"id": node_id})
    return None if row is None else _node(row)


def nodes_by_identities(tx: Tx, identity_hashes: Iterable[str]) -> dict[str, PoolNode]:
    """The nodes whose bcds show the secrets of these SHA-256s, by them. A retired node has none."""
    rows = tx.rows(_with_identities(), {"of_hashes": sorted(set(identity_hashes))})
    return {row.identity_hash: _node(row) for row in rows}


@cache
def _with_identities() -> Select[Any]:
    table = tables().pool_nodes
    return table.select().where(among(table.c.identity_hash, "of_hashes"))


def identities(tx: Tx, identity_hashes: Iterable[str]) -> dict[str, NodeIdentity]:
    """The nodes whose bcds show the secrets of these SHA-256s, by them, out of one read. No node, no entry."""
    return {
        row.identity_hash: NodeIdentity(
            id=NodeId(row.id),
            pool_id=PoolId(row.pool_id),
            identity_hash=row.identity_hash,
            last_seen_at=row.last_seen_at,
        )
        for row in tx.rows(_identified(), {"of_hashes": sorted(set(identity_hashes))})
    }


@cache
def _identified() -> Select[Any]:
    from sqlalchemy import select

    table = tables().pool_nodes
    columns = (table.c.id, table.c.pool_id, table.c.identity_hash, table.c.last_seen_at)
    return select(*columns).where(among(table.c.identity_hash, "of_hashes"))


def identity_hashes(tx: Tx) -> frozenset[str]:
    """SHA-256 of the identity of every node that is not retired."""
    from sqlalchemy import select

    identity = tables().pool_nodes.c.identity_hash
    return frozenset(row.identity_hash for row in tx.rows(select(identity).where(identity.is_not(None))))


def lock_nodes(tx: Tx, node_ids: Iterable[NodeId]) -> None:
    """Have nobody else change these nodes before the transaction ends.

    Whoever changes several takes them in the order of their ids, after work units, pools and tokens: a gateway writes
    the heartbeats of all of them every other second, so that whoever took another order would wait in a circle.
    """
    wanted = sorted(set(node_ids))
    if wanted:
        tx.rows(_locking(), {"of_ids": wanted})


@cache
def _locking() -> Select[Any]:
    from sqlalchemy import select

    table = tables().pool_nodes
    chosen = select(table.c.id).where(among(table.c.id, "of_ids"))
    # FOR NO KEY UPDATE: a booking, which only refers to its node, waits for the pool alone.
    return chosen.order_by(table.c.id).with_for_update(key_share=True)


def add_node(tx: Tx, node: PoolNode) -> None:
    """Record a machine that joined.

    Raises:
        OperationError: CONFLICT when another node has that identity.
    """
    add_nodes(tx, (node,))


def add_nodes(tx: Tx, nodes: Iterable[PoolNode]) -> None:
    """As add_node, for many, in one statement."""
    rows = [
        {
            "id": node.id,
            "pool_id": node.pool_id,
            "state": node.state.value,
            "hostname": node.hostname,
            "reported_node_name": node.reported_node_name,
            "identity_hash": node.identity_hash,
            "devices": plain_devices(node.devices),
            "joined_at": node.joined_at,
            "last_seen_at": node.last_seen_at,
            "node_name": node.node_name,
            "node_uid": node.node_uid,
            "spot": node.spot,
            "labels": dict(node.labels),
            "node_pool": node.node_pool,
        }
        for node in nodes
    ]
    tx.insert_all(tables().pool_nodes, rows)


def replace_identity(
    tx: Tx,
    node_id: NodeId,
    *,
    identity_hash: str,
    hostname: str,
    reported_node_name: str | None,
    devices: Iterable[Device],
    at: datetime,
) -> bool:
    """A known machine joined anew: its former secret is worth nothing from now on.

    Returns:
        False when the node is unknown or retired: then nothing is written.
    """
    changed = _change(
        tx,
        node_id,
        identity_hash=identity_hash,
        hostname=hostname,
        reported_node_name=reported_node_name,
        devices=plain_devices(devices),
        joined_at=at,
        last_seen_at=at,
    )
    return changed is not None


def set_inventory(
    tx: Tx, node_id: NodeId, *, hostname: str, reported_node_name: str | None, devices: Iterable[Device]
) -> bool:
    """Record what the machine's bcd says of it. Returns whether anything was written; a retired node stays as it is."""
    return bool(
        _change(
            tx,
            node_id,
            hostname=hostname,
            reported_node_name=reported_node_name,
            devices=plain_devices(devices),
        )
    )


def set_match(
    tx: Tx,
    node_id: NodeId,
    *,
    node_name: str | None,
    node_uid: str | None,
    node_pool: str | None,
    spot: bool,
    labels: Mapping[str, str],
    state: NodeState,
) -> bool:
    """Record which Kubernetes Node the machine is. A retired node stays as it is. Returns whether it was written."""
    return bool(
        _change(
            tx,
            node_id,
            node_name=node_name,
            node_uid=node_uid,
            node_pool=node_pool,
            spot=spot,
            labels=dict(labels),
            state=state.value,
        )
    )


def set_node_state(tx: Tx, node_id: NodeId, state: NodeState) -> bool:
    """Record the node's state. A retired node stays as it is. Returns whether anything was written."""
    return bool(_change(tx, node_id, state=state.value))


def seen(tx: Tx, node_ids: Iterable[NodeId], at: datetime) -> None:
    """Record that these nodes were heard of, many in one statement. An earlier time never overwrites a later one."""
    # Locked in the order of their ids: two gateways that tell of the same nodes wait for each other at most.
    locked = [row.id for row in tx.rows(_seen_before(), {"of_ids": sorted(set(node_ids)), "at": at})]
    if locked:
        tx.execute(_seeing(), {"of_ids": locked, "at": at})


@cache
def _seen_before() -> Select[Any]:
    from sqlalchemy import bindparam, select

    table = tables().pool_nodes
    mine = (
        among(table.c.id, "of_ids"),
        table.c.last_seen_at < bindparam("at", type_=table.c.last_seen_at.type),
        not_retired(),
    )
    return select(table.c.id).where(*mine).order_by(table.c.id).with_for_update(key_share=True)


@cache
def _seeing() -> Update:
    from sqlalchemy import bindparam

    table = tables().pool_nodes
    at = bindparam("at", type_=table.c.last_seen_at.type)
    return table.update().where(among(table.c.id, "of_ids")).values(last_seen_at=at)


def retire_node(tx: Tx, node_id: NodeId) -> bool:
    """The machine is gone for good: its devices are dropped and its identity is cleared; the row stays.

    What is booked on it must be ended before (in the same transaction): its held devices are no business of this.

    Returns:
        False when it was retired before.
    """
    return bool(
        _change(
            tx,
            node_id,
            state=NodeState.RETIRED.value,
            devices=[],
            identity_hash=None,
        )
    )


def _change(tx: Tx, node_id: NodeId, **values: Any) -> bool | None:
    """Change a node that is not retired (see Tx.change)."""
    table, retired = tables().pool_nodes, {"state": NodeState.RETIRED.value}
    return tx.change(table, key={"id": node_id}, unless=retired, values=values)


def _node(row: Row[Any]) -> PoolNode:
    return PoolNode(
        id=NodeId(row.id),
        pool_id=PoolId(row.pool_id),
        state=NodeState(row.state),
        hostname=row.hostname,
        reported_node_name=row.reported_node_name,
        identity_hash=row.identity_hash or "",
        devices=devices_of(row.devices),
        joined_at=row.joined_at,
        last_seen_at=row.last_seen_at,
        node_name=row.node_name,
        node_uid=row.node_uid,
        node_pool=row.node_pool,
        spot=row.spot,
        labels=row.labels,
    )
