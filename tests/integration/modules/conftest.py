# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules on an emulated AWS with a fresh database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from ansible_collections.better_compute.fleet.tests.support.life import memory_folder, scene
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import fleet_at_hand
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules, modules_on

MakeModules = Callable[..., Modules]


@pytest.fixture
def make_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeModules]:
    """Makes modules on a fresh scene, on the database at `url` or SQLite; settings may differ (`BC_FLEET_…="…"`)."""
    with ExitStack() as stack:

        def make(*, url: str | None = None, **environment: str) -> Modules:
            where = url or f"sqlite:///{stack.enter_context(memory_folder()) / 'fleet.db'}"
            stage = stack.enter_context(scene(where))
            return modules_on(fleet_at_hand(stage, **environment), monkeypatch, **environment)

        yield make


@pytest.fixture
def modules(make_modules: MakeModules) -> Modules:
    """The modules, with nothing declared yet."""
    return make_modules()


@pytest.fixture
def modules_on_either(make_modules: MakeModules, database_url: str) -> Modules:
    """The modules on SQLite, then on PostgreSQL."""
    return make_modules(url=database_url)
