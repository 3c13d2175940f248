# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store: transactions that read one snapshot, or write under a lease's fence. What they can do: transaction.py.

``Store.write(lease=…)`` is what makes a pass safe: its first statement finds the lease's row as the pass left it and
keeps it locked to the end, or nothing at all is written. A transaction that wrote nothing ends without a COMMIT.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from ..model.clock import Clock
from ..model.errors import StaleLease, StoreUnavailable
from ..model.records import Lease
from . import engine
from .failures import translated
from .tables import tables
from .transaction import Tx

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Pool, Select

Moment = Literal["before", "after"]

_LEFT_TO_THE_PARENT: list[Pool] = []
"""Connection pools of the processes that this one was forked from."""


class Store:
    """An open database. Threads may share it; a forked child opens its own connections.

    Attributes:
        name: the database's address without its password.
        made: whether opening it made a new, empty database.
        absent: whether there is no such database yet: this one is empty, and in memory.
        on_commit: called with "before" and "after" around each COMMIT (crash tests stop the process there).
    """

    def __init__(
        self, opened: Engine, *, name: str, clock: Clock | None, made: bool = False, absent: bool = False
    ) -> None:
        """Use :func:`open_store`."""
        self.name = name
        self.made = made
        self.absent = absent
        self.on_commit: list[Callable[[Moment], None]] = []
        self._engine = opened
        self._clock = clock
        self._process = os.getpid()
        self._turn = threading.Lock()

    def __repr__(self) -> str:
        return f"Store({self.name})"

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """One consistent snapshot.

        Raises:
            StoreUnavailable: the database cannot be reached.
        """
        self._leave_parents_connections()
        with self._transaction(engine.read_only_options(self._engine), writes=False) as (_connection, tx):
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
        self._leave_parents_connections()
        with self._in_turn(), self._transaction({engine.WRITES: True}, writes=True) as (connection, tx):
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

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """On SQLite, have the threads that write wait here for one another.

        SQLite itself waits by looking again and again, up to 0.1 s apart: fifty threads would mostly sleep.
        """
        if self._engine.dialect.name != "sqlite":
            yield
            return
        turn = self._turn
        if not turn.acquire(timeout=engine.LOCK_TIMEOUT_SECONDS):
            raise StoreUnavailable(f"{self.name}: database is locked by another thread of this process")
        try:
            yield
        finally:
            turn.release()

    def _commit(self, connection: Connection) -> None:
        for hook in self.on_commit:
            hook("before")
        with translated(self.name):
            connection.commit()
        for hook in self.on_commit:
            hook("after")

    def _leave_parents_connections(self) -> None:
        # After a fork the pool's connections are the parent's: leave them without a word to the server, and without
        # closing a SQLite file, which the end of the last reference would do. A thread of the parent may be writing.
        if os.getpid() != self._process:
            _LEFT_TO_THE_PARENT.append(self._engine.pool)
            self._engine.dispose(close=False)
            self._turn = threading.Lock()
            self._process = os.getpid()


def _guard(tx: Tx, lease: Lease) -> None:
    """Lock the lease's row for this transaction, or stop.

    A locking read, not an update: a pass that finds nothing to write leaves no trace. SQLite needs no row lock, because
    BEGIN IMMEDIATE has shut everybody else out; PostgreSQL looks at the row again after it waited for its lock.
    """
    if tx.row(_guarding(), {"holder": lease.holder, "fence": lease.fence, "unit": lease.unit, "now": tx.now}) is None:
        raise StaleLease(f"the lease on {lease.unit} is no longer {lease.holder}'s")


@cache
def _guarding() -> Select[Any]:
    from sqlalchemy import bindparam, select

    work = tables().work
    held = (
        work.c.unit == bindparam("unit"),
        work.c.holder == bindparam("holder"),
        work.c.fence == bindparam("fence"),
        work.c.lease_until > bindparam("now"),
    )
    return select(work.c.unit).where(*held).with_for_update()
