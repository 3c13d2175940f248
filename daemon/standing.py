# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which words a pool or a cluster stands, and how good that is: one answer for the table, and for the page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.views import ClusterView
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import SubstrateView

_CHANGING = "ready, changing"


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


def of_pool(view: SubstrateView) -> Standing:
    """A pool with a substrate."""
    state = view.record.state
    if view.ready:
        return Standing(state, Mood.GOOD)
    if state == SubstrateState.READY:
        return Standing(_CHANGING, Mood.MOVING)
    return Standing(state, Mood.BAD if state == SubstrateState.ERROR else Mood.MOVING)


def of_cluster(view: ClusterView) -> Standing:
    """A cluster that backs no pool."""
    state = view.record.state
    if view.ready:
        return Standing(state, Mood.GOOD)
    if state == ClusterState.READY:
        return Standing(_CHANGING, Mood.MOVING)
    return Standing(state, Mood.BAD if state == ClusterState.ERROR else Mood.MOVING)
