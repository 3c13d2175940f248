# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step: the cluster's claim is still ours, so that no other pool or deployment adds anything to it."""

from __future__ import annotations

from ...cluster import claim
from ...cluster.api import ClusterApi
from ...model.errors import ClusterAccessDenied, ClusterCredentialRefused, ClusterError, ProviderError
from ..context import PassContext
from ..outcome import DONE, Outcome, of_error
from .entry import restore_access


def hold_claim(ctx: PassContext) -> Outcome:
    """See that the claim is ours, or create it again. Another's claim ends this pass's work inside the cluster."""
    if ctx.api is None:
        ctx.claimed = ctx.substrate.claim_held
        return DONE
    try:
        _claim(ctx, ctx.api)
    except (ClusterError, ProviderError) as error:
        ctx.close()
        return of_error(error, doing=f"claiming cluster {ctx.cluster.name}")
    ctx.claimed = True
    return DONE


def _claim(ctx: PassContext, api: ClusterApi) -> None:
    """Claim with our own credential, of which this is the first use in a pass. Refused: restore it, once, and go on."""
    try:
        claim.hold_claim(api, pool_id=ctx.pool.id)
    except ClusterCredentialRefused:
        raise  # another one was minted already
    except ClusterAccessDenied:
        restore_access(ctx)
        claim.hold_claim(api, pool_id=ctx.pool.id)
