# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet on an emulated AWS, run by this process: on SQLite, or where it matters on both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.support.life import memory_folder, scene
from ansible_collections.better_compute.fleet.tests.support.life.clouds import Place
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet, fleet_at_hand

MakeFleet = Callable[..., Fleet]


@pytest.fixture
def make_fleet(monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeFleet]:
    """Makes a fleet on a fresh scene; settings may differ (`BC_FLEET_…="…"`), the database and the clock be others."""
    with ExitStack() as stack:

        def make(*, url: str | None = None, fast_by: timedelta = timedelta(), **environment: str) -> Fleet:
            where = url or f"sqlite:///{stack.enter_context(memory_folder()) / 'fleet.db'}"
            stage = stack.enter_context(scene(where, fast_by=fast_by))
            for name, value in stage.environment.items():
                if name.startswith("AWS_"):
                    monkeypatch.setenv(name, value)
            return fleet_at_hand(stage, **environment)

        yield make


@pytest.fixture
def fleet(make_fleet: MakeFleet) -> Fleet:
    """A fleet on SQLite in memory."""
    return make_fleet()


@pytest.fixture
def fleet_on_either(make_fleet: MakeFleet, database_url: str) -> Fleet:
    """A fleet on SQLite, then on PostgreSQL."""
    return make_fleet(url=database_url)


@pytest.fixture
def place(fleet: Fleet, tmp_path: Path) -> Place:
    """What documents name."""
    return Place(world=fleet.scene.world, folder=tmp_path)
