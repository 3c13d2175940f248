# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool lives on GKE and on DOKS as it does on EKS: from its cluster, made with its first flavors, to nothing left."""

from __future__ import annotations

from typing import Any

from ansible_collections.better_compute.fleet.tests.support.life.clouds import GKE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds

CREATE_CLUSTER = {"gcp": "gke.CreateCluster", "digitalocean": "POST clusters"}
CREATE_NODE_POOL = {"gcp": "gke.CreateNodePool", "digitalocean": "POST clusters/{id}/node_pools"}


def test_x(clouds: FleetOnClouds, cloud: Cloud) -> None:
    h100, spot = cloud.flavor("h100"), cloud.spot_flavor("h100-spot")
    zones = 2 if cloud is GKE else 1
    clouds.join_all(cloud, h100, spot, nodes=zones + 1)
    print(clouds.carried_out(cloud))
    print(clouds.left())
    print(sorted(clouds.fleet.nodes()))
    mark = clouds.fleet.scene.engine.log.mark
    clouds.fleet.one_pass()
    print([str(e.call) for e in clouds.asked(cloud, after=mark)])
    clouds.prune()
    print(clouds.left())
