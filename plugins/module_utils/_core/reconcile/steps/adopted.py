# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of the control plane's step: a cluster that is somebody else's is read, and nothing more.

What it needs of its owner is looked at before anything of ours is in it: here what its provider tells, in entry.py
whether its API lets us in.
"""

from __future__ import annotations

from ...model.errors import ProviderError
from ...model.states import ProviderStatus
from ..context import PassContext
from ..outcome import DONE, Outcome, failed, of_error, waiting
from .facts import record_outputs, record_places


def read_adopted(ctx: PassContext) -> Outcome:
    """Look at the adopted cluster; record its outputs, and its global id as what the pool claims (spec: second check).

    One that does not serve is left to its owner. One that its provider does not tell of is entered as it was last seen,
    once it has let us in: the account may look in the wrong place, and whoever has joined is looked after.
    """
    try:
        record_places(ctx)
        observed = ctx.driver.get_cluster(ctx.cluster_spec)
    except ProviderError as error:
        ctx.observed = ctx.recorded_cluster()
        return of_error(error, doing=adopted_cluster(ctx))
    if observed is None:
        ctx.observed = ctx.recorded_cluster()
        return failed(
            f"{adopted_cluster(ctx)} is not found by provider account {ctx.account.name}: check cluster.adopt, and the "
            "account's region or project and its credential; if the cluster is gone for good, take the pool out of "
            "the document and create a new one"
        )
    if not observed.serves:
        name = adopted_cluster(ctx)
        if observed.status == ProviderStatus.CREATING:
            return waiting(f"{name} is still being created")
        doing = "is being deleted by its owner" if observed.status == ProviderStatus.DELETING else "does not serve"
        return failed(f"{name} {doing}" + (f": {observed.message}" if observed.message else ""))
    if not ctx.substrate.claim_held:
        try:
            ctx.driver.check_adopted(ctx.cluster_spec, [ctx.node_pool_spec(pool) for pool in ctx.node_pools])
        except ProviderError as error:
            return of_error(error, doing=adopted_cluster(ctx))
    ctx.observed, ctx.provider_answered = observed, True
    recorded = record_outputs(ctx, observed)
    if recorded == DONE and observed.status == ProviderStatus.UPDATING:
        return waiting(f"{adopted_cluster(ctx)} is being changed at the provider")
    return recorded


def adopted_cluster(ctx: PassContext) -> str:
    """How messages name it: by what drivers find it by, and its place."""
    return f"adopted cluster {ctx.cluster.name} in {ctx.cluster.location}"
