# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opening a database: a new SQLite file is made, anything else must have this version's schema already."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.clock import Clock, SystemClock
from ..model.errors import StoreUnavailable
from .engine import WRITES, make_engine, make_memory_engine, masked, parse_url
from .failures import translated
from .schema import check_schema, create_schema, is_empty, make_tables, sqlite_path, use_wal
from .unit_of_work import Store

if TYPE_CHECKING:
    from sqlalchemy import Engine


_LOG = logging.getLogger(__name__)


def open_store(url: str, *, clock: Clock | None = None, create: bool = True, make_folder: bool = False) -> Store:
    """Open the fleet's database.

    Arguments:
        url: `sqlite:////<file>` or `postgresql+psycopg://…`.
        clock: what tells `Tx.now`; None for the database's own clock on PostgreSQL and the machine's on SQLite.
        create: whether a SQLite file that does not exist (or holds nothing) is made. Without it nothing of a database
            is changed by opening it. PostgreSQL is never created here.
        make_folder: whether a new SQLite file's folder is made, too.

    Raises:
        StoreUnavailable: the address is of no known kind, nothing answers there, or there is no such file.
        SchemaMismatch: the database is not of this version; the text says what to run.
    """
    parsed = parse_url(url)
    name = masked(parsed)
    engine = make_engine(parsed)
    sqlite = parsed.get_backend_name() == "sqlite"
    if sqlite and not create and _size(sqlite_path(parsed)) is None:
        raise StoreUnavailable(f"there is no database yet: {name} does not exist")
    made = False
    try:
        with translated(name):
            if sqlite and create and (_size(sqlite_path(parsed)) is None or _holds_nothing(engine)):
                made = create_schema(url, make_folder=make_folder)
            check_schema(engine, name=name)
            if sqlite and create:
                use_wal(engine)
    except BaseException:
        engine.dispose()
        raise
    if made:
        _LOG.warning("a new, empty database was made: %s", name)
    return Store(engine, name=name, clock=clock or (SystemClock() if sqlite else None), made=made)


def open_for_reading(url: str, *, clock: Clock | None = None) -> Store:
    """Open the fleet's database for whoever only reads: nothing is made, and nothing changed by opening it.

    Where there is no SQLite file yet, or one that holds nothing, the store is :attr:`Store.absent`: an empty fleet in
    memory, of which nothing stays.

    Raises:
        StoreUnavailable, SchemaMismatch: as :func:`open_store`.
    """
    name = not_there(url)
    return open_store(url, clock=clock, create=False) if name is None else _absent(name, clock or SystemClock())


def not_there(url: str) -> str | None:
    """The address of a SQLite database whose file is not there yet, or is empty; None for any other."""
    parsed = parse_url(url)
    if parsed.get_backend_name() != "sqlite":
        return None
    return None if _size(sqlite_path(parsed)) else masked(parsed)


def _absent(name: str, clock: Clock) -> Store:
    engine = make_memory_engine()
    with engine.execution_options(**{WRITES: True}).begin() as connection:
        make_tables(connection)
    return Store(engine, name=name, clock=clock, absent=True)


def _size(path: Path) -> int | float | None:
    """How many bytes are there; None where nothing is. What cannot be looked at is there: opening it says why."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return math.inf


def _holds_nothing(engine: Engine) -> bool:
    with engine.connect() as connection:
        return is_empty(connection)
