# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The substrate's Nodes: the complete list, or none at all.

Somebody retires machines by what is missing here. So everything that could make a list short (an error, an expired
continuation, a reply cut off, an item without a name) is "unknown" and raises. Only metadata is asked for: names, uids
and labels are all that is needed, and whole Nodes are ten times as large.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from ..model import labels
from ..model.errors import ClusterAccessDenied, ClusterError, ClusterUnreachable
from ..model.ids import PoolId
from ..model.observed import ClusterNode
from .api import ClusterApi

_PAGE_NODES = 500
_MAX_PAGES = 100
"""50,000 Nodes: ten times what Kubernetes supports. A list that goes on longer runs in circles."""

_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

_ZONE = "topology.kubernetes.io/zone"
_NODE_POOL_LABELS = (
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "doks.digitalocean.com/node-pool",
)


def list_nodes(api: ClusterApi, *, pool_id: PoolId) -> tuple[ClusterNode, ...]:
    """All Nodes that carry the pool's label, ordered by name.

    Raises:
        ClusterUnreachable: the list is not known to be complete.
        ClusterAccessDenied: the credential is refused.
    """
    nodes: dict[str, ClusterNode] = {}
    token, moment, announced = "", None, 0
    for _turn in range(_MAX_PAGES):
        page = _page(api, pool_id, token)
        items, metadata = _parts(page)
        if moment not in (None, metadata["resourceVersion"]):
            raise _unknown("its pages are of different moments")
        moment = metadata["resourceVersion"]
        for item in items:
            node = _node(item, pool_id, at=api.answered_at)
            if node.name in nodes:
                raise _unknown(f"{node.name} is in it twice")
            nodes[node.name] = node
        token = metadata.get("continue") or ""
        announced = max(announced, len(nodes) + (metadata.get("remainingItemCount") or 0))
        if not token:
            if len(nodes) < announced:
                raise _unknown(f"it ends after {len(nodes)} of {announced} Nodes")
            return tuple(nodes[name] for name in sorted(nodes))
    raise _unknown(f"it goes on after {_MAX_PAGES} pages")


def _unknown(why: str) -> ClusterUnreachable:
    return ClusterUnreachable(f"the Node list is not complete, so what the cluster holds is unknown: {why}")


def _parts(page: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """A page's items and metadata, each of the types that are used.

    A real kube-apiserver says `"items": null` when no Node is selected: its list of metadata is made of a nil slice.
    """
    items, metadata = page.get("items", ""), page.get("metadata")
    well_formed = (
        isinstance(metadata, dict)
        and isinstance(metadata.get("resourceVersion"), str)
        and isinstance(metadata.get("continue"), str | None)
        and isinstance(metadata.get("remainingItemCount"), int | None)
        and isinstance(items, list | None)
    )
    if not well_formed or not isinstance(metadata, dict):
        raise _unknown("a page of it is malformed")
    return items or [], metadata


def _page(api: ClusterApi, pool_id: PoolId, token: str) -> dict[str, Any]:
    query: dict[str, str | int] = {"labelSelector": f"{labels.SUBSTRATE_POOL}={pool_id}", "limit": _PAGE_NODES}
    if token:
        query["continue"] = token
    try:
        return api.request("GET", "/api/v1/nodes", query=query, accept=_METADATA_ONLY)
    except (ClusterAccessDenied, ClusterUnreachable):
        raise
    except ClusterError as error:
        raise _unknown(str(error)) from error


def _node(item: Any, pool_id: PoolId, *, at: datetime | None) -> ClusterNode:
    metadata = item.get("metadata") if isinstance(item, dict) else None
    if not isinstance(metadata, dict):
        raise _unknown("one in it has no metadata")
    name, uid, marks = metadata.get("name"), metadata.get("uid"), metadata.get("labels")
    if not (isinstance(name, str) and name and isinstance(uid, str) and uid and isinstance(marks, dict)):
        raise _unknown("one in it has no name, uid or labels")
    if marks.get(labels.SUBSTRATE_POOL) != pool_id:
        raise _unknown(f"{name} is in it, without the label that was asked for")
    return ClusterNode(
        name=name,
        uid=uid,
        spot=marks.get(labels.CAPACITY) == labels.SPOT,
        node_pool=next((marks[label] for label in _NODE_POOL_LABELS if label in marks), None),
        zone=marks.get(_ZONE),
        age=_age(metadata.get("creationTimestamp"), at),
    )


def _age(created: object, at: datetime | None) -> timedelta | None:
    """From a Kubernetes timestamp (RFC 3339, UTC: `2026-11-29T21:43:00Z`) to the API's answer, both by its clock."""
    try:
        moment = datetime.fromisoformat(created) if isinstance(created, str) else None
    except ValueError:
        return None
    return None if at is None or moment is None or moment.tzinfo is None else at - moment
