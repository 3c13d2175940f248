# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task of bc_nodepool asks: its arguments, and the node pools that they want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal

from ..model.declared import Autoscaling, Gpus, Taint
from ..model.ids import ClusterId, TenantId
from ..model.limits import TAINT_EFFECTS
from ..operations.node_pools.deciding import Wish
from ..operations.node_pools.wanted import FIXED_SIZE, FixedSize, WantedNodePool
from .waiting import WAIT_ARGUMENTS, wait_timeout

WHERE: dict[str, dict[str, Any]] = {"pool": {"type": "str"}, "cluster_id": {"type": "str"}}

NOT_BOTH = [("pool", "cluster_id")]
"""What names a cluster is one of them."""

NODE_POOL_FIELDS: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "machine_type": {"type": "str"},
    "node_count": {"type": "int"},
    "autoscaling": {
        "type": "dict",
        "options": {
            "enabled": {"type": "bool", "default": True},
            "min_nodes": {"type": "int"},
            "max_nodes": {"type": "int"},
        },
        "required_if": [("enabled", True, ("min_nodes", "max_nodes"))],
    },
    "spot": {"type": "bool"},
    "disk_gib": {"type": "int"},
    "disk_type": {"type": "str"},
    "accelerators": {
        "type": "dict",
        "options": {"type": {"type": "str", "required": True}, "count": {"type": "int", "required": True}},
    },
    "zones": {"type": "list", "elements": "str"},
    "labels": {"type": "dict"},
    "taints": {
        "type": "list",
        "elements": "dict",
        "options": {
            "key": {"type": "str", "required": True, "no_log": False},
            "value": {"type": "str", "default": ""},
            "effect": {"type": "str", "required": True, "choices": list(TAINT_EFFECTS)},
        },
    },
}
"""What a node pool is declared with, on whichever cluster."""

_ITEM: dict[str, dict[str, Any]] = {
    **WHERE,
    **NODE_POOL_FIELDS,
    "idempotency_key": {"type": "str", "no_log": False},
}

NODE_POOL_ARGUMENTS: dict[str, dict[str, Any]] = {
    **WHERE,
    "tenant": {"type": "str", "default": "platform"},
    "node_pools": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": _ITEM,
        "mutually_exclusive": NOT_BOTH,
    },
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    **WAIT_ARGUMENTS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A task's arguments, read."""

    tenant_id: TenantId
    wanted: tuple[WantedNodePool, ...]
    wish: Wish
    timeout: timedelta


def asked(params: Mapping[str, Any]) -> Asked:
    """Read a task's arguments.

    Raises:
        InvalidInput: nobody waits for so long.
    """
    return Asked(
        tenant_id=TenantId(params["tenant"]),
        wanted=tuple(_wanted(index, item, params) for index, item in enumerate(params["node_pools"])),
        wish=Wish(params["state"]),
        timeout=wait_timeout(params),
    )


def _wanted(index: int, item: Mapping[str, Any], params: Mapping[str, Any]) -> WantedNodePool:
    own = item["pool"] is not None or item["cluster_id"] is not None
    where = item if own else params
    cluster_id = where["cluster_id"]
    return replace(
        wanted_node_pool(item, path=f"node_pools[{index}]"),
        pool=where["pool"],
        cluster_id=None if cluster_id is None else ClusterId(cluster_id),
        idempotency_key=item["idempotency_key"],
    )


def wanted_node_pool(item: Mapping[str, Any], *, path: str) -> WantedNodePool:
    """A node pool's fields (NODE_POOL_FIELDS), read; its cluster is not said yet."""
    accelerators, zones, taints = item["accelerators"], item["zones"], item["taints"]
    return WantedNodePool(
        path=path,
        name=item["name"],
        machine_type=item["machine_type"],
        node_count=item["node_count"],
        autoscaling=_autoscaling(item["autoscaling"]),
        spot=item["spot"],
        disk_gib=item["disk_gib"],
        disk_type=item["disk_type"],
        accelerators=None if accelerators is None else Gpus(**accelerators),
        zones=None if zones is None else tuple(zones),
        labels=item["labels"],
        taints=None if taints is None else tuple(Taint(**{**taint, "value": taint["value"] or ""}) for taint in taints),
    )


def _autoscaling(item: Mapping[str, Any] | None) -> Autoscaling | Literal[FixedSize.FIXED_SIZE] | None:
    if item is None:
        return None
    if not item["enabled"]:
        return FIXED_SIZE
    return Autoscaling(min_nodes=item["min_nodes"], max_nodes=item["max_nodes"])
