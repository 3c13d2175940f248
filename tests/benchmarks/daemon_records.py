# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a benchmark reads of a running daemon in its database: how far it is, and how late its passes begin."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Engine, Select, create_engine, func, select

from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables

_LOOK_SECONDS: Final = 0.25


Work = Mapping[str, tuple[int, datetime]]
"""Of each unit the number of its last lease, and when it is due."""


def begun(before: Work, seen: Work, *, now: datetime) -> list[float]:
    """By how many seconds each pass was late at most that began between two looks.

    One that was made due between them, before its time, was not late by more than the time between them: 0.
    """
    return [
        max(0.0, (now - before[unit][1]).total_seconds())
        for unit, (fence, _due_at) in seen.items()
        if unit in before and fence != before[unit][0]
    ]


class Records:
    """An open database that somebody else writes."""

    def __init__(self, engine: Engine) -> None:
        """Use :func:`records`."""
        self._engine = engine

    def ready(self) -> int:
        """How many substrates are ready."""
        table = tables().substrates
        return self._number(select(func.count()).select_from(table).where(table.c.state == "ready"))

    def joined(self) -> int:
        """How many nodes have joined and are not retired."""
        table = tables().pool_nodes
        return self._number(select(func.count()).select_from(table).where(table.c.state != "retired"))

    def places(self) -> int:
        """How many more machines the join tokens let in that are not revoked."""
        tokens, uses = tables().join_tokens, tables().token_uses
        live = tokens.c.revoked_at.is_(None)
        let_in = self._number(select(func.sum(tokens.c.max_uses)).where(live))
        joined = select(func.count()).select_from(uses.join(tokens, uses.c.token_id == tokens.c.id)).where(live)
        return let_in - self._number(joined)

    def counted(self) -> int:
        """How many joined nodes the passes have told of."""
        return self._number(select(func.sum(tables().substrates.c.nodes_joined)))

    @contextmanager
    def watching(self) -> Iterator[list[float]]:
        """Within the block, note for each pass that begins by how many seconds it was late, within a look's time.

        A pass is seen by its lease's number, which it raises; due it was when the look before said so.
        """
        lags: list[float] = []
        over = threading.Event()
        thread = threading.Thread(target=self._watch, args=(lags, over), name="watch", daemon=True)
        thread.start()
        try:
            yield lags
        finally:
            over.set()
            thread.join()

    def _watch(self, lags: list[float], over: threading.Event) -> None:
        before = self._work()
        while not over.wait(_LOOK_SECONDS):
            seen = self._work()
            lags += begun(before, seen, now=datetime.now(UTC))
            before = seen

    def _work(self) -> Work:
        table = tables().work
        with self._engine.connect() as connection:
            rows = connection.execute(select(table.c.unit, table.c.fence, table.c.due_at)).all()
        return {row.unit: (row.fence, row.due_at) for row in rows}

    def _number(self, chosen: Select[int]) -> int:
        with self._engine.connect() as connection:
            return connection.execute(chosen).scalar() or 0


@contextmanager
def records(url: str) -> Iterator[Records]:
    """Open the database for the block."""
    engine = create_engine(url)
    try:
        yield Records(engine)
    finally:
        engine.dispose()
