# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a pass ended: what it returns, and what the log and the metrics say of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class PassOutcome(StrEnum):
    """How a pass ended, in one word."""

    SETTLED = "settled"
    """All is as declared: the next look is a routine one."""
    CONVERGING = "converging"
    """Something is on its way, or is tried again soon."""
    DELETING = "deleting"
    """A teardown is on its way."""
    ERROR = "error"
    """Somebody must do something: the unit's message says what."""
    GONE = "gone"
    """There is nothing (any more) to do passes for: its unit has ended."""
    OVERTAKEN = "overtaken"
    """Something else was declared meanwhile: the next pass comes at once."""
    STOPPED = "stopped"
    """The process was told to end: the lease was given back between two steps."""
    LEASE_LOST = "lease_lost"
    """The pass took too long, and somebody else has the unit by now."""
    STORE_UNAVAILABLE = "store_unavailable"
    """The database went away: the lease lapses by itself."""
    FAULT = "fault"
    """A fault of our own: the log says where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassEnd:
    """How one pass ended.

    Attributes:
        next_in: when the unit wants its next pass; None where that is not this pass's to say.
        state: of the substrate, or of the cluster without a pool, as it was recorded; empty when it was not.
        message: recorded with the state.
        changed: whether state or message are others than before.
    """

    outcome: PassOutcome
    next_in: timedelta | None = None
    state: str = ""
    message: str = ""
    changed: bool = False

    @property
    def went_wrong(self) -> bool:
        """Whether a person may want to know, changed or not."""
        return self.outcome in _WRONG


_WRONG = frozenset(
    {PassOutcome.ERROR, PassOutcome.LEASE_LOST, PassOutcome.STORE_UNAVAILABLE, PassOutcome.FAULT},
)
