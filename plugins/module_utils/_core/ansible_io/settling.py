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


def plan_result(planned: PlannedFleet) -> dict[str, Any]:
    """What a module returns of a plan, whether or not it is carried out. A blocked one is a failure that tells all."""
    plan = planned.plan
    result: dict[str, Any] = {"changed": plan.changed, "plan": {**plan.to_data(), "text": plan.render()}}
    if not plan.blocked:
        return {**result, "diff": plan.diff()}
    lines = [f"{change.resource} {change.title}: {change.note}" for change in plan.blocked]
    msg = "\n".join(["The plan has changes that cannot be made, so none was made:", *lines, "", plan.render()])
    return {**result, "changed": False, "failed": True, "code": str(Code.INVALID_STATE), "msg": msg}


def settle(
    module: AnsibleModule, session: Session, planned: PlannedFleet, pools: Sequence[PoolId], *, timeout: timedelta
) -> tuple[tuple[SubstrateView, ...], dict[str, Any]]:
    """Run the pools' passes as far as the caller wants to wait.

    Returns:
        The substrates that the plan is about and those of `pools`; and the failure of substrates in error, each with
        its reason, and of those that did not settle in time: empty where all is well.
    """
    from ..operations import passes

    if not module.params["wait"]:
        passes.run_once(session, pools)
        return fleet.substrates_of(session, planned, *pools), {}
    settled = passes.run_until_settled(session, pools, timeout=timeout)
    failure = _told_unsettled(settled, timeout=timeout)
    if planned.plan.prune and planned.plan.changed and planned.scope is None and not failure:
        fleet.prune_what_was_in_use(session, planned)
    return fleet.substrates_of(session, planned, *pools), failure


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
