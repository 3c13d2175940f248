# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of the entry: the cluster is claimed with the provider's token before anything else of ours is put into it.

So a deployment that is refused leaves nothing behind: no identity of ours, no node pool, no bcd. What is recorded
before the claim is created tells a teardown that it may stand there, though the reply was lost and the process died.
"""

from __future__ import annotations

from dataclasses import replace

from ...cluster import claim
from ...cluster.api import ClusterApi
from ...model.errors import ClusterConflict
from ...store import clusters, substrates
from ..context import PassContext


def claim_first(ctx: PassContext, api: ClusterApi) -> None:
    """Create the claim, or see that it is ours, unless this substrate is known to hold it: then the next step looks.

    Raises:
        ClaimHeld: another pool's claim stands there.
        ClusterError: it cannot be seen or made, or not now, or something else is wanted of the cluster by now.
    """
    if ctx.substrate.claim_held:
        return
    if claim.held_by(api) in (None, ctx.pool.id):
        _record_let_in(ctx)
    claim.hold_claim(api, pool_id=ctx.pool.id)
    record_held(ctx)


def record_held(ctx: PassContext) -> None:
    """Record that this substrate held the claim: from then on it takes away what is its."""
    if not ctx.substrate.claim_held:
        substrate = replace(ctx.substrate, claim_held=True)
        with ctx.write() as tx:
            substrates.put_substrate(tx, substrate)
        ctx.substrate = substrate


def _record_let_in(ctx: PassContext) -> None:
    if not ctx.cluster.ready_before:
        cluster = replace(ctx.cluster, ready_before=True)
        with ctx.write() as tx:
            written = clusters.set_cluster_status(tx, cluster)
        if not written:
            raise ClusterConflict(f"something else was wanted of cluster {cluster.name} before it was claimed")
        ctx.cluster = cluster
