# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opening a database: a new SQLite file is made, anything else must have this version's schema already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.clock import Clock, SystemClock
from ..model.errors import StoreUnavailable
from .engine import make_engine, masked, parse_url
from .failures import translated
from .schema import check_schema, create_schema, is_empty, sqlite_path, use_wal
from .unit_of_work import Store

if TYPE_CHECKING:
    from sqlalchemy import Engine


def open_store(url: str, *, clock: Clock | None = None, create: bool = True) -> Store:
    """Open the fleet's database.

    Arguments:
        url: `sqlite:///<file>` or `postgresql+psycopg://…`.
        clock: what tells `Tx.now`; None for the database's own clock on PostgreSQL and the machine's on SQLite.
        create: whether a SQLite file that does not exist (or holds nothing) is made. Without it nothing of a database
            is changed by opening it. PostgreSQL is never created here.

    Raises:
        StoreUnavailable: the address is of no known kind, nothing answers there, or there is no such file.
        SchemaMismatch: the database is not of this version; the text says what to run.
    """
    parsed = parse_url(url)
    name = masked(parsed)
    engine = make_engine(parsed)
    sqlite = parsed.get_backend_name() == "sqlite"
    if sqlite and not create and not sqlite_path(parsed).exists():
        raise StoreUnavailable(f"{name} does not exist")
    try:
        with translated(name):
            if sqlite and create and (not sqlite_path(parsed).exists() or _holds_nothing(engine)):
                create_schema(url)
            check_schema(engine, name=name)
            if sqlite and create:
                use_wal(engine)
    except BaseException:
        engine.dispose()
        raise
    return Store(engine, name=name, clock=clock or (SystemClock() if sqlite else None))


def _holds_nothing(engine: Engine) -> bool:
    with engine.connect() as connection:
        return is_empty(connection)
