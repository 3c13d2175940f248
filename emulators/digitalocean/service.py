# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters and node pools: made, listed, read and deleted. What is not here yet is refused with 404."""

from __future__ import annotations

import itertools
import secrets
from dataclasses import dataclass
from datetime import datetime
from threading import RLock
from typing import Any, Final
from uuid import uuid4

from ..engine import Engine
from ..engine.inventory import MACHINE

CLOUD: Final = "digitalocean"
_PAGE_DEFAULT: Final = 20
_PAGE_MAXIMUM: Final = 200
_VERSIONS: Final = ("1.34.1-do.0", "1.33.6-do.0", "1.32.10-do.0")
_REGIONS: Final = ("nyc2", "tor1", "atl1", "fra1")
_SIZES: Final = ("s-2vcpu-4gb", "gpu-h100x1-80gb", "gpu-h100x8-640gb", "gpu-mi300x8-1536gb")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_SUFFIX_LENGTH: Final = 5

Data = dict[str, Any]


class Refusal(Exception):
    """DigitalOcean's refusal: HTTP status, `id` and `message`."""

    def __init__(self, status: int, code: str, message: str) -> None:
        """Arguments: as DigitalOcean words them."""
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """How long things take, in seconds on the engine's clock."""

    cluster_create: float = 300.0
    node_create: float = 120.0
    delete: float = 60.0


class KubernetesService:
    """The account's clusters. Thread-safe."""

    def __init__(self, *, engine: Engine, timings: Timings) -> None:
        """An account without clusters."""
        self._engine = engine
        self._timings = timings
        self._clusters: dict[str, Data] = {}
        self._droplets = itertools.count(400_000_001)
        self._lock = RLock()

    def answer(
        self, method: str, parts: list[str], *, query: dict[str, str], body: Data, url: str
    ) -> tuple[int, Data | None]:
        """Status and body for a path below /v2/kubernetes/clusters.

        Raises:
            Refusal: as DigitalOcean would.
        """
        with self._lock:
            match (method, *parts):
                case ("GET",):
                    return 200, _page("kubernetes_clusters", list(self._clusters.values()), query=query, url=url)
                case ("POST",):
                    return 201, {"kubernetes_cluster": self._create(body)}
                case ("GET", cluster_id):
                    return 200, {"kubernetes_cluster": self._cluster(cluster_id)}
                case ("DELETE", cluster_id):
                    self._delete(self._cluster(cluster_id))
                    return 204, None
                case ("GET", cluster_id, "node_pools"):
                    return 200, _page("node_pools", self._cluster(cluster_id)["node_pools"], query=query, url=url)
                case ("POST", cluster_id, "node_pools"):
                    return 201, {"node_pool": self._add_pool(self._cluster(cluster_id), body)}
                case ("GET", cluster_id, "node_pools", pool_id):
                    return 200, {"node_pool": _pool(self._cluster(cluster_id), pool_id)}
                case ("DELETE", cluster_id, "node_pools", pool_id):
                    self._delete_pool(self._cluster(cluster_id), pool_id)
                    return 204, None
        raise _not_found()

    def _cluster(self, cluster_id: str) -> Data:
        if cluster_id not in self._clusters:
            raise _not_found()
        return self._clusters[cluster_id]

    def _create(self, body: Data) -> Data:
        if not body.get("name"):
            raise _invalid("name is required")
        if body.get("region") not in _REGIONS:
            raise _invalid("invalid region slug")
        if body.get("version") not in _VERSIONS:
            raise _invalid("invalid version slug")
        pools = body.get("node_pools") or []
        if not pools:
            raise _invalid("at least one node pool is required")
        for pool in pools:
            _check_pool(pool)
        cluster_id, now = str(uuid4()), _stamp(self._engine.clock.now())
        cluster: Data = {
            "id": cluster_id,
            "name": body["name"],
            "region": body["region"],
            "version": body["version"],
            "endpoint": "",
            "tags": ["k8s", f"k8s:{cluster_id}", *body.get("tags", [])],
            "node_pools": [],
            "status": {"state": "provisioning", "message": ""},
            "created_at": now,
            "updated_at": now,
        }
        self._clusters[cluster_id] = cluster
        self._engine.inventory.add(CLOUD, "cluster", cluster_id, name=cluster["name"])
        for pool in pools:
            self._make_pool(cluster, pool, seconds=self._timings.cluster_create + self._timings.node_create)

        def run() -> None:
            with self._lock:
                if cluster["status"]["state"] == "provisioning":
                    cluster["status"]["state"] = "running"
                    cluster["endpoint"] = f"https://{cluster_id}.k8s.ondigitalocean.com"

        self._engine.clock.call_later(self._timings.cluster_create, run)
        return cluster

    def _delete(self, cluster: Data) -> None:
        if cluster["status"]["state"] == "deleting":
            return
        cluster["status"]["state"] = "deleting"

        def end() -> None:
            with self._lock:
                for pool in cluster["node_pools"]:
                    self._drop(pool)
                del self._clusters[cluster["id"]]
                self._engine.inventory.remove(CLOUD, "cluster", cluster["id"])

        self._engine.clock.call_later(self._timings.delete, end)

    def _add_pool(self, cluster: Data, body: Data) -> Data:
        if cluster["status"]["state"] == "deleting":
            raise Refusal(409, "conflict", "cluster is being deleted")
        _check_pool(body)
        if any(pool["name"] == body["name"] for pool in cluster["node_pools"]):
            raise _invalid("node pool name must be unique in the cluster")
        return self._make_pool(cluster, body, seconds=self._timings.node_create)

    def _make_pool(self, cluster: Data, body: Data, *, seconds: float) -> Data:
        pool_id = str(uuid4())
        scaled = bool(body.get("auto_scale"))
        pool: Data = {
            "id": pool_id,
            "name": body["name"],
            "size": body["size"],
            "count": body["count"],
            "tags": ["k8s", f"k8s:{cluster['id']}", "k8s:worker", *body.get("tags", [])],
            "labels": dict(body.get("labels") or {}),
            "taints": list(body.get("taints") or []),
            "auto_scale": scaled,
            "min_nodes": body.get("min_nodes", 0) if scaled else 0,
            "max_nodes": body.get("max_nodes", 0) if scaled else 0,
            "nodes": [self._node() for _count in range(body["count"])],
        }
        cluster["node_pools"].append(pool)
        self._engine.inventory.add(CLOUD, "node-pool", pool_id, name=pool["name"])

        def run() -> None:
            with self._lock:
                if pool in cluster["node_pools"] and cluster["status"]["state"] != "deleting":
                    self._start(pool)

        self._engine.clock.call_later(seconds, run)
        return pool

    def _node(self) -> Data:
        now = _stamp(self._engine.clock.now())
        return {
            "id": str(uuid4()),
            "name": "",
            "status": {"state": "provisioning"},
            "droplet_id": "",
            "created_at": now,
            "updated_at": now,
        }

    def _start(self, pool: Data) -> None:
        for node in pool["nodes"]:
            suffix = "".join(secrets.choice(_ALPHABET) for _letter in range(_SUFFIX_LENGTH))
            node["name"] = f"{pool['name']}-{suffix}"
            node["droplet_id"] = str(next(self._droplets))
            node["status"]["state"] = "running"
            self._engine.inventory.add(CLOUD, MACHINE, node["droplet_id"], pool=pool["name"])

    def _delete_pool(self, cluster: Data, pool_id: str) -> None:
        pool = _pool(cluster, pool_id)
        if len(cluster["node_pools"]) == 1:
            raise _invalid("cluster must have at least one node pool")
        cluster["node_pools"].remove(pool)
        self._drop(pool)

    def _drop(self, pool: Data) -> None:
        for node in pool["nodes"]:
            self._engine.inventory.remove(CLOUD, MACHINE, node["droplet_id"])
        self._engine.inventory.remove(CLOUD, "node-pool", pool["id"])


def _check_pool(pool: Data) -> None:
    if not pool.get("name"):
        raise _invalid("node pool name is required")
    if pool.get("size") not in _SIZES:
        raise _invalid("invalid size slug")
    count = pool.get("count")
    if not isinstance(count, int) or count < (0 if pool.get("auto_scale") else 1):
        raise _invalid("node pool count must be greater than or equal to 1")


def _pool(cluster: Data, pool_id: str) -> Data:
    pools: list[Data] = cluster["node_pools"]
    for pool in pools:
        if pool["id"] == pool_id:
            return pool
    raise _not_found()


def _page(key: str, items: list[Data], *, query: dict[str, str], url: str) -> Data:
    size = min(int(query.get("per_page", _PAGE_DEFAULT)), _PAGE_MAXIMUM)
    page = int(query.get("page", 1))
    links = {}
    if page * size < len(items):
        links = {"pages": {"next": f"{url}?page={page + 1}&per_page={size}"}}
    return {key: items[(page - 1) * size : page * size], "links": links, "meta": {"total": len(items)}}


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _not_found() -> Refusal:
    return Refusal(404, "not_found", "The resource you requested could not be found.")


def _invalid(message: str) -> Refusal:
    return Refusal(422, "unprocessable_entity", f"validation error: {message}")
