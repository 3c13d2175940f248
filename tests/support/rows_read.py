# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a store has its database go through: for tests that something does not read what it has no use for.

SQLite counts the steps of its own program, PostgreSQL the rows that each scan of a query saw, kept or not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event, text

from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store


class Toil:
    """How much there was to go through, by statement."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.by_statement: dict[str, int] = {}

    def add(self, statement: str, much: int) -> None:
        """So much more for a statement."""
        self.by_statement[statement] = self.by_statement.get(statement, 0) + much

    def beyond(self, other: Toil, *, allowed: int) -> dict[str, tuple[int, int]]:
        """The statements that went through more here than there, each with both numbers.

        Arguments:
            allowed: a difference of so much is none.
        """
        both = {one: (much, other.by_statement.get(one, 0)) for one, much in self.by_statement.items()}
        return {one: (here, there) for one, (here, there) in both.items() if here > there + allowed}


@contextmanager
def toil(store: Store) -> Iterator[Toil]:
    """What the database goes through for the statements that are sent within the block."""
    counted = Toil()
    engine = store._engine
    on_sqlite = engine.dialect.name == "sqlite"

    def before(connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
        driver = connection.connection.driver_connection
        if on_sqlite:
            driver.set_progress_handler(lambda: counted.add(statement, 1), 1)
        elif statement.startswith("SELECT") and not many:
            with driver.cursor() as cursor:
                cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
                [(told,)] = cursor.fetchall()
            counted.add(statement, _seen(told if isinstance(told, list) else json.loads(told)))

    def after(connection: Any, *_more: Any) -> None:
        connection.connection.driver_connection.set_progress_handler(None, 0)

    event.listen(engine, "before_cursor_execute", before)
    if on_sqlite:
        event.listen(engine, "after_cursor_execute", after)
    try:
        yield counted
    finally:
        event.remove(engine, "before_cursor_execute", before)
        if on_sqlite:
            event.remove(engine, "after_cursor_execute", after)


def know_sizes(store: Store) -> None:
    """Have PostgreSQL count its tables, as its own housekeeping does when many rows were written."""
    if store._engine.dialect.name == "postgresql":
        with store._engine.connect() as connection:
            connection.execute(text("ANALYZE"))
            connection.commit()


def _seen(plans: list[dict[str, Any]]) -> int:
    rows = 0
    for plan in plans:
        inner = plan.get("Plan", plan)
        if "Scan" in inner["Node Type"]:
            each = sum(inner.get(name, 0) for name in ("Actual Rows", *_GIVEN_UP))
            rows += round(each * inner["Actual Loops"])
        rows += _seen(inner.get("Plans", []))
    return rows


_GIVEN_UP = ("Rows Removed by Filter", "Rows Removed by Index Recheck")
"""Rows that a scan looked at to no use."""
