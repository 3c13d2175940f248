# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first steps of a teardown: look, cordon and wait for bookings, remove bcd. The token's is in join_token.py.

A created cluster goes with all that is in it: what cannot be reached inside of it holds nothing up. An adopted one
stays, so what cannot be reached there holds up everything after it: neither a privileged DaemonSet nor an administrator
of ours is left behind.
"""

from __future__ import annotations

from ...cluster import agent, claim
from ...model.errors import ClusterAccessDenied, ClusterError, ProviderError
from ...nodes.cordon import cordon_pool
from ..context import PassContext
from ..outcome import DONE, Outcome, of_error, waiting
from .adopted import adopted_cluster
from .entry import not_let_in, open_bootstrap


def look(ctx: PassContext) -> Outcome:
    """See whether the cluster is still there, and open its API with the provider's own token.

    A teardown uses only that token and never makes access again.
    """
    try:
        ctx.observed = ctx.driver.get_cluster(ctx.cluster_spec)
        ctx.gone = ctx.observed is None and ctx.driver.get_cluster(ctx.cluster_spec) is None
        ctx.provider_answered = True
        if ctx.cluster.adopted:
            return _look_into_adopted(ctx)
        if ctx.observed is not None and ctx.observed.serves:
            ctx.api = open_bootstrap(ctx, ctx.observed)
            ctx.claimed = claim.held_by(ctx.api) == ctx.pool.id
    except ProviderError as error:
        return of_error(error, doing=f"cluster {ctx.cluster.name}")
    except ClusterError:
        ctx.close()
    return DONE


def is_out_of_sight(ctx: PassContext) -> bool:
    """Whether something of ours may stand in an adopted cluster, and this pass cannot see into it."""
    return ctx.cluster.adopted and ctx.cluster.ready_before and not ctx.gone and ctx.api is None


def cordon_and_wait(ctx: PassContext) -> Outcome:
    """Close the pool's nodes to new bookings by our own mark, and wait until those on them have ended.

    Nothing is force-released, and Kubernetes' Nodes are never touched.
    """
    with ctx.write() as tx:
        left = cordon_pool(tx, ctx.pool.id)
    return waiting(f"waiting for {left} booking{'s' if left != 1 else ''} to end") if left else DONE


def remove_bcd(ctx: PassContext) -> Outcome:
    """Delete bcd's objects, ours only. A substrate that never held the claim removes nothing."""
    if is_out_of_sight(ctx):
        return waiting("bcd and our access are still in the cluster")
    if ctx.api is None or not ctx.claimed:
        return DONE
    try:
        gone = agent.remove_agent(ctx.api, pool_id=ctx.pool.id)
    except ClusterError as error:
        return of_error(error, doing="removing bcd") if ctx.cluster.adopted else DONE
    return DONE if gone else waiting("waiting for bcd to leave the cluster")


def _look_into_adopted(ctx: PassContext) -> Outcome:
    """Open its API, unless nothing of ours was ever put into it, and see whether it is for us to clear up.

    What a substrate that held the claim made carries its marks, and goes also when somebody deleted the claim.
    """
    if ctx.observed is None or not ctx.cluster.ready_before:
        return DONE
    doing = f"reaching {adopted_cluster(ctx)}"
    if not ctx.observed.serves:
        return waiting(f"{doing}: it does not serve now")
    try:
        ctx.api = open_bootstrap(ctx, ctx.observed)
        ctx.claimed = claim.held_by(ctx.api) == ctx.pool.id or ctx.substrate.claim_held
    except ClusterAccessDenied as error:
        ctx.close()
        return not_let_in(ctx, error, doing=doing)
    except ClusterError as error:
        ctx.close()
        return of_error(error, doing=doing)
    return DONE
