# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The store under test: one on each database, with the tables in it and a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, create_schema, open_store
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock


@pytest.fixture
def clock() -> HandClock:
    """The store's clock."""
    return HandClock()


@pytest.fixture
def store_url(database_url: str) -> str:
    """A database that has the tables."""
    create_schema(database_url)
    return database_url


@pytest.fixture
def store(store_url: str, clock: HandClock) -> Iterator[Store]:
    """An open store on the test's clock."""
    opened = open_store(store_url, clock=clock)
    yield opened
    opened.close()
