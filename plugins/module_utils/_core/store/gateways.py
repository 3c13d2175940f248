# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mark that somebody listens for heartbeats: without it, a silent node says nothing about the node.

That mark is all gateways' together, and outlives a short restart. Beside it each gateway that runs has a mark of its
own, which it takes away when it stops: so a person can be told at once who runs.
"""

from __future__ import annotations

import secrets
from datetime import datetime

from ..model.liveness import Listening
from .tables import tables
from .transaction import Tx

_ROW = 1
"""One mark for all gateways of the store: a node may be heard by any of them."""

_MOST = 2**31 - 1
"""The largest number that PostgreSQL's integer takes."""


def new_number() -> int:
    """A number for a gateway's own mark, which no other is likely to have."""
    return _ROW + 1 + secrets.randbelow(_MOST - _ROW)


def listening(tx: Tx) -> Listening | None:
    """The mark as it was last written; None when no gateway ever listened."""
    row = tx.find(tables().gateways, key={"id": _ROW})
    return None if row is None else Listening(since=row.listening_since, heard_at=row.heard_at)


def heard(tx: Tx, mark: Listening) -> None:
    """Write the mark. Two gateways that write it at once leave one of two marks that both are true."""
    _put(tx, _ROW, mark)


def runs(tx: Tx, number: int, mark: Listening) -> None:
    """Write one gateway's own mark: it has been listening since then, and does now."""
    _put(tx, number, mark)


def stopped(tx: Tx, number: int) -> None:
    """Take a gateway's own mark away. The others', and the one that is all gateways', stay."""
    table = tables().gateways
    tx.execute(table.delete().where(table.c.id == number))


def forget(tx: Tx, before: datetime) -> None:
    """Take away the own marks that were last written before: of gateways that died."""
    table = tables().gateways
    tx.execute(table.delete().where(table.c.id != _ROW, table.c.heard_at < before))


def running(tx: Tx) -> tuple[Listening, ...]:
    """The gateways' own marks, the longest listening first. One that died leaves its mark behind."""
    from sqlalchemy import select

    table = tables().gateways
    chosen = select(table.c.listening_since, table.c.heard_at).where(table.c.id != _ROW)
    rows = tx.rows(chosen.order_by(table.c.listening_since, table.c.id))
    return tuple(Listening(since=row.listening_since, heard_at=row.heard_at) for row in rows)


def _put(tx: Tx, number: int, mark: Listening) -> None:
    table = tables().gateways
    values = {"listening_since": mark.since, "heard_at": mark.heard_at}
    if not tx.insert_once(table, id=number, **values):
        tx.execute(table.update().where(table.c.id == number).values(**values))
