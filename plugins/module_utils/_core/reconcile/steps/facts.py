# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of the control plane's step: what a cluster and its account say of themselves is recorded."""

from __future__ import annotations

from dataclasses import replace

from ...model.errors import OperationError
from ...model.observed import ObservedCluster
from ...model.records import ClusterOutputs, ClusterRecord
from ...model.states import ClusterState
from ...model.versions import is_older
from ...store import clusters, events, fleet
from ..context import ClusterContext
from ..outcome import DONE, Outcome, failed


def record_places(ctx: ClusterContext) -> None:
    """Read once what the account's nodes are spread over, and in which zones: sizes depend on it ever after."""
    if ctx.account.places is not None:
        return
    places = ctx.driver.node_places()
    with ctx.write() as tx:
        fleet.set_account_places(tx, ctx.account.id, places)
    ctx.account = replace(ctx.account, places=places)


def record_outputs(ctx: ClusterContext, observed: ObservedCluster) -> Outcome:
    """Record what a serving cluster says of itself, and its global id as what this row claims.

    An adopted one counts as ready before only once it let us in: see first_claim.py.
    """
    ready_before = ctx.cluster.ready_before or not ctx.cluster.adopted
    cluster = replace(ctx.cluster, outputs=observed.outputs, ready_before=ready_before)
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
