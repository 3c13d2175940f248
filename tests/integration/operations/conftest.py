# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A session on an emulated AWS with a fresh database, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store
from ansible_collections.better_compute.fleet.tests.support.life import memory_folder, scene
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet, fleet_at_hand
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk, desk_on
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock

MakeFleet = Callable[..., Fleet]


@pytest.fixture
def make_fleet(monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeFleet]:
    """Makes a fleet on a fresh scene: on SQLite in memory, or on the database at `url`."""
    with ExitStack() as stack:

        def make(*, url: str | None = None, **environment: str) -> Fleet:
            where = url or f"sqlite:///{stack.enter_context(memory_folder()) / 'fleet.db'}"
            stage = stack.enter_context(scene(where))
            for name, value in stage.environment.items():
                monkeypatch.setenv(name, value)
            return fleet_at_hand(stage, **environment)

        yield make


@pytest.fixture
def fleet(make_fleet: MakeFleet) -> Fleet:
    """A fleet on SQLite."""
    return make_fleet()


@pytest.fixture
def fleet_on_either(make_fleet: MakeFleet, database_url: str) -> Fleet:
    """A fleet on SQLite, then on PostgreSQL."""
    return make_fleet(url=database_url)


@pytest.fixture
def desk(store: Store, clock: HandClock) -> Desk:
    """A caller's session on a recorded cluster: once on SQLite, once on PostgreSQL."""
    return desk_on(store, clock)
