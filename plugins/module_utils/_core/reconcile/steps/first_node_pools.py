# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of the control plane's step: a cluster that its provider makes together with its first node pools only.

What is about to be sent is committed before it is, as for every create (reconcile/node_pool_rules.py decides). After it
the node pools' own step goes on: what the create brought is found there by its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...model.errors import InvalidRequest, NeedsNodes, ProviderError, ProviderQuotaExceeded, StockedOut
from ...model.ids import NodePoolId
from ...model.observed import ObservedCluster
from ...model.records import NodePoolRecord
from ...model.states import NodePoolState
from ...providers.contract import NodePoolSpec
from .. import node_pool_rules as rules
from ..context import ClusterContext
from ..node_pool_status import write_node_pools

_MAY_LIE_IN_A_NODE_POOL = (InvalidRequest, ProviderQuotaExceeded, StockedOut)
"""Refusals of a cluster's create that another choice of node pools may not meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _First:
    """A node pool that may be created now, as it is asked for."""

    record: NodePoolRecord
    spec: NodePoolSpec


def create_with_node_pools(ctx: ClusterContext) -> ObservedCluster:
    """Create the cluster together with those of its node pools that may be created now.

    First with all. Where the provider refuses that for what may lie in one of them, with each alone, until it takes
    one: one that is refused keeps neither the cluster nor the others away.

    Raises:
        NeedsNodes: none may be created now; the text says why.
        ProviderError: the create was refused, with each of them; the text names them.
    """
    first = _intend(ctx)
    if not first:
        raise NeedsNodes(_why_none(ctx.node_pools))
    choices = [first] if len(first) == 1 else [first, *([one] for one in first)]
    kind: type[ProviderError] = NeedsNodes
    refused: list[NodePoolRecord] = []
    try:
        for choice in choices:
            ctx.renew()
            try:
                return ctx.driver.ensure_cluster(ctx.cluster_spec, tuple(one.spec for one in choice))
            except _MAY_LIE_IN_A_NODE_POOL as error:
                kind = type(error)
                if len(choice) == 1:
                    refused.append(rules.refused(choice[0].record, error))
    finally:
        _record(ctx, refused)
    raise kind(_reasons(refused))


def _intend(ctx: ClusterContext) -> list[_First]:
    """Commit which node pools are about to be created; those whose spec cannot be made are refused right away."""
    now = ctx.now
    first: list[_First] = []
    after: list[NodePoolRecord] = []
    for record in ctx.node_pools:
        if record.state == NodePoolState.DELETING or not rules.may_create(record, now):
            continue
        intent = rules.create_intent(record, now)
        try:
            first.append(_First(record=intent, spec=ctx.wanted_node_pool(intent)))
        except InvalidRequest as error:
            intent = rules.refused(intent, error)
        after.append(intent)
    written = _record(ctx, after)
    return [one for one in first if one.record.id in written]


def _record(ctx: ClusterContext, after: Sequence[NodePoolRecord]) -> frozenset[NodePoolId]:
    """Write what changed; the node pools that are still wanted as they were read."""
    before = {record.id: record for record in ctx.node_pools}
    written = write_node_pools(ctx, [(before[record.id], record) for record in after])
    known = {record.id: record for record in after if record.id in written}
    ctx.node_pools = tuple(known.get(record.id, record) for record in ctx.node_pools)
    return written


def _why_none(node_pools: Sequence[NodePoolRecord]) -> str:
    wanted = [record for record in node_pools if record.state != NodePoolState.DELETING]
    return _reasons(wanted) or "it is made once it has a node pool"


def _reasons(node_pools: Sequence[NodePoolRecord]) -> str:
    return "; ".join(f"node pool {record.name}: {record.message}" for record in node_pools)
