# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changing one pool's recorded policy without its document, and archiving a pool.

Both are plans like a document's, beside the same records: two writers cannot fight, and whoever comes second is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..documents.load import parse_document
from ..documents.written import document_data, edited_substrate
from ..model.declared import FleetConfig
from ..model.errors import Code, InvalidInput, OperationError, Problem
from ..model.ids import TenantId
from ..model.records import PoolRecord
from ..model.states import SubstrateState
from ..planning import Records, Scope
from ..planning.declared_again import declared_again, of_one_pool
from ..store import substrates
from .fleet import PlannedFleet, plan_beside
from .fleet_rows import read_records
from .pool_names import resolve_pool
from .session import Session

_SUBSTRATE = "pools[0].policy.substrate"
"""Where an edited substrate stands in the one-pool document that it is judged in."""


def plan_substrate(
    session: Session, *, pool: str, tenant_id: TenantId, edit: Mapping[str, Any], prune: bool, refresh: bool
) -> tuple[PlannedFleet, PoolRecord]:
    """What an edit of a pool's substrate would change. Writes nothing; fleet.apply_fleet does.

    Arguments:
        pool: its name or id.
        edit: see documents.written.edited_substrate; empty changes nothing but what has drifted.
        prune: whether flavors that the edit does not name go, when it names any.
        refresh: whether the provider is asked what it holds.

    Returns:
        The plan, and the pool as it is recorded.

    Raises:
        InvalidInput: every problem of the edit, with paths below the substrate as a document spells them.
        OperationError: NOT_FOUND (the pool, its substrate or the account), INVALID_STATE (it is being torn down),
            QUOTA_EXCEEDED.
        ProviderError: as fleet.plan_fleet.
    """
    with session.store.read() as tx:
        record = resolve_pool(tx, pool=pool, tenant_id=tenant_id)
        if record.substrate is None and not edit:
            standing = substrates.substrate(tx, record.id)
            raise _nothing_to_converge(record, torn_down=standing is not None and standing.state != _GONE)
        records, now = read_records(tx), tx.now
    edited, scope = _edited(records, record, edit), Scope.of_pool((record.tenant_id, record.name))
    return plan_beside(session, edited, records, now=now, prune=prune, refresh=refresh, scope=scope), record


def plan_archiving(session: Session, *, pool: str, tenant_id: TenantId) -> tuple[PlannedFleet, PoolRecord | None]:
    """What archiving a pool would change: it goes with its substrate and its quotas; sites and accounts stay.

    Returns:
        The plan, and the pool: one of that name that is on its way out already is meant too; None when there is none.
    """
    with session.store.read() as tx:
        try:
            record: PoolRecord | None = resolve_pool(tx, pool=pool, tenant_id=tenant_id, leaving=True)
        except OperationError as error:
            if error.code != Code.NOT_FOUND:
                raise
            record = None
        records, now = read_records(tx), tx.now
    name = record.name if record is not None and record.archived_at is None else ""
    declared = of_one_pool(declared_again(records), (tenant_id, name))
    # Only the pool is named: nothing else is to go with it.
    going = FleetConfig(pools=declared.pools, quotas=declared.quotas)
    planned = plan_beside(session, going, records, now=now, prune=True, refresh=False, absent=True)
    return planned, record


_GONE = SubstrateState.DELETED


def _nothing_to_converge(pool: PoolRecord, *, torn_down: bool) -> OperationError:
    if torn_down:
        return OperationError(Code.INVALID_STATE, f"the substrate of pool {pool.name!r} is being torn down")
    return OperationError(
        Code.NOT_FOUND, f"pool {pool.name!r} has no substrate: give it an account, a cluster and flavors"
    )


def _edited(records: Records, pool: PoolRecord, edit: Mapping[str, Any]) -> FleetConfig:
    """The one pool's document with the edit in it, judged as any document is."""
    account = edit.get("account")
    if account is not None and account not in {row.name for row in records.accounts}:
        raise OperationError(
            Code.NOT_FOUND, f"there is no provider account {account[:128]!r}: bc_fleet_info lists the recorded ones"
        )
    declared = of_one_pool(declared_again(records), (pool.tenant_id, pool.name), accounts=[account] if account else [])
    if not edit:
        return declared
    data = document_data(declared)
    policy = data["pools"][0]["policy"]
    policy["substrate"] = edited_substrate(policy.get("substrate"), edit)
    try:
        return parse_document(data)
    except InvalidInput as error:
        raise InvalidInput([_below_substrate(problem) for problem in error.problems]) from None


def _below_substrate(problem: Problem) -> Problem:
    if not problem.path.startswith(f"{_SUBSTRATE}."):
        return problem
    return Problem(path=problem.path.removeprefix(f"{_SUBSTRATE}."), message=problem.message)
