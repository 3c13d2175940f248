# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How bcd is run stands in one file that modules and the daemon read: what the one applied, the other leaves alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ansible_collections.better_compute.fleet.daemon.commands.once import run_due
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.tests.support.life.world import document

from .conftest import MakeModules

AGENT = """\
[agent]
image = "registry.example/bcd:7"
gateway_url = "https://gateway.example:8443"
pins = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
control_plane_url = "https://api.example"
runtime_class = "nvidia"
resource_name = "example.com/gpu"
"""


def test_every_agent_setting_of_the_file_reaches_bcd_and_the_daemon_changes_nothing_of_it(
    make_modules: MakeModules, tmp_path: Path
) -> None:
    modules = make_modules(BC_FLEET_AGENT_IMAGE="", BC_FLEET_AGENT_GATEWAY_URL="", BC_FLEET_AGENT_PINS="")
    settings = tmp_path / "fleet.toml"
    settings.write_text(AGENT, encoding="utf-8")
    done = modules.run("bc_fleet", config=document(), settings=str(settings))
    assert (done["failed"], done["substrates"][0]["state"]) == (False, "ready")

    fleet = modules.fleet
    cluster = fleet.scene.world.apis.cluster(fleet.cluster().name)
    assert cluster is not None
    config = cluster.read("ConfigMap", "bcd", "better-compute")
    assert config is not None
    assert config["data"] == {
        "BCD_CONTROL_PLANE_URL": "https://api.example",
        "BCD_GATEWAY_URL": "https://gateway.example:8443",
        "BCD_PINS": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "BCD_RESOURCE_NAME": "example.com/gpu",
    }
    [daemon_set] = cluster.daemon_sets()
    pod = daemon_set["spec"]["template"]["spec"]
    assert pod["runtimeClassName"] == "nvidia"
    assert {one["image"] for one in [*pod["initContainers"], *pod["containers"]]} == {"registry.example/bcd:7"}

    environment = {"BC_FLEET_STORE_DATABASE_URL": fleet.scene.database_url}
    daemons = replace(fleet.session, settings=load_settings(str(settings), environ=environment))
    fleet.scene.clock.advance(600)
    mark = fleet.scene.engine.log.mark
    said: list[str] = []
    assert run_due(daemons, say=said.append)
    assert "ready" in said[0]
    bcds = [entry for entry in fleet.scene.engine.log.writes(after=mark) if entry.call.target.endswith("/bcd")]
    assert bcds == []
