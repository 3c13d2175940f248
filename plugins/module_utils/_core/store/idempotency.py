# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was answered to a request that carried an idempotency key, so that its repetition is answered the same."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.errors import Code, OperationError
from .statements import among
from .tables import tables
from .transaction import Tx


def remembered(tx: Tx, *, scope: str, key: str, request_digest: str, after: str | None = None) -> str | None:
    """The id that the same request led to before; None when it is new.

    Arguments:
        scope: within which the key is unique, e.g. tenant, caller and cluster.
        request_digest: SHA-256 of the request.
        after: an id that no longer counts: a key that still leads to it is new again.

    Raises:
        OperationError: CONFLICT when the key came with another request.
    """
    table = tables().idempotency
    row = tx.find(table, key={"scope": scope, "key": key})
    if row is None or row.result_id == after:
        return None
    if row.request_digest != request_digest:
        raise OperationError(Code.CONFLICT, f"the idempotency key {key!r} was used for another request")
    return str(row.result_id)


def remember(tx: Tx, *, scope: str, key: str, request_digest: str, result_id: str, after: str | None = None) -> None:
    """Keep what the request led to, in the transaction that does it.

    Arguments:
        after: the id that the key led to before, and that the new one takes the place of.

    Raises:
        OperationError: CONFLICT when another transaction did the same meanwhile; give this one up and ask again.
    """
    table = tables().idempotency
    kept = {"request_digest": request_digest, "result_id": result_id, "at": tx.now}
    if after is None:
        written = tx.insert_once(table, scope=scope, key=key, **kept)
    else:
        named = (table.c.scope == scope, table.c.key == key, table.c.result_id == after)
        written = tx.execute(table.update().where(*named).values(**kept)).rowcount == 1
        # Or it was forgotten meanwhile, with what it led to (forgetting.py).
        written = written or tx.insert_once(table, scope=scope, key=key, **kept)
    if not written:
        raise OperationError(Code.CONFLICT, f"the request with idempotency key {key!r} was just done: ask again")


def results_of(tx: Tx, *, scopes: Iterable[str], key: str) -> dict[str, str]:
    """The id that a key led to in each of these scopes, whatever the request was; one where it is new is left out."""
    table = tables().idempotency
    return {
        row.scope: row.result_id for row in tx.rows_of(table.select().where(table.c.key == key), table.c.scope, scopes)
    }


def keys_of(tx: Tx, result_ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Scope and key of the requests that led to these ids, by them, out of one read.

    An id that was made without a key, or whose key leads to another by now, is left out.
    """
    table = tables().idempotency
    chosen = table.select().where(among(table.c.result_id, "of_results"))
    return {row.result_id: (row.scope, row.key) for row in tx.rows(chosen, {"of_results": sorted(set(result_ids))})}
