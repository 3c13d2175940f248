# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step says of itself when it returns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from ..model.errors import (
    ClusterConflict,
    ClusterError,
    ClusterUnreachable,
    OperationInProgress,
    ProviderError,
    StockedOut,
    Throttled,
    Unavailable,
)
from .timing import STOCKOUT_RETRY


class Progress(StrEnum):
    """How a step ended."""

    DONE = "done"
    WAITING = "waiting"
    UNKNOWN = "unknown"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A step's result.

    Attributes:
        progress: done: what the step stands for holds; waiting: it will hold without anybody's help; unknown: it could
            not be seen or done this time, and the next pass tries again; failed: somebody must do something.
        message: for a person; empty when done.
        retry_after: when the step wants to be run again, if sooner or later than its progress tells.
        moving: whether something is on its way all the same, though the step failed: it is looked at again soon.
    """

    progress: Progress
    message: str = ""
    retry_after: timedelta | None = None
    moving: bool = False

    @property
    def holds_up(self) -> bool:
        """Whether a step that must come after this one has to wait."""
        return self.progress != Progress.DONE


DONE = Outcome(progress=Progress.DONE)

_PASSING = (Throttled, Unavailable, OperationInProgress, ClusterUnreachable, ClusterConflict)
"""Errors that pass by themselves: the next pass tries again, and nobody needs to act."""


def waiting(message: str, *, retry_after: timedelta | None = None) -> Outcome:
    """Not there yet, and nobody needs to act."""
    return Outcome(progress=Progress.WAITING, message=message, retry_after=retry_after)


def unknown(message: str, *, retry_after: timedelta | None = None) -> Outcome:
    """It could not be seen or done this time; nothing is concluded from that."""
    return Outcome(progress=Progress.UNKNOWN, message=message, retry_after=retry_after)


def failed(message: str, *, retry_after: timedelta | None = None, moving: bool = False) -> Outcome:
    """Somebody must act: the message says on what."""
    return Outcome(progress=Progress.FAILED, message=message, retry_after=retry_after, moving=moving)


def passes_by(error: ProviderError | ClusterError) -> bool:
    """Whether it passes by itself, so that nobody needs to act."""
    return isinstance(error, _PASSING)


def of_error(error: ProviderError | ClusterError, *, doing: str) -> Outcome:
    """The outcome that a provider's or cluster's error stands for.

    Arguments:
        doing: what was being done, to begin the message with: `creating node pool h100`.
    """
    text = f"{doing}: {error}"
    if passes_by(error):
        return unknown(text)
    return failed(text, retry_after=STOCKOUT_RETRY if isinstance(error, StockedOut) else None)
