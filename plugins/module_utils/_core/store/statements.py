# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plain statements of all tables, each built once: building one takes several times what running it does.

A statement is built for a table and the names of its columns. What the columns hold comes with each execution, as the
parameters that :func:`conditions` and the names of the columns themselves are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from .column_types import texts

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Insert, Select, Table, Update

Names = tuple[str, ...]
"""Of columns, in the order in which they were given."""


def conditions(key: Mapping[str, Any], unless: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters for the row of this key whose other columns do not have these values."""
    return {f"is_{name}": value for name, value in key.items()} | {
        f"not_{name}": value for name, value in unless.items()
    }


@cache
def selecting(table: Table, columns: Names, key: Names, unless: Names) -> Select[Any]:
    """These columns of the row; all of them when none is named."""
    from sqlalchemy import select

    chosen = select(*(table.c[name] for name in columns)) if columns else table.select()
    return chosen.where(*_where(table, key, unless))


@cache
def updating(table: Table, key: Names, unless: Names) -> Update:
    """The row's columns that are among the parameters."""
    return table.update().where(*_where(table, key, unless))


@cache
def inserting(table: Table) -> Insert:
    """A row of the columns that are among the parameters."""
    return table.insert()


@cache
def inserting_once(table: Table, dialect: str) -> Insert:
    """The same, unless a unique key stands against it."""
    # Each where it is used, and no earlier: to load a dialect takes a short run a twentieth of its time.
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]  # the same, for the other database
    once = insert(table).on_conflict_do_nothing()
    # An INSERT keeps its row count only when asked to: psycopg forgets it with its cursor, and says -1.
    return once.execution_options(preserve_rowcount=True)


def among(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """Whether a column is one of many values, which are one parameter of this name: the statement is the same for any
    number of them, so that it is compiled and prepared once, and SQLite's bound of 999 parameters is none.
    """
    from sqlalchemy import bindparam

    is_among: ColumnElement[bool] = _among()(column, bindparam(name, type_=texts()))
    return is_among


@cache
def _among() -> Any:
    from sqlalchemy import Boolean
    from sqlalchemy.ext.compiler import compiles
    from sqlalchemy.sql.functions import FunctionElement

    class Among(FunctionElement[bool]):
        inherit_cache = True
        type = Boolean()
        name = "among"

        def self_group(self, against: Any = None) -> Any:  # noqa: ARG002 -- a predicate wherever it stands
            # Else SQLAlchemy asks SQLite, which has no booleans, whether it `= 1`: that finds no index, and goes
            # through the whole table instead.
            return self

    @compiles(Among, "postgresql")
    def _on_postgresql(element: Among, compiler: Any, **options: Any) -> str:
        column, values = (compiler.process(clause, **options) for clause in element.clauses)
        return f"{column} = ANY ({values})"

    @compiles(Among, "sqlite")
    def _on_sqlite(element: Among, compiler: Any, **options: Any) -> str:
        column, values = (compiler.process(clause, **options) for clause in element.clauses)
        return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 -- of SQLAlchemy's own texts

    return Among


def _where(table: Table, key: Names, unless: Names) -> list[ColumnElement[bool]]:
    from sqlalchemy import bindparam

    is_so = [table.c[name] == bindparam(f"is_{name}") for name in key]
    # Written out: a partial index is used for a condition in its own words only (standing.py).
    return is_so + [table.c[name] != bindparam(f"not_{name}", literal_execute=True) for name in unless]
