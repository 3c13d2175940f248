# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Last steps of a teardown on an adopted cluster: our node pools go, then our access, and the claim at the very end.

The cluster and all that its owner made there stay. Until the claim is gone no other pool or deployment begins, so that
what is removed here is never what a successor has just made.
"""

from __future__ import annotations

from ...cluster import access, claim
from ...model.errors import AlreadyExists, ClusterAccessDenied, ClusterError, NotFound, ProviderError
from ...model.labels import CLUSTER
from ...providers.contract import Deletion
from ..context import PassContext
from ..outcome import DONE, Outcome, failed, of_error, passes_by, unknown, waiting
from .adopted import adopted_cluster
from .entry import not_let_in


def give_node_pools_back(ctx: PassContext) -> Outcome:
    """Delete the node pools that carry our cluster's tag, and see them gone. One that is refused keeps no other."""
    if not ctx.cluster.ready_before:
        return DONE  # nothing of ours was ever put there
    if not ctx.provider_answered:
        return unknown(f"whether {adopted_cluster(ctx)} still exists is not known")
    if ctx.gone or not ctx.claimed:
        return DONE  # they went with their cluster, or the claim was refused before there were any
    if ctx.observed is None:
        return unknown(f"whether {adopted_cluster(ctx)} still exists is not sure")
    try:
        found = ctx.driver.get_node_pools(ctx.cluster_spec)
    except NotFound as error:
        return unknown(str(error))  # the next pass looks whether the cluster is gone
    except ProviderError as error:
        return of_error(error, doing=f"node pools of {adopted_cluster(ctx)}")
    ours = {pool.name for pool in found if pool.tags.get(CLUSTER) == ctx.cluster.id}
    # Those that are recorded and not listed are asked for by name: gone counts when the provider says it twice.
    unlisted = {record.name for record in ctx.node_pools} - {pool.name for pool in found}
    left: list[str] = []
    refused: list[str] = []
    for name in sorted(ours | unlisted):
        ctx.renew()
        try:
            if _delete(ctx, name) == Deletion.UNDER_WAY:
                left.append(name)
        except ProviderError as error:
            (left if passes_by(error) else refused).append(f"{name} ({error})")
    if refused:
        return failed(f"node pools that cannot be deleted: {', '.join(refused)}")
    return waiting(f"node pools are being deleted: {', '.join(left)}") if left else DONE


def give_access_back(ctx: PassContext) -> Outcome:
    """Take our identity away, then the claim, with the provider's token. Neither under another's claim."""
    if not ctx.cluster.adopted or ctx.api is None or not ctx.claimed:
        return DONE
    doing = f"giving back our access to {adopted_cluster(ctx)}"
    try:
        if claim.held_by(ctx.api) not in (None, ctx.pool.id):
            return DONE  # its new holder lives by that identity
        if not access.remove_access(ctx.api, pool_id=ctx.pool.id):
            return waiting("waiting for our access to leave the cluster")
        ctx.driver.revoke_access(ctx.cluster_spec)
        gone = claim.drop_claim(ctx.api, pool_id=ctx.pool.id)
    except ClusterAccessDenied as error:
        return not_let_in(ctx, error, doing=doing)
    except (ClusterError, ProviderError) as error:
        return of_error(error, doing=doing)
    return DONE if gone else waiting("waiting for the claim to leave the cluster")


def _delete(ctx: PassContext, name: str) -> Deletion:
    try:
        return ctx.driver.delete_node_pool(ctx.cluster_spec, name, {CLUSTER: str(ctx.cluster.id)})
    except AlreadyExists:
        return Deletion.GONE  # somebody else's has the name
