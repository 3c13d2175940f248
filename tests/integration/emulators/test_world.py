# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulators together: AWS's clusters have APIs that know AWS's tokens, and machines that become Nodes."""

from __future__ import annotations

import base64
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import boto3
import pytest

from ansible_collections.better_compute.fleet.emulators.aws import Credentials, Timings
from ansible_collections.better_compute.fleet.emulators.control import ControlApi
from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.machines import MachineTimes
from ansible_collections.better_compute.fleet.emulators.world import World

from .bearer_tokens import bearer_token
from .conftest import CLUSTER_ROLE, NODE_ROLE, SUBNETS
from .node_lists import list_nodes

ENTRY_POINT = "ansible_collections.better_compute.fleet.emulators"


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def world(clock: VirtualClock) -> Iterator[World]:
    # So fast that botocore, which signs with the machine's clock, and the virtual clock agree.
    times = MachineTimes(boot_seconds=1, node_gone_seconds=1, secret_sync_seconds=1)
    with World(engine=Engine(clock), timings=Timings().divided_by(1000), machine_times=times) as world:
        yield world


def eks(url: str, access_key_id: str, secret_access_key: str) -> Any:
    return boto3.client(
        "eks",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id=access_key_id,
        aws_secret_access_key=secret_access_key,
    )


def create_cluster(client: Any) -> None:
    client.create_cluster(
        name="one",
        roleArn=CLUSTER_ROLE,
        resourcesVpcConfig={"subnetIds": SUBNETS},
        accessConfig={"authenticationMode": "API"},
    )


def nodes(cluster: Any, credentials: Credentials) -> tuple[int, list[str]]:
    """The status of a list of Nodes, asked for with a principal's token, and their names."""
    ca_pem = base64.b64decode(cluster["certificateAuthority"]["data"]).decode()
    return list_nodes(cluster["endpoint"], ca_pem=ca_pem, token=bearer_token(credentials, cluster=cluster["name"]))


def test_machines_of_a_node_group_become_nodes_that_the_creator_s_token_lists_and_then_go(
    world: World, clock: VirtualClock
) -> None:
    operator = world.aws.operator
    client = eks(world.aws.url, operator.access_key_id, operator.secret_access_key)
    create_cluster(client)
    clock.advance(1)
    client.create_nodegroup(
        clusterName="one",
        nodegroupName="cpu",
        subnets=SUBNETS,
        nodeRole=NODE_ROLE,
        instanceTypes=["m7i.large"],
        labels={"mine": "yes"},
        scalingConfig={"minSize": 2, "desiredSize": 2, "maxSize": 2},
    )
    clock.advance(2)
    assert client.describe_nodegroup(clusterName="one", nodegroupName="cpu")["nodegroup"]["status"] == "ACTIVE"
    cluster = client.describe_cluster(name="one")["cluster"]
    status, names = nodes(cluster, operator)
    assert (status, len(names)) == (200, 2)
    assert all(name.endswith(".ec2.internal") for name in names)

    client.delete_nodegroup(clusterName="one", nodegroupName="cpu")
    clock.advance(3)
    assert nodes(cluster, operator) == (200, [])
    client.delete_cluster(name="one")
    clock.advance(1)
    assert world.engine.inventory.items() == ()


def test_taints_and_changed_labels_of_a_node_group_are_on_its_nodes_beside_those_that_others_gave(
    world: World, clock: VirtualClock
) -> None:
    operator = world.aws.operator
    client = eks(world.aws.url, operator.access_key_id, operator.secret_access_key)
    create_cluster(client)
    clock.advance(1)
    client.create_nodegroup(
        clusterName="one",
        nodegroupName="cpu",
        subnets=SUBNETS,
        nodeRole=NODE_ROLE,
        instanceTypes=["m7i.large"],
        labels={"mine": "yes", "old": "yes"},
        taints=[{"key": "team", "value": "blue", "effect": "NO_SCHEDULE"}],
        scalingConfig={"minSize": 1, "desiredSize": 1, "maxSize": 1},
    )
    clock.advance(2)
    cluster = world.apis.cluster("one")
    assert cluster is not None
    (node,) = cluster.nodes()
    assert node["spec"]["taints"] == [{"key": "team", "value": "blue", "effect": "NoSchedule"}]

    theirs = {"key": "theirs", "effect": "NoExecute"}
    uid = node["metadata"]["uid"]
    cluster.amend_node(node["metadata"]["name"], uid=uid, labels={"theirs": "x"}, taints=[theirs], dropped_taints=[])
    client.update_nodegroup_config(
        clusterName="one",
        nodegroupName="cpu",
        labels={"addOrUpdateLabels": {"mine": "no"}, "removeLabels": ["old"]},
        taints={
            "addOrUpdateTaints": [{"key": "busy", "effect": "PREFER_NO_SCHEDULE"}],
            "removeTaints": [{"key": "team", "value": "blue", "effect": "NO_SCHEDULE"}],
        },
    )
    clock.advance(1)
    (node,) = cluster.nodes()
    labels = node["metadata"]["labels"]
    assert (labels["mine"], labels["theirs"], labels.get("old")) == ("no", "x", None)
    assert node["spec"]["taints"] == [theirs, {"key": "busy", "effect": "PreferNoSchedule"}]
    assert node["metadata"]["uid"] == uid


def test_a_preempted_machine_is_replaced_by_another_of_its_group(world: World, clock: VirtualClock) -> None:
    operator = world.aws.operator
    client = eks(world.aws.url, operator.access_key_id, operator.secret_access_key)
    create_cluster(client)
    clock.advance(1)
    client.create_nodegroup(
        clusterName="one",
        nodegroupName="spot",
        subnets=SUBNETS,
        nodeRole=NODE_ROLE,
        instanceTypes=["m7i.large"],
        capacityType="SPOT",
        scalingConfig={"minSize": 1, "desiredSize": 1, "maxSize": 1},
    )
    clock.advance(2)
    (machine,) = world.machines.running()
    world.machines.preempt(machine.instance_id)
    clock.advance(119)
    assert world.machines.running() == (machine,)
    clock.advance(1)
    assert world.machines.running() == ()
    clock.advance(2)
    (successor,) = world.machines.running()
    assert successor.instance_id != machine.instance_id
    assert world.engine.inventory.machines() == 1


def test_a_principal_without_an_access_entry_is_nobody_to_the_cluster(world: World, clock: VirtualClock) -> None:
    operator = world.aws.operator
    client = eks(world.aws.url, operator.access_key_id, operator.secret_access_key)
    create_cluster(client)
    clock.advance(1)
    cluster = client.describe_cluster(name="one")["cluster"]
    stranger = world.aws.account.user("stranger")
    assert nodes(cluster, stranger)[0] == 401
    client.create_access_entry(clusterName="one", principalArn=stranger.principal_arn)
    assert nodes(cluster, stranger)[0] == 403


def test_all_spot_machines_are_taken_back_and_no_others(world: World, clock: VirtualClock) -> None:
    client = eks(world.aws.url, world.aws.operator.access_key_id, world.aws.operator.secret_access_key)
    create_cluster(client)
    clock.advance(1)
    for name, market in (("steady", "ON_DEMAND"), ("spot", "SPOT")):
        client.create_nodegroup(
            clusterName="one",
            nodegroupName=name,
            subnets=SUBNETS,
            nodeRole=NODE_ROLE,
            instanceTypes=["m7i.large"],
            capacityType=market,
            scalingConfig={"minSize": 1, "desiredSize": 1, "maxSize": 1},
        )
    clock.advance(2)
    control = ControlApi(world.engine, world.machines)
    try:
        (spot,) = [machine for machine in world.machines.running() if machine.spot]
        steady = [machine for machine in world.machines.running() if not machine.spot]
        assert get(f"{control.url}/preempt", method="POST") == {"machines": [spot.instance_id]}
        clock.advance(200)
        after = world.machines.running()
        assert [machine for machine in after if not machine.spot] == steady
        assert [machine.spot for machine in after if machine.spot] == [True]
        assert spot.instance_id not in {machine.instance_id for machine in after}
    finally:
        control.stop()


@contextmanager
def process(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """The world in a process of its own, and what it says of itself."""
    command = [sys.executable, "-m", ENTRY_POINT, "--haste", "1000", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            yield running, json.loads(running.stdout.readline())
        finally:
            running.kill()


def get(url: str, *, method: str = "GET") -> Any:
    with build_opener(ProxyHandler({})).open(Request(url, method=method), timeout=30) as response:
        return json.load(response)


def test_another_process_uses_the_world_looks_into_it_and_ends_it() -> None:
    with process() as (running, endpoints):
        aws = endpoints["aws"]
        assert aws["region"] == "us-east-1"
        create_cluster(eks(aws["endpoint_url"], aws["access_key_id"], aws["secret_access_key"]))
        inventory = get(f"{endpoints['control']}/inventory")
        assert inventory["machines"] == 0
        assert [item["kind"] for item in inventory["items"]] == ["access-entry", "cluster"]
        requests = get(f"{endpoints['control']}/requests")
        assert requests == {"total": 1, "writes": 1, "calls": {"aws eks.CreateCluster": 1}}
        get(f"{endpoints['control']}/shutdown", method="POST")
        assert running.wait(timeout=60) == 0


def test_the_world_ends_on_sigterm() -> None:
    with process() as (running, _endpoints):
        running.send_signal(signal.SIGTERM)
        assert running.wait(timeout=60) == 0


def test_the_world_does_not_outlive_whoever_started_it_when_told_so() -> None:
    with process("--while-stdin-is-open") as (running, _endpoints):
        assert running.stdin is not None
        running.stdin.close()
        assert running.wait(timeout=60) == 0
