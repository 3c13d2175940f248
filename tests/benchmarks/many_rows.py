# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A database of very many pools, fast: one pool is applied as ever, and its rows are copied with other ids and names.

Applying ten thousand pools takes minutes, and is not what is measured. That the copies are what an apply would have
written is checked by whoever uses them: the document of all these pools must plan to no change.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import (
    Session,
    open_session,
)

from .documents import many_pools, pool_name

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32, as in ids."""

_COPIED_DIGITS: Final = 4
"""Of an id, changed in each copy: 32^4 is a million pools."""

_FAR_FROM_NOW: Final = "7"
"""The highest first digit of a ULID: the year 10000, so that no copy has an original's id."""


def database_of(count: int, file: Path, *, flavors: int = 2) -> str:
    """The URL of a new SQLite database in which `documents.many_pools(count, flavors=flavors)` is recorded."""
    url = f"sqlite:///{file}"
    with open_session(load_settings(environ={"BC_FLEET_STORE_DATABASE_URL": url})) as session:
        one = fleet.plan_fleet(session, parse_document(many_pools(1, flavors=flavors)), prune=False, refresh=False)
        fleet.apply_fleet(session, one)
        ids = _ids_of_the_pool(session)
    with closing(sqlite3.connect(file)) as database, database:
        for table in [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]:
            _copy(database, table, ids, count)
    return url


def _ids_of_the_pool(session: Session) -> list[str]:
    """The ids that belong to the one pool, without their prefixes: its own, its cluster's, its node pools'."""
    told = fleet.describe(session)
    [pool], [substrate] = told["pools"], told["substrates"]
    found = [pool["id"], substrate["cluster_id"], *(node_pool["id"] for node_pool in pool["node_pools"])]
    return [one.rpartition("_")[2] for one in found]


def _copy(database: sqlite3.Connection, table: str, ids: list[str], count: int) -> None:
    """Copy the table's rows that name one of the ids; numbers that the database gives itself are left to it."""
    columns = [
        name
        for _number, name, kind, _null, _default, key in database.execute(f"PRAGMA table_info({table})")
        if not (key and kind == "INTEGER")
    ]
    named = ", ".join(f'"{name}"' for name in columns)
    rows = [
        row
        for row in database.execute(f"SELECT {named} FROM {table}")
        if any(one in value for one in ids for value in row if isinstance(value, str))
    ]
    marks = ", ".join("?" * len(columns))
    for row in rows:
        own = [str(value).rpartition("_")[2] for value, name in zip(row, columns, strict=True) if name == "id"]
        database.executemany(f"INSERT INTO {table} ({named}) VALUES ({marks})", _copies(row, {*ids, *own}, count))


def _copies(row: tuple[object, ...], ids: set[str], count: int) -> Iterator[tuple[object, ...]]:
    for number in range(1, count):
        renamed = {pool_name(0): pool_name(number), **{one: _other(one, number) for one in ids}}
        yield tuple(_replaced(value, renamed) if isinstance(value, str) else value for value in row)


def _replaced(value: str, renamed: dict[str, str]) -> str:
    for old, new in renamed.items():
        value = value.replace(old, new)
    return value


def _other(ulid: str, number: int) -> str:
    """Another ULID: the copy's number in its first digits, which say the time, and a time that is far from now."""
    digits = ""
    for _digit in range(_COPIED_DIGITS):
        number, place = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[place] + digits
    return f"{_FAR_FROM_NOW}{digits}{ulid[1 + _COPIED_DIGITS :]}"
