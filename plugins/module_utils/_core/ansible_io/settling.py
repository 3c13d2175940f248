# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of every run that changes pools: passes for as long as the caller waits, and what a failure is called."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.errors import Code
from ..model.ids import PoolId
from ..operations import fleet
from ..operations.fleet import PlannedFleet
from ..operations.session import Session
from ..operations.substrates import SubstrateView


def carry_out(
    module: AnsibleModule, session: Session, planned: PlannedFleet, *, timeout: timedelta, about: Sequence[PoolId] = ()
) -> tuple[dict[str, Any], tuple[SubstrateView, ...] | None]:
    """Tell a plan, and carry it out unless it is blocked or the module only checks.

    Arguments:
        about: pools that are told of whatever their state, and whose teardown an earlier run may have begun.

    Returns:
        The module's result without the substrates, and those as they stand; None when the plan is blocked.
    """
    for warning in planned.warnings:
        module.warn(warning)
    result = _plan_result(planned)
    if planned.plan.blocked:
        return result, None
    if module.check_mode:
        return result, fleet.substrates_as_planned(planned, *about)
    # Most plans are looked at and no more, or find nothing to do: what runs passes is loaded by those that do.
    from ..operations import passes

    passes.require_libraries()
    pools = fleet.apply_fleet(session, planned)
    if planned.absent:
        pools = tuple(dict.fromkeys([*pools, *about]))
    failure = _settle(module, session, planned, pools, timeout=timeout)
    return {**result, **failure}, fleet.substrates_of(session, planned, *pools, *about)


def _plan_result(planned: PlannedFleet) -> dict[str, Any]:
    """What a module returns of a plan, whether or not it is carried out. A blocked one is a failure that tells all."""
    plan = planned.plan
    result: dict[str, Any] = {"changed": plan.changed, "plan": {**plan.to_data(), "text": plan.render()}}
    if not plan.blocked:
        return {**result, "diff": plan.diff()}
    lines = [f"{change.resource} {change.title}: {change.note}" for change in plan.blocked]
    msg = "\n".join(["The plan has changes that cannot be made, so none was made:", *lines, "", plan.render()])
    return {**result, "changed": False, "failed": True, "code": str(Code.INVALID_STATE), "msg": msg}


def _settle(
    module: AnsibleModule, session: Session, planned: PlannedFleet, pools: Sequence[PoolId], *, timeout: timedelta
) -> dict[str, Any]:
    """Run the pools' passes as far as the caller wants to wait.

    Returns:
        The failure of substrates in error, each with its reason, and of those that did not settle in time: empty where
        all is well.
    """
    from ..operations import passes

    if not module.params["wait"]:
        passes.run_once(session, pools)
        return {}
    settled = passes.run_until_settled(session, pools, timeout=timeout)
    failure = _told_unsettled(settled, timeout=timeout)
    if planned.plan.prune and planned.plan.changed and planned.scope is None and not failure:
        fleet.prune_what_was_in_use(session, planned)
    return failure


def told(views: Sequence[SubstrateView]) -> list[dict[str, Any]]:
    """Substrates as modules return them."""
    return [view.to_data() for view in views]


def _told_unsettled(views: Sequence[SubstrateView], *, timeout: timedelta) -> dict[str, Any]:
    lines = [_reason(view, timeout=timeout) for view in views if view.in_error or not view.settled]
    return {"failed": True, "code": str(Code.INVALID_STATE), "msg": "\n".join(lines)} if lines else {}


def _reason(view: SubstrateView, *, timeout: timedelta) -> str:
    if view.settled:
        return f"pool {view.pool}: {view.record.message}"
    return (
        f"pool {view.pool}: still {view.record.state} after {int(timeout.total_seconds())} s "
        f"({view.record.message or 'no reason yet'}); bc-fleetd or another run goes on from here"
    )
