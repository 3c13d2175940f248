# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step: the pool's nodes are matched with the cluster's Nodes, and those whose machines are gone are retired.

What follows from a Node list is decided in nodes/matching.py; here the list is had and the decision written down.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ...booking.reserve import bind_pending
from ...cluster import node_list
from ...model.errors import ClusterError
from ...model.observed import ClusterNode
from ...model.states import Intent, NodePoolState
from ...nodes.cordon import bookings
from ...nodes.matching import CONFIRM_SECONDS, Matching, match
from ...nodes.recording import record
from ...nodes.waiting import waiting_since
from ...store import Tx, clusters, gateways, join_tokens, pool_nodes
from ..context import PassContext
from ..outcome import DONE, Outcome, unknown
from ..specs import declared_total, standing_total
from .entry import refused_inside


def care_for_nodes(ctx: PassContext) -> Outcome:
    """List the Nodes, match, retire, place what waits. An incomplete list is no list: nothing follows from it."""
    if not ctx.gone and (ctx.api is None or not ctx.claimed):
        return DONE
    try:
        listed = _listed(ctx)
    except ClusterError as error:
        return refused_inside(ctx, error, doing="listing the Nodes")
    with ctx.store.read() as tx:  # after the list was asked for: a machine that joined meanwhile is not taken for gone
        nodes = pool_nodes.pool_nodes(tx, ctx.pool.id)
        tokens = join_tokens.live_tokens(tx, ctx.pool.id)  # of the same moment: the uses fit the nodes that joined
        matching = match(
            nodes,
            listed,
            listening=gateways.listening(tx),
            desired_total=declared_nodes(tx, ctx),
            vanished_at=ctx.substrate.vanished_at,
            now=tx.now,
            closed=ctx.closed,
        )
        since = waiting_since(matching, nodes, previous=ctx.substrate.waiting_since, now=tx.now)
    with ctx.write() as tx:
        record(tx, pool=ctx.pool, matching=matching)
        bind_pending(tx, ctx.pool)
        _record_joined(tx, ctx, matching)
    ctx.matching, ctx.tokens = matching, tokens
    ctx.substrate = replace(
        ctx.substrate,
        nodes_listed=matching.listed,
        nodes_joined=matching.joined,
        waiting_nodes=len(matching.waiting),
        waiting_since=since,
        vanished_at=matching.vanished_at,
    )
    if matching.to_confirm:
        return unknown(
            "most Nodes vanished at once: nobody is retired before a second list says so too",
            retry_after=timedelta(seconds=CONFIRM_SECONDS),
        )
    return DONE


def declared_nodes(tx: Tx, ctx: PassContext) -> int | None:
    """How many Nodes the substrate's flavors stand for now, at most; None while that is not known.

    A teardown asks nothing to go before the last booking has ended: until then they stand for as many as before.
    """
    if ctx.gone or (ctx.pool.intent != Intent.RUN and not bookings(tx, ctx.pool.id)):
        return 0
    wanted = (pool for pool in ctx.node_pools if pool.of_flavor and pool.state != NodePoolState.DELETING)
    return declared_total(ctx.node_pool_totals(pool) for pool in wanted)


def standing_nodes(ctx: PassContext) -> int:
    """How many Nodes the substrate's ready node pools stand for: so many will be listed by and by."""
    ready = (pool for pool in ctx.node_pools if pool.of_flavor and pool.state == NodePoolState.READY)
    return standing_total(ctx.node_pool_totals(pool) for pool in ready)


def _listed(ctx: PassContext) -> tuple[ClusterNode, ...]:
    """The substrate's Nodes. A cluster that its provider says is gone took them along."""
    return () if ctx.api is None else node_list.list_nodes(ctx.api, pool_id=ctx.pool.id)


def _record_joined(tx: Tx, ctx: PassContext, matching: Matching) -> None:
    """Mark node pools of which a node joined: from then on a failed one is never deleted and made again by itself."""
    after = []
    for pool in ctx.node_pools:
        if pool.name in matching.joined_node_pools and not pool.ever_joined:
            pool = replace(pool, ever_joined=True)
            clusters.set_node_pool_status(tx, pool)
        after.append(pool)
    ctx.node_pools = tuple(after)
