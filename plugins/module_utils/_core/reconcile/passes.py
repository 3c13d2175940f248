# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcile pass: what modules and the daemon run, for one pool at a time.

A pass may be killed at any line and run again by anyone. Its lease fences every write; its steps are level-triggered;
one write-back closes it and gives the lease back in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..cluster import names
from ..model.errors import ProviderError
from ..model.ids import ClusterId, PoolId, is_cluster_id
from ..model.pass_end import PassEnd, PassOutcome
from ..model.records import Lease
from ..model.states import ClusterState, Intent, SubstrateState
from ..store import Tx, clusters, fleet, substrates, work
from .cluster_passes import run_cluster_pass
from .context import PassContext
from .doors import Doors
from .ending import OVERTAKEN, pool_end
from .events import tell_cluster
from .outcome import Outcome
from .refused_account import open_account, raise_missing, record_refused_account
from .steps.agent import apply_agent
from .steps.claim import hold_claim
from .steps.control_plane import ensure_control_plane
from .steps.delete import delete_at_provider
from .steps.entry import enter_cluster
from .steps.finish import finish
from .steps.give_back import give_access_back, give_node_pools_back
from .steps.join_token import keep_join_token, withdraw_token
from .steps.node_pools import converge_node_pools
from .steps.nodes import care_for_nodes, standing_nodes
from .steps.withdraw import cordon_and_wait, look, remove_bcd
from .verdict import Verdict, judge_run, judge_tear_down

Step: TypeAlias = Callable[[PassContext], Outcome]

RUN: tuple[Step, ...] = (
    ensure_control_plane,
    enter_cluster,
    hold_claim,
    converge_node_pools,
    apply_agent,
    care_for_nodes,
    keep_join_token,
)
"""All of them, each pass: a step that failed does not stop the care of what already runs."""

TEAR_DOWN: tuple[Step, ...] = (
    look,
    withdraw_token,
    care_for_nodes,
    cordon_and_wait,
    remove_bcd,
    delete_at_provider,
    finish,
)
"""Of a created cluster, in the spec's order."""

GIVE_BACK: tuple[Step, ...] = (
    look,
    withdraw_token,
    care_for_nodes,
    cordon_and_wait,
    remove_bcd,
    give_node_pools_back,
    give_access_back,
    finish,
)
"""Of an adopted one."""

_ORDERED = frozenset({cordon_and_wait, remove_bcd, delete_at_provider, give_node_pools_back, give_access_back})
"""What comes after one of these in a teardown needs it done."""


def run_pass(doors: Doors, lease: Lease) -> PassEnd:
    """Run one pass over the pool (or tenant's own cluster) of `lease`, write back, and give the lease back.

    A process that is told to end gives it back after the step in hand, due at once: whoever comes next begins anew.

    Returns:
        How it ended.

    Raises:
        StaleLease: somebody else has the pool by now; nothing more was written.
        StoreUnavailable: the database went away; the lease lapses by itself.
        ImportError: the provider's library is not installed here; the records say so, and the lease is given back.
    """
    if is_cluster_id(lease.unit):
        return _run_own(doors, lease, ClusterId(lease.unit))
    try:
        ctx = _load(doors, lease)
    except ProviderError as error:
        end = record_refused_account(doors, lease, error)
        raise_missing(error)
        return end
    if ctx is None:
        return _forget(doors, lease)
    tear_down = ctx.pool.intent == Intent.TEAR_DOWN
    try:
        outcomes = _run(ctx, _steps(ctx, tear_down=tear_down), stopping=doors.stopping)
    finally:
        ctx.close()
    if ctx.finished:
        return PassEnd(outcome=PassOutcome.GONE, state=SubstrateState.DELETED, changed=True)
    if outcomes is None:
        with ctx.write() as tx:
            work.release(tx, ctx.lease, tx.now)
        return PassEnd(outcome=PassOutcome.STOPPED)
    verdict = _judge_tear_down(ctx, outcomes, doors) if tear_down else _judge_run(ctx, outcomes, doors)
    with ctx.write() as tx:
        written = _write_back(tx, ctx, verdict)
    return pool_end(ctx.substrate, verdict, intervals=doors.intervals) if written else OVERTAKEN


def _run_own(doors: Doors, lease: Lease, cluster_id: ClusterId) -> PassEnd:
    """One pass over a cluster that is leased by its own id: it backs no pool."""
    with doors.store.read() as tx:
        cluster = clusters.cluster(tx, cluster_id)
    if cluster is None or cluster.state == ClusterState.DELETED:
        return _forget(doors, lease)
    return run_cluster_pass(doors, lease, cluster)


def _forget(doors: Doors, lease: Lease) -> PassEnd:
    """End the passes of a unit that there is nothing to do for."""
    with doors.store.write(lease=lease) as tx:
        work.remove_unit(tx, lease.unit)
    return PassEnd(outcome=PassOutcome.GONE)


def _load(doors: Doors, lease: Lease) -> PassContext | None:
    """Read the pool's records; None when it has no substrate (any more)."""
    pool_id = PoolId(lease.unit)
    with doors.store.read() as tx:
        pool = fleet.pool(tx, pool_id)
        substrate = substrates.substrate(tx, pool_id)
        cluster = clusters.cluster_of_pool(tx, pool_id)
        if pool is None or substrate is None or cluster is None:
            return None
        account = fleet.account(tx, cluster.account_id)
        node_pools = clusters.node_pools(tx, cluster.id)
    if account is None:
        return None
    return PassContext(
        store=doors.store,
        lease=lease,
        clock=doors.clock,
        driver=open_account(doors, account),
        agent=doors.agent,
        pool=pool,
        account=account,
        cluster=cluster,
        node_pools=node_pools,
        substrate=substrate,
    )


def _steps(ctx: PassContext, *, tear_down: bool) -> tuple[Step, ...]:
    if not tear_down:
        return RUN
    return GIVE_BACK if ctx.cluster.adopted else TEAR_DOWN


def _run(ctx: PassContext, steps: Sequence[Step], *, stopping: Callable[[], bool]) -> list[Outcome] | None:
    """What the steps say, in order; None when the process was told to end before the last of them."""
    outcomes: list[Outcome] = []
    for step in steps:
        if stopping():
            return None
        ctx.renew()
        outcome = step(ctx)
        outcomes.append(outcome)
        if step in _ORDERED and outcome.holds_up:
            break
    return outcomes


def _judge_run(ctx: PassContext, outcomes: Sequence[Outcome], doors: Doors) -> Verdict:
    return judge_run(
        cluster=ctx.cluster,
        node_pools=ctx.node_pools,
        substrate=ctx.substrate,
        observed=ctx.observed,
        outcomes=outcomes,
        agent_applied=ctx.agent_applied,
        generation=ctx.pool.generation,
        standing_nodes=standing_nodes(ctx),
        now=ctx.now,
        intervals=doors.intervals,
        agent_place=names.AGENT_PLACE,
    )


def _judge_tear_down(ctx: PassContext, outcomes: Sequence[Outcome], doors: Doors) -> Verdict:
    return judge_tear_down(
        cluster=ctx.cluster, substrate=ctx.substrate, outcomes=outcomes, wait=doors.intervals.deleting
    )


def _write_back(tx: Tx, ctx: PassContext, verdict: Verdict) -> bool:
    """States, events and the lease in one transaction; if the pool was declared anew meanwhile, only the lease.

    Returns:
        Whether the verdict was written.
    """
    pool = fleet.pool(tx, ctx.pool.id)
    moved = pool is None or pool.generation != ctx.pool.generation or pool.intent != ctx.pool.intent
    written = not moved and clusters.set_cluster_status(tx, verdict.cluster)
    if written:
        substrates.put_substrate(tx, verdict.substrate)
        tell_cluster(tx, ctx.cluster, verdict.cluster)
    work.release(tx, ctx.lease, tx.now if moved else tx.now + verdict.next_in)
    return written
