# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_cluster: brings a tenant's own clusters about, upgrades them in place, or takes them away.

A run that finds everything as it should be is two reads of the records: no pass, no provider, no write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.errors import Code
from ..model.ids import ClusterId
from ..model.states import ClusterState
from ..operations.clusters.deciding import ClusterChange, ClustersPlan
from ..operations.clusters.planning import plan_clusters
from ..operations.clusters.reading import clusters_by_id
from ..operations.clusters.views import ClusterView
from ..operations.drivers import drivers
from ..operations.node_pools.deciding import NodePoolChange, Wish
from ..operations.node_pools.telling import declared
from ..operations.session import Session
from .cluster_wishes import CLUSTER_ARGUMENTS, Asked, asked
from .edge import run_module

_LEAVING = (ClusterState.DELETING, ClusterState.DELETED)


def run_clusters() -> None:
    """The module bc_cluster."""
    run_module(CLUSTER_ARGUMENTS, _converge, drivers=drivers)


def _converge(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    call = asked(module.params)
    plan = plan_clusters(session, tenant_id=call.tenant_id, wanted=call.wanted, wish=call.wish)
    views: Sequence[ClusterView] = clusters_by_id(session, _ids(plan.entries))
    failure: dict[str, Any] = {}
    # Also what an earlier run began is brought to its end: it may not have got there.
    if not module.check_mode and (plan.changes or _unsettled(plan, views, wish=call.wish)):
        plan, views, failure = _bring_about(session, plan, call, wait=module.params["wait"])
    return {**_result(module, plan, views), **failure}


def _bring_about(
    session: Session, plan: ClustersPlan, call: Asked, *, wait: bool
) -> tuple[ClustersPlan, Sequence[ClusterView], dict[str, Any]]:
    """Record what there is to change and run passes; the plan as recorded, the clusters then, the failure if any."""
    # Passes bring a provider's and Kubernetes' packages with them: a run with nothing to do is not to wait for those.
    from ..operations import passes
    from ..operations.clusters.converging import apply_clusters

    passes.require_libraries()
    if plan.changes:
        plan = apply_clusters(session, tenant_id=call.tenant_id, wanted=call.wanted, wish=call.wish)
    everything = _ids(plan.entries)
    moving = _ids(plan.changes) + _unsettled(plan, clusters_by_id(session, everything), wish=call.wish)
    if not wait:
        passes.run_once(session, set(moving))
        return plan, clusters_by_id(session, everything), {}
    waited = passes.run_all_until_settled(session, (), moving, timeout=call.timeout).clusters
    in_time = {view.record.id for view in waited if view.in_time}
    views = clusters_by_id(session, everything)
    late = [view for view in views if view.record.id in _unsettled(plan, views, wish=call.wish)]
    return plan, views, _told_unsettled(late, in_time, seconds=int(call.timeout.total_seconds()))


def _ids(entries: Iterable[ClusterChange]) -> list[ClusterId]:
    """The clusters that entries are about."""
    named = (entry.after or entry.before for entry in entries)
    return [record.id for record in named if record is not None]


def _unsettled(plan: ClustersPlan, views: Sequence[ClusterView], *, wish: Wish) -> list[ClusterId]:
    """The plan's clusters that are not as they are wanted."""
    repeated = set(_ids(entry for entry in plan.entries if entry.repeated))
    found = []
    for view in views:
        gone = view.record.state == ClusterState.DELETED
        if view.record.id in repeated and view.record.state in _LEAVING:
            continue
        if not (gone if wish == Wish.ABSENT else view.ready or view.awaits_nodes):
            found.append(view.record.id)
    return found


def _told_unsettled(views: Sequence[ClusterView], in_time: set[ClusterId], *, seconds: int) -> dict[str, Any]:
    """The failure for clusters that are not as they were wanted, each with its reason; else empty."""
    lines = []
    for view in views:
        record = view.record
        reason = record.message or "no reason yet"
        if record.id in in_time:
            lines.append(f"cluster {record.name} is {record.state}: {reason}")
        else:
            still = f"cluster {record.name}: still {record.state} after {seconds} s ({reason})"
            lines.append(f"{still}; bc-fleetd or another run goes on from here")
    return {"failed": True, "code": str(Code.INVALID_STATE), "msg": "\n".join(lines)} if lines else {}


def _result(module: AnsibleModule, plan: ClustersPlan, views: Sequence[ClusterView]) -> dict[str, Any]:
    """What is told of a plan: the changes, and its clusters as they stand in these views."""
    by_id = {view.record.id: view for view in views}
    standing = []
    for entry in plan.entries:
        named = entry.after or entry.before
        view = by_id.get(named.id) if named is not None else None
        if view is None:
            continue
        _warn(module, entry, view)
        if view.record.state != ClusterState.DELETED:
            standing.append(view.to_data())
    return {"changed": bool(plan.changes), "diff": _diff(plan), "clusters": standing}


def _warn(module: AnsibleModule, entry: ClusterChange, view: ClusterView) -> None:
    record = view.record
    if entry.repeated and record.state in _LEAVING:
        module.warn(
            f"cluster {record.name} of idempotency key {entry.wanted.idempotency_key} is {record.state}, and a "
            "repeated request makes nothing again: take another key, or none, to create it anew"
        )
    elif view.awaits_nodes:
        module.warn(f"cluster {record.name} is not made yet: {view.waits_for}")


def _diff(plan: ClustersPlan) -> dict[str, Any]:
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for change in plan.changes:
        if change.before is not None:
            before[change.name] = _declared(change, before=True)
        if change.after is not None and change.after.state != ClusterState.DELETING:
            after[change.name] = _declared(change, before=False)
    return {"before": before, "after": after}


def _declared(change: ClusterChange, *, before: bool) -> dict[str, Any]:
    """What is declared of a cluster, and of those of its node pools that the call is about."""
    record = change.before if before else change.after
    if record is None:
        raise AssertionError("only a side of a change that there is, is told")
    account = change.place.account
    return {
        "account": account.name if account else "",
        "location": record.location,
        "mode": str(record.mode),
        "private_nodes": record.private_nodes,
        "version": record.version,
        "node_pools": _node_pools(change.node_pools, before=before),
    }


def _node_pools(changes: Sequence[NodePoolChange], *, before: bool) -> dict[str, Any]:
    sides = {change.wanted.name: change.before if before else change.after for change in changes}
    return {name: declared(record) for name, record in sides.items() if record is not None}
