# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a database has this version's schema, and the making of a new one. Upgrades are in daemon/migrations."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.errors import SchemaMismatch, StoreUnavailable
from .engine import LOCK_TIMEOUT_SECONDS, WRITES, make_engine, masked, parse_url
from .failures import MIGRATE, translated
from .tables import tables

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

HEAD = "0005"
"""The newest revision in daemon/migrations (a test compares them)."""

_FILE_MODE = 0o660
"""Owner and the folder's group: operators' module runs and the daemon share the file."""

_NEW_FOLDER_MODE = 0o700

_LOCK_NUMBER = int.from_bytes(b"bcfleet", "big")
"""PostgreSQL's advisory locks are numbers; any constant of our own will do."""


def create_schema(url: str, *, make_folder: bool = False) -> bool:
    """Make this version's tables in an empty database (SQLite: also the file) and stamp it.

    Does nothing when the database has a stamp already, so several processes may call it at once.

    Arguments:
        make_folder: whether the folder of a SQLite file is made, too.

    Returns:
        Whether the tables were made now.

    Raises:
        SchemaMismatch: it holds tables and no stamp: it belongs to something else.
        StoreUnavailable: the database cannot be reached.
    """
    with changing_schema(url, make_folder=make_folder) as connection:
        if _stamp(connection) is not None:
            return False
        make_tables(connection)
        return True


def make_tables(connection: Connection) -> None:
    """Make this version's tables, and the stamp, in a database that holds nothing."""
    metadata = tables().metadata
    if connection.dialect.name == "postgresql":
        for index in (index for table in metadata.tables.values() for index in table.indexes):
            index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]
    metadata.create_all(connection, checkfirst=False)
    _write_stamp(connection)


@contextmanager
def changing_schema(url: str, *, make_folder: bool = False) -> Iterator[Connection]:
    """One transaction in which the schema may be made or changed, by one process at a time. A SQLite file is made.

    Arguments:
        make_folder: whether the folder of a SQLite file is made, too.

    Raises:
        SchemaMismatch: the database holds tables and no stamp: it belongs to something else.
        StoreUnavailable: the database cannot be reached, or stays locked.
    """
    parsed = parse_url(url)
    engine = make_engine(parsed)
    try:
        with translated(masked(parsed)):
            if parsed.get_backend_name() == "sqlite":
                _make_sqlite_file(parsed, make_folder=make_folder)
            with engine.execution_options(**{WRITES: True}).begin() as connection:
                if connection.dialect.name == "postgresql":
                    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK_NUMBER})")
                if _stamp(connection) is None and not is_empty(connection):
                    raise SchemaMismatch(f"{masked(parsed)} holds other tables: name a database of its own")
                yield connection
    finally:
        engine.dispose()


def check_schema(engine: Engine, *, name: str) -> None:
    """Make sure that the database is of this version.

    Raises:
        SchemaMismatch: it is not; the text says what to run.
    """
    with engine.connect() as connection:
        stamp = _stamp(connection)
    if stamp is None:
        raise SchemaMismatch(f"{name} is not a fleet's database yet: {MIGRATE}")
    if stamp != HEAD:
        # Revisions are numbers of one width, so they sort as text.
        cure = MIGRATE if stamp < HEAD else "it was migrated by a newer version: install that version here"
        raise SchemaMismatch(f"{name} has schema {stamp}, this version needs {HEAD}: {cure}")


def is_empty(connection: Connection) -> bool:
    """Whether the database holds no table: so it is new, or whoever began to make it died before the commit."""
    from sqlalchemy import inspect

    return not inspect(connection).get_table_names()


def sqlite_path(url: URL) -> Path:
    """The database's file."""
    return Path(str(url.database))


def _make_sqlite_file(url: URL, *, make_folder: bool) -> None:
    """Make an empty file with the right owner before SQLite does. One that exists is left as it is.

    SQLite gives the -wal and -shm files beside it the same mode and owner. Only the default's folder is made: one that
    somebody named and that is not there is most often misspelled, and would be a new, empty fleet.

    Raises:
        StoreUnavailable: the folder cannot be made or written.
    """
    path = sqlite_path(url)
    try:
        if make_folder:
            path.parent.mkdir(mode=_NEW_FOLDER_MODE, parents=True, exist_ok=True)
        elif not path.parent.is_dir():
            raise StoreUnavailable(
                f"{masked(url)} cannot be created: there is no folder {path.parent}: correct database_url, or make it"
            )
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _FILE_MODE)
        except FileExistsError:
            return
        try:
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, -1, path.parent.stat().st_gid)
            os.fchmod(descriptor, _FILE_MODE)
        finally:
            os.close(descriptor)
    except OSError as failure:
        raise StoreUnavailable(f"{masked(url)} cannot be created: {failure.strerror}") from failure


def use_wal(engine: Engine) -> None:
    """Switch the SQLite file to WAL, which it then keeps; one that came from a backup may have to be switched again.

    The switch needs the file alone and does not wait for others (SQLite refuses at once with "database is locked"
    whatever the busy timeout), so two processes that open one new file have to try again.
    """
    from sqlalchemy import exc

    deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
    while True:
        raw = engine.raw_connection()
        try:
            raw.cursor().execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as failure:
            if time.monotonic() > deadline:
                raise exc.OperationalError("PRAGMA journal_mode", {}, failure) from failure
            time.sleep(0.02)
        else:
            return
        finally:
            raw.close()


def _stamp(connection: Connection) -> str | None:
    from sqlalchemy import inspect

    if not inspect(connection).has_table("alembic_version"):
        return None
    stamp = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return None if stamp is None else str(stamp)


def _write_stamp(connection: Connection) -> None:
    from sqlalchemy import text

    # The very table that Alembic makes (alembic.runtime.migration).
    connection.exec_driver_sql(
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
        "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
    )
    connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:head)"), {"head": HEAD})
