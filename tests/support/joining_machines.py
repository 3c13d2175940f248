# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool that machines can join, and what their bcds send to do so."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import Listening
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolNode, PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.joining import JoinRequest
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    fleet,
    gateways,
    join_tokens,
    pool_nodes,
    reservations,
    work,
)
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import devices

TOKEN = Secret("bcj_a-token-of-the-test")


def new_pool(store: Store, *, quota: int | None = 16, **different: Any) -> PoolRecord:
    """A recorded pool that is worked on, due in an hour, with a quota for the platform's tenant."""
    pool = rows.pool(**different)
    with store.write() as tx:
        fleet.put_pool(tx, pool)
        work.add_unit(tx, pool.id, tx.now + timedelta(hours=1))
        if quota is not None:
            fleet.put_quota(tx, tenant_id=pool.tenant_id, pool_id=pool.id, gpus=quota)
    return pool


def new_token(store: Store, pool: PoolRecord, token: Secret = TOKEN, **different: Any) -> Secret:
    """A live join token of the pool, of one use unless told otherwise."""
    with store.write() as tx:
        join_tokens.add_token(tx, rows.token(pool.id, token_hash=token.sha256(), **different))
    return token


def asks(name: str = "ip-1", **different: Any) -> JoinRequest:
    """What the bcd of the machine of that name sends."""
    values: dict[str, Any] = {
        "token": TOKEN,
        "nonce": f"nonce of {name}",
        "identity": Secret(f"identity of {name}"),
        "hostname": name,
        "reported_node_name": name,
        "devices": devices(name),
    }
    return JoinRequest(**(values | different))


def new_node(store: Store, pool: PoolRecord, **different: Any) -> PoolNode:
    """A recorded node of the pool."""
    node = rows.node(pool.id, **different)
    with store.write() as tx:
        pool_nodes.add_node(tx, node)
    return node


def listen(store: Store) -> None:
    """Have a gateway that has been listening since the beginning of time."""
    with store.write() as tx:
        gateways.heard(tx, Listening(since=rows.START - timedelta(days=1), heard_at=tx.now))


def node_of(store: Store, node_id: NodeId) -> PoolNode:
    """The node as it is recorded now."""
    with store.read() as tx:
        node = pool_nodes.node(tx, node_id)
    assert node is not None
    return node


def nodes_of(store: Store, pool: PoolRecord) -> tuple[PoolNode, ...]:
    """The pool's nodes that are not retired."""
    with store.read() as tx:
        return pool_nodes.pool_nodes(tx, pool.id)


def uses(store: Store, token: Secret = TOKEN) -> int:
    """How many machines have joined with the token."""
    with store.read() as tx:
        return join_tokens.tokens_by_hashes(tx, [token.sha256()])[token.sha256()].uses


def due_at(store: Store, pool: PoolRecord) -> Any:
    """When the pool wants its next pass."""
    with store.read() as tx:
        return work.due_of(tx, pool.id)


def held(store: Store, pool: PoolRecord) -> int:
    """GPUs that are charged to the platform's tenant."""
    with store.read() as tx:
        return reservations.held(tx, pool.tenant_id, pool.id)


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls in threads that start together; an exception is a result here."""
    start = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        start.wait()
        try:
            return call()
        except Exception as error:  # noqa: BLE001 (what a call raises is what the test looks at)
            return error

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))
