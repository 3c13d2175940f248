# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The product's clock is five minutes off, in either direction: credentials, matching, retiring, teardown go on."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.support.life import memory_folder, scene
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, DOKS, GKE, Place
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import fleet_at_hand
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import environment_of

CLOUDS = {AWS: "on-aws", GKE: "on-gke", DOKS: "on-doks"}


@pytest.mark.parametrize("minutes", [5, -5])
def test_a_life_with_a_clock_that_is_five_minutes_off(
    minutes: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fast_by = timedelta(minutes=minutes)
    with memory_folder() as folder, scene(f"sqlite:///{folder / 'fleet.db'}", gcp=True, fast_by=fast_by) as stage:
        for name, value in environment_of(stage).items():
            monkeypatch.setenv(name, value)
        fleet, place = fleet_at_hand(stage), Place(world=stage.world, folder=tmp_path)
        flavors = {cloud: [cloud.flavor("h100")] for cloud in CLOUDS}
        views = fleet.settle(fleet.apply(place.document(flavors, names=CLOUDS)))
        assert {view.pool: view.record.state for view in views} == dict.fromkeys(CLOUDS.values(), "ready")
        fleet.live(minutes=5)
        pools = {view.pool: view.record for view in fleet.settle(tuple(view.record.pool_id for view in views))}
        assert {name: record.message for name, record in pools.items()} == dict.fromkeys(pools, "")
        assert all(record.nodes_joined == record.nodes_listed > 0 for record in pools.values()), pools

        gone = fleet.settle(fleet.apply(place.document({}), prune=True))
        assert {str(view.record.state) for view in gone} == {"deleted"}
        assert stage.engine.inventory.items() == ()
