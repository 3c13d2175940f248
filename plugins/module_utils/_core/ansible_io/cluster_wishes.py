# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of bc_cluster, and what they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ..model.ids import ClusterId, TenantId
from ..model.states import ClusterMode
from ..operations.clusters.wanted import WantedCluster
from ..operations.node_pools.deciding import Wish
from .node_pool_wishes import NODE_POOL_FIELDS, wanted_node_pool
from .waiting import WAIT_ARGUMENTS, wait_timeout

_ITEM: dict[str, dict[str, Any]] = {
    "name": {"type": "str"},
    "cluster_id": {"type": "str"},
    "account": {"type": "str"},
    "location": {"type": "str"},
    "mode": {"type": "str", "choices": [str(mode) for mode in ClusterMode]},
    "version": {"type": "str"},
    "private_nodes": {"type": "bool"},
    "node_pools": {"type": "list", "elements": "dict", "options": NODE_POOL_FIELDS},
    "idempotency_key": {"type": "str", "no_log": False},
}

CLUSTER_ARGUMENTS: dict[str, dict[str, Any]] = {
    "tenant": {"type": "str", "default": "platform"},
    "clusters": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": _ITEM,
        "mutually_exclusive": [("name", "cluster_id")],
        "required_one_of": [("name", "cluster_id")],
    },
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    **WAIT_ARGUMENTS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A task's arguments, read."""

    tenant_id: TenantId
    wanted: tuple[WantedCluster, ...]
    wish: Wish
    timeout: timedelta


def asked(params: Mapping[str, Any]) -> Asked:
    """Read a task's arguments.

    Raises:
        InvalidInput: nobody waits for so long.
    """
    return Asked(
        tenant_id=TenantId(params["tenant"]),
        wanted=tuple(_wanted(item, path=f"clusters[{index}]") for index, item in enumerate(params["clusters"])),
        wish=Wish(params["state"]),
        timeout=wait_timeout(params),
    )


def _wanted(item: Mapping[str, Any], *, path: str) -> WantedCluster:
    cluster_id, mode = item["cluster_id"], item["mode"]
    return WantedCluster(
        path=path,
        name=item["name"] or "",
        cluster_id=None if cluster_id is None else ClusterId(cluster_id),
        account=item["account"],
        location=item["location"],
        mode=None if mode is None else ClusterMode(mode),
        version=item["version"],
        private_nodes=item["private_nodes"],
        node_pools=tuple(
            wanted_node_pool(node_pool, path=f"{path}.node_pools[{index}]")
            for index, node_pool in enumerate(item["node_pools"] or ())
        ),
        idempotency_key=item["idempotency_key"],
    )
