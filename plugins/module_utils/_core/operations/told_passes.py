# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells of a pass: to whoever listens, and to the log, whose lines carry the pass's id meanwhile."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from ..model.errors import StoreUnavailable
from ..model.pass_end import PassEnd, PassOutcome
from ..model.records import Lease
from ..model.telemetry import CurrentPass, Telemetry, current_pass_of, telling

_LOG = logging.getLogger(__name__)


def tell_of(listener: Telemetry, lease: Lease, run: Callable[[], PassEnd]) -> None:
    """Run a pass and tell how it ended, also when it raises.

    Arguments:
        run: runs it under the lease.

    Raises:
        StoreUnavailable, Exception: what `run` raises.
    """
    current = current_pass_of(lease)
    with telling(listener, current=current):
        _LOG.debug("a pass begins")
        listener.pass_began(current)
        began = time.monotonic()
        end = PassEnd(outcome=PassOutcome.FAULT)
        try:
            end = run()
        except StoreUnavailable:
            end = PassEnd(outcome=PassOutcome.STORE_UNAVAILABLE)
            raise
        finally:
            _told(listener, current, end, seconds=time.monotonic() - began)


def _told(listener: Telemetry, current: CurrentPass, end: PassEnd, *, seconds: float) -> None:
    listener.pass_ended(current, end, seconds=seconds)
    extra = {"outcome": str(end.outcome), "seconds": f"{seconds:.3f}"}
    if end.next_in is not None:
        extra["next_in"] = f"{end.next_in.total_seconds():g}"
    if end.state:
        extra["state"] = end.state
    if end.message:
        extra["said"] = end.message
    _LOG.log(_level(end), "a pass ended", extra=extra)


def _level(end: PassEnd) -> int:
    if end.went_wrong:
        return logging.WARNING
    # A hundred pools at rest would say so every five minutes: whoever wants to know that has the metrics.
    return logging.INFO if end.changed else logging.DEBUG
