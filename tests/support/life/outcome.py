# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a life has led to, as plain values: equal for every life, wherever its processes were killed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ansible_collections.better_compute.fleet.emulators.engine import Entry
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import names
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, join_tokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables

from .points import nameless
from .world import Scene


def standing(scene: Scene) -> dict[str, Any]:
    """What stands once every Node has joined: at the provider, in the cluster, in the records."""
    table = tables()
    rows = _Rows(scene.store)
    return {
        "inventory": Counter(f"{item.cloud} {item.kind}" for item in scene.engine.inventory.items()),
        "secrets": sum(
            cluster.read("Secret", names.JOIN_SECRET, names.AGENT_NAMESPACE) is not None for cluster in _clusters(scene)
        ),
        "live tokens": rows.live_tokens(),
        "token uses": rows.count(table.token_uses),
        "nodes that used a token": rows.distinct(table.token_uses, "node_id"),
        "nodes": rows.by(table.pool_nodes, "state"),
        "node pools": rows.by(table.node_pools, "name", "state"),
        "cluster": rows.by(table.clusters, "state"),
        "substrate": rows.by(table.substrates, "state", "nodes_listed", "nodes_joined", "waiting_nodes", "message"),
    }


def remains(scene: Scene) -> dict[str, Any]:
    """What is left when all is over: nothing but history."""
    table = tables()
    rows = _Rows(scene.store)
    return {
        "inventory": [f"{item.cloud} {item.kind} {item.id}" for item in scene.engine.inventory.items()],
        "live tokens": rows.live_tokens(),
        "clusters": rows.by(table.clusters, "state", "message"),
        "node pools": rows.by(table.node_pools, "name", "state"),
        "substrates": rows.by(table.substrates, "state", "nodes_listed", "waiting_nodes", "message"),
        "nodes": rows.by(table.pool_nodes, "state"),
        "work": rows.count(table.work),
        "held devices": rows.count(table.held_devices),
        "reservations": rows.by(table.reservations, "state", "gpus"),
        "refunds": rows.by(table.refunds, "gpus"),
        "idempotency keys": rows.count(table.idempotency),
        "serial": rows.by(table.fleet, "serial"),
        "events": rows.by(table.events, "type"),
    }


def accepted(entries: Sequence[Entry]) -> Counter[str]:
    """How often each change was carried out by a provider or a cluster, by call and target."""
    return Counter(
        nameless(f"{entry.call.name} {entry.call.target}")
        for entry in entries
        if entry.call.mutating and 0 < entry.status < 400
    )


def _clusters(scene: Scene) -> list[Any]:
    found = (scene.world.apis.cluster(item.id) for item in scene.engine.inventory.items(cloud="aws", kind="cluster"))
    return [cluster for cluster in found if cluster is not None]


class _Rows:
    """Counts of the database's rows."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def count(self, table: Any) -> int:
        with self._store.read() as tx:
            return len(tx.rows(table.select()))

    def distinct(self, table: Any, column: str) -> int:
        with self._store.read() as tx:
            return len({getattr(row, column) for row in tx.rows(table.select())})

    def by(self, table: Any, *columns: str) -> dict[tuple[Any, ...] | Any, int]:
        """How many rows there are of each combination."""
        with self._store.read() as tx:
            found = Counter(tuple(getattr(row, column) for column in columns) for row in tx.rows(table.select()))
        return {key if len(key) > 1 else key[0]: number for key, number in sorted(found.items())}

    def live_tokens(self) -> int:
        with self._store.read() as tx:
            pools = [row.id for row in tx.rows(tables().pools.select())]
            return sum(len(join_tokens.live_tokens(tx, pool)) for pool in pools)
