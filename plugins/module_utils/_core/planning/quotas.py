# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quotas: how many GPUs of a pool each tenant may hold."""

from __future__ import annotations

from ..model.declared import FleetConfig
from .changes import Change, ChangeKind, FieldChange, Resource
from .naming import Declared, titled
from .recorded import Index
from .scope import Scope, covers, kept


def plan_quotas(config: FleetConfig, declared: Declared, recorded: Index, *, scope: Scope, prune: bool) -> list[Change]:
    """The quotas' changes, in the document's order, those no longer declared last."""
    changes = []
    still = set()
    for quota in config.quotas:
        pool = declared.pool_of(quota)
        still.add((pool, quota.tenant_id))
        record = recorded.quotas.get((pool, quota.tenant_id))
        if record is not None and record.gpus == quota.gpus:
            continue
        changes.append(
            Change(
                kind=ChangeKind.UPDATE if record else ChangeKind.CREATE,
                resource=Resource.QUOTA,
                tenant=pool[0],
                name=pool[1],
                part=quota.tenant_id,
                fields=(FieldChange(path="gpus", before=record.gpus if record else None, after=quota.gpus),),
            )
        )
    for (pool, tenant), row in sorted(recorded.quotas.items()):
        if (pool, tenant) in still or not covers(scope.pools, pool):
            continue
        changes.append(
            Change(
                kind=ChangeKind.DELETE if prune else ChangeKind.KEEP,
                resource=Resource.QUOTA,
                tenant=pool[0],
                name=pool[1],
                part=tenant,
                fields=(FieldChange(path="gpus", before=row.gpus, after=None),) if prune else (),
                note=kept(scope, prune=prune),
            )
        )
    return changes


def warnings(config: FleetConfig, declared: Declared, recorded: Index) -> list[str]:
    """Quotas that are set below what is held now."""
    told = []
    for quota in config.quotas:
        pool = declared.pool_of(quota)
        record = recorded.quotas.get((pool, quota.tenant_id))
        if record is not None and quota.gpus < record.used and quota.gpus != record.gpus:
            told.append(
                f"tenant {quota.tenant_id} holds {record.used} GPUs of pool {titled(pool)}, more than its new quota of "
                f"{quota.gpus}: nothing is taken away, and nothing more is given"
            )
    return told
