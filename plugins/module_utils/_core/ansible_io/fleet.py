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
from ..operations import fleet, passes
from ..operations.fleet import PlannedFleet
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


def _describe(_module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    return {"changed": False, **fleet.describe(session)}


def _converge(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    data = params["config"] if params["config"] is not None else load_file(params["src"])
    # Not told back with the result: it is long, and where it comes from a vault file it is not for every log.
    params["config"] = None
    planned = fleet.plan_fleet(
        session,
        parse_document(data),
        prune=params["prune"],
        refresh=params["refresh"],
        absent=params["state"] == "absent",
    )
    plan = planned.plan
    for warning in planned.warnings:
        module.warn(warning)
    result: dict[str, Any] = {"changed": plan.changed, "plan": {**plan.to_data(), "text": plan.render()}}
    if plan.blocked:
        blocked = f"The plan has changes that cannot be made, so none was made:\n{plan.render()}"
        return {**result, "changed": False, "failed": True, "code": str(Code.INVALID_STATE), "msg": blocked}
    result["diff"] = plan.diff()
    if module.check_mode:
        return {**result, "substrates": _told(fleet.substrates_of(session, planned))}
    passes.require_libraries()
    pools = fleet.apply_fleet(session, planned)
    return {**result, **_settle(module, session, planned, pools)}


def _settle(module: AnsibleModule, session: Session, planned: PlannedFleet, pools: Sequence[PoolId]) -> dict[str, Any]:
    """Run the pools' passes as far as the caller wants to wait; a substrate in error fails the task with its reason."""
    if not module.params["wait"]:
        passes.run_once(session, pools)
        return {"substrates": _told(fleet.substrates_of(session, planned, *pools))}
    timeout: int = module.params["wait_timeout"]
    views = passes.run_until_settled(session, pools, timeout=timedelta(seconds=timeout))
    failure = _told_unsettled(views, wait_timeout=timeout)
    if planned.plan.prune and planned.plan.changed and not failure:
        fleet.prune_what_was_in_use(session, planned)
    return {"substrates": _told(fleet.substrates_of(session, planned, *pools)), **failure}


def _told(views: Sequence[SubstrateView]) -> list[dict[str, Any]]:
    return [view.to_data() for view in views]


def _told_unsettled(views: Sequence[SubstrateView], *, wait_timeout: int) -> dict[str, Any]:
    """The failure for substrates in error, each with its reason, and for those not ready in time; else empty."""
    lines = [_reason(view, wait_timeout=wait_timeout) for view in views if view.in_error or not view.settled]
    return {"failed": True, "code": str(Code.INVALID_STATE), "msg": "\n".join(lines)} if lines else {}


def _reason(view: SubstrateView, *, wait_timeout: int) -> str:
    if view.settled:
        return f"pool {view.pool}: {view.record.message}"
    return (
        f"pool {view.pool}: still {view.record.state} after {wait_timeout} s "
        f"({view.record.message or 'no reason yet'}); bc-fleetd or another run goes on from here"
    )
