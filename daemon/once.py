# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd once`: every pass that is due now, one after the other, and a line on each."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    StaleLease,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Lease
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.passes import (
    claim_due,
    give_back,
    run_leased,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import list_substrates

from .logs import place


def run_due(session: Session, *, say: Callable[[str], None]) -> bool:
    """Run each pass that is due, once, and say how it left its pool.

    SIGTERM and SIGINT end it after the step in hand.

    Returns:
        Whether all is well: no pass failed, and none left its pool in error.

    Raises:
        StoreUnavailable: the database went away.
    """
    done: set[str] = set()
    well = True
    with _stopped_by_signals(session):
        while not session.stopping.is_set() and (leases := claim_due(session, limit=1)):
            if leases[0].unit in done:
                # The longest due come first: whoever was due before this one's second time has had their pass.
                give_back(session, leases)
                break
            done.add(leases[0].unit)
            well &= _run(session, leases[0], say=say)
    if session.stopping.is_set():
        say("stopped; the passes that were due are still due")
        return False
    if not done:
        say("no pass is due")
    return well


def _run(session: Session, lease: Lease, *, say: Callable[[str], None]) -> bool:
    try:
        run_leased(session, lease)
    except (StoreUnavailable, StaleLease):
        raise
    except Exception as error:  # noqa: BLE001 -- run_leased has logged it; the other pools still want their pass
        say(f"{lease.unit}: the pass failed: {type(error).__name__} at {place(error)}")
        return False
    views = list_substrates(session, pool_ids=frozenset({PoolId(lease.unit)}))
    for view in views:
        message = f": {view.record.message}" if view.record.message else ""
        say(f"{view.pool} ({lease.unit}): {view.record.state}{message}")
    if not views:
        say(f"{lease.unit}: nothing is left to do")
    return all(view.record.state != SubstrateState.ERROR for view in views)


@contextmanager
def _stopped_by_signals(session: Session) -> Iterator[None]:
    # Nobody waits on this event, so setting it in a handler cannot find its lock taken.
    before = {
        number: signal.signal(number, lambda *_: session.stopping.set()) for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
