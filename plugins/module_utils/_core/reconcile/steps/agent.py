# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step: bcd's objects stand in the cluster as the settings ask."""

from __future__ import annotations

from ...cluster import agent
from ...model.errors import ClusterError
from ...model.findings import AGENT_MISSING
from ..context import PassContext
from ..outcome import DONE, Outcome, failed
from .entry import refused_inside


def apply_agent(ctx: PassContext) -> Outcome:
    """Create bcd's objects, or put back what differs. An object of that name that is not ours is left alone."""
    if ctx.agent is None:
        return failed(AGENT_MISSING)
    if ctx.api is None or not ctx.claimed:
        return DONE
    try:
        agent.apply_agent(
            ctx.api, pool_id=ctx.pool.id, agent=ctx.agent, driver_folder=ctx.driver.capabilities.driver_folder
        )
    except ClusterError as error:
        return refused_inside(ctx, error, doing="applying bcd")
    ctx.agent_applied = True
    return DONE
