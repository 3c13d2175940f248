# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections to the two databases: how they are opened, what waits how long, and who begins a transaction.

SQLite: a few connections are kept, because each new one reads the whole schema (a millisecond and more, several times
what a transaction of ours takes). One must not be carried over a fork (SQLite, "How to corrupt": not even closed
there; Store sees to it), nor used when another file has taken the place of its own: that is looked at each time. The
file is in WAL mode, so readers never wait; a write transaction starts with BEGIN IMMEDIATE, so it never fails half-way
because somebody else began to write. Commits are synced in full: an intention is on the disk before the provider is
called, also when the power fails.

PostgreSQL: READ COMMITTED and row locks for writes. The fence locks the unit's row to the end of the transaction, which
orders the writers of one pool; across pools what must be unique is a unique key. SERIALIZABLE would add aborts of
transactions that had nothing to do with one another and would still need the fence. Reads are one REPEATABLE READ
snapshot.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.errors import StoreUnavailable

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

LOCK_TIMEOUT_SECONDS = 10
"""How long a statement waits for another writer: well under a lease (60 s), well over any transaction of ours."""

STATEMENT_TIMEOUT_SECONDS = 20
"""No statement of ours takes a second; a database that hangs must not cost a pass its lease."""

IDLE_TIMEOUT_SECONDS = 60
"""A process that hangs within a transaction loses its locks when its lease lapses too."""

CONNECT_TIMEOUT_SECONDS = 5

_SILENCE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 20_000}
"""A server whose host went away without a word is given up after about as long as a statement may take. Without it a
connection waits for ever: the statement's own limit is the server's to keep. Seconds, the last in milliseconds; libpq
(PostgreSQL, "Parameter Key Words") has nothing to do with them on a unix socket."""

_KEPT_CONNECTIONS = 8
"""To a SQLite file, each with three open files: one writes at a time, and reads are short. More are closed again."""

WRITES = "bc_writes"
"""Execution option of a connection whose transactions write."""

_FILE = "bc_file"
"""What a kept connection remembers: the device and number of its file."""


def parse_url(url: str) -> URL:
    """The database's address.

    Raises:
        StoreUnavailable: it is neither `sqlite:///` with an absolute path nor `postgresql+psycopg://…`. The text does
            not repeat it.
    """
    from sqlalchemy import exc, make_url

    try:
        parsed = make_url(url)
    except (exc.ArgumentError, ValueError):
        parsed = None
    if parsed is None or not (
        parsed.drivername == "postgresql+psycopg"
        or (parsed.drivername in ("sqlite", "sqlite+pysqlite") and Path(parsed.database or "").is_absolute())
    ):
        raise StoreUnavailable(
            "database_url must be sqlite:////<file> (four slashes: the path from the root) "
            "or postgresql+psycopg://<user>:<password>@<host>/<database>"
        )
    return parsed


def masked(url: URL) -> str:
    """The address without any password, for messages."""
    secret = {key: "***" for key in url.query if "password" in key}
    return url.update_query_dict(secret).render_as_string(hide_password=True)


def make_engine(url: URL) -> Engine:
    """An engine that connects lazily. Its errors and logs show no parameters of statements."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import QueuePool

    if url.get_backend_name() == "sqlite":
        engine = create_engine(
            url, poolclass=QueuePool, pool_size=_KEPT_CONNECTIONS, max_overflow=-1, hide_parameters=True
        )
        _control_sqlite(engine)
        _keep_to_the_file(engine, Path(str(url.database)))
        return engine
    return create_engine(
        url,
        # pre_ping: a restart of the server between two passes is no error of the second.
        pool_pre_ping=True,
        hide_parameters=True,
        isolation_level="READ COMMITTED",
        connect_args=_postgresql_arguments(url),
    )


def make_memory_engine() -> Engine:
    """An engine on a SQLite database of its own in this process's memory, empty, which ends with the engine.

    Connections share it by its name (SQLite, "In-Memory Databases": `cache=shared`). The pool keeps one open.
    """
    from sqlalchemy import create_engine
    from sqlalchemy.pool import QueuePool

    engine = create_engine(
        f"sqlite:///file:{uuid.uuid4()}?mode=memory&cache=shared&uri=true",
        poolclass=QueuePool,
        pool_size=_KEPT_CONNECTIONS,
        max_overflow=-1,
        hide_parameters=True,
    )
    _control_sqlite(engine)
    return engine


def _control_sqlite(engine: Engine) -> None:
    """Take transaction control from the driver, the way SQLAlchemy documents for every Python version.

    Source: SQLAlchemy, SQLite dialect, "Using SQLAlchemy to emit BEGIN in lieu of SQLite's transaction control".
    """
    from sqlalchemy import event

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {LOCK_TIMEOUT_SECONDS * 1000}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")

    @event.listens_for(engine, "begin")
    def begun(connection: Any) -> None:
        writes = connection.get_execution_options().get(WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _keep_to_the_file(engine: Engine, path: Path) -> None:
    """Use a kept connection only while the file that it has open still stands at its path."""
    from sqlalchemy import event, exc

    def at_its_path() -> tuple[int, int] | None:
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @event.listens_for(engine, "connect")
    def connected(_connection: Any, record: Any) -> None:
        record.info[_FILE] = at_its_path()

    @event.listens_for(engine, "checkout")
    def checked_out(_connection: Any, record: Any, _proxy: Any) -> None:
        if record.info[_FILE] != at_its_path():
            raise exc.DisconnectionError("another file has taken its place")


def _postgresql_arguments(url: URL) -> dict[str, Any]:
    limits = {
        "lock_timeout": LOCK_TIMEOUT_SECONDS,
        "statement_timeout": STATEMENT_TIMEOUT_SECONDS,
        "idle_in_transaction_session_timeout": IDLE_TIMEOUT_SECONDS,
    }
    options = " ".join(f"-c {name}={seconds}s" for name, seconds in limits.items())
    given = url.query.get("options")
    arguments: dict[str, Any] = {"options": f"{options} {given}" if isinstance(given, str) else options}
    ours = {"connect_timeout": CONNECT_TIMEOUT_SECONDS, **_SILENCE}
    return arguments | {name: value for name, value in ours.items() if name not in url.query}


def read_only_options(engine: Engine) -> dict[str, Any]:
    """Execution options of a connection that reads one consistent snapshot."""
    if engine.dialect.name == "sqlite":
        return {}
    return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
