# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the GKE driver's token into a cluster: our own access there, and the Nodes of a node pool that it made."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.world import World
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import access, node_list
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import ClusterAccessDenied
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import node_labels
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.clients import Clients
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.driver import GkeDriver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.settings import GkeSettings
from ansible_collections.better_compute.fleet.tests.support.emulated_subject import POOL
from ansible_collections.better_compute.fleet.tests.support.gke_subject import CLUSTER, NODE_POOL

_AN_HOUR_SECONDS = 3600

SPOT = dataclasses.replace(
    NODE_POOL, name="spot", nodes=2, spot=True, labels=node_labels(pool_id=POOL, spot=True), gpus_per_node=8
)


def test_the_accounts_token_opens_the_cluster_and_its_nodes_are_ours(tmp_path: Path) -> None:
    clock = VirtualClock()
    with World(engine=Engine(clock)) as world:
        key = tmp_path / "key.json"
        key.write_text(json.dumps(world.gcp.service_account_key()))
        settings = GkeSettings(
            project=world.gcp.project, endpoint_url=world.gcp.endpoint_url, credential={"file": str(key)}
        )
        driver = GkeDriver(settings=settings, clients=Clients.open(settings), clock=clock)
        driver.ensure_cluster(CLUSTER, (NODE_POOL, SPOT))
        clock.advance(_AN_HOUR_SECONDS)
        cluster = driver.get_cluster(CLUSTER)
        assert cluster is not None
        bootstrap = driver.bootstrap_access(cluster)
        with access.open_cluster(bootstrap, pool_id=POOL) as api:
            nodes = node_list.list_nodes(api, pool_id=POOL)
        assert {(node.node_pool, node.zone, node.spot) for node in nodes} == {
            (spec.name, zone, spec.spot) for spec in (NODE_POOL, SPOT) for zone in NODE_POOL.places
        }
        assert all(node.name.startswith("gke-") for node in nodes)
        with pytest.raises(ClusterAccessDenied):
            access.open_cluster(dataclasses.replace(bootstrap, token=Secret("another")), pool_id=POOL)
