# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_nodepool: node pools brought about, or taken away, after a look at what is to be changed.

A run that finds everything as it should be is one read of the records: no pass, no provider, no write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.errors import Code
from ..model.ids import NodePoolId
from ..model.records import NodePoolRecord
from ..operations.drivers import drivers
from ..operations.node_pools.deciding import NodePoolChange, NodePoolsPlan
from ..operations.node_pools.planning import plan_node_pools
from ..operations.session import Session
from .edge import run_module
from .node_pool_looks import as_recorded, owner, record_of, result, unsettled
from .node_pool_wishes import NODE_POOL_ARGUMENTS, NOT_BOTH, Asked, asked


def run_node_pools() -> None:
    """The module bc_nodepool."""
    run_module(NODE_POOL_ARGUMENTS, _converge, drivers=drivers, mutually_exclusive=NOT_BOTH)


def _converge(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    call = asked(module.params)
    plan = plan_node_pools(session, tenant_id=call.tenant_id, wanted=call.wanted, wish=call.wish)
    records = as_recorded(plan)
    failure: dict[str, Any] = {}
    # Also what an earlier run began is brought to its end: it may not have got there.
    if not module.check_mode and (plan.changes or unsettled(plan, records, wish=call.wish)):
        plan, records, failure = _bring_about(session, plan, call, wait=module.params["wait"])
    return {**result(module, plan, records), **failure}


def _bring_about(
    session: Session, plan: NodePoolsPlan, call: Asked, *, wait: bool
) -> tuple[NodePoolsPlan, dict[NodePoolId, NodePoolRecord], dict[str, Any]]:
    """Record what there is to change and run passes; the plan as recorded, the records then, and the failure if any."""
    # Passes bring a provider's and Kubernetes' packages with them: a run with nothing to do is not to wait for those.
    from ..operations import passes
    from ..operations.node_pools.converging import apply_node_pools, recorded_again

    passes.require_libraries()
    if plan.changes:
        plan = apply_node_pools(session, tenant_id=call.tenant_id, wanted=call.wanted, wish=call.wish)
    entries = (*plan.changes, *unsettled(plan, as_recorded(plan), wish=call.wish))
    pools = {entry.standing.pool.id for entry in entries if entry.standing.pool is not None}
    own = {entry.standing.cluster.id for entry in entries if entry.standing.pool is None}
    if not wait:
        passes.run_once(session, pools | own)
        return plan, recorded_again(session, plan), {}
    settled = passes.run_all_until_settled(session, pools, own, timeout=call.timeout)
    records = recorded_again(session, plan)
    reasons: dict[str, str] = {view.record.cluster_id: view.record.message for view in settled.substrates}
    reasons |= {view.record.id: view.record.message for view in settled.clusters}
    return plan, records, _told_unsettled(unsettled(plan, records, wish=call.wish), records, reasons)


def _told_unsettled(
    entries: list[NodePoolChange], records: Mapping[NodePoolId, NodePoolRecord], reasons: Mapping[str, str]
) -> dict[str, Any]:
    """The failure for node pools that are not as they were wanted, each with its reason; else empty.

    Arguments:
        reasons: what is told of each cluster, by its id.
    """
    lines = []
    for entry in entries:
        record = record_of(entry, records)
        if record is not None:
            reason = record.message or reasons.get(record.cluster_id) or "no reason yet"
            lines.append(f"node pool {record.name} of {owner(entry)} is {record.state}: {reason}")
    return {"failed": True, "code": str(Code.INVALID_STATE), "msg": "\n".join(lines)} if lines else {}
