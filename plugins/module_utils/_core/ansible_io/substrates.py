# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_substrate_info: what stands behind one pool, or behind all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.ids import TenantId
from ..operations import substrates
from ..operations.session import Session
from .edge import run_module

SUBSTRATE_INFO_ARGUMENTS: dict[str, dict[str, Any]] = {
    "pool": {"type": "str"},
    "tenant": {"type": "str", "default": "platform"},
}


def run_substrate_info() -> None:
    """The module bc_substrate_info."""
    run_module(SUBSTRATE_INFO_ARGUMENTS, _read)


def _read(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    pool, tenant_id = module.params["pool"], TenantId(module.params["tenant"])
    if pool is None:
        views = tuple(v for v in substrates.list_substrates(session) if v.record.tenant_id == tenant_id)
    else:
        views = (substrates.get_substrate(session, pool=pool, tenant_id=tenant_id),)
    return {"changed": False, "substrates": [view.to_data() for view in views]}
