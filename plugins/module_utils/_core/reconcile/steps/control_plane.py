# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step: the cluster exists at the provider, and what it says of itself is recorded."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from ...model.errors import NeedsNodes, OperationError, ProviderError
from ...model.findings import AGENT_MISSING
from ...model.observed import ObservedCluster
from ...model.records import ClusterOutputs, ClusterRecord
from ...model.states import ClusterState, ProviderStatus
from ...model.versions import is_older
from ...store import clusters, events, fleet
from ..context import ClusterContext, PassContext
from ..outcome import DONE, Outcome, Progress, failed, of_error, waiting
from .first_node_pools import create_with_node_pools


def ensure_control_plane(ctx: PassContext) -> Outcome:
    """Have the substrate's cluster. Without bcd it would be of no use: none is made, and one that stands is kept."""
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
        _record_places(ctx)
        _record_intent(ctx)
        observed = _ensured(ctx)
    except ProviderError as error:
        return _refused(ctx, error)
    ctx.observed, ctx.provider_answered = observed, True
    if not observed.serves:
        return _not_serving(observed)
    recorded = _record_outputs(ctx, observed)
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
                recorded = _record_outputs(ctx, observed)
                return outcome if recorded == DONE else recorded
    ctx.observed = ctx.recorded_cluster()
    return outcome


def _record_places(ctx: ClusterContext) -> None:
    """Read once what the account's nodes are spread over, and in which zones: sizes depend on it ever after."""
    if ctx.account.places is not None:
        return
    places = ctx.driver.node_places()
    with ctx.write() as tx:
        fleet.set_account_places(tx, ctx.account.id, places)
    ctx.account = replace(ctx.account, places=places)


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


def _record_outputs(ctx: ClusterContext, observed: ObservedCluster) -> Outcome:
    cluster = replace(ctx.cluster, outputs=observed.outputs, ready_before=True)
    if cluster == ctx.cluster:
        return DONE
    try:
        with ctx.write() as tx:
            if observed.outputs and observed.outputs.global_id:
                clusters.claim_global_id(tx, cluster.id, observed.outputs.global_id)
            if clusters.set_cluster_status(tx, cluster) and was_moved(ctx.cluster, observed.outputs):
                data, kind = {"name": cluster.name, "message": ""}, "kubernetes.cluster.updated"
                events.publish(tx, tenant_id=cluster.tenant_id, subject=cluster.id, type=kind, data=data)
    except OperationError as error:
        ctx.observed = None
        return failed(f"cluster {observed.name}: {error}")
    ctx.cluster = cluster
    return DONE


def was_moved(before: ClusterRecord, now: ClusterOutputs | None) -> bool:
    """Whether the provider itself gave a settled control plane another version: one that nobody asked for.

    While a change is under way, its end tells that something is new. A cluster in error has no such end.
    """
    if before.outputs is None or now is None or before.state not in (ClusterState.READY, ClusterState.ERROR):
        return False
    asked_for = before.version is not None and not is_older(before.version, now.version)
    return now.version != before.outputs.version and not asked_for
