# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first steps of a teardown: look, cordon and wait for bookings, remove bcd. The token's is in join_token.py."""

from __future__ import annotations

from ...cluster import agent, claim
from ...model.errors import ClusterError, ProviderError
from ...nodes.cordon import cordon_pool
from ..context import PassContext
from ..outcome import DONE, Outcome, of_error, waiting
from .entry import open_bootstrap


def look(ctx: PassContext) -> Outcome:
    """See whether the cluster is still there, and open its API with the provider's own token.

    A teardown uses only that token and never makes access again.
    """
    try:
        ctx.observed = ctx.driver.get_cluster(ctx.cluster_spec)
        ctx.provider_answered = True
        if ctx.observed is not None and ctx.observed.serves:
            ctx.api = open_bootstrap(ctx, ctx.observed)
            ctx.claimed = claim.is_held(ctx.api, pool_id=ctx.pool.id)
    except ProviderError as error:
        return of_error(error, doing=f"cluster {ctx.cluster.name}")
    except ClusterError:
        # A created cluster goes with all that is in it: what cannot be reached inside holds nothing up.
        ctx.close()
    return DONE


def cordon_and_wait(ctx: PassContext) -> Outcome:
    """Close the pool's nodes to new bookings by our own mark, and wait until those on them have ended.

    Nothing is force-released, and Kubernetes' Nodes are never touched.
    """
    with ctx.write() as tx:
        left = cordon_pool(tx, ctx.pool.id)
    return waiting(f"waiting for {left} booking{'s' if left != 1 else ''} to end") if left else DONE


def remove_bcd(ctx: PassContext) -> Outcome:
    """Delete bcd's objects, ours only. A substrate that does not hold the claim removes nothing."""
    if ctx.api is None or not ctx.claimed:
        return DONE
    try:
        gone = agent.remove_agent(ctx.api, pool_id=ctx.pool.id)
    except ClusterError:
        return DONE  # it goes with the created cluster
    return DONE if gone else waiting("waiting for bcd to leave the cluster")
