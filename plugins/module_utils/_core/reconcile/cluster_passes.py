# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pass over a tenant's own cluster: it and its node pools, at the provider alone.

Nothing is looked at or put inside of it: no agent, no claim, no joining. The wish to delete it is its state, which a
refused deletion therefore keeps, with the reason as its message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias

from ..model.capabilities import CAPABILITIES
from ..model.errors import ProviderError
from ..model.first_nodes import awaits_nodes, waits_for
from ..model.pass_end import PassEnd, PassOutcome
from ..model.records import AccountRecord, ClusterRecord, Lease, NodePoolRecord
from ..model.states import ClusterState
from ..store import clusters, fleet, work
from .context import ClusterContext
from .doors import Doors
from .ending import OVERTAKEN, cluster_end
from .events import tell_cluster
from .outcome import DONE, Outcome, Progress, of_error
from .refused_account import open_account, raise_missing, said_of_account, tell_node_pools
from .steps.control_plane import ensure_cluster
from .steps.delete import delete_at_provider
from .steps.finish import finish_cluster
from .steps.node_pools import converge_tenants_node_pools
from .timing import Intervals
from .verdict import judge_cluster

Step: TypeAlias = Callable[[ClusterContext], Outcome]


def _look(ctx: ClusterContext) -> Outcome:
    """See whether it is still there, before anything of it is deleted."""
    try:
        ctx.observed = ctx.driver.get_cluster(ctx.cluster_spec)
    except ProviderError as error:
        return of_error(error, doing=f"cluster {ctx.cluster.name}")
    ctx.provider_answered = True
    return DONE


RUN: tuple[Step, ...] = (ensure_cluster, converge_tenants_node_pools)
"""Both, each pass: a control plane whose upgrade was refused does not keep its node pools waiting."""

TEAR_DOWN: tuple[Step, ...] = (_look, delete_at_provider, finish_cluster)
"""Each needs the one before it done."""


def run_cluster_pass(doors: Doors, lease: Lease, cluster: ClusterRecord) -> PassEnd:
    """Run one pass over a cluster without a pool, write back, and give the lease back.

    Returns:
        How it ended.

    Raises:
        StaleLease: somebody else has the cluster by now; nothing more was written.
        StoreUnavailable: the database went away; the lease lapses by itself.
        ImportError: the provider's library is not installed here; the records say so, and the lease is given back.
    """
    deleting = cluster.state == ClusterState.DELETING
    account, node_pools = _recorded(doors, cluster)
    try:
        driver = open_account(doors, account)
    except ProviderError as error:
        message = said_of_account(error)
        # A cluster that is not to be asked for yet stays so: once it is in error, it counts as asked for.
        stays = deleting or awaits_nodes(cluster, node_pools, CAPABILITIES[account.provider])
        state = cluster.state if stays else ClusterState.ERROR
        after, wait = replace(cluster, state=state, message=message), doors.intervals.settled
        end = _write_back(doors, lease, cluster, after, wait, node_pools_wait_for=message)
        raise_missing(error)
        return replace(end, outcome=PassOutcome.ERROR)
    ctx = ClusterContext(
        store=doors.store,
        lease=lease,
        clock=doors.clock,
        driver=driver,
        account=account,
        cluster=cluster,
        node_pools=node_pools,
    )
    if not deleting and awaits_nodes(ctx.cluster, ctx.node_pools, ctx.driver.capabilities):
        after = replace(ctx.cluster, message=waits_for(ctx.driver.capabilities))
        return _write_back(doors, ctx.lease, ctx.cluster, after, doors.intervals.settled)
    outcomes = []
    for step in TEAR_DOWN if deleting else RUN:
        if doors.stopping():
            with ctx.write() as tx:
                work.release(tx, ctx.lease, tx.now)
            return PassEnd(outcome=PassOutcome.STOPPED)
        ctx.renew()
        outcomes.append(step(ctx))
        if ctx.finished:
            return PassEnd(outcome=PassOutcome.GONE, state=ClusterState.DELETED, changed=True)
        if deleting and outcomes[-1].holds_up:
            break
    judge = judge_deletion if deleting else judge_tenants_cluster
    after, next_in = judge(ctx, outcomes, doors.intervals)
    return _write_back(doors, ctx.lease, ctx.cluster, after, next_in)


def judge_tenants_cluster(
    ctx: ClusterContext, outcomes: Sequence[Outcome], intervals: Intervals
) -> tuple[ClusterRecord, timedelta]:
    """The cluster as a pass leaves it, and when it wants its next one.

    Arguments:
        outcomes: the control plane's, and the node pools'.
    """
    control_plane, node_pools = outcomes
    after = judge_cluster(ctx.cluster, ctx.node_pools, ctx.observed, control_plane)
    if after.state != ClusterState.ERROR and control_plane.progress == Progress.DONE:
        if node_pools.progress == Progress.FAILED:
            after = replace(ctx.cluster, state=ClusterState.ERROR, message=node_pools.message)
        elif node_pools.progress == Progress.UNKNOWN:
            # What could not be looked at is no more ready, and no less, than it was before.
            after = replace(ctx.cluster, message=node_pools.message)
    settled = after.state in (ClusterState.READY, ClusterState.ERROR) and not any(one.moving for one in outcomes)
    wishes = [one.retry_after for one in outcomes if one.retry_after is not None]
    return after, min([intervals.settled if settled else intervals.converging, *wishes])


def judge_deletion(
    ctx: ClusterContext, outcomes: Sequence[Outcome], intervals: Intervals
) -> tuple[ClusterRecord, timedelta]:
    """The cluster that is not gone yet, with what it waits for, and when to come again: later after each refusal."""
    last = outcomes[-1]
    after = replace(ctx.cluster, state=ClusterState.DELETING, message=last.message)
    return after, last.retry_after or (intervals.settled if last.progress == Progress.FAILED else intervals.deleting)


def _recorded(doors: Doors, cluster: ClusterRecord) -> tuple[AccountRecord, tuple[NodePoolRecord, ...]]:
    with doors.store.read() as tx:
        account, node_pools = fleet.account(tx, cluster.account_id), clusters.node_pools(tx, cluster.id)
    if account is None:
        raise AssertionError("an account that has a cluster is never dropped")
    return account, node_pools


def _write_back(
    doors: Doors,
    lease: Lease,
    before: ClusterRecord,
    after: ClusterRecord,
    next_in: timedelta,
    *,
    node_pools_wait_for: str = "",
) -> PassEnd:
    """State, event and the lease in one transaction; if something else is wanted by now, only the lease, due now.

    Arguments:
        node_pools_wait_for: what those that are on their way say; empty where their own step has told it.
    """
    with doors.store.write(lease=lease) as tx:
        written = clusters.set_cluster_status(tx, after)
        if written:
            tell_cluster(tx, before, after)
            if node_pools_wait_for:
                tell_node_pools(tx, after.id, node_pools_wait_for)
        work.release(tx, lease, tx.now + next_in if written else tx.now)
    return cluster_end(before, after, next_in, intervals=doors.intervals) if written else OVERTAKEN
