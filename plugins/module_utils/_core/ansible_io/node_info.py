# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_node_info: the machines of pools, each with its bookings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.ids import TenantId
from ..model.states import NodeState
from ..operations.machine_list import NOT_RETIRED, list_machines
from ..operations.session import Session
from .edge import run_module

NODE_INFO_ARGUMENTS: dict[str, dict[str, Any]] = {
    "pool": {"type": "str"},
    "tenant": {"type": "str"},
    "states": {
        "type": "list",
        "elements": "str",
        "choices": [str(state) for state in NodeState],
        "default": [str(state) for state in NOT_RETIRED],
    },
}


def run_node_info() -> None:
    """The module bc_node_info."""
    run_module(NODE_INFO_ARGUMENTS, _read, only_reads=True)


def _read(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    found = list_machines(
        session,
        pool=params["pool"],
        tenant_id=None if params["tenant"] is None else TenantId(params["tenant"]),
        states=[NodeState(state) for state in params["states"]],
    )
    return {"changed": False, **found.to_data()}
