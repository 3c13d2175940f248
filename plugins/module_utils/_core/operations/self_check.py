# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The self-check: what is wrong with settings and substrates by the records alone; nobody else is asked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ..cluster.names import AGENT_PLACE
from ..model.agent import AgentSettings
from ..model.findings import Finding, FindingCode, agent_missing
from ..model.states import SubstrateState
from ..reconcile.verdict import waiting_message
from .substrates import SubstrateView


def self_check(views: Iterable[SubstrateView], *, agent: AgentSettings | None, now: datetime) -> tuple[Finding, ...]:
    """What is wrong, in the order of the codes and the pools' names.

    Arguments:
        views: the substrates as they stand.
        agent: how the settings say that bcd is run.
    """
    standing = [view for view in views if view.record.state not in (SubstrateState.DELETING, SubstrateState.DELETED)]
    missing = agent_missing((view.pool for view in standing), agent)
    found = [missing] if missing else []
    for view in standing:
        message = waiting_message(view.record, now, agent_place=AGENT_PLACE)
        if message:
            code = FindingCode.NODES_NOT_JOINING
            found.append(Finding(code=code, pools=(view.pool,), message=f"{code}: {message}"))
    return tuple(found)
