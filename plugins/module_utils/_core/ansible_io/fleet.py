# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_fleet and bc_fleet_info: a document in, a plan and the substrates out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..documents.load import load_file, parse_document
from ..model.errors import Code
from ..model.ids import PoolId
from ..model.states import SubstrateState
from ..operations import fleet, passes, substrates
from ..operations.session import Session
from ..operations.substrates import SubstrateView
from .edge import run_module

FLEET_ARGUMENTS: dict[str, dict[str, Any]] = {
    "config": {"type": "dict"},
    "src": {"type": "path"},
    "remote_src": {"type": "bool", "default": False},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "prune": {"type": "bool", "default": False},
    "refresh": {"type": "bool", "default": True},
    "wait": {"type": "bool", "default": True},
    "wait_timeout": {"type": "int", "default": 1800},
}


def run_fleet() -> None:
    """The module bc_fleet."""
    run_module(FLEET_ARGUMENTS, _converge, mutually_exclusive=[("config", "src")], required_one_of=[("config", "src")])


def run_fleet_info() -> None:
    """The module bc_fleet_info."""
    run_module({}, _describe)


def _describe(_: AnsibleModule, session: Session) -> Mapping[str, Any]:
    return {"changed": False, **fleet.describe(session)}


def _converge(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    data = params["config"] if params["config"] is not None else load_file(params["src"])
    config = parse_document(data)
    planned = fleet.plan_fleet(
        session, config, prune=params["prune"], refresh=params["refresh"], absent=params["state"] == "absent"
    )
    plan = planned.plan
    result: dict[str, Any] = {
        "changed": plan.changed,
        "plan": {**plan.to_data(), "text": plan.render()},
        "diff": plan.diff(),
    }
    for warning in plan.warnings:
        module.warn(warning)
    if plan.blocked:
        blocked = f"The plan has changes that cannot be made, so none was made:\n{plan.render()}"
        return {**result, "changed": False, "failed": True, "code": str(Code.INVALID_STATE), "msg": blocked}
    if module.check_mode:
        return {**result, "substrates": [view.to_data() for view in substrates.list_substrates(session)]}
    pools = fleet.apply_fleet(session, planned)
    result |= _settle(module, session, pools)
    if params["prune"] and params["wait"] and not result.get("failed"):
        _prune_what_was_in_use(session, config, absent=params["state"] == "absent")
    return result


def _prune_what_was_in_use(session: Session, config: FleetConfig, *, absent: bool) -> None:
    """Accounts and sites stay until the last pool on them is gone. Now it is: one run prunes all."""
    left = fleet.plan_fleet(session, config, prune=True, refresh=False, absent=absent)
    if left.plan.changed and not left.plan.blocked:
        fleet.apply_fleet(session, left)


def _settle(module: AnsibleModule, session: Session, pools: Sequence[PoolId]) -> dict[str, Any]:
    """Run the pools' passes as far as the caller wants to wait; a substrate in error fails the task with its reason."""
    params = module.params
    if not params["wait"]:
        passes.run_once(session, pools)
        views = substrates.list_substrates(session, pool_ids=frozenset(pools))
        return {"substrates": [view.to_data() for view in views]}
    views = passes.run_until_settled(session, pools, timeout=timedelta(seconds=params["wait_timeout"]))
    return {
        "substrates": [view.to_data() for view in views],
        **told_unsettled(views, wait_timeout=params["wait_timeout"]),
    }


def told_unsettled(views: Sequence[SubstrateView], *, wait_timeout: int) -> dict[str, Any]:
    """The failure for substrates in error, each with its reason, and for those not ready in time; else empty."""
    lines = [f"pool {view.pool}: {view.record.message}" for view in views if view.record.state == SubstrateState.ERROR]
    lines += [
        f"pool {view.pool}: still {view.record.state} after {wait_timeout} s "
        f"({view.record.message or 'no reason yet'}); bc-fleetd or another run goes on from here"
        for view in views
        if not view.settled
    ]
    return {"failed": True, "code": str(Code.INVALID_STATE), "msg": "\n".join(lines)} if lines else {}
