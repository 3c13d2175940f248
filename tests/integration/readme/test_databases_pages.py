# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pages say of making and upgrading a database is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command

from ansible_collections.better_compute.fleet.daemon.migrations import alembic_config, migrate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import SchemaMismatch
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import open_store
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.schema import changing_schema
from ansible_collections.better_compute.fleet.tests.support.pages import DOCS, README, keyed_rows, prose


def test_a_sqlite_file_is_made_by_itself_and_after_an_upgrade_needs_migrate_as_the_pages_say(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path / 'new.db'}").close()
    url = f"sqlite:///{tmp_path / 'old.db'}"
    with changing_schema(url) as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    with pytest.raises(SchemaMismatch, match="run `bc-fleetd migrate`"):
        open_store(url)
    assert migrate(url)
    open_store(url).close()

    readme = " ".join(prose(README).split())
    assert "after an upgrade a SQLite file needs it too" in readme
    assert "`migrate` is for PostgreSQL" not in readme
    row = keyed_rows(DOCS / "settings.md")["store.database_url"][-1]
    assert "A SQLite file that is not there is made by itself" in row
    assert "After an upgrade with a new schema either needs `bc-fleetd migrate`" in row
