# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_nodepool's fields as they reach EKS, its list over many clusters, its keys; and bc_nodepool_info."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

SYSTEM = {"name": "system", "machine_type": "m7i.large", "node_count": 1}
FULL = {
    "name": "inference",
    "machine_type": "g6.xlarge",
    "node_count": 1,
    "autoscaling": {"min_nodes": 1, "max_nodes": 3},
    "spot": True,
    "disk_gib": 120,
    "accelerators": {"type": "nvidia-l4", "count": 1},
    "zones": ["us-east-1b"],
    "labels": {"team": "a"},
    "taints": [{"key": "dedicated", "value": "a", "effect": "NoSchedule"}],
}


def two_pools() -> dict[str, Any]:
    """The example with a second pool."""
    data = document()
    data["pools"].append({**data["pools"][0], "name": "other-fleet"})
    return data


def node_pool(modules: Modules, *node_pools: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    return modules.run("bc_nodepool", pool="gpu-fleet", node_pools=list(node_pools), **arguments)


def node_group(modules: Modules, name: str) -> dict[str, Any]:
    """A node group as EKS describes it."""
    import boto3

    environment = modules.fleet.scene.environment
    eks = boto3.client(
        "eks",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        region_name="us-east-1",
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
    [cluster] = eks.list_clusters()["clusters"]
    return dict(eks.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"])


def test_every_field_reaches_eks_and_a_second_run_finds_nothing_to_do(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    made = node_pool(modules, FULL)
    assert (made["failed"], made["changed"]) == (False, True)
    group = node_group(modules, "inference")
    assert group["scalingConfig"] == {"minSize": 1, "maxSize": 3, "desiredSize": 1}
    assert (group["capacityType"], group["diskSize"], group["instanceTypes"]) == ("SPOT", 120, ["g6.xlarge"])
    assert group["subnets"] == ["subnet-0000000000000000b"]
    assert group["labels"] == {"team": "a", "better-compute.dev/capacity": "spot"}
    assert group["taints"] == [{"key": "dedicated", "value": "a", "effect": "NO_SCHEDULE"}]
    assert "GPU" in group["amiType"] or "NVIDIA" in group["amiType"]
    [told] = made["node_pools"]
    assert {name: told[name] for name in FULL if name != "autoscaling"} == {
        name: value for name, value in FULL.items() if name != "autoscaling"
    }
    assert told["autoscaling"] == {"min_nodes": 1, "max_nodes": 3}
    calls = len(modules.fleet.scene.engine.log.entries())
    again = node_pool(modules, FULL)
    assert (again["failed"], again["changed"], again["node_pools"]) == (False, False, [told])
    assert len(modules.fleet.scene.engine.log.entries()) == calls, "nobody is asked where nothing is to do"


def test_autoscaling_is_turned_on_and_off_in_place(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    node_pool(modules, SYSTEM)
    on = node_pool(modules, {"name": "system", "autoscaling": {"min_nodes": 1, "max_nodes": 4}})
    assert (on["failed"], on["changed"], on["node_pools"][0]["version"]) == (False, True, 2)
    assert node_group(modules, "system")["scalingConfig"] == {"minSize": 2, "maxSize": 8, "desiredSize": 2}
    off = node_pool(modules, {"name": "system", "node_count": 2, "autoscaling": {"enabled": False}})
    assert (off["failed"], off["changed"], off["node_pools"][0]["autoscaling"]) == (False, True, None)
    assert node_group(modules, "system")["scalingConfig"] == {"minSize": 4, "maxSize": 4, "desiredSize": 4}
    assert not node_pool(modules, {"name": "system", "autoscaling": {"enabled": False, "min_nodes": 9}})["changed"]


def test_one_task_holds_node_pools_of_many_clusters(modules: Modules) -> None:
    modules.run("bc_fleet", config=two_pools())
    wanted = [
        {**SYSTEM, "name": "a", "pool": "gpu-fleet"},
        {**SYSTEM, "name": "a", "pool": "other-fleet"},
        {**SYSTEM, "name": "b", "pool": "other-fleet"},
    ]
    made = modules.run("bc_nodepool", node_pools=wanted)
    assert (made["failed"], made["changed"]) == (False, True)
    told = [(one["pool"], one["name"], one["state"]) for one in made["node_pools"]]
    assert told == [("gpu-fleet", "a", "ready"), ("other-fleet", "a", "ready"), ("other-fleet", "b", "ready")]
    assert set(made["diff"]["after"]) == {"gpu-fleet/a", "other-fleet/a", "other-fleet/b"}
    assert not modules.run("bc_nodepool", node_pools=wanted)["changed"]
    gone = modules.run("bc_nodepool", pool="other-fleet", node_pools=[wanted[0], {"name": "b"}], state="absent")
    assert (gone["failed"], gone["changed"], gone["node_pools"]) == (False, True, [])
    left = modules.run("bc_nodepool_info")
    assert [(one["pool"], one["name"], one["flavor"]) for one in left["node_pools"]] == [
        ("gpu-fleet", "h100", True),
        ("gpu-fleet", "h100-spot", True),
        ("other-fleet", "a", False),
        ("other-fleet", "h100", True),
        ("other-fleet", "h100-spot", True),
    ]


def test_what_is_read_is_what_is_asked_for(modules: Modules) -> None:
    modules.run("bc_fleet", config=two_pools(), wait=False)
    made = node_pool(modules, SYSTEM, wait=False)
    [system] = made["node_pools"]
    assert modules.run("bc_nodepool_info", pool="gpu-fleet", names=["system", "none"])["node_pools"] == [system]
    by_id = modules.run("bc_nodepool_info", cluster_id=system["cluster_id"])["node_pools"]
    assert [one["name"] for one in by_id] == ["h100", "h100-spot", "system"]
    assert modules.run("bc_nodepool_info", tenant="acme")["node_pools"] == []
    strange: list[dict[str, Any]] = [
        {"pool": "none"},
        {"cluster_id": "kcl_none"},
        {"pool": "gpu-fleet", "tenant": "acme"},
    ]
    for arguments in strange:
        refused = modules.run("bc_nodepool_info", **arguments)
        assert (refused["failed"], refused["code"]) == (True, "NOT_FOUND")


def test_a_key_makes_one_node_pool_for_each_caller_and_never_a_second(
    modules: Modules, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules.run("bc_fleet", config=document())
    keyed = {**SYSTEM, "idempotency_key": "k"}
    [made] = node_pool(modules, keyed)["node_pools"]
    again = node_pool(modules, keyed)
    assert (again["failed"], again["changed"], again["node_pools"]) == (False, False, [made])
    other = node_pool(modules, {**keyed, "node_count": 2})
    assert (other["failed"], other["code"]) == (True, "CONFLICT")
    monkeypatch.setenv("BC_FLEET_OPERATOR", "bob")
    theirs = node_pool(modules, keyed)
    assert (theirs["failed"], theirs["code"]) == (True, "CONFLICT"), "another caller's key is another key"
    monkeypatch.setenv("BC_FLEET_OPERATOR", "life")
    node_pool(modules, {"name": "system", "node_count": 2})
    assert node_pool(modules, keyed)["node_pools"][0]["node_count"] == 2, "it is told as it stands"
    node_pool(modules, {"name": "system"}, state="absent")
    gone = node_pool(modules, keyed)
    assert (gone["failed"], gone["changed"], gone["node_pools"]) == (False, False, [])
    assert any("take another key" in str(warning) for warning in gone["warnings"])


def test_a_wanted_node_pool_without_a_cluster_is_told_with_its_path(modules: Modules) -> None:
    refused = modules.run("bc_nodepool", node_pools=[SYSTEM])
    assert [problem["path"] for problem in refused["problems"]] == ["node_pools[0].pool"]


def test_labels_that_yaml_made_something_else_of_are_told(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    refused = node_pool(modules, {**SYSTEM, "labels": {"enabled": True, "zone": 12}})
    assert [problem["path"] for problem in refused["problems"]] == [
        "node_pools[0].labels.enabled",
        "node_pools[0].labels.zone",
    ]
    assert all("put it in quotes" in problem["message"] for problem in refused["problems"])


_CONVERGED = """
import json, sys
from ansible.module_utils.testing import patch_module_args
from ansible_collections.better_compute.fleet.plugins.modules import bc_nodepool
with patch_module_args(json.loads(sys.argv[1])):
    try:
        bc_nodepool.main()
    except SystemExit:
        pass
heavy = [name for name in ("boto3", "botocore", "kubernetes") if name in sys.modules]
rooms = [name for name in ("reconcile", "planning", "providers", "cluster", "nodes", "booking") if any(
    f"._core.{name}" in module for module in sys.modules)]
print(json.dumps(heavy + rooms))
"""


def test_a_run_with_nothing_to_do_loads_no_providers_and_no_kubernetes_package(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    node_pool(modules, SYSTEM)
    arguments = {"pool": "gpu-fleet", "node_pools": [SYSTEM], "database_url": modules.fleet.scene.database_url}
    ran = subprocess.run(
        [sys.executable, "-c", _CONVERGED, json.dumps(arguments)],
        env={**os.environ, **modules.fleet.scene.environment},
        capture_output=True,
        text=True,
        check=True,
    )
    result, loaded = filter(None, ran.stdout.splitlines())
    assert json.loads(result)["changed"] is False
    assert json.loads(loaded) == []
