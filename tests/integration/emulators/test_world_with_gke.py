# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GKE among the other emulators: its clusters have APIs that know Google's tokens, its machines become Nodes."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.cloud.container_v1 import ClusterManagerClient
from google.cloud.container_v1.services.cluster_manager.transports import ClusterManagerGrpcTransport

from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.gcp import Timings
from ansible_collections.better_compute.fleet.emulators.machines import MachineTimes
from ansible_collections.better_compute.fleet.emulators.world import World
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import Clock, SystemClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import ClusterSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.clients import Clients
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.driver import GkeDriver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.settings import GkeSettings

from .gke_client import ZONE
from .node_lists import list_nodes

API_NAME = "gke_my-project_us-central1-a_one"
POOL = {
    "name": "h100",
    "initial_node_count": 1,
    "config": {"machine_type": "a3-highgpu-8g", "spot": True, "labels": {"mine": "yes"}},
}
TAGS = {"mine": "yes"}
CLUSTER = {"name": "one", "node_pools": [POOL], "resource_labels": TAGS}


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def world(clock: VirtualClock) -> Iterator[World]:
    times = MachineTimes(boot_seconds=10, node_gone_seconds=5, secret_sync_seconds=2)
    with World(engine=Engine(clock), gcp_timings=Timings(replace=10), machine_times=times) as world:
        yield world


def call(target: str, token: str, method: str, request: dict[str, Any]) -> Any:
    with grpc.insecure_channel(target) as channel:
        client = ClusterManagerClient(transport=ClusterManagerGrpcTransport(channel=channel))
        return getattr(client, method)(
            request=request, metadata=[("authorization", f"Bearer {token}")], retry=None, timeout=30
        )


def ask(world: World, method: str, request: dict[str, Any]) -> Any:
    return call(world.gcp.target, world.gcp.access_token, method, request)


def create_cluster(world: World, clock: VirtualClock) -> None:
    """Have a cluster `one` with a Spot node pool of one GPU machine."""
    ask(world, "create_cluster", {"parent": ZONE, "cluster": CLUSTER})
    clock.advance(310)
    assert cluster(world).status.name == "RUNNING"


def cluster(world: World) -> Any:
    return ask(world, "get_cluster", {"name": f"{ZONE}/clusters/one"})


def nodes(shown: Any, token: str) -> tuple[int, list[str]]:
    ca_pem = base64.b64decode(shown.master_auth.cluster_ca_certificate).decode()
    return list_nodes(f"https://{shown.endpoint}", ca_pem=ca_pem, token=token)


def test_machines_of_a_node_pool_become_nodes_that_the_operator_s_token_lists_and_then_go(
    world: World, clock: VirtualClock
) -> None:
    create_cluster(world, clock)
    (machine,) = world.machines.running()
    assert nodes(cluster(world), world.gcp.access_token) == (200, [machine.node_name])
    kubernetes = world.apis.cluster(API_NAME)
    assert kubernetes is not None
    (node,) = kubernetes.nodes()
    assert node["spec"]["providerID"] == f"gce://my-project/us-central1-a/{machine.node_name}"
    assert node["metadata"]["labels"]["cloud.google.com/gke-nodepool"] == "h100"
    assert node["metadata"]["labels"]["cloud.google.com/gke-provisioning"] == "spot"

    ask(world, "delete_node_pool", {"name": f"{ZONE}/clusters/one/nodePools/h100"})
    clock.advance(60)
    assert nodes(cluster(world), world.gcp.access_token) == (200, [])
    ask(world, "delete_cluster", {"name": f"{ZONE}/clusters/one"})
    clock.advance(180)
    assert world.engine.inventory.items() == ()
    assert world.apis.cluster(API_NAME) is None


def test_a_node_pool_is_running_only_when_its_nodes_are(world: World, clock: VirtualClock) -> None:
    ask(world, "create_cluster", {"parent": ZONE, "cluster": CLUSTER})
    clock.advance(309)
    assert (cluster(world).status.name, cluster(world).endpoint != "") == ("PROVISIONING", False)
    clock.advance(1)
    assert (cluster(world).status.name, cluster(world).endpoint != "") == ("RUNNING", True)


def test_a_cluster_knows_nobody_but_google_s_accounts(world: World, clock: VirtualClock) -> None:
    create_cluster(world, clock)
    assert nodes(cluster(world), "nobody")[0] == 401
    token = world.gcp.tokens.issue("somebody@my-project.iam.gserviceaccount.com", seconds=600)
    assert nodes(cluster(world), token)[0] == 200
    clock.advance(600)
    assert nodes(cluster(world), token)[0] == 401
    assert world.user(world.gcp.access_token, "a-cluster-of-another-cloud") is None


def test_a_preempted_machine_has_half_a_minute_and_comes_back_under_its_name_as_another_node(
    world: World, clock: VirtualClock
) -> None:
    create_cluster(world, clock)
    kubernetes = world.apis.cluster(API_NAME)
    assert kubernetes is not None
    (machine,) = world.machines.running()
    (before,) = kubernetes.nodes()
    world.machines.preempt(machine.instance_id)
    clock.advance(29)
    assert world.machines.running() == (machine,)
    clock.advance(1)
    assert world.machines.running() == ()
    clock.advance(5)
    assert kubernetes.nodes() == ()
    clock.advance(15)
    (back,) = world.machines.running()
    assert (back.node_name, back.instance_id != machine.instance_id) == (machine.node_name, True)
    (after,) = kubernetes.nodes()
    assert after["metadata"]["name"] == before["metadata"]["name"]
    assert after["metadata"]["uid"] != before["metadata"]["uid"]


def open_driver(folder: Path, clock: Clock, *, project: str, url: str, key: dict[str, str]) -> GkeDriver:
    """The product's driver, on a key file as Google's console hands one out."""
    file = folder / "key.json"
    file.write_text(json.dumps(key))
    settings = GkeSettings(project=project, endpoint_url=url, credential={"file": str(file)})
    return GkeDriver(settings=settings, clients=Clients.open(settings), clock=clock)


def test_the_driver_s_access_is_an_administrator_s_of_the_cluster(
    world: World, clock: VirtualClock, tmp_path: Path
) -> None:
    gcp = world.gcp
    driver = open_driver(tmp_path, clock, project=gcp.project, url=gcp.endpoint_url, key=gcp.service_account_key())
    create_cluster(world, clock)
    spec = ClusterSpec(name="one", location="us-central1-a", private_nodes=False, tags=TAGS)
    found = driver.get_cluster(spec)
    assert found is not None
    access = driver.bootstrap_access(found)
    status, names = list_nodes(access.endpoint, ca_pem=access.ca_pem, token=access.token.reveal())
    assert (status, len(names)) == (200, 1)


@pytest.mark.e2e
def test_the_driver_finds_gke_in_another_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ansible_collections.better_compute.fleet.emulators"]
    arguments = ["--haste", "1000", "--while-stdin-is-open"]
    with subprocess.Popen([*command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdin is not None
        gcp = json.loads(running.stdout.readline())["gcp"]
        driver = open_driver(
            tmp_path,
            SystemClock(),
            project=gcp["project_id"],
            url=gcp["endpoint_url"],
            key=gcp["service_account_key"],
        )
        spec = ClusterSpec(name="one", location="us-central1-a", private_nodes=False, tags=TAGS)
        assert driver.get_cluster(spec) is None
        running.stdin.close()
        assert running.wait(timeout=60) == 0
