# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd once`: every pass that is due now, one after the other, or the one that is asked for; a line on each."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    StaleLease,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import ClusterId, PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Lease, PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.reading import (
    clusters_by_id,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.next_passes import (
    first_of_all,
    lease_on,
    pools_with_passes,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.passes import (
    claim_due,
    claim_one,
    give_back,
    run_leased,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.pool_names import SHOWN_CHARACTERS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import list_substrates

from ..durations import in_words
from ..errors import NotAsAsked
from ..logs import place


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
        say(_told_next(session))
    return well


def run_pool(session: Session, pool: str, *, say: Callable[[str], None]) -> bool:
    """Run one pool's pass now, due or not, and say how it left the pool. Whoever works on it already is left alone.

    SIGTERM and SIGINT end it after the step in hand.

    Arguments:
        pool: its name, or its id.

    Returns:
        Whether all is well: the pass was run, did not fail, and did not leave the pool in error.

    Raises:
        NotAsAsked: there is no such pool, or there are several.
        StoreUnavailable: the database went away.
    """
    found, has_passes = _pool(session, pool)
    unit = found.id
    if not has_passes:
        say(f"{found.name} ({unit}): nothing stands behind it, so there is no pass to run")
        return True
    with _stopped_by_signals(session):
        lease = claim_one(session, unit)
        if lease is None:
            say(f"{found.name} ({unit}): {_told_holder(session, unit)}")
            return False
        well = _run(session, lease, say=say)
    if session.stopping.is_set():
        say("stopped; the pass is due again")
        return False
    return well


def _pool(session: Session, pool: str) -> tuple[PoolRecord, bool]:
    """The pool that is meant, and whether passes look after it."""
    found, have_passes = pools_with_passes(session, pool)
    if not found:
        raise NotAsAsked(f"there is no pool {pool[:SHOWN_CHARACTERS]!r}; `bc-fleetd status` lists those that there are")
    if len(found) > 1:
        ids = ", ".join(f"{one.id} of {one.tenant_id}" for one in found)
        raise NotAsAsked(f"there are several pools {pool!r}: name one by its id: {ids}")
    return found[0], have_passes


def _told_next(session: Session) -> str:
    """That nothing is due, and when which pass is."""
    found = first_of_all(session)
    if found is None:
        return "no pass is due"
    unit, ahead = found
    left = _left(session, unit)
    name = unit if left is None else f"{left.name} ({unit})"
    if lease_on(session, unit) is not None:
        return f"no pass is due; {name}: {_told_holder(session, unit)}"
    return f"no pass is due; the next one is in {in_words(ahead)}: {name}"


def _told_holder(session: Session, unit: str) -> str:
    lease = lease_on(session, unit)
    if lease is None:
        return "somebody else has just worked on it"
    return f"{lease.holder} is at work on it, and has its lease until {lease.until:%H:%M:%S} UTC"


def _run(session: Session, lease: Lease, *, say: Callable[[str], None]) -> bool:
    try:
        run_leased(session, lease)
    except (StoreUnavailable, StaleLease):
        raise
    except Exception as error:  # noqa: BLE001 -- run_leased has logged it; the other pools still want their pass
        say(f"{lease.unit}: the pass failed: {type(error).__name__} at {place(error)}")
        return False
    left = _left(session, lease.unit)
    if left is None:
        say(f"{lease.unit}: nothing is left to do")
        return True
    message = f": {left.message}" if left.message else ""
    say(f"{left.name} ({lease.unit}): {left.state}{message}")
    return left.state not in {SubstrateState.ERROR, ClusterState.ERROR}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    """What a pass left of a pool, or of a cluster without one."""

    name: str
    state: SubstrateState | ClusterState
    message: str


def _left(session: Session, unit: str) -> _Left | None:
    """As it stands now; None where nothing is left."""
    for substrate in list_substrates(session, pool_ids=frozenset({PoolId(unit)})):
        return _Left(name=substrate.pool, state=substrate.record.state, message=substrate.record.message)
    for cluster in clusters_by_id(session, {ClusterId(unit)}):
        if cluster.record.state != ClusterState.DELETED:
            return _Left(name=cluster.record.name, state=cluster.record.state, message=cluster.record.message)
    return None


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
