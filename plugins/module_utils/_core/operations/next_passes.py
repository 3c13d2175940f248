# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the next pass of pools and clusters is due and who works on them, for a person who looks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..model.records import Lease, PoolRecord
from ..store import work
from .pool_names import pools_called
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


def first_of_all(session: Session) -> tuple[str, timedelta] | None:
    """The pool or cluster whose pass can be run next, by its id, and in how long; None when there is none."""
    with session.store.read() as tx:
        found = work.next_unit(tx)
        return None if found is None else (found[0], found[1] - tx.now)


def lease_on(session: Session, unit: str) -> Lease | None:
    """The lease of whoever works on it now."""
    with session.store.read() as tx:
        return work.lease_of(tx, unit)


def pools_with_passes(session: Session, pool: str) -> tuple[tuple[PoolRecord, ...], bool]:
    """Whoever's pools of that name, or the one of that id, and whether passes look after them.

    Where they do after one of them, those that they do not are left out: they are gone, or have no substrate.
    """
    with session.store.read() as tx:
        called = pools_called(tx, pool)
        looked_after = tuple(one for one in called if work.due_of(tx, one.id) is not None)
    return (looked_after or called), bool(looked_after)
