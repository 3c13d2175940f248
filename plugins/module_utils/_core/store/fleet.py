# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document's rows: sites, accounts, pools, quotas, and the serial that every accepted document raises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ..model.errors import Code, OperationError
from ..model.ids import AccountId, PoolId, SiteId, TenantId
from ..model.records import AccountRecord, PoolRecord, QuotaRecord, SiteRecord
from ..model.states import Intent
from .shapes import plain_substrate, substrate_of
from .statements import among
from .tables import tables
from .transaction import Tx

if TYPE_CHECKING:
    from sqlalchemy import Row, Select

_ONLY_ROW = 1


def serial(tx: Tx) -> int:
    """How many documents were accepted: a plan names the serial that it was made on."""
    fleet = tables().fleet
    row = tx.row(fleet.select())
    return 0 if row is None else int(row.serial)


def bump_serial(tx: Tx, expected: int) -> int:
    """Raise the serial; two that were planned on the same one cannot both be accepted.

    Returns:
        The new serial.

    Raises:
        OperationError: CONFLICT, the records moved since the plan was made.
    """
    fleet = tables().fleet
    tx.insert_once(fleet, id=_ONLY_ROW, serial=0)
    raised = tx.execute(fleet.update().where(fleet.c.serial == expected).values(serial=expected + 1))
    if not raised.rowcount:
        raise OperationError(
            Code.CONFLICT,
            f"the fleet's records moved from serial {expected} to {serial(tx)} since the plan was made: plan again",
        )
    return expected + 1


def move_serial(tx: Tx) -> None:
    """Raise the serial, whatever it is: something that documents do not declare stands on what they do from now on.

    A document that was planned without it is planned again. Callers of this go one after the other.
    """
    fleet = tables().fleet
    tx.insert_once(fleet, id=_ONLY_ROW, serial=0)
    tx.execute(fleet.update().values(serial=fleet.c.serial + 1))


def sites(tx: Tx) -> tuple[SiteRecord, ...]:
    """Every site, by name."""
    table = tables().sites
    return tuple(
        SiteRecord(
            id=SiteId(row.id),
            tenant_id=TenantId(row.tenant_id),
            name=row.name,
            kind=row.kind,
            region=row.region,
            generation=row.generation,
        )
        for row in tx.rows(table.select().order_by(table.c.name, table.c.id))
    )


def put_site(tx: Tx, rec: SiteRecord) -> bool:
    """Record the site as given. Returns whether anything was written."""
    return tx.put(
        tables().sites,
        key={"id": rec.id},
        values={
            "tenant_id": rec.tenant_id,
            "name": rec.name,
            "kind": rec.kind,
            "region": rec.region,
            "generation": rec.generation,
        },
    )


def drop_site(tx: Tx, site_id: SiteId) -> None:
    """Forget the site."""
    table = tables().sites
    tx.execute(table.delete().where(table.c.id == site_id))


def accounts(tx: Tx) -> tuple[AccountRecord, ...]:
    """Every provider account, by name."""
    table = tables().accounts
    return tuple(_account(row) for row in tx.rows(table.select().order_by(table.c.name, table.c.id)))


def account(tx: Tx, account_id: AccountId) -> AccountRecord | None:
    """One provider account."""
    row = tx.find(tables().accounts, key={"id": account_id})
    return None if row is None else _account(row)


def put_account(tx: Tx, rec: AccountRecord) -> bool:
    """Record the account as given. Returns whether anything was written."""
    return tx.put(
        tables().accounts,
        key={"id": rec.id},
        values={
            "tenant_id": rec.tenant_id,
            "name": rec.name,
            "provider": rec.provider,
            "config": _plain(rec.config),
            "places": None if rec.places is None else dict(rec.places),
            "generation": rec.generation,
        },
    )


def set_account_places(tx: Tx, account_id: AccountId, places: Mapping[str, str]) -> None:
    """Record the places that the provider named, each with its zone, and nothing else of the account."""
    tx.change(tables().accounts, key={"id": account_id}, values={"places": dict(places)})


def drop_account(tx: Tx, account_id: AccountId) -> None:
    """Forget the account."""
    table = tables().accounts
    tx.execute(table.delete().where(table.c.id == account_id))


def pools(tx: Tx, *, archived: bool = False) -> tuple[PoolRecord, ...]:
    """Every pool by name, the archived ones only when asked for."""
    table = tables().pools
    chosen = table.select().order_by(table.c.name, table.c.id)
    return tuple(_pool(row) for row in tx.rows(chosen if archived else chosen.where(table.c.archived_at.is_(None))))


def pools_of(tx: Tx, pool_ids: Iterable[PoolId]) -> tuple[PoolRecord, ...]:
    """These pools, archived or not, in no order; unknown ones are left out."""
    table = tables().pools
    return tuple(_pool(row) for row in tx.rows_of(table.select(), table.c.id, pool_ids))


def pool(tx: Tx, pool_id: PoolId) -> PoolRecord | None:
    """One pool, archived or not."""
    row = tx.find(tables().pools, key={"id": pool_id})
    return None if row is None else _pool(row)


def lock_pool(tx: Tx, pool_id: PoolId) -> PoolRecord | None:
    """One pool, archived or not, that no other transaction changes or locks until this one ends.

    What is decided by counting (quota, free devices, bookings left on a pool's nodes) is decided under this lock. It is
    taken after the work unit (a lease's guard or ``work.make_due``) and before all other rows, so that nobody waits in
    a circle. On SQLite a write transaction shuts everybody else out anyway.
    """
    return lock_pools(tx, (pool_id,)).get(pool_id)


def lock_pools(tx: Tx, pool_ids: Iterable[PoolId]) -> dict[PoolId, PoolRecord]:
    """As lock_pool, for many, in the order of their ids. Unknown ones are left out."""
    rows = tx.rows(_locking_pools(), {"of_pools": sorted(set(pool_ids))})
    return {PoolId(row.id): _pool(row) for row in rows}


@cache
def _locking_pools() -> Select[Any]:
    table = tables().pools
    chosen = table.select().where(among(table.c.id, "of_pools")).order_by(table.c.id)
    # FOR NO KEY UPDATE: rows that only refer to the pool can still be added. PostgreSQL looks at the row again after it
    # waited for its lock.
    return chosen.with_for_update(key_share=True)


def pool_named(tx: Tx, tenant_id: TenantId, name: str) -> PoolRecord | None:
    """The tenant's pool of that name, unless it is archived."""
    table = tables().pools
    row = tx.row(
        table.select().where(table.c.tenant_id == tenant_id, table.c.name == name, table.c.archived_at.is_(None))
    )
    return None if row is None else _pool(row)


def pools_named(tx: Tx, name: str) -> tuple[PoolRecord, ...]:
    """All tenants' pools of that name, archived or not, in no order."""
    table = tables().pools
    return tuple(_pool(row) for row in tx.rows(table.select().where(table.c.name == name)))


def put_pool(tx: Tx, rec: PoolRecord) -> bool:
    """Record the pool as given. Returns whether anything was written.

    Raises:
        OperationError: CONFLICT when the tenant has another pool of that name that is not archived.
    """
    return put_pools(tx, (rec,))


def put_pools(tx: Tx, recs: Iterable[PoolRecord]) -> bool:
    """As put_pool, for many."""
    rows = (
        {
            "id": rec.id,
            "tenant_id": rec.tenant_id,
            "name": rec.name,
            "site_id": rec.site_id,
            "class": rec.class_,
            "gpu_model": rec.gpu_model,
            "platform_operated": rec.platform_operated,
            "substrate": plain_substrate(rec.substrate),
            "intent": rec.intent.value,
            "generation": rec.generation,
            "archived_at": rec.archived_at,
        }
        for rec in recs
    )
    return tx.put_all(tables().pools, key=("id",), rows=rows)


def quotas(tx: Tx) -> tuple[QuotaRecord, ...]:
    """Every quota with the GPUs that are held of it now."""
    from .reservations import held_by_pool  # a run that is about no quota has no use for it

    table = tables().quotas
    used = held_by_pool(tx)
    return tuple(
        QuotaRecord(
            tenant_id=TenantId(row["tenant_id"]),
            pool_id=PoolId(row["pool_id"]),
            gpus=row["gpus"],
            used=used.get((row["tenant_id"], row["pool_id"]), 0),
        )
        for row in (row._mapping for row in tx.rows(table.select().order_by(table.c.pool_id, table.c.tenant_id)))
    )


def pools_with_quota(tx: Tx, tenant_id: TenantId) -> frozenset[PoolId]:
    """The pools in which the tenant has a quota, whoever's they are."""
    from sqlalchemy import select

    table = tables().quotas
    return frozenset(
        PoolId(row.pool_id) for row in tx.rows(select(table.c.pool_id).where(table.c.tenant_id == tenant_id))
    )


def put_quota(tx: Tx, *, tenant_id: TenantId, pool_id: PoolId, gpus: int) -> bool:
    """Record how many GPUs of the pool the tenant may hold at once. Returns whether anything was written."""
    return tx.put(tables().quotas, key={"tenant_id": tenant_id, "pool_id": pool_id}, values={"gpus": gpus})


def put_quotas(tx: Tx, recs: Iterable[QuotaRecord]) -> bool:
    """As put_quota, for many; what is used of them is not recorded here."""
    rows = ({"tenant_id": rec.tenant_id, "pool_id": rec.pool_id, "gpus": rec.gpus} for rec in recs)
    return tx.put_all(tables().quotas, key=("pool_id", "tenant_id"), rows=rows)


def drop_quota(tx: Tx, *, tenant_id: TenantId, pool_id: PoolId) -> None:
    """Forget the quota: no quota means none."""
    table = tables().quotas
    tx.execute(table.delete().where(table.c.tenant_id == tenant_id, table.c.pool_id == pool_id))


def _plain(value: Any) -> Any:
    """The value with lists for tuples and dicts for mappings, as JSON gives it back."""
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _account(row: Row[Any]) -> AccountRecord:
    values = row._mapping
    return AccountRecord(
        id=AccountId(values["id"]),
        tenant_id=TenantId(values["tenant_id"]),
        name=values["name"],
        provider=values["provider"],
        config=values["config"],
        places=values["places"],
        generation=values["generation"],
    )


def _pool(row: Row[Any]) -> PoolRecord:
    values = row._mapping
    return PoolRecord(
        id=PoolId(values["id"]),
        tenant_id=TenantId(values["tenant_id"]),
        name=values["name"],
        site_id=SiteId(values["site_id"]),
        class_=values["class"],
        gpu_model=values["gpu_model"],
        platform_operated=values["platform_operated"],
        substrate=substrate_of(values["substrate"]),
        intent=Intent(values["intent"]),
        generation=values["generation"],
        archived_at=values["archived_at"],
    )
