# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which due passes the daemon takes next: fair to the provider accounts, and what became of the leases it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..model.records import Lease
from ..store import work
from .session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A lease whose pass is to be run.

    Attributes:
        account: the id of the provider account that the pass works with; empty when the unit has none (any more).
    """

    lease: Lease
    account: str


def have_their_share(at_work: Mapping[str, int], *, workers: int) -> frozenset[str]:
    """The accounts that get no further worker now: those with at least as many as are still free.

    A slow account by itself gets half of the workers, two get a third each, and so on: whoever else falls due finds a
    free one at once, however many slow pools there are and however long each of them takes. (The "dynamic threshold" of
    shared switch buffers: Choudhury and Hahne, 1998.) A single worker is for everybody.

    Arguments:
        at_work: passes that run, by account.
        workers: passes that may run at once.
    """
    free = workers - sum(at_work.values())
    return frozenset(account for account, passes in at_work.items() if passes >= free)


def claim_fairly(session: Session, at_work: Mapping[str, int], *, limit: int) -> tuple[Claimed, ...]:
    """Leases on up to `limit` units whose pass is due and that nobody holds.

    The accounts with the fewest passes at work come first, and of their units the longest due. Each lease must
    be given to operations.passes.run_leased or give_back.

    Arguments:
        at_work: passes of this process that run, by account.

    Raises:
        StoreUnavailable: nothing was claimed, or the claim lapses by itself.
    """
    with session.store.read() as tx:
        moment = work.next_due(tx)
        if moment is None or moment > tx.now:
            return ()
    workers = session.settings.reconcile.workers
    passes, claimed = Counter(at_work), list[Claimed]()
    most = min(limit, workers - passes.total())
    fewest = 0
    with session.store.write() as tx:
        while len(claimed) < most:
            full = have_their_share(passes, workers=workers)
            busier = {account for account, count in passes.items() if count > fewest} - full
            found = work.claim_next(tx, session.holder, apart_from=full | busier)
            if found is not None:
                lease, account = found
                claimed.append(Claimed(lease=lease, account=account))
                passes[account] += 1
            elif busier:
                fewest = min(passes[account] for account in busier)
            else:
                break
    return tuple(claimed)


def lost(session: Session, leases: Iterable[Lease]) -> frozenset[Lease]:
    """Those of these leases that lapsed, or that somebody else has by now. One that was given back is not among them.

    Raises:
        StoreUnavailable: nobody knows.
    """
    asked = tuple(leases)
    with session.store.read() as tx:
        return work.lost(tx, asked)
