# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Forgets what was over long ago, so that a fleet that runs for years does not grow for ever."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from ..model.errors import OperationError
from ..model.retention import Kind
from ..store import forgetting
from .session import Session

_LOG = logging.getLogger(__name__)

_REST_SECONDS = 0.05
"""Between two batches: others write meanwhile. A million rows that a first run may find take some minutes."""


def forget_history(session: Session, *, told: Callable[[Kind, int], None], now: datetime | None = None) -> None:
    """Delete what has been over for longer than the settings say, kind by kind and batch by batch.

    It ends early when the process is told to end; the next run goes on. Several may do so at once.

    Arguments:
        told: of each batch, the kind and how many were deleted.
        now: the present for the whole run, from who trusts it: a clock that jumps meanwhile makes nothing older. None
            for the store's at each batch.

    Raises:
        StoreUnavailable: the database went away; what was told is deleted.
    """
    keep = timedelta(days=session.settings.retention.days)
    for kind in Kind:
        while not session.stopping.is_set():
            try:
                many = forgetting.forget(session.store, kind, keep=keep, now=now)
            except OperationError as error:
                # Something came to refer to it this moment: it stays, and the next run looks again.
                _LOG.warning("old %s are not forgotten yet: %s", str(kind).replace("_", " "), error)
                break
            if many == 0:
                break
            told(kind, many)
            session.stopping.wait(_REST_SECONDS)
