# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which request does what, and which scope it takes; the answers' statuses and bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from . import catalogue, clusters, credentials, droplets, node_pools, upgrades
from .pages import page
from .records import Data, stamp
from .refusals import not_found
from .state import State
from .tokens import ACCESS_CLUSTER

_VERBS: Final = {"GET": "read", "POST": "create", "PUT": "update", "DELETE": "delete"}
_UPDATES: Final = ("upgrade", "recycle")
"""What is asked for with POST and yet makes nothing."""

Result = tuple[int, Data | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request that was let in.

    Attributes:
        parts: the path below /v2, e.g. `kubernetes`, `clusters`, an id.
        url: the whole URL without its query.
    """

    method: str
    parts: tuple[str, ...]
    query: Mapping[str, str]
    body: Mapping[str, Any]
    url: str


def scope(method: str, parts: tuple[str, ...]) -> str:
    """The scope that a request takes."""
    if parts[:1] == ("droplets",):
        return "droplet:read"
    if parts[-1:] == ("credentials",):
        return ACCESS_CLUSTER
    return "kubernetes:update" if parts[-1] in _UPDATES else f"kubernetes:{_VERBS.get(method, 'update')}"


def answer(state: State, request: Request) -> Result:
    """Do what is asked; None is no body.

    Raises:
        Refusal: as DigitalOcean would.
    """
    match (request.method, *request.parts):
        case ("GET", "kubernetes", "options"):
            return 200, {"options": catalogue.options()}
        case ("GET", "droplets"):
            found = [droplet.describe() for droplet in droplets.listed(state, request.query)]
            return 200, page("droplets", found, query=request.query, url=request.url)
        case ("GET", "droplets", droplet_id):
            return 200, {"droplet": droplets.one(state, droplet_id).describe()}
        case ("GET", "kubernetes", "clusters"):
            found = [cluster.describe() for cluster in state.clusters.values()]
            return 200, page("kubernetes_clusters", found, query=request.query, url=request.url)
        case ("POST", "kubernetes", "clusters"):
            return 201, {"kubernetes_cluster": clusters.create(state, request.body).describe()}
        case (method, "kubernetes", "clusters", cluster_id):
            return _cluster(state, method, cluster_id, request.body)
        case (method, "kubernetes", "clusters", cluster_id, "node_pools", *rest):
            return _node_pools(state, cluster_id, rest, request)
        case (method, "kubernetes", "clusters", cluster_id, *rest):
            return _of_cluster(state, cluster_id, rest, request)
    raise not_found()


def _cluster(state: State, method: str, cluster_id: str, body: Mapping[str, Any]) -> Result:
    cluster = state.cluster(cluster_id)
    match method:
        case "GET":
            return 200, {"kubernetes_cluster": cluster.describe()}
        case "PUT":
            clusters.update(state, cluster, body)
            return 202, {"kubernetes_cluster": cluster.describe()}
        case "DELETE":
            clusters.delete(state, cluster)
            return 204, None
    raise not_found()


def _of_cluster(state: State, cluster_id: str, rest: list[str], request: Request) -> Result:
    cluster = state.cluster(cluster_id)
    match (request.method, *rest):
        case ("GET", "credentials"):
            seconds = request.query.get("expiry_seconds", "")
            return 200, credentials.issue(state, cluster, expiry_seconds=seconds)
        case ("GET", "user"):
            return 200, {"kubernetes_cluster_user": {"username": "admin", "groups": ["k8saas:authenticated"]}}
        case ("GET", "upgrades"):
            return 200, upgrades.available(cluster)
        case ("POST", "upgrade"):
            upgrades.begin(state, cluster, request.body)
            return 202, None
        case ("GET", "status_messages"):
            since = request.query.get("since", "")
            found = [{"message": text, "timestamp": stamp(at)} for at, text in cluster.messages if stamp(at) >= since]
            return 200, {"messages": found}
        case ("GET", "destroy_with_associated_resources"):
            return 200, clusters.associated(cluster)
        case ("DELETE", "destroy_with_associated_resources", "dangerous"):
            clusters.delete_with_all(state, cluster)
            return 204, None
    raise not_found()


def _node_pools(state: State, cluster_id: str, rest: list[str], request: Request) -> Result:
    match (request.method, *rest):
        case ("GET",):
            return 200, {"node_pools": [pool.describe() for pool in state.cluster(cluster_id).pools.values()]}
        case ("POST",):
            return 201, {"node_pool": node_pools.create(state, state.cluster(cluster_id), request.body).describe()}
        case ("GET", pool_id):
            return 200, {"node_pool": state.pool(cluster_id, pool_id)[1].describe()}
        case ("PUT", pool_id):
            cluster, pool = state.pool(cluster_id, pool_id)
            node_pools.update(state, cluster, pool, request.body)
            return 202, {"node_pool": pool.describe()}
        case ("DELETE", pool_id):
            node_pools.delete(state, *state.pool(cluster_id, pool_id))
            return 204, None
        case ("POST", pool_id, "recycle"):
            node_pools.recycle(state, *state.pool(cluster_id, pool_id), request.body)
            return 202, None
        case ("DELETE", pool_id, "nodes", node_id):
            skip_drain, substitute = (request.query.get(key) == "1" for key in ("skip_drain", "replace"))
            cluster, pool = state.pool(cluster_id, pool_id)
            node_pools.delete_node(state, cluster, pool, node_id, skip_drain=skip_drain, substitute=substitute)
            return 202, None
    raise not_found()
