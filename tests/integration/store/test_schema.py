# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a database comes to its schema: made new, or migrated; and what is said when it has none that fits."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, inspect, text

from ansible_collections.better_compute.fleet.daemon.migrations import alembic_config, migrate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    SchemaMismatch,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    create_schema,
    fleet,
    open_for_reading,
    open_store,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.schema import HEAD
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.store_processes import run_at_once


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """A plain look at the database, past the store."""
    engine = create_engine(database_url)
    yield engine
    engine.dispose()


def described_sqlite(connection: Connection) -> dict[str, Any]:
    """Columns, references, unique keys and indexes of each table, as SQLite's pragmas and its own text give them."""

    def pragma(what: str, name: str) -> list[Any]:
        return [tuple(row) for row in connection.exec_driver_sql(f"PRAGMA {what}('{name}')")]

    said: dict[str, Any] = {}
    for table in inspect(connection).get_table_names():
        # What comes later stands last in a migrated table: nothing of ours goes by the order of columns.
        said[table] = sorted(column[1:] for column in pragma("table_info", table))
        said[f"references of {table}"] = sorted(row[2:] for row in pragma("foreign_key_list", table))
        said[f"unique keys of {table}"] = sorted(
            (row[3], [column for _rank, _number, column in pragma("index_info", row[1])])
            for row in pragma("index_list", table)
        )
    made = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"))
    return {**said, **{row.name: row.sql for row in made}}


def described(connection: Connection) -> dict[str, Any]:
    """Everything that the database itself says of its schema, in words that can be compared."""
    if connection.dialect.name == "sqlite":
        return described_sqlite(connection)
    indexes = connection.execute(text("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"))
    columns = connection.execute(
        text(
            "SELECT table_name, column_name, data_type, is_nullable, column_default "
            "FROM information_schema.columns WHERE table_schema = 'public'"
        )
    )
    constraints = connection.execute(
        text(
            "SELECT conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint "
            "WHERE connamespace = 'public'::regnamespace"
        )
    )
    return {
        **{row.indexname: row.indexdef for row in indexes},
        **{f"{row.table_name}.{row.column_name}": tuple(row) for row in columns},
        **{f"constraint {row.conname}": row.definition for row in constraints},
    }


def test_the_newest_revision_is_the_one_that_new_databases_are_stamped_with() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_current_head() == HEAD


def test_migrating_an_empty_database_leads_to_the_tables(database_url: str, engine: Engine) -> None:
    migrate(database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, tables().metadata) == []


def test_migrating_and_creating_lead_to_the_same_schema(database_url: str, engine: Engine) -> None:
    migrate(database_url)
    with engine.begin() as connection:
        migrated = described(connection)
        tables().metadata.drop_all(connection)
        connection.execute(text("DROP TABLE alembic_version"))
    create_schema(database_url)
    with engine.connect() as connection:
        assert described(connection) == migrated
    assert len(migrated) > len(tables().metadata.tables)


def test_a_migrated_database_opens(database_url: str) -> None:
    migrate(database_url)
    open_store(database_url).close()


def test_migrating_twice_changes_nothing(database_url: str) -> None:
    migrate(database_url)
    store = open_store(database_url)
    with store.write() as tx:
        fleet.put_site(tx, rows.site())
    migrate(database_url)
    with store.read() as tx:
        assert len(fleet.sites(tx)) == 1
    store.close()


def test_an_empty_postgresql_database_says_what_to_run(postgresql_url: str) -> None:
    with pytest.raises(SchemaMismatch, match="bc-fleetd migrate"):
        open_store(postgresql_url)


def test_a_database_of_an_older_revision_says_what_to_run(database_url: str, engine: Engine) -> None:
    create_schema(database_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    with pytest.raises(SchemaMismatch, match=f"has schema 0001, this version needs {HEAD}: run `bc-fleetd migrate`"):
        open_store(database_url)


def test_a_database_of_a_newer_revision_says_what_to_install(database_url: str, engine: Engine) -> None:
    create_schema(database_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaMismatch, match=f"has schema 9999, this version needs {HEAD}: .* install that version"):
        open_store(database_url)
    with pytest.raises(SchemaMismatch, match="newer version"):
        migrate(database_url)


def test_a_database_of_something_else_is_left_alone(database_url: str, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE customers (id INTEGER)"))
    for attempt in (open_store, create_schema, migrate):
        with pytest.raises(SchemaMismatch):
            attempt(database_url)
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["customers"]


def test_a_file_that_is_no_database_is_a_mismatch(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but a text of some length " * 50)
    with pytest.raises(SchemaMismatch, match="not an SQLite database"):
        open_store(f"sqlite:///{tmp_path / 'notes.txt'}")


def test_a_new_sqlite_file_is_made_for_its_owner_and_its_folders_group(tmp_path: Path) -> None:
    path = tmp_path / "state" / "fleet.db"
    before = os.umask(0o077)
    try:
        open_store(f"sqlite:///{path}", make_folder=True).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    assert path.stat().st_gid == path.parent.stat().st_gid


def test_a_file_that_was_begun_and_never_finished_is_made_ready(tmp_path: Path) -> None:
    (tmp_path / "fleet.db").touch()
    open_store(f"sqlite:///{tmp_path / 'fleet.db'}").close()
    open_store(f"sqlite:///{tmp_path / 'fleet.db'}", create=False).close()


def test_a_missing_file_is_not_made_unless_asked_for(sqlite_url: str, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"no database yet.*does not exist"):
        open_store(sqlite_url, create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_somebody_named_is_not_made(tmp_path: Path) -> None:
    for attempt in (open_store, migrate, create_schema):
        with pytest.raises(StoreUnavailable, match=f"there is no folder {tmp_path}/misspelled: correct database_url"):
            attempt(f"sqlite:///{tmp_path}/misspelled/fleet.db")
    assert list(tmp_path.iterdir()) == []


def test_a_new_sqlite_file_is_told_once(sqlite_url: str, caplog: pytest.LogCaptureFixture) -> None:
    first, second = open_store(sqlite_url), open_store(sqlite_url)
    assert (first.made, second.made) == (True, False)
    assert caplog.messages == [f"a new, empty database was made: {first.name}"]
    first.close()
    second.close()


def test_who_only_reads_makes_no_file_and_finds_an_empty_fleet(sqlite_url: str, tmp_path: Path) -> None:
    store = open_for_reading(sqlite_url)
    assert store.absent
    assert store.name == sqlite_url
    with store.read() as outer, store.read() as inner:
        assert (fleet.sites(outer), fleet.pools(inner)) == ((), ())
    store.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("opened", [open_store, open_for_reading])
def test_a_path_that_cannot_be_looked_at_is_no_missing_database(opened: Callable[[str], Store]) -> None:
    with pytest.raises(StoreUnavailable, match="unable to open database file"):
        opened(f"sqlite:////{'x' * 300}")


def test_two_fleets_without_a_database_have_nothing_in_common(sqlite_url: str) -> None:
    first, second = open_for_reading(sqlite_url), open_for_reading(sqlite_url)
    with first.write() as tx:
        fleet.put_site(tx, rows.site())
    with second.read() as tx:
        assert fleet.sites(tx) == ()
    first.close()
    second.close()


def test_a_file_that_was_begun_and_never_finished_is_left_as_it_is_by_who_only_reads(tmp_path: Path) -> None:
    (tmp_path / "fleet.db").touch()
    store = open_for_reading(f"sqlite:///{tmp_path / 'fleet.db'}")
    assert store.absent
    store.close()
    assert (tmp_path / "fleet.db").stat().st_size == 0


def test_who_only_reads_reads_what_is_recorded(database_url: str) -> None:
    create_schema(database_url)
    written = open_store(database_url)
    with written.write() as tx:
        fleet.put_site(tx, rows.site())
    store = open_for_reading(database_url)
    assert not store.absent
    with store.read() as tx:
        assert len(fleet.sites(tx)) == 1
    store.close()
    written.close()


def test_processes_that_open_one_new_file_at_once_all_succeed(sqlite_url: str) -> None:
    assert run_at_once("open", sqlite_url, processes=3) == [0, 0, 0]
    store = open_store(sqlite_url)
    with store.read() as tx:
        assert [site.name for site in fleet.sites(tx)] == ["site-0", "site-1", "site-2"]
    store.close()


def test_processes_that_migrate_one_database_at_once_all_succeed(database_url: str) -> None:
    assert run_at_once("migrate", database_url, processes=2) == [0, 0]
    open_store(database_url).close()
