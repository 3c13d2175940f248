# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_fleet_info and `bc-fleetd status` tell of pools on all three providers in the same words."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.commands.status import print_table
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import list_substrates
from ansible_collections.better_compute.fleet.tests.support.life import memory_folder, scene
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, DOKS, GKE, Place
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import fleet_at_hand
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import environment_of
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules, modules_on

CLOUDS = (AWS, GKE, DOKS)


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Modules]:
    """The modules beside all three emulated clouds, with nothing declared."""
    with memory_folder() as folder, scene(f"sqlite:///{folder / 'fleet.db'}", gcp=True) as stage:
        yield modules_on(fleet_at_hand(stage), monkeypatch, **environment_of(stage))


def test_pools_on_three_providers_are_told_alike(modules: Modules, tmp_path: Path) -> None:
    place = Place(world=modules.fleet.scene.world, folder=tmp_path)
    flavors = {cloud: [cloud.flavor("h100")] for cloud in CLOUDS}
    document = place.document(flavors, names={cloud: f"on-{cloud.provider}" for cloud in CLOUDS})
    applied = modules.run("bc_fleet", config=document, wait=False)
    assert (applied["failed"], applied["changed"]) == (False, True), applied
    assert any("flavor h100: nodes 1 comes to " in str(warning) for warning in applied["warnings"])

    told = modules.run("bc_fleet_info")
    assert [(one["name"], one["provider"]) for one in told["provider_accounts"]] == sorted(
        (cloud.provider, cloud.provider) for cloud in CLOUDS
    )
    substrates = {one["pool"]: one for one in told["substrates"]}
    assert substrates.keys() == {f"on-{cloud.provider}" for cloud in CLOUDS}
    assert len({tuple(sorted(one)) for one in substrates.values()}) == 1, "each has the same fields"
    assert {one["state"] for one in substrates.values()} <= {"pending", "provisioning"}
    assert modules.fleet.scene.world.digitalocean.token not in "".join(modules.told)
    assert "PRIVATE KEY" not in "".join(modules.told)

    table = io.StringIO()
    print_table(list_substrates(modules.fleet.session), to=table)
    for cloud in CLOUDS:
        [line] = [line for line in table.getvalue().splitlines() if f"on-{cloud.provider}" in line]
        assert line.split()[1] == cloud.provider
