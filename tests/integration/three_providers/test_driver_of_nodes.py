# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How bcd comes to see the GPUs of a Node, on each provider: by the container runtime, or by the Node's own folders."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.names import AGENT, AGENT_NAMESPACE
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, DOKS, GKE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds


@pytest.mark.parametrize(
    ("cloud", "folder"),
    [(AWS, None), (GKE, "/home/kubernetes/bin/nvidia"), (DOKS, None)],
    ids=["eks", "gke", "doks"],
)
def test_bcd_has_the_nodes_driver_mounted_where_no_container_runtime_brings_it(
    clouds: FleetOnClouds, cloud: Cloud, folder: str | None
) -> None:
    nodes = {AWS: 1, GKE: 1, DOKS: 2}[cloud]
    clouds.join_all(cloud, cloud.flavor("h100", nodes=nodes), nodes=2)
    world = clouds.fleet.scene.world
    cluster = world.apis.cluster(world.machines.running()[0].cluster)
    assert cluster is not None
    daemon_set = cluster.read("DaemonSet", AGENT, AGENT_NAMESPACE)
    assert daemon_set is not None
    volumes = {volume["name"]: volume for volume in daemon_set["spec"]["template"]["spec"]["volumes"]}
    assert (volumes["driver"]["hostPath"]["path"] if "driver" in volumes else None) == folder
