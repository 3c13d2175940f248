# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clock that everything takes as an argument, so that six hours of backoff take a test no time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What tells the time. Tests pass one that they move by hand."""

    def now(self) -> datetime:
        """The present in UTC, with its time zone."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The present in UTC, with its time zone."""
        return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """A moment in UTC as results tell it: `2026-11-02T10:30:00Z`."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
