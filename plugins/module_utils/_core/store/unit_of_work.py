# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transactions: reading one snapshot, writing under a lease's fence, and the few statements that all row files share.

``Store.write(lease=…)`` is what makes a pass safe: its first statement finds the lease's row as the pass left it and
keeps it locked to the end, or nothing at all is written. A transaction that wrote nothing ends without a COMMIT.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from ..model.clock import Clock
from ..model.errors import StaleLease
from ..model.records import Lease
from .engine import WRITES, read_only_options
from .failures import translated
from .tables import tables

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, CursorResult, Engine, Executable, Row, Table

Moment = Literal["before", "after"]


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

    def execute(self, statement: Executable) -> CursorResult[Any]:
        """Run one statement. SQLAlchemy compiles each once, psycopg prepares what is run often.

        Raises:
            StoreUnavailable, OperationError: see failures.
        """
        if statement.is_dml and not self.writes:
            raise RuntimeError("a write within Store.read()")
        with translated(self._name):
            result: CursorResult[Any] = self._connection.execute(statement)
        if statement.is_dml and result.rowcount != 0:
            self.wrote = True
        return result

    def rows(self, statement: Executable) -> Sequence[Row[Any]]:
        """All rows."""
        return self.execute(statement).all()

    def row(self, statement: Executable) -> Row[Any] | None:
        """The one row, or None."""
        return self.execute(statement).one_or_none()

    def insert(self, table: Table, **values: Any) -> None:
        """A new row.

        Raises:
            OperationError: CONFLICT when a unique key stands against it; the transaction can only be given up then.
        """
        self.execute(table.insert().values(**values))

    def insert_once(self, table: Table, **values: Any) -> bool:
        """A new row unless a unique key stands against it. Waits for another transaction that is just writing the same.

        Returns:
            Whether it was written.
        """
        from sqlalchemy.dialects import postgresql, sqlite

        insert = postgresql.insert if self._connection.dialect.name == "postgresql" else sqlite.insert
        once = insert(table).values(**values).on_conflict_do_nothing()
        # An INSERT keeps its row count only when asked to: psycopg forgets it with its cursor, and says -1.
        return self.execute(once.execution_options(preserve_rowcount=True)).rowcount == 1

    def change(self, table: Table, *where: ColumnElement[bool], **values: Any) -> bool | None:
        """Update the row if something differs: an unchanged row costs a read and no write.

        Returns:
            True when it was written, False when all was so already, None when no row fits `where` (any more).
        """
        from sqlalchemy import select

        row = self.row(select(*(table.c[name] for name in values)).where(*where))
        if row is None:
            return None
        if tuple(row) == tuple(values.values()):
            return False
        return True if self.execute(table.update().where(*where).values(**values)).rowcount else None

    def put(self, table: Table, *, key: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
        """Insert the row of that key, or change it where it differs.

        Returns:
            Whether anything was written.
        """
        changed = self.change(table, *(table.c[name] == value for name, value in key.items()), **values)
        if changed is None:
            self.insert(table, **key, **values)
            return True
        return changed

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what the block wrote when it raises, and nothing else."""
        with translated(self._name), self._connection.begin_nested():
            yield


class Store:
    """An open database. Threads may share it; a forked child opens its own connections.

    Attributes:
        name: the database's address without its password.
        on_commit: called with "before" and "after" around each COMMIT (crash tests stop the process there).
    """

    def __init__(self, engine: Engine, *, name: str, clock: Clock | None) -> None:
        """Use :func:`open_store`."""
        self.name = name
        self.on_commit: list[Callable[[Moment], None]] = []
        self._engine = engine
        self._clock = clock
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"Store({self.name})"

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """One consistent snapshot.

        Raises:
            StoreUnavailable: the database cannot be reached.
        """
        with self._transaction(read_only_options(self._engine), writes=False) as (_connection, tx):
            yield tx

    @contextmanager
    def write(self, *, lease: Lease | None = None) -> Iterator[Tx]:
        """One write transaction: committed at the end of the block, rolled back when it raises.

        Writers do not nest: on SQLite the inner one would wait for the outer one until it times out.

        Arguments:
            lease: the pass's lease: then nothing is written unless it is still held.

        Raises:
            StaleLease: the lease lapsed or was taken over.
            StoreUnavailable: the database cannot be reached, or a lock was not free in time. Nothing was written; only
                when the connection broke at the COMMIT itself, all may have been.
        """
        with self._transaction({WRITES: True}, writes=True) as (connection, tx):
            if lease is not None:
                _guard(tx, lease)
            yield tx
            if tx.wrote:
                self._commit(connection)

    def close(self) -> None:
        """Close every idle connection."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, options: dict[str, Any], *, writes: bool) -> Iterator[tuple[Connection, Tx]]:
        self._leave_parents_connections()
        with translated(self.name):
            connection = self._engine.connect()
        try:
            with translated(self.name):
                connection.execution_options(**options)
                connection.begin()
            yield connection, Tx(connection, name=self.name, clock=self._clock, writes=writes)
        finally:
            # Rolls back what was not committed. A connection that is lost is dropped.
            connection.close()

    def _commit(self, connection: Connection) -> None:
        for hook in self.on_commit:
            hook("before")
        with translated(self.name):
            connection.commit()
        for hook in self.on_commit:
            hook("after")

    def _leave_parents_connections(self) -> None:
        # After a fork the pool's sockets are the parent's: forget them without a word to the server.
        if os.getpid() != self._process:
            self._engine.dispose(close=False)
            self._process = os.getpid()


def _guard(tx: Tx, lease: Lease) -> None:
    """Lock the lease's row for this transaction, or stop.

    A locking read, not an update: a pass that finds nothing to write leaves no trace. SQLite needs no row lock, because
    BEGIN IMMEDIATE has shut everybody else out; PostgreSQL looks at the row again after it waited for its lock.
    """
    from sqlalchemy import select

    work = tables().work
    held = (
        select(work.c.unit)
        .where(
            work.c.unit == lease.unit,
            work.c.holder == lease.holder,
            work.c.fence == lease.fence,
            work.c.lease_until > tx.now,
        )
        .with_for_update()
    )
    if tx.row(held) is None:
        raise StaleLease(f"the lease on {lease.unit} is no longer {lease.holder}'s")
