# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The database's errors as ours: no SQLAlchemy or driver error, and no parameter of a statement, leaves the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..model.errors import Code, OperationError, SchemaMismatch, StoreUnavailable

MIGRATE = "run `bc-fleetd migrate` with this database_url"
"""What to do when the schema does not fit."""


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Raise our errors for whatever the database raises within the block.

    Arguments:
        name: the database's address without its password.

    Raises:
        StoreUnavailable: no connection, a lost one, a time-out of a lock or statement, a deadlock: come again.
        OperationError: CONFLICT where a unique key or a reference stands against the write.
        SchemaMismatch: a table or column is missing.
    """
    from sqlalchemy import exc

    try:
        yield
    except exc.IntegrityError as failure:
        # The driver's text can hold the values of the row, so it is left out, also as a cause. And the database's
        # address: a refusal goes to whoever asked, be it a tenant or a machine.
        raise OperationError(
            Code.CONFLICT, f"the records changed meanwhile: {_constraint(failure)}; look again"
        ) from None
    except (exc.OperationalError, exc.InterfaceError, exc.TimeoutError) as failure:
        if _missing_table(failure):
            raise SchemaMismatch(f"{name} lacks a table of this version: {MIGRATE}") from None
        raise StoreUnavailable(f"{name}: {_reason(failure)}") from None
    except exc.ProgrammingError as failure:
        if _missing_table(failure):
            raise SchemaMismatch(f"{name} lacks a table or column of this version: {MIGRATE}") from None
        raise
    except exc.DBAPIError as failure:
        if failure.connection_invalidated:
            raise StoreUnavailable(f"{name}: {_reason(failure)}") from None
        if "file is not a database" in str(failure.orig):
            raise SchemaMismatch(f"{name} is not an SQLite database") from None
        raise


def _constraint(failure: Exception) -> str:
    """The name of the constraint that refused, without values."""
    original = getattr(failure, "orig", None)
    named = getattr(getattr(original, "diag", None), "constraint_name", None)
    # SQLite names columns only ("UNIQUE constraint failed: sites.name"), never values.
    return str(named or original)


def _missing_table(failure: Exception) -> bool:
    # SQLite: "no such table/column"; PostgreSQL: undefined_table and undefined_column.
    original = getattr(failure, "orig", None)
    return getattr(original, "sqlstate", None) in ("42P01", "42703") or str(original).startswith(
        ("no such table", "no such column")
    )


def _reason(failure: Exception) -> str:
    """The driver's own words on one line; they name host and user, never the password."""
    original = getattr(failure, "orig", None) or failure
    return " ".join(str(original).split()) or type(original).__name__
