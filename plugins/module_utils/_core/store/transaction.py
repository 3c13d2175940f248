# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One transaction: the few statements that all row files share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..model.clock import Clock
from . import statements
from .failures import translated

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, CursorResult, Executable, Row, Select, Table

_NOTHING: Mapping[str, Any] = MappingProxyType({})

_VALUES_AT_ONCE = 500
"""In one statement: SQLite takes 999 before version 3.32."""


class Tx:
    """One transaction. Valid within its `with` block only; not to be shared between threads."""

    def __init__(self, connection: Connection, *, name: str, clock: Clock | None, writes: bool) -> None:
        """Wrap a connection whose transaction has begun."""
        self._connection = connection
        self._name = name
        self._clock = clock
        self._now: datetime | None = None
        self.writes = writes
        self.wrote = False

    @property
    def now(self) -> datetime:
        """The present on the store's clock, in UTC: the same for the whole transaction."""
        if self._now is None:
            if self._clock is not None:
                self._now = self._clock.now()
            else:
                from sqlalchemy import func, select

                moment: datetime = self.execute(select(func.transaction_timestamp())).scalar_one()
                self._now = moment.astimezone(UTC)
        return self._now

    def execute(
        self, statement: Executable, parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> CursorResult[Any]:
        """Run one statement. SQLAlchemy compiles each once, psycopg prepares what is run often.

        Arguments:
            parameters: what it is run with; several of them run it once for each.

        Raises:
            StoreUnavailable, OperationError: see failures.
        """
        if statement.is_dml and not self.writes:
            raise RuntimeError("a write within Store.read()")
        with translated(self._name):
            result: CursorResult[Any] = self._connection.execute(statement, parameters)
        if statement.is_dml and result.rowcount != 0:
            self.wrote = True
        return result

    def rows(self, statement: Executable, parameters: Mapping[str, Any] | None = None) -> Sequence[Row[Any]]:
        """All rows."""
        return self.execute(statement, parameters).all()

    def rows_of(self, chosen: Select[Any], column: ColumnElement[Any], values: Iterable[str]) -> Iterator[Row[Any]]:
        """The rows of a choice whose column is one of these values, in no order."""
        wanted = sorted(set(values))
        for start in range(0, len(wanted), _VALUES_AT_ONCE):
            yield from self.rows(chosen.where(column.in_(wanted[start : start + _VALUES_AT_ONCE])))

    def row(self, statement: Executable, parameters: Mapping[str, Any] | None = None) -> Row[Any] | None:
        """The one row, or None."""
        return self.execute(statement, parameters).one_or_none()

    def find(self, table: Table, *, key: Mapping[str, Any], unless: Mapping[str, Any] = _NOTHING) -> Row[Any] | None:
        """The one row of that key, or None.

        Arguments:
            unless: what its columns must not be; none of them may be null.
        """
        return self.row(statements.selecting(table, (), (*key,), (*unless,)), statements.conditions(key, unless))

    def insert(self, table: Table, **values: Any) -> None:
        """A new row.

        Raises:
            OperationError: CONFLICT when a unique key stands against it; the transaction can only be given up then.
        """
        self.execute(statements.inserting(table), values)

    def insert_all(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """New rows, of the same columns each, in order.

        Raises:
            OperationError: CONFLICT when a unique key stands against one; the transaction can only be given up then.
        """
        if rows:
            self.execute(statements.inserting(table), rows)

    def insert_once(self, table: Table, **values: Any) -> bool:
        """A new row unless a unique key stands against it. Waits for another transaction that is just writing the same.

        Returns:
            Whether it was written.
        """
        return self.execute(statements.inserting_once(table, self._connection.dialect.name), values).rowcount == 1

    def insert_all_once(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """New rows, of the same columns each, in order; without those that a unique key stands against."""
        if rows:
            self.execute(statements.inserting_once(table, self._connection.dialect.name), rows)

    def change(
        self, table: Table, *, key: Mapping[str, Any], unless: Mapping[str, Any] = _NOTHING, values: Mapping[str, Any]
    ) -> bool | None:
        """Update the row of that key if something differs: an unchanged row costs a read and no write.

        Arguments:
            unless: what its columns must not be; none of them may be null.

        Returns:
            True when it was written, False when all was so already, None when there is no such row (any more).
        """
        chosen = statements.conditions(key, unless)
        row = self.row(statements.selecting(table, (*values,), (*key,), (*unless,)), chosen)
        if row is None:
            return None
        if tuple(row) == tuple(values.values()):
            return False
        updated = self.execute(statements.updating(table, (*key,), (*unless,)), {**chosen, **values})
        return True if updated.rowcount else None

    def put(self, table: Table, *, key: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
        """Insert the row of that key, or change it where it differs.

        Returns:
            Whether anything was written.
        """
        changed = self.change(table, key=key, values=values)
        if changed is None:
            self.insert(table, **key, **values)
            return True
        return changed

    def put_all(self, table: Table, *, key: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bool:
        """Insert the rows whose key is new, in order and in one statement, and change the others where they differ.

        Arguments:
            key: the names of the key's columns, the one that tells most of them apart first.
            rows: of the same columns each.

        Returns:
            Whether anything was written.

        Raises:
            OperationError: CONFLICT when a unique key stands against one; the transaction can only be given up then.
        """
        wanted = {tuple(row[name] for name in key): row for row in rows}
        if len(wanted) == 1:
            [row] = wanted.values()
            rest = {name: value for name, value in row.items() if name not in key}
            return self.put(table, key={name: row[name] for name in key}, values=rest)
        found = self.rows_of(table.select(), table.c[key[0]], (known_by[0] for known_by in wanted))
        standing = {tuple(row._mapping[name] for name in key): row._mapping for row in found}
        new = [row for known_by, row in wanted.items() if known_by not in standing]
        changed = [
            row
            for known_by, row in wanted.items()
            if known_by in standing and any(standing[known_by][name] != value for name, value in row.items())
        ]
        # The changes first: a row that gives up its name makes room for a new one.
        for row in changed:
            chosen = statements.conditions({name: row[name] for name in key}, _NOTHING)
            self.execute(statements.updating(table, (*key,), ()), {**chosen, **row})
        self.insert_all(table, new)
        return bool(new or changed)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what the block wrote when it raises, and nothing else."""
        with translated(self._name), self._connection.begin_nested():
            yield
