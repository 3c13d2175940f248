# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the next pass of pools and clusters is due, for whoever looks at them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from ..store import work
from .session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPass:
    """Of one pool, or of a cluster that backs none.

    Attributes:
        due_at: when it is due; what is due already may wait for a free worker.
        at_work: whether somebody works on it now.
    """

    due_at: datetime
    at_work: bool


def next_passes(session: Session, units: Iterable[str]) -> dict[str, NextPass]:
    """Those of these units, in one read; one that no pass looks after any more is left out."""
    with session.store.read() as tx:
        due, held = work.standing(tx, units)
    return {unit: NextPass(due_at=due_at, at_work=unit in held) for unit, due_at in due.items()}
