# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What years leave behind in one pool: ended bookings, retired nodes, used tokens, deleted node pools and clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables

_Rows = Iterator[dict[str, Any]]


def add_history(store: Store, pool_id: PoolId, *, years_ago: datetime, many: int, tenant_id: str = "platform") -> None:
    """Write so many rows of each kind. The pool has a cluster, which stands.

    Arguments:
        years_ago: when all of it happened.
    """
    every = tables()
    with store.write() as tx:
        cluster = tx.rows(every.clusters.select().where(every.clusters.c.substrate_pool_id == pool_id))[0]._asdict()
        of_cluster = every.node_pools.c.cluster_id == cluster["id"]
        node_pool = tx.rows(every.node_pools.select().where(of_cluster))[0]._asdict()
        booked = {"tenant_id": tenant_id, "pool_id": pool_id, "gpus": 2}
        written: list[tuple[Any, _Rows]] = [
            (every.reservations, _ended(many, booked, years_ago)),
            (every.refunds, ({"reservation_id": f"rsv_{n:026}", **booked, "at": years_ago} for n in range(many))),
            (every.idempotency, _names(many, pool_id, years_ago)),
            (every.join_tokens, _tokens(many, pool_id, years_ago)),
            (every.token_uses, _uses(many, years_ago)),
            (every.pool_nodes, _retired(many, pool_id, years_ago)),
            (every.clusters, _deleted("kcl", many, cluster)),
            (every.node_pools, _deleted("knp", many, node_pool)),
            (every.events, _told(many, cluster["id"], years_ago)),
        ]
        for table, rows in written:
            tx.insert_all(table, list(rows))


def _ended(many: int, booked: Mapping[str, Any], at: datetime) -> _Rows:
    for number in range(many):
        yield {
            "id": f"rsv_{number:026}",
            **booked,
            "spot": False,
            "binding": "exclusive",
            "state": "released",
            "created_at": at,
            "ended_at": at,
            "message": "",
        }


def _names(many: int, pool_id: PoolId, at: datetime) -> _Rows:
    for number in range(many):
        yield {
            "scope": f"reservation/platform/ann/{pool_id}",
            "key": f"job-{number}",
            "request_digest": "d",
            "result_id": f"rsv_{number:026}",
            "at": at,
        }


def _tokens(many: int, pool_id: PoolId, at: datetime) -> _Rows:
    for number in range(many):
        yield {
            "id": f"tok_{number:026}",
            "pool_id": pool_id,
            "token_hash": f"hash {number}",
            "max_uses": 1,
            "created_at": at,
            "expires_at": at,
        }


def _uses(many: int, at: datetime) -> _Rows:
    for number in range(many):
        yield {"token_id": f"tok_{number:026}", "nonce": "n", "node_id": f"node_{number:026}", "at": at}


def _retired(many: int, pool_id: PoolId, at: datetime) -> _Rows:
    for number in range(many):
        yield {
            "id": f"node_{number:026}",
            "pool_id": pool_id,
            "state": "retired",
            "hostname": f"ip-{number}",
            "reported_node_name": f"ip-{number}",
            "devices": [],
            "joined_at": at,
            "last_seen_at": at,
            "node_name": f"ip-{number}",
            "node_uid": f"uid {number}",
            "spot": False,
            "labels": {},
        }


def _deleted(prefix: str, many: int, like: Mapping[str, Any]) -> _Rows:
    for number in range(many):
        yield {**like, "id": f"{prefix}_{number:026}", "state": "deleted"}


def _told(many: int, cluster_id: str, at: datetime) -> _Rows:
    """The end of each, a node's the last."""
    for number in range(3 * many):
        one = f"{number // 3:026}"
        subject, kind, data = (
            (f"kcl_{one}", "kubernetes.cluster.deleted", {}),
            (cluster_id, "kubernetes.nodepool.deleted", {"nodePoolId": f"knp_{one}"}),
            (f"node_{one}", "node.retired", {}),
        )[number % 3]
        told = {"id": f"evt_{number:026}", "at": at, "tenant_id": "platform"}
        yield {**told, "subject": subject, "type": kind, "data": data}
