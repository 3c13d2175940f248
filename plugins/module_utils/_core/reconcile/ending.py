# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In one word, how a pass ended whose verdict was written."""

from __future__ import annotations

from datetime import timedelta

from ..model.pass_end import PassEnd, PassOutcome
from ..model.records import ClusterRecord, SubstrateRecord
from ..model.states import ClusterState, SubstrateState
from .timing import Intervals
from .verdict import Verdict

OVERTAKEN = PassEnd(outcome=PassOutcome.OVERTAKEN, next_in=timedelta())
"""Something else was declared meanwhile."""


def pool_end(before: SubstrateRecord, verdict: Verdict, *, intervals: Intervals) -> PassEnd:
    """The end of a pass over a pool.

    Arguments:
        before: the substrate as the pass found it.
    """
    after = verdict.substrate
    return PassEnd(
        outcome=_outcome(str(after.state), verdict.next_in, intervals),
        next_in=verdict.next_in,
        state=str(after.state),
        message=after.message,
        changed=(before.state, before.message) != (after.state, after.message),
    )


def cluster_end(before: ClusterRecord, after: ClusterRecord, next_in: timedelta, *, intervals: Intervals) -> PassEnd:
    """The end of a pass over a cluster without a pool."""
    return PassEnd(
        outcome=_outcome(str(after.state), next_in, intervals),
        next_in=next_in,
        state=str(after.state),
        message=after.message,
        changed=(before.state, before.message) != (after.state, after.message),
    )


def _outcome(state: str, next_in: timedelta, intervals: Intervals) -> PassOutcome:
    """Ready alone is not settled: a pass that comes again before its time still waits for something."""
    if state in (SubstrateState.ERROR, ClusterState.ERROR):
        return PassOutcome.ERROR
    if state in (SubstrateState.DELETING, ClusterState.DELETING):
        return PassOutcome.DELETING
    ready = state in (SubstrateState.READY, ClusterState.READY)
    return PassOutcome.SETTLED if ready and next_in >= intervals.settled else PassOutcome.CONVERGING
