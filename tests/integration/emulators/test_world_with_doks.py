# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DOKS among the other emulators: its clusters have APIs that know its tokens, its machines become Nodes and go."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

import pydo
import pytest

from ansible_collections.better_compute.fleet.emulators.digitalocean import Timings
from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.machines import MachineTimes
from ansible_collections.better_compute.fleet.emulators.world import World

TIMINGS = Timings().divided_by(10)
TIMES = MachineTimes(boot_seconds=10, node_gone_seconds=5, secret_sync_seconds=2, spot_notice_seconds=20)
POOL = {"name": "h100", "size": "gpu-h100x8-640gb", "count": 2, "labels": {"mine": "yes"}}
SERVED_SECONDS = TIMINGS.cluster_create + TIMINGS.droplet_create + TIMES.boot_seconds


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def world(clock: VirtualClock) -> Iterator[World]:
    with World(engine=Engine(clock), digitalocean_timings=TIMINGS, machine_times=TIMES) as world:
        yield world


@pytest.fixture
def doks(world: World) -> Any:
    cloud = world.digitalocean
    return pydo.Client(
        token=cloud.token, endpoint=cloud.endpoint_url, connection_verify=str(cloud.ca_file), retry_total=0
    ).kubernetes


def create(doks: Any, *, name: str = "one", **changes: Any) -> Any:
    body = {"name": name, "region": "nyc2", "version": "1.34.1-do.0", "node_pools": [{**POOL, **changes}]}
    return doks.create_cluster(body=body)["kubernetes_cluster"]


def first_pool(doks: Any, cluster: Any) -> Any:
    return doks.list_node_pools(cluster["id"])["node_pools"][0]


def list_nodes(credentials: Any) -> tuple[int, list[str]]:
    """The status of a list of Nodes at a cluster's own API, and the names of those that are labelled mine=yes."""
    ca_pem = base64.b64decode(credentials["certificate_authority_data"]).decode()
    https = HTTPSHandler(context=ssl.create_default_context(cadata=ca_pem))
    headers = {
        "Authorization": f"Bearer {credentials['token']}",
        "Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    }
    request = Request(f"{credentials['server']}/api/v1/nodes?labelSelector=mine%3Dyes&limit=500", headers=headers)
    try:
        with build_opener(ProxyHandler({}), https).open(request, timeout=30) as response:
            return response.status, [item["metadata"]["name"] for item in json.load(response)["items"]]
    except HTTPError as error:
        with error:
            return error.code, []


def nodes(world: World) -> dict[str, Any]:
    """The Nodes of cluster `one`, by name."""
    cluster = world.apis.cluster("do-nyc2-one")
    assert cluster is not None
    return {node["metadata"]["name"]: node for node in cluster.nodes()}


def taint_keys(node: Any) -> list[str]:
    return [taint["key"] for taint in node["spec"]["taints"]]


def test_droplets_become_nodes_that_the_cluster_s_token_lists_and_then_go(
    world: World, clock: VirtualClock, doks: Any
) -> None:
    cluster = create(doks)
    clock.advance(SERVED_SECONDS)
    pool = first_pool(doks, cluster)
    assert {node["status"]["state"] for node in pool["nodes"]} == {"running"}
    credentials = doks.get_credentials(cluster["id"], expiry_seconds=600)
    assert credentials["server"] == doks.get_cluster(cluster["id"])["kubernetes_cluster"]["endpoint"]
    assert list_nodes(credentials) == (200, sorted(node["name"] for node in pool["nodes"]))
    found = nodes(world)
    for node in pool["nodes"]:
        assert found[node["name"]]["spec"]["providerID"] == f"digitalocean://{node['droplet_id']}"
        assert found[node["name"]]["metadata"]["labels"]["doks.digitalocean.com/node-id"] == node["id"]
        assert taint_keys(found[node["name"]]) == ["nvidia.com/gpu", "readiness.k8s.io/gpu-driver"]
    clock.advance(TIMINGS.drivers_healthy)
    assert [taint_keys(node) for node in nodes(world).values()] == [["nvidia.com/gpu"]] * 2
    doks.delete_cluster(cluster["id"])
    clock.advance(TIMINGS.cluster_delete + TIMINGS.droplet_linger)
    assert world.engine.inventory.items() == ()
    assert world.machines.running() == ()


def test_a_token_of_one_cluster_and_one_that_has_ended_are_nobody_at_another(clock: VirtualClock, doks: Any) -> None:
    one, two = create(doks), create(doks, name="two")
    clock.advance(SERVED_SECONDS)
    first = doks.get_credentials(one["id"], expiry_seconds=600)
    second = doks.get_credentials(two["id"], expiry_seconds=600)
    assert list_nodes({**first, "token": second["token"]}) == (401, [])
    assert list_nodes(first)[0] == 200
    clock.advance(600)
    assert list_nodes(first) == (401, [])


def test_removed_labels_stay_on_nodes_and_removed_taints_go(world: World, clock: VirtualClock, doks: Any) -> None:
    taint = {"key": "ours", "value": "", "effect": "NoSchedule"}
    cluster = create(doks, taints=[taint])
    clock.advance(SERVED_SECONDS + TIMINGS.drivers_healthy)
    pool = first_pool(doks, cluster)
    body = {"name": "h100", "count": 2, "labels": {"new": "1"}, "taints": []}
    doks.update_node_pool(cluster["id"], pool["id"], body=body)
    clock.advance(1)
    for node in nodes(world).values():
        labels = node["metadata"]["labels"]
        assert (labels["mine"], labels["new"]) == ("yes", "1")
        assert taint_keys(node) == ["nvidia.com/gpu"]


def test_a_spot_droplet_gets_its_notice_is_reclaimed_and_replaced_by_another_name(
    world: World, clock: VirtualClock, doks: Any
) -> None:
    cluster = create(doks, spot=True, count=1)
    clock.advance(SERVED_SECONDS)
    [before] = first_pool(doks, cluster)["nodes"]
    world.machines.preempt(before["droplet_id"])
    clock.advance(TIMES.spot_notice_seconds - 1)
    assert [node["id"] for node in first_pool(doks, cluster)["nodes"]] == [before["id"]]
    clock.advance(1)
    assert first_pool(doks, cluster)["nodes"] == []
    assert list(nodes(world)) == [before["name"]]
    clock.advance(TIMINGS.replace + TIMINGS.droplet_create + TIMES.boot_seconds)
    [after] = first_pool(doks, cluster)["nodes"]
    assert after["status"]["state"] == "running"
    assert list(nodes(world)) == [after["name"]]
    assert after["name"] != before["name"]


def test_the_process_says_where_digitalocean_answers() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ansible_collections.better_compute.fleet.emulators", "--while-stdin-is-open"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        said = json.loads(process.stdout.readline())["digitalocean"]
        client = pydo.Client(
            token=said["token"], endpoint=said["endpoint_url"], connection_verify=said["ca_file"], retry_total=0
        )
        assert client.kubernetes.list_clusters()["meta"] == {"total": 0}
        process.stdin.close()
        assert process.wait(timeout=30) == 0
