# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a pool wants its next pass (spec: kubernetesClusters, "Converging clusters are looked at every 30 seconds")."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

STOCKOUT_RETRY = timedelta(minutes=5)
"""A refused create is tried again at most this often: providers bill and count failed launches."""

FIRST_DELETE_RETRY = timedelta(minutes=5)
"""Wait after the first refused delete of a cluster; it doubles with each refusal (spec: 5, 10, 20, 40 … minutes)."""

LONGEST_DELETE_RETRY = timedelta(hours=6)
"""The doubling ends here (spec)."""

JOIN_PATIENCE = timedelta(minutes=15)
"""Nodes that wait for their bcd longer than this make the message say what to check (spec)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """How long a pool is left alone after a pass. Settings can shorten them, e.g. for a demonstration.

    Attributes:
        converging: while something is still on its way, or Nodes have yet to join.
        settled: when ready or failed.
        deleting: while being torn down.
    """

    converging: timedelta = timedelta(seconds=30)
    settled: timedelta = timedelta(minutes=5)
    deleting: timedelta = timedelta(minutes=2)


def delete_retry(attempts: int) -> timedelta:
    """The wait before the next try to delete a cluster, after the provider refused it `attempts` times (1 and up)."""
    doublings = min(max(attempts, 1) - 1, 16)  # 16 doublings of five minutes are far beyond the longest wait
    wait: timedelta = FIRST_DELETE_RETRY * (1 << doublings)
    return min(wait, LONGEST_DELETE_RETRY)
