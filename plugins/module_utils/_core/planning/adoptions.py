# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One cluster backs one pool: the first of the spec's three claims. What a plan would adopt and somebody has already.

Two pools of one document that name the same cluster are refused before there is a plan (documents/references.py); two
that are recorded at the same moment by the store's unique index.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.declared import AdoptCluster, FleetConfig
from ..model.errors import Code, OperationError, Problem
from ..model.records import ClusterRecord, PoolRecord
from ..model.states import ClusterState, Intent
from .naming import Declared, key, titled
from .recorded import Records


def refuse_held(config: FleetConfig, records: Records) -> None:
    """Refuse to adopt what is recorded for another pool, or was made by this fleet, through the same account.

    A cluster that is still being given back is held, too.

    Raises:
        OperationError: CONFLICT, naming every pool and who has its cluster.
    """
    if not any(pool.substrate and isinstance(pool.substrate.cluster, AdoptCluster) for pool in config.pools):
        return
    if told := "\n".join(str(problem) for problem in _held(config, records)):
        raise OperationError(Code.CONFLICT, told)


def _held(config: FleetConfig, records: Records) -> Iterator[Problem]:
    declared = Declared.of(config)
    standing = [row for row in records.clusters if row.state != ClusterState.DELETED]
    by_place = {(row.account_id, row.location, row.name): row for row in standing}
    by_global_id = {row.global_id: row for row in standing if row.global_id is not None}
    pools = {row.id: row for row in records.pools}
    standing_for = {row.substrate_pool_id for row in standing}
    own = {key(row) for row in records.pools if row.archived_at is None and row.id in standing_for}
    accounts = {key(row): row.id for row in records.accounts}
    for index, pool in enumerate(config.pools):
        if pool.substrate is None or not isinstance(pool.substrate.cluster, AdoptCluster):
            continue
        if key(pool) in own:
            continue  # it has its cluster, or is blocked until that one is gone
        adopted, account = pool.substrate.cluster, declared.account_of(pool, pool.substrate)
        known = accounts.get(key(account))
        where = adopted.location or str(account.config.get("region", ""))
        # At DOKS the id is the global one, too: what was made by name is known by it.
        holder = (by_place.get((known, where, adopted.name)) if known else None) or by_global_id.get(adopted.id)
        if holder is not None:
            yield Problem(
                path=f"pools[{index}].policy.substrate.cluster.adopt",
                message=f"pool {titled(key(pool))} is to adopt cluster {adopted.id}, and one cluster backs one pool: "
                f"{_who(holder, pools.get(holder.substrate_pool_id) if holder.substrate_pool_id else None)}",
            )


def _who(holder: ClusterRecord, pool: PoolRecord | None) -> str:
    """Who has it, and what to do."""
    if pool is None:
        return f"tenant {holder.tenant_id} made it here (bc_cluster); a cluster that this fleet made is never adopted"
    name = titled(key(pool))
    if not holder.adopted:
        return f"it was made for pool {name}, which it backs; a cluster that this fleet made is never adopted"
    if pool.intent == Intent.TEAR_DOWN:
        return f"pool {name} ({pool.id}) is still giving it back: apply again when its substrate is deleted"
    return (
        f"it backs pool {name} ({pool.id}): archive that pool (bc_fleet with prune, or bc_substrate with state "
        "absent), and apply again when its substrate is deleted"
    )
