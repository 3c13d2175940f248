# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing a database to this version's schema (Alembic). The tables themselves are the store's.

A new revision is a file in versions/ that names the former one, together with the new tables and ``schema.HEAD`` in the
store; the tests compare what both lead to. There is no way back: restore the backup that was taken before.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.util.exc import CommandError

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import SchemaMismatch
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.engine import masked, parse_url
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.schema import changing_schema


def alembic_config() -> Config:
    """Alembic's settings: where the revisions are. The connection is given by :func:`migrate`."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config


def migrate(url: str, *, make_folder: bool = False) -> bool:
    """Bring the database to the newest revision, in one transaction; one that is there already is left as it is.

    Several processes may call it at once: one works, the others wait and find it done. A SQLite file that does not
    exist is made.

    Arguments:
        url: `sqlite:////<file>` or `postgresql+psycopg://…`.
        make_folder: whether a new SQLite file's folder is made, too.

    Returns:
        Whether anything was to be done.

    Raises:
        StoreUnavailable: the database cannot be reached, or is locked.
        SchemaMismatch: the database is of a newer version than this one.
    """
    with changing_schema(url, make_folder=make_folder) as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        context = MigrationContext.configure(connection)
        before = context.get_current_revision()
        try:
            command.upgrade(config, "head")
        except CommandError as failure:
            raise SchemaMismatch(
                f"{masked(parse_url(url))} was migrated by a newer version ({failure}): install that version here"
            ) from failure
        return context.get_current_revision() != before
