# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster's events at the end of a pass: each once, and only on a change (spec: kubernetesClusters)."""

from __future__ import annotations

from ..model.records import ClusterRecord
from ..model.states import ClusterState
from ..store import Tx, events


def tell_cluster(tx: Tx, before: ClusterRecord, after: ClusterRecord) -> None:
    """Publish that it became ready, was updated or failed, in the transaction that records it."""
    if before.state == after.state or after.state not in (ClusterState.READY, ClusterState.ERROR):
        return
    name = str(after.state)
    if after.state == ClusterState.READY and before.observed_generation:
        name = "updated"
    data = {"name": after.name, "message": after.message}
    events.publish(tx, tenant_id=after.tenant_id, subject=after.id, type=f"kubernetes.cluster.{name}", data=data)
