# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet of this process on the emulated clouds: on GKE, then on DOKS, or on all three at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.support.life import memory_folder, scene
from ansible_collections.better_compute.fleet.tests.support.life.clouds import DOKS, GKE, Cloud, Place
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet, fleet_at_hand
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds, environment_of


@pytest.fixture
def clouds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FleetOnClouds]:
    """A fleet with nothing declared, on SQLite in memory."""
    with memory_folder() as folder, scene(f"sqlite:///{folder / 'fleet.db'}", gcp=True) as stage:
        for name, value in environment_of(stage).items():
            monkeypatch.setenv(name, value)
        yield FleetOnClouds(fleet=fleet_at_hand(stage), place=Place(world=stage.world, folder=tmp_path))


@pytest.fixture
def fleet(clouds: FleetOnClouds) -> Fleet:
    """The same, for what has nothing to do with clouds."""
    return clouds.fleet


@pytest.fixture(params=[GKE, DOKS], ids=["gke", "doks"])
def cloud(request: pytest.FixtureRequest) -> Cloud:
    """GKE, then DOKS."""
    found: Cloud = request.param
    return found
