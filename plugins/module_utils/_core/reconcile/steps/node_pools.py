# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The step that brings each node pool to what is recorded: created, changed, retried, deleted.

One node pool that the provider refuses does not hold up the others. What is about to be sent is committed before it is.
The decisions are in reconcile/node_pool_rules.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ...model.errors import InUse, ProviderError
from ...model.ids import NodePoolId
from ...model.observed import ObservedNodePool
from ...model.records import NodePoolRecord
from ...model.states import NodePoolState, ProviderStatus
from ...providers.contract import Deletion, NodePoolSpec
from ...store import clusters
from .. import node_pool_rules as rules
from ..context import ClusterContext, PassContext
from ..node_pool_status import write_node_pools
from ..outcome import DONE, Outcome, of_error, passes_by
from .upgrade import follow_control_plane


@dataclass(slots=True, kw_only=True)
class _Work:
    """The step's working memory.

    Attributes:
        observed: the pass's observed_node_pools, as the provider last described them: in this step's answers, too.
        versions: what the nodes of some node pools are to be brought to.
        stored: records that the step has written already, as they stand in the database now.
    """

    ctx: ClusterContext
    observed: dict[str, ObservedNodePool]
    versions: Mapping[NodePoolId, str]
    stored: dict[NodePoolId, NodePoolRecord] = field(default_factory=dict)

    def intend(self, intent: NodePoolRecord) -> bool:
        """Commit what is about to be sent. False when it was changed or deleted a moment ago: send nothing."""
        with self.ctx.write() as tx:
            written = clusters.set_node_pool_status(tx, intent)
        if written:
            self.stored[intent.id] = intent
        return written

    def spec(self, record: NodePoolRecord) -> NodePoolSpec:
        """The node pool as the driver is asked for it.

        Raises:
            InvalidRequest: see ClusterContext.wanted_node_pool.
        """
        return replace(self.ctx.wanted_node_pool(record), version=self.versions.get(record.id))

    def ensure(self, spec: NodePoolSpec, found: ObservedNodePool | None) -> ObservedNodePool:
        """Ask the driver, and keep its answer."""
        answer = self.ctx.driver.ensure_node_pool(self.ctx.cluster_spec, spec, found)
        self.observed[spec.name] = answer
        return answer


def converge_node_pools(ctx: PassContext) -> Outcome:
    """Bring every node pool of a substrate one safe step further, once the claim is held."""
    if not ctx.claimed:
        return DONE
    return _converge_all(ctx, lambda observed: follow_control_plane(ctx, observed))


def converge_tenants_node_pools(ctx: ClusterContext) -> Outcome:
    """Bring every node pool of a tenant's own cluster one safe step further. Their nodes keep their version."""
    if ctx.observed is None or not ctx.observed.serves:
        return DONE
    return _converge_all(ctx, lambda _observed: {})


def _converge_all(
    ctx: ClusterContext, versions_of: Callable[[Mapping[str, ObservedNodePool]], Mapping[NodePoolId, str]]
) -> Outcome:
    if not ctx.provider_answered:
        return DONE
    try:
        observed = {found.name: found for found in ctx.driver.get_node_pools(ctx.cluster_spec)}
    except ProviderError as error:
        return of_error(error, doing=f"node pools of cluster {ctx.cluster.name}")
    ctx.observed_node_pools = observed
    work = _Work(ctx=ctx, observed=observed, versions=versions_of(observed))
    after = tuple(_converge(work, record) for record in ctx.node_pools)
    _record(work, after)
    return rules.sum_up(after, work.observed)


def _converge(work: _Work, record: NodePoolRecord) -> NodePoolRecord:
    """One node pool's step: its record afterwards."""
    found = work.observed.get(record.name)
    try:
        if record.state == NodePoolState.DELETING:
            return _delete(work, record, found)
        if found is None:
            return _create(work, record)
        if found.status == ProviderStatus.FAILED:
            return _clear_away(work, record, found)
        if found.status == ProviderStatus.DELETING:
            return rules.going(record)
        return _change(work, record, found)
    except ProviderError as error:
        return rules.refused(record, error)


def _create(work: _Work, record: NodePoolRecord) -> NodePoolRecord:
    if not rules.may_create(record, work.ctx.now):
        return record
    intent = rules.create_intent(record, work.ctx.now)
    spec = work.spec(intent)
    if not work.intend(intent):
        return record
    try:
        return rules.settled(intent, work.ensure(spec, None))
    except ProviderError as error:
        return rules.refused(intent, error)


def _change(work: _Work, record: NodePoolRecord, found: ObservedNodePool) -> NodePoolRecord:
    """Change what is not as recorded, and find out what became of the change that was sent last."""
    now = work.ctx.now
    wanted = work.spec(record)
    if not rules.wants_change(wanted, found, work.ctx.driver.compare(wanted, found)):
        return rules.settled(record, work.ensure(wanted, found))
    if record.update_id is None:
        if not rules.may_change(record, now):
            return record
        intent = rules.change_intent(record, now)
        if not work.intend(intent):
            return record
        record = intent
    try:
        return rules.settled(record, work.ensure(wanted, found))
    except ProviderError as error:
        return rules.change_refused(record, error, now)


def _clear_away(work: _Work, record: NodePoolRecord, found: ObservedNodePool) -> NodePoolRecord:
    """One that failed at the provider: keep the reason; clear the remains away once a new try may follow."""
    after = rules.create_failed(record, found)
    if not rules.may_clear_away(record, work.ctx.now):
        return after
    if after.state != NodePoolState.ERROR:
        # The next create is another one, though nothing was refused: the provider is to see that by its number.
        after = replace(after, create_attempts=after.create_attempts + 1)
        if not work.intend(after):
            return record
    spec = work.ctx.node_pool_spec(record)
    try:
        work.ctx.driver.delete_node_pool(work.ctx.cluster_spec, record.name, spec.tags)
    except ProviderError as error:
        # The last one stays for as long as its cluster where the provider does not give it up (DOKS): why it failed is
        # what matters then.
        return after if passes_by(error) or isinstance(error, InUse) else rules.refused(after, error)
    work.observed[record.name] = replace(found, status=ProviderStatus.DELETING)
    return after


def _delete(work: _Work, record: NodePoolRecord, found: ObservedNodePool | None) -> NodePoolRecord:
    """Delete it. What refused the last try is kept as the message, and the next one follows in five minutes."""
    now = work.ctx.now
    if found is not None and not rules.is_past(record.last_update_at, now):
        return record
    spec = work.ctx.node_pool_spec(record)
    try:
        deletion = work.ctx.driver.delete_node_pool(work.ctx.cluster_spec, record.name, spec.tags)
    except ProviderError as error:
        return replace(rules.refused(record, error), last_update_at=None if passes_by(error) else now)
    state = NodePoolState.DELETED if deletion == Deletion.GONE else NodePoolState.DELETING
    return replace(record, state=state, message="", last_update_at=None)


def _record(work: _Work, after: tuple[NodePoolRecord, ...]) -> None:
    """Write what changed, with its events, in one transaction; deleted rows leave the pass."""
    ctx = work.ctx
    before = (work.stored.get(record.id, record) for record in ctx.node_pools)
    write_node_pools(ctx, zip(before, after, strict=True))
    ctx.node_pools = tuple(record for record in after if record.state != NodePoolState.DELETED)
