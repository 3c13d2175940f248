# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_nodepool_info: what is recorded of node pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.ids import TenantId
from ..operations.node_pools.reading import find_node_pools
from ..operations.session import Session
from .edge import run_module
from .node_pool_looks import told
from .node_pool_wishes import NOT_BOTH, WHERE

NODE_POOL_INFO_ARGUMENTS: dict[str, dict[str, Any]] = {
    **WHERE,
    "tenant": {"type": "str", "default": "platform"},
    "names": {"type": "list", "elements": "str"},
}


def run_node_pool_info() -> None:
    """The module bc_nodepool_info."""
    run_module(NODE_POOL_INFO_ARGUMENTS, _read, only_reads=True, mutually_exclusive=NOT_BOTH)


def _read(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    found = find_node_pools(
        session,
        tenant_id=TenantId(params["tenant"]),
        pool=params["pool"],
        cluster_id=params["cluster_id"],
        names=params["names"],
    )
    return {"changed": False, "node_pools": [told(one.pool, one.record) for one in found]}
