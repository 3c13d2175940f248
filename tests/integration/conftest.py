# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store under test: one on each database, with the tables in it and a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, open_store
from ansible_collections.better_compute.fleet.tests.support.postgres import PostgresServer
from ansible_collections.better_compute.fleet.tests.support.prepared_databases import (
    copy_of,
    empty,
    make_template,
    prepare,
)
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock


@pytest.fixture
def clock() -> HandClock:
    """The store's clock."""
    return HandClock()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the tables and no rows."""
    return make_template(tmp_path_factory.mktemp("template") / "fleet.db")


@pytest.fixture(scope="session")
def prepared_postgresql_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The session's PostgreSQL database with the tables."""
    with postgres_server.fresh_database(hint="prepared") as url:
        yield prepare(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database with the tables and no rows: once SQLite, once PostgreSQL."""
    if request.param == "sqlite":
        return copy_of(request.getfixturevalue("sqlite_template"), to=tmp_path / "fleet.db")
    url: str = request.getfixturevalue("prepared_postgresql_url")
    empty(url)
    return url


@pytest.fixture
def store(store_url: str, clock: HandClock) -> Iterator[Store]:
    """An open store on the test's clock."""
    opened = open_store(store_url, clock=clock)
    yield opened
    opened.close()
