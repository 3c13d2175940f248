# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mark that somebody listens for heartbeats: without it, a silent node says nothing about the node."""

from __future__ import annotations

from ..model.liveness import Listening
from .tables import tables
from .transaction import Tx

_ROW = 1
"""One mark for all gateways of the store: a node may be heard by any of them."""


def listening(tx: Tx) -> Listening | None:
    """The mark as it was last written; None when no gateway ever listened."""
    row = tx.find(tables().gateways, key={"id": _ROW})
    return None if row is None else Listening(since=row.listening_since, heard_at=row.heard_at)


def heard(tx: Tx, mark: Listening) -> None:
    """Write the mark. Two gateways that write it at once leave one of two marks that both are true."""
    table = tables().gateways
    values = {"listening_since": mark.since, "heard_at": mark.heard_at}
    if not tx.insert_once(table, id=_ROW, **values):
        tx.execute(table.update().where(table.c.id == _ROW).values(**values))
