# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step of a teardown: our node pools go, then the created cluster, and the provider says that they are gone.

What goes of an adopted cluster is in give_back.py.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

from ...model.errors import InUse, NotFound, ProviderError
from ...model.labels import CLUSTER
from ...providers.contract import Deletion
from ..context import ClusterContext
from ..outcome import DONE, Outcome, Progress, failed, of_error, unknown, waiting
from ..timing import delete_retry


def delete_at_provider(ctx: ClusterContext) -> Outcome:
    """Delete what carries our tags. A refusal is kept with its reason and tried again with a growing wait."""
    if not ctx.provider_answered:
        return unknown(f"whether cluster {ctx.cluster.name} still exists is not known")
    if ctx.observed is None and _gone_again(ctx):
        return DONE
    try:
        left = _delete_node_pools(ctx)
        if left:
            return waiting(f"node pools are being deleted: {', '.join(left)}")
        if ctx.driver.delete_cluster(ctx.cluster_spec) == Deletion.UNDER_WAY:
            return waiting(f"cluster {ctx.cluster.name} is being deleted")
    except ProviderError as error:
        return _refused(ctx, error)
    return DONE if _gone_again(ctx) else waiting(f"cluster {ctx.cluster.name} is being deleted")


def _gone_again(ctx: ClusterContext) -> bool:
    """Ask once more: a name-based 'not found' counts when the provider has said it twice."""
    try:
        return ctx.driver.get_cluster(ctx.cluster_spec) is None
    except ProviderError:
        return False


def _delete_node_pools(ctx: ClusterContext) -> list[str]:
    """Ask for the deletion of each node pool that carries our cluster's tag; the names of those that go.

    One that the provider does not give up while the cluster stands (DOKS: the last one) goes with it.
    """
    try:
        found = ctx.driver.get_node_pools(ctx.cluster_spec)
    except NotFound:
        return []
    left = []
    for pool in found:
        tags = {CLUSTER: str(ctx.cluster.id)}
        with contextlib.suppress(InUse):
            if ctx.driver.delete_node_pool(ctx.cluster_spec, pool.name, tags) == Deletion.UNDER_WAY:
                left.append(pool.name)
    return left


def _refused(ctx: ClusterContext, error: ProviderError) -> Outcome:
    outcome = of_error(error, doing=f"deleting cluster {ctx.cluster.name}")
    if outcome.progress != Progress.FAILED:
        return outcome
    attempts = ctx.cluster.delete_attempts + 1
    ctx.cluster = replace(ctx.cluster, delete_attempts=attempts)
    return failed(outcome.message, retry_after=delete_retry(attempts))
