# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The event of a new node pool, whoever records it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...model.ids import ClusterId, TenantId
from ...model.records import NodePoolRecord
from ...store import Tx, events


def tell_created(tx: Tx, records: Iterable[NodePoolRecord], *, tenants: Mapping[ClusterId, TenantId]) -> None:
    """The events of new node pools, in the transaction that records them (spec: kubernetes.nodepool.created)."""
    told = (
        (tenants[record.cluster_id], record.cluster_id, {"nodePoolId": record.id, "name": record.name})
        for record in records
    )
    events.publish_all(tx, type="kubernetes.nodepool.created", told=told)
