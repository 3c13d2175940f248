# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_cluster_info: reads the clusters of a tenant as they are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.ids import TenantId
from ..operations.clusters.reading import find_clusters
from ..operations.session import Session
from .edge import run_module

CLUSTER_INFO_ARGUMENTS: dict[str, dict[str, Any]] = {
    "tenant": {"type": "str", "default": "platform"},
    "cluster_id": {"type": "str"},
    "names": {"type": "list", "elements": "str"},
}


def run_cluster_info() -> None:
    """The module bc_cluster_info."""
    run_module(CLUSTER_INFO_ARGUMENTS, _read, only_reads=True)


def _read(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    found = find_clusters(
        session, tenant_id=TenantId(params["tenant"]), cluster_id=params["cluster_id"], names=params["names"]
    )
    return {"changed": False, "clusters": [view.to_data() for view in found]}
