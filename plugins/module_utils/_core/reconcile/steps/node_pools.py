# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step: the node pools stand at the provider as they are declared: created, resized, deleted, tried again.

One node pool that the provider refuses does not hold up the others. The decisions are pure functions below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ...model.errors import InvalidRequest, ProviderError
from ...model.observed import ObservedNodePool
from ...model.records import NodePoolRecord
from ...model.states import NodePoolState, ProviderStatus
from ...providers.contract import Deletion, NodePoolSpec
from ...store import clusters, events
from ..context import PassContext
from ..outcome import DONE, Outcome, Progress, failed, of_error, waiting
from ..specs import zones_without_places
from ..timing import STOCKOUT_RETRY


def converge_node_pools(ctx: PassContext) -> Outcome:
    """Bring every recorded node pool one safe step further."""
    if not ctx.provider_answered or not ctx.claimed:
        return DONE
    try:
        observed = {found.name: found for found in ctx.driver.get_node_pools(ctx.cluster_spec)}
    except ProviderError as error:
        return of_error(error, doing=f"node pools of cluster {ctx.cluster.name}")
    after = tuple(_converge(ctx, record, observed) for record in ctx.node_pools)
    _record(ctx, after)
    return sum_up(after, observed)


def _converge(ctx: PassContext, record: NodePoolRecord, observed: dict[str, ObservedNodePool]) -> NodePoolRecord:
    """One node pool's step. What the provider answers to it is put into `observed`."""
    found = observed.get(record.name)
    try:
        if record.state == NodePoolState.DELETING:
            return _delete(ctx, record)
        if found is None:
            return _create(ctx, record, observed)
        if found.status == ProviderStatus.FAILED:
            return _clear_for_retry(ctx, record, found)
        if found.status == ProviderStatus.DELETING:
            return _going(record)
        observed[record.name] = ctx.driver.ensure_node_pool(ctx.cluster_spec, _spec(ctx, record), found)
        return settled(record, observed[record.name])
    except ProviderError as error:
        return refused(record, error)


def _spec(ctx: PassContext, record: NodePoolRecord) -> NodePoolSpec:
    """The node pool as the driver is asked for it.

    Raises:
        InvalidRequest: a zone of it is none of the account's.
    """
    strange = zones_without_places(record, ctx.account)
    if strange:
        known = ", ".join(ctx.account.zones or ())
        raise InvalidRequest(
            f"provider account {ctx.account.name} has no place in {', '.join(strange)}: it has {known}"
        )
    return ctx.node_pool_spec(record)


def _create(ctx: PassContext, record: NodePoolRecord, observed: dict[str, ObservedNodePool]) -> NodePoolRecord:
    """Create it, with the intent committed first; a refused one is tried anew at most once in five minutes."""
    if not may_create(record, ctx.now):
        return record
    attempts = record.create_attempts + (1 if record.state == NodePoolState.ERROR else 0)
    intent = replace(record, create_attempts=attempts, last_create_at=ctx.now)
    with ctx.write() as tx:
        if not clusters.set_node_pool_status(tx, intent):
            return record  # it was changed or deleted a moment ago: the next pass knows how
    try:
        observed[record.name] = ctx.driver.ensure_node_pool(ctx.cluster_spec, _spec(ctx, intent), None)
        return settled(intent, observed[record.name])
    except ProviderError as error:
        return refused(intent, error)


def _clear_for_retry(ctx: PassContext, record: NodePoolRecord, found: ObservedNodePool) -> NodePoolRecord:
    """A create that failed at the provider: keep the reason; clear the remains away once a new try may follow."""
    reason = str(found.failure) if found.failure else "the provider failed to create it"
    if may_create(replace(record, state=NodePoolState.ERROR), ctx.now) and not record.ever_joined:
        spec = ctx.node_pool_spec(record)
        ctx.driver.delete_node_pool(ctx.cluster_spec, record.name, spec.tags)
    return replace(record, state=NodePoolState.ERROR, message=reason)


def _going(record: NodePoolRecord) -> NodePoolRecord:
    """The provider is deleting what we want. A refused one keeps its reason: its remains are being cleared away."""
    if record.state == NodePoolState.ERROR:
        return record
    return replace(record, message="the provider is deleting it; it is made anew when it is gone")


def _delete(ctx: PassContext, record: NodePoolRecord) -> NodePoolRecord:
    spec = ctx.node_pool_spec(record)
    gone = ctx.driver.delete_node_pool(ctx.cluster_spec, record.name, spec.tags) == Deletion.GONE
    return replace(record, state=NodePoolState.DELETED if gone else NodePoolState.DELETING, message="")


def may_create(record: NodePoolRecord, now: datetime) -> bool:
    """Whether a create may be sent now: always the first time, else five minutes after the last one."""
    if record.state != NodePoolState.ERROR or record.last_create_at is None:
        return True
    return now - record.last_create_at >= STOCKOUT_RETRY


def settled(record: NodePoolRecord, found: ObservedNodePool) -> NodePoolRecord:
    """The record after the provider took the request: ready when it says so and gives no failure.

    A refused one stays in error until it is ready: a try that may be refused again is no news.
    """
    if found.failure is not None:
        return replace(record, state=NodePoolState.ERROR, message=str(found.failure))
    if found.status == ProviderStatus.ACTIVE:
        return replace(record, state=NodePoolState.READY, message="", observed_version=record.version)
    if record.state == NodePoolState.ERROR:
        return record
    state = NodePoolState.UPDATING if record.observed_version else NodePoolState.PENDING
    return replace(record, state=state, message="")


def refused(record: NodePoolRecord, error: ProviderError) -> NodePoolRecord:
    """The record after an error: a refusal is an error with its reason; what passes, or a refused delete, is not."""
    final = of_error(error, doing="").progress == Progress.FAILED and record.state != NodePoolState.DELETING
    return replace(record, state=NodePoolState.ERROR if final else record.state, message=str(error))


def _record(ctx: PassContext, after: tuple[NodePoolRecord, ...]) -> None:
    """Write what changed, with its events, in one transaction; deleted rows leave the pass."""
    changed = [(old, new) for old, new in zip(ctx.node_pools, after, strict=True) if old != new]
    if changed:
        with ctx.write() as tx:
            for old, new in changed:
                if clusters.set_node_pool_status(tx, new) and old.state != new.state and new.state in _TOLD:
                    events.publish(
                        tx,
                        tenant_id=ctx.cluster.tenant_id,
                        subject=ctx.cluster.id,
                        type=f"kubernetes.nodepool.{new.state}",
                        data={"nodePoolId": new.id, "name": new.name, "message": new.message},
                    )
    ctx.node_pools = tuple(record for record in after if record.state != NodePoolState.DELETED)


_TOLD = (NodePoolState.READY, NodePoolState.ERROR, NodePoolState.DELETED)
"""States whose beginning is an event (spec: kubernetesNodePools)."""


_ON_ITS_WAY = (NodePoolState.PENDING, NodePoolState.UPDATING, NodePoolState.DELETING)
_MOVING = (ProviderStatus.CREATING, ProviderStatus.UPDATING, ProviderStatus.DELETING)


def sum_up(after: tuple[NodePoolRecord, ...], observed: Mapping[str, ObservedNodePool]) -> Outcome:
    """The step's outcome: failed while one is refused, also while another try of it is under way."""
    broken = [f"node pool {record.name}: {record.message}" for record in after if record.state == NodePoolState.ERROR]
    if broken:
        seen = [observed[record.name].status for record in after if record.name in observed]
        moving = any(status in _MOVING for status in seen) or any(record.state in _ON_ITS_WAY for record in after)
        return failed("; ".join(broken), moving=moving)
    on_their_way = [
        f"{record.name} ({record.message})" if record.message else record.name
        for record in after
        if record.state in _ON_ITS_WAY
    ]
    return waiting(f"node pools on their way: {', '.join(on_their_way)}") if on_their_way else DONE
