# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who works on one provider loads no other provider's SDK, also where it is asked what stands there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Final

import pytest

from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, DOKS, GKE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds, environment_of

SDKS: Final = {
    AWS: ["boto3", "botocore"],
    GKE: ["google.api_core", "google.cloud", "grpc"],
    DOKS: ["azure", "pydo"],
}
"""pydo brings Azure's core with it. google.auth is no sign of Google's: the kubernetes package loads it, too."""

BC_FLEET: Final = """
import json, sys
from ansible.module_utils.testing import patch_module_args
from ansible_collections.better_compute.fleet.plugins.modules import bc_fleet
with patch_module_args(json.loads(sys.argv[1])):
    try:
        bc_fleet.main()
    except SystemExit:
        pass
print(json.dumps([name for name in json.loads(sys.argv[2]) if name in sys.modules]))
"""


@pytest.mark.parametrize("cloud", [AWS, GKE, DOKS], ids=["eks", "gke", "doks"])
def test_a_bc_fleet_that_looks_at_one_provider_loads_no_others_sdk(clouds: FleetOnClouds, cloud: Cloud) -> None:
    stage = clouds.fleet.scene
    flavor = cloud.flavor("h100", nodes=1, **({"zones": [cloud.zone]} if cloud.zone else {}))
    declared = clouds.document(cloud, flavor)
    clouds.fleet.apply(declared)
    clouds.fleet.live(until=lambda: clouds.fleet.view().ready, minutes=10)
    mark = stage.engine.log.mark
    arguments = {"config": declared, "database_url": stage.database_url}
    known = [name for names in SDKS.values() for name in names]
    ran = subprocess.run(
        [sys.executable, "-c", BC_FLEET, json.dumps(arguments), json.dumps(known)],
        env={**os.environ, **stage.environment, **environment_of(stage)},
        capture_output=True,
        text=True,
        check=True,
    )
    told, loaded = ran.stdout.strip().splitlines()
    assert json.loads(told)["changed"] is False, told
    assert json.loads(loaded) == SDKS[cloud]
    assert {entry.call.cloud for entry in stage.engine.log.entries(after=mark)} == {cloud.emulated}
