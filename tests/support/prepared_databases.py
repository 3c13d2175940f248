# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases that have the tables, for tests that only need rows: making the schema anew for each test is what costs.

SQLite: a copy of one file. PostgreSQL: one database for the session, emptied before each test.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from sqlalchemy import create_engine

from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import create_schema, open_store
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables


def make_template(path: Path) -> Path:
    """Make the SQLite file that tests copy."""
    open_store(f"sqlite:///{path}").close()
    return path


def copy_of(template: Path, *, to: Path) -> str:
    """Copy the file; gives the copy's URL."""
    shutil.copy(template, to)
    return f"sqlite:///{to}"


def prepare(url: str) -> str:
    """Make the tables in an empty database; gives its URL again."""
    create_schema(url)
    return url


def empty(url: str) -> None:
    """Delete every row of every table."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "; ".join(f"DELETE FROM {table.name}" for table in reversed(tables().metadata.sorted_tables))
        )
    engine.dispose()
