# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""pass.thousand_nodes* and nodes.vs_typed_list: what a pass over 1,000 joined Nodes costs when nothing is to be done.

The product's own passes on a SQLite file, with the provider and the cluster's API in memory (calibrated_cloud.py): so
what is measured is processor time of this process, without sockets and TLS. The raw list beside it is the same requests
through the product's door to the API, their JSON read and nothing made of it. The kubernetes package's typed list reads
the whole Nodes, because that is what it knows.
"""

from __future__ import annotations

import gc
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import kubernetes.client

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import node_list
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import labels
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import Listening
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet, passes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import get_substrate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import gateways, open_store, pool_nodes
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock, node

from .calibrated_cloud import CalibratedDriver, MemoryApis, calibrated_clusters
from .documents import idle_pools
from .item import Bar, Item
from .listed_nodes import PAGE_NODES, ListedNodes
from .load_process import quantile
from .product import AGENT
from .timing import Failed, by_turns

PASS: Final = Item(name="pass.thousand_nodes", unit="s", side=Bar.AT_MOST, bar=0.5)
SLOWEST: Final = Item(name="pass.thousand_nodes_wall", unit="s", side=Bar.AT_MOST, bar=1.0)
TYPED: Final = Item(name="nodes.vs_typed_list", unit="x", side=Bar.AT_LEAST, bar=5.0)
ITEMS: Final = (PASS, TYPED, SLOWEST)

_NODES: Final = 1_000
_FLAVORS: Final = 4
"""EKS takes 450 Nodes in a node pool at most."""

_ZONES: Final = 2
_ROUNDS: Final = 7
_PASSES: Final = 40
"""For the p95: the third slowest of them."""

_MEMORY_PASSES: Final = 10
_MEMORY_BYTES: Final = 256 * 1024
"""What ten passes may leave behind: caches that fill. Whatever keeps anything of a list of 1,000 Nodes keeps more."""


def measure(folder: Path) -> Iterator[Item]:
    """Bring a pool of 1,000 Nodes to rest, then time its passes beside the bare list and the typed one."""
    with _session(folder / "fleet.db") as session:
        pool_id = _declare(session)
        listed = ListedNodes(pool_id, {f"flavor-{number}": _NODES // _FLAVORS for number in range(_FLAVORS)})
        _join(session, pool_id, listed.names)
        with calibrated_clusters(call_seconds=0.0, node_pages=listed.page) as apis:
            yield from _measure(session, pool_id, apis)


def _measure(session: Session, pool_id: PoolId, apis: MemoryApis) -> tuple[Item, Item, Item]:
    for _pass in range(3):
        passes.run_once(session, [pool_id])
    before = apis.writes
    with ClusterApi(endpoint="https://any.example", ca_pem="", token=Secret("any")) as api:
        seconds = by_turns(
            {
                "pass": _timed(lambda: passes.run_once(session, [pool_id])),
                "raw": _timed(lambda: _raw(api, pool_id)),
                "nodes": _timed(lambda: node_list.list_nodes(api, pool_id=pool_id)),
                "typed": _timed(_typed_list(apis)),
            },
            rounds=_ROUNDS,
        )
    walls = [_wall(lambda: passes.run_once(session, [pool_id])) for _pass in range(_PASSES)]
    grown = _growth(lambda: passes.run_once(session, [pool_id]))
    wrong = _wrong(session, writes=apis.writes - before, grown=grown)
    return *items(seconds, grown=grown, wrong=wrong), slowest(walls)


def items(seconds: dict[str, float], *, grown: int, wrong: str = "") -> tuple[Item, Item]:
    """The items for processor seconds of a pass, the raw list, ours and the typed client's."""
    return (
        replace(
            PASS,
            value=seconds["pass"] - seconds["raw"],
            wrong=wrong,
            note=f"processor time of a pass ({seconds['pass']:.3f} s) beyond that of the raw list "
            f"({seconds['raw']:.3f} s), {_NODES:,} Nodes; {grown / 1024:.0f} KiB more after {_MEMORY_PASSES} passes",
        ),
        replace(
            TYPED,
            value=seconds["typed"] / seconds["nodes"],
            note=f"the kubernetes package's list {seconds['typed']:.3f} s, ours {seconds['nodes']:.3f} s, "
            f"a whole pass {seconds['pass']:.3f} s, of processor time",
        ),
    )


def slowest(walls: Sequence[float]) -> Item:
    """The item for the seconds of each of many passes, as the clock on the wall has them."""
    return replace(
        SLOWEST,
        value=quantile(walls, 0.95),
        note=f"{len(walls)} passes, p50 {quantile(walls, 0.5):.3f} s; load average {os.getloadavg()[0]:.1f}",
    )


def _wrong(session: Session, *, writes: int, grown: int) -> str:
    record = get_substrate(session, pool="pool-0").record
    found = (str(record.state), record.message, record.nodes_listed, record.nodes_joined)
    problems = []
    if found != ("ready", "", _NODES, _NODES):
        problems.append(f"not at rest: {found}")
    if writes:
        problems.append(f"{writes} writes in the cluster")
    if grown > _MEMORY_BYTES:
        problems.append(f"{_MEMORY_PASSES} passes left {grown} bytes behind")
    return "; ".join(problems)


@contextmanager
def _session(file: Path) -> Iterator[Session]:
    """A session on a clock that stands still: machines that were heard stay connected."""
    clock, driver = HandClock(), CalibratedDriver(call_seconds=0.0)
    url = f"sqlite:///{file}"
    store = open_store(url, clock=clock)
    try:
        yield Session(
            store=store,
            clock=clock,
            settings=load_settings(environ={**AGENT, "BC_FLEET_STORE_DATABASE_URL": url}),
            caller="bench",
            holder="bench",
            open_driver=lambda _account: driver,
            sleep=time.sleep,
        )
    finally:
        store.close()


def _declare(session: Session) -> PoolId:
    document = idle_pools(_FLAVORS)
    for flavor in document["pools"][0]["policy"]["substrate"]["flavors"]:
        flavor["nodes"] = _NODES // _FLAVORS // _ZONES
    planned = fleet.plan_fleet(session, parse_document(document), prune=False, refresh=False)
    [pool_id] = fleet.apply_fleet(session, planned)
    return pool_id


def _join(session: Session, pool_id: PoolId, names: list[str]) -> None:
    """Record that each machine joined and is heard, as a gateway does."""
    now = session.clock.now()
    with session.store.write() as tx:
        gateways.heard(tx, Listening(since=now, heard_at=now))
        for name in names:
            made = node(pool_id, hostname=name, reported_node_name=name, joined_at=now, last_seen_at=now)
            pool_nodes.add_node(tx, replace(made, state=NodeState.JOINED))


def _wall(act: Callable[[], object]) -> float:
    """Seconds by the clock on the wall, garbage's collection among them."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _timed(act: Callable[[], object]) -> Callable[[], float]:
    """Processor seconds of this process; garbage is collected before, and when it comes up."""

    def run() -> float:
        gc.collect()
        began = time.process_time()
        act()
        return time.process_time() - began

    return run


def _raw(api: ClusterApi, pool_id: PoolId) -> None:
    """The list's requests as the product sends them, read and not looked at."""
    query: dict[str, str | int] = {"labelSelector": f"{labels.SUBSTRATE_POOL}={pool_id}", "limit": PAGE_NODES}
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    while True:
        page = api.request("GET", "/api/v1/nodes", query=query, accept=accept)
        if "continue" not in page["metadata"]:
            return
        query = {**query, "continue": page["metadata"]["continue"]}


def _typed_list(apis: MemoryApis) -> Callable[[], None]:
    """The kubernetes package's own list, page by page."""
    client: Any = kubernetes.client.ApiClient(kubernetes.client.Configuration(host="https://any.example"))
    client.rest_client.pool_manager = apis
    nodes: Any = kubernetes.client.CoreV1Api(client)

    def run() -> None:
        names: list[str] = []
        more: str | None = None
        while more != "":
            page = nodes.list_node(limit=PAGE_NODES, **({"_continue": more} if more else {}))
            names += [item.metadata.name for item in page.items]
            more = page.metadata._continue or ""
        if len(names) != _NODES:
            raise Failed(f"the typed list has {len(names)} Nodes")

    return run


def _growth(act: Callable[[], object]) -> int:
    """Bytes that this process holds more after many passes than before."""
    tracemalloc.start()
    try:
        for _warm in range(3):
            act()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _pass in range(_MEMORY_PASSES):
            act()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
