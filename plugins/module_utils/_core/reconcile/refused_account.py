# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pass whose account cannot be used: nothing can be looked at, and whoever reads a record is told why."""

from __future__ import annotations

from dataclasses import replace

from ..cluster import names
from ..model.errors import ProviderError, Unavailable
from ..model.findings import ACCOUNT_UNUSABLE
from ..model.ids import ClusterId, PoolId
from ..model.libraries import library_of, not_installed
from ..model.pass_end import PassEnd, PassOutcome
from ..model.records import AccountRecord, Lease, NodePoolRecord
from ..model.states import ClusterState, Intent, NodePoolState, SubstrateState
from ..providers.contract import Driver
from ..store import Tx, clusters, fleet, substrates, work
from .doors import Doors
from .events import tell_cluster
from .verdict import with_waiting_message

_ON_ITS_WAY = frozenset({NodePoolState.PENDING, NodePoolState.UPDATING, NodePoolState.DELETING})
"""Node pools that somebody waits for. One that is ready stays so, and one in error has its own reason."""


class LibraryMissing(Unavailable):
    """An account's provider has a library that is not installed here."""

    def __init__(self, message: str, missed: ImportError) -> None:
        super().__init__(message)
        self.missed = missed


def open_account(doors: Doors, account: AccountRecord) -> Driver:
    """The account's driver.

    Raises:
        ProviderError: its credential cannot be had, or its provider's library is not installed here.
    """
    try:
        return doors.open_driver(account)
    except ImportError as error:
        library = library_of(error)
        if library is None:
            raise
        raise LibraryMissing(not_installed(account.provider, library), error) from error


def raise_missing(error: ProviderError) -> None:
    """To be called when the records say why: that a library is missing is also told by whoever runs passes, as theirs.

    Raises:
        ImportError: the one that was met, if that is what was wrong.
    """
    if isinstance(error, LibraryMissing):
        raise error.missed


def said_of_account(error: ProviderError) -> str:
    """What records say while their account cannot be used."""
    return f"{ACCOUNT_UNUSABLE}{error}"


def record_refused_account(doors: Doors, lease: Lease, error: ProviderError) -> PassEnd:
    """Have the substrate, its cluster and its node pools say why; the next pass tries again.

    What is to leave an adopted cluster stays deleting: see judge_tear_down.
    """
    pool_id = PoolId(lease.unit)
    said = message = said_of_account(error)
    with doors.store.write(lease=lease) as tx:
        pool, substrate = fleet.pool(tx, pool_id), substrates.substrate(tx, pool_id)
        cluster = clusters.cluster_of_pool(tx, pool_id)
        leaving = pool is not None and pool.intent == Intent.TEAR_DOWN and cluster is not None and cluster.adopted
        state = SubstrateState.DELETING if leaving else SubstrateState.ERROR
        changed = False
        if substrate is not None:
            after = replace(substrate, state=state, message=said)
            if not leaving:
                after = with_waiting_message(after, doors.clock.now(), agent_place=names.AGENT_PLACE)
            message = after.message
            changed = (substrate.state, substrate.message) != (state, message)
            substrates.put_substrate(tx, after)
        if cluster is not None:
            now_so = replace(cluster, state=ClusterState.DELETING if leaving else ClusterState.ERROR, message=said)
            if clusters.set_cluster_status(tx, now_so):
                tell_cluster(tx, cluster, now_so)
            tell_node_pools(tx, cluster.id, said)
        next_in = doors.intervals.deleting if leaving else doors.intervals.settled
        work.release(tx, lease, tx.now + next_in)
    return PassEnd(outcome=PassOutcome.ERROR, next_in=next_in, state=state, message=message, changed=changed)


def tell_node_pools(tx: Tx, cluster_id: ClusterId, said: str) -> None:
    """Have a cluster's node pools that are on their way say what they wait for."""
    for record in clusters.node_pools(tx, cluster_id):
        after = told(record, said)
        if after != record:
            clusters.set_node_pool_status(tx, after)


def told(record: NodePoolRecord, said: str) -> NodePoolRecord:
    """A node pool with what keeps it waiting; as it is where it does not wait."""
    return replace(record, message=said) if record.state in _ON_ITS_WAY else record
