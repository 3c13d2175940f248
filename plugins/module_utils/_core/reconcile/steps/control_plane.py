# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step: the cluster exists at the provider, and what it says of itself is recorded."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from ...model.errors import NeedsNodes, ProviderError
from ...model.findings import AGENT_MISSING
from ...model.observed import ObservedCluster
from ...model.states import ClusterState, ProviderStatus
from ...store import clusters
from ..context import ClusterContext, PassContext
from ..outcome import DONE, Outcome, Progress, failed, of_error, waiting
from .adopted import read_adopted
from .facts import record_outputs, record_places
from .first_node_pools import create_with_node_pools


def ensure_control_plane(ctx: PassContext) -> Outcome:
    """Have the substrate's cluster, or read the adopted one.

    Without bcd it would be of no use: none is made or claimed then, and one that stands is kept.
    """
    if ctx.cluster.adopted:
        return failed(AGENT_MISSING) if ctx.agent is None and not ctx.substrate.claim_held else read_adopted(ctx)
    if ctx.agent is None:
        try:
            stands = ctx.cluster.state != ClusterState.PENDING and ctx.driver.get_cluster(ctx.cluster_spec) is not None
        except ProviderError as error:
            return _refused(ctx, error)
        if not stands:
            return failed(AGENT_MISSING)
    return ensure_cluster(ctx)


def ensure_cluster(ctx: ClusterContext) -> Outcome:
    """Create the cluster if there is none; record its outputs and its global id once it serves."""
    try:
        record_places(ctx)
        _record_intent(ctx)
        observed = _ensured(ctx)
    except ProviderError as error:
        return _refused(ctx, error)
    ctx.observed, ctx.provider_answered = observed, True
    if not observed.serves:
        return _not_serving(observed)
    recorded = record_outputs(ctx, observed)
    if recorded == DONE and observed.status == ProviderStatus.UPDATING:
        return waiting(f"cluster {observed.name} is being changed at the provider")
    return recorded


def _ensured(ctx: ClusterContext) -> ObservedCluster:
    try:
        return ctx.driver.ensure_cluster(ctx.cluster_spec)
    except NeedsNodes:
        return create_with_node_pools(ctx)


def _refused(ctx: ClusterContext, error: ProviderError) -> Outcome:
    """What was wanted was refused. A control plane that stands all the same does not keep its node pools waiting."""
    outcome = of_error(error, doing=f"cluster {ctx.cluster.name}")
    if ctx.cluster.ready_before and outcome.progress == Progress.FAILED:
        with contextlib.suppress(ProviderError):
            observed = ctx.driver.get_cluster(ctx.cluster_spec)
            if observed is not None and observed.serves:
                ctx.observed, ctx.provider_answered = observed, True
                recorded = record_outputs(ctx, observed)
                return outcome if recorded == DONE else recorded
    ctx.observed = ctx.recorded_cluster()
    return outcome


def _record_intent(ctx: ClusterContext) -> None:
    """Commit that a create is about to be sent, before it is: a crash after it knows where to look."""
    if ctx.cluster.state != ClusterState.PENDING:
        return
    cluster = replace(ctx.cluster, state=ClusterState.PROVISIONING)
    with ctx.write() as tx:
        clusters.set_cluster_status(tx, cluster)
    ctx.cluster = cluster


def _not_serving(observed: ObservedCluster) -> Outcome:
    if observed.status == ProviderStatus.FAILED:
        return failed(f"cluster {observed.name}: {observed.message or 'the provider failed to create it'}")
    if observed.status == ProviderStatus.DELETING:
        return waiting(f"cluster {observed.name} is being deleted at the provider; it is made anew when it is gone")
    return waiting(f"cluster {observed.name} is being created")
