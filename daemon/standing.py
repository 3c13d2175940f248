# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which words a pool or a cluster stands, how good that is, and what comes next: for the table and for the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import stamp
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import SubstrateRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.views import ClusterView
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.next_passes import NextPass
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import SubstrateView

from .durations import in_words


class Mood(StrEnum):
    """How good it is; the word is never left to a colour alone."""

    GOOD = "good"
    MOVING = "moving"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Standing:
    """The words, and how good that is."""

    words: str
    mood: Mood


def standing_of(view: SubstrateView | ClusterView) -> Standing:
    """A pool with a substrate, or a cluster that backs none."""
    state = view.record.state
    if view.ready:
        return Standing(state, Mood.GOOD)
    if state in {SubstrateState.READY, ClusterState.READY}:
        return Standing("ready, changing", Mood.MOVING)
    return Standing(state, Mood.BAD if view.in_error else Mood.MOVING)


@dataclass(frozen=True, slots=True)
class Passes:
    """The next passes of what is shown, by pool or cluster id, and the present.

    Nothing says since when a pool is in its state: the records have only when the last node joined.
    """

    by_unit: Mapping[str, NextPass] = field(default_factory=dict)
    now: datetime = field(default_factory=lambda: datetime.now(UTC), kw_only=True)

    def to_data(self, unit: str) -> dict[str, Any]:
        """What is told of one unit as JSON; `next_pass` is null where no pass looks after it any more."""
        found = self.by_unit.get(unit)
        if found is None:
            return {"next_pass": None, "at_work": False}
        return {"next_pass": stamp(found.due_at), "at_work": found.at_work}

    def words(self, unit: str) -> str:
        """And in a table."""
        found = self.by_unit.get(unit)
        if found is None:
            return "-"
        if found.at_work:
            return "at work"
        return "due" if found.due_at <= self.now else f"in {in_words(found.due_at - self.now, parts=1)}"

    def waiting(self, record: SubstrateRecord) -> str:
        """How many Nodes wait for their bcd, and for how long."""
        if not record.waiting_nodes:
            return "-"
        since = "" if record.waiting_since is None else f" ({in_words(self.now - record.waiting_since, parts=1)})"
        return f"{record.waiting_nodes}{since}"
