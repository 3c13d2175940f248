# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step: the cluster is claimed, and a way into its Kubernetes API made, for this pass only, in memory only."""

from __future__ import annotations

from ...cluster import access
from ...cluster.api import ClusterApi
from ...model.errors import (
    ClaimHeld,
    ClusterAccessDenied,
    ClusterCredentialRefused,
    ClusterError,
    ClusterUnreachable,
    ProviderError,
)
from ...model.observed import BootstrapAccess, ObservedCluster
from ...model.states import ProviderStatus
from ..context import PassContext
from ..outcome import DONE, Outcome, failed, of_error, passes_by, waiting
from .first_claim import claim_first


def enter_cluster(ctx: PassContext) -> Outcome:
    """Mint a 600 s credential through the provider's own, in a cluster that is claimed.

    Refused in one that we created: make our principal an administrator, try again. In an adopted one that is its
    owner's to do, and the message says how. Nobody enters one that never answered, or that is being deleted.
    """
    if ctx.observed is None or ctx.observed.outputs is None or ctx.observed.status == ProviderStatus.DELETING:
        return DONE
    try:
        _open(ctx, ctx.observed)
    except ClusterAccessDenied as error:
        if ctx.cluster.adopted:
            return not_let_in(ctx, error, doing=f"reaching cluster {ctx.cluster.name}")
        return _grant_and_enter(ctx, ctx.observed)
    except (ClusterError, ProviderError) as error:
        return _not_entered(ctx, error)
    return DONE


def restore_access(ctx: PassContext) -> None:
    """Make what is missing of our own access again, with the provider's token.

    For a credential that was minted and is refused: somebody deleted our service account's cluster role binding.

    Raises:
        ClusterError, ProviderError: it cannot be made, or not now.
    """
    if ctx.observed is None:
        return
    with access.bootstrap_api(ctx.driver.bootstrap_access(ctx.observed)) as bootstrap:
        access.make_access(bootstrap, pool_id=ctx.pool.id)


def not_let_in(ctx: PassContext, error: ClusterAccessDenied, *, doing: str) -> Outcome:
    """An adopted cluster's API refuses the account: what its owner does about it."""
    try:
        needed = ctx.driver.access_needed(ctx.cluster_spec)
    except ProviderError as unknown_principal:
        needed = f"make the account's principal an administrator of the cluster ({unknown_principal})"
    return failed(f"{doing}: {error}; {needed}")


def open_bootstrap(ctx: PassContext, cluster: ObservedCluster) -> ClusterApi:
    """The cluster's API with the provider's own token, which is asked for once more when it is refused on the way.

    Raises:
        ProviderError: the provider gives none.
    """
    return access.bootstrap_api(ctx.driver.bootstrap_access(cluster), again=lambda: _bootstrap_again(ctx, cluster))


def refused_inside(ctx: PassContext, error: ClusterError, *, doing: str) -> Outcome:
    """What a cluster's error stands for. A credential that is refused again ends this pass's work inside the cluster.

    Arguments:
        doing: what was being done: `applying bcd`.
    """
    if isinstance(error, ClusterCredentialRefused):
        ctx.close()
    return of_error(error, doing=doing)


def _open(ctx: PassContext, cluster: ObservedCluster) -> None:
    bootstrap = ctx.driver.bootstrap_access(cluster)

    def again() -> BootstrapAccess:
        return _bootstrap_again(ctx, cluster)

    if not ctx.substrate.claim_held:
        with access.bootstrap_api(bootstrap, again=again) as api:
            claim_first(ctx, api)
    ctx.api = access.open_cluster(bootstrap, pool_id=ctx.pool.id, again=again)


def _bootstrap_again(ctx: PassContext, cluster: ObservedCluster) -> BootstrapAccess:
    """The provider's token once more, in the middle of a step: what goes wrong with it is the cluster's error there."""
    try:
        return ctx.driver.bootstrap_access(cluster)
    except ProviderError as error:
        kind = ClusterUnreachable if passes_by(error) else ClusterAccessDenied
        raise kind(f"no other credential for cluster {cluster.name}: {error}") from error


def _grant_and_enter(ctx: PassContext, cluster: ObservedCluster) -> Outcome:
    try:
        ctx.driver.grant_access(ctx.cluster_spec)
        _open(ctx, cluster)
    except ClusterAccessDenied:
        doing = f"reaching cluster {ctx.cluster.name}"
        return waiting(f"{doing}: access was granted to the account's principal and is not in effect yet")
    except (ClusterError, ProviderError) as error:
        return _not_entered(ctx, error)
    return DONE


def _not_entered(ctx: PassContext, error: ClusterError | ProviderError) -> Outcome:
    doing = "claiming" if isinstance(error, ClaimHeld) else "reaching"
    return of_error(error, doing=f"{doing} cluster {ctx.cluster.name}")
