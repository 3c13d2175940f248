# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever a task gives to bc_fleet, bc_fleet_info and bc_substrate, what comes back is a sentence and no traceback."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

from .conftest import MakeModules

LONG = "x" * 1_000_000
STRANGE: list[Any] = [
    "",
    "\0",
    "a\0b",
    "²",
    "abc\n",
    LONG,
    "../../etc/passwd",
    "pool_" + "0" * 26,
    {},
    [],
    -1,
    10**30,
]

BUT_FOR_FLEET: list[dict[str, Any]] = [
    {"config": {}},
    {"config": {"\0": LONG}},
    {"config": {"version": 10**400}},
    {"config": []},
    {"config": "version: 1"},
    {"config": {"version": 1, "pools": [[[[]]]]}},
    {"src": "\0", "remote_src": True},
    {"src": LONG, "remote_src": True},
    {"config": {"version": 1}, "src": "both"},
    {},
    {"config": {"version": 1}, "state": "gone"},
    {"config": {"version": 1}, "wait_timeout": 10**30},
    {"config": {"version": 1}, "wait_timeout": -1},
    {"config": {"version": 1}, "wait_timeout": "soon"},
    {"config": {"version": 1}, "prune": "perhaps"},
    {"config": {"version": 1}, "database_url": "\0"},
    {"config": {"version": 1}, "database_url": LONG},
    {"config": {"version": 1}, "settings": "\0"},
    {"config": {"version": 1}, "settings": "/dev/null/x"},
    {"config": {"version": 1}, "unknown": 1},
]


def test_strange_arguments_of_bc_fleet_are_told(modules: Modules) -> None:
    for arguments in BUT_FOR_FLEET:
        result = modules.run("bc_fleet", **arguments)
        assert result["failed"], arguments
        assert "Traceback" not in modules.told[-1]
        assert "A fault in better_compute.fleet" not in result["msg"], (arguments, result["msg"])
        assert "exception" not in result
    assert modules.run("bc_fleet_info")["pools"] == []


@pytest.mark.parametrize("field", ["pool", "tenant", "account", "upgrades", "wait_timeout", "state"])
def test_strange_arguments_of_bc_substrate_are_told(modules: Modules, field: str) -> None:
    modules.fleet.apply(document())
    rows = modules.fleet.rows()
    for value in STRANGE:
        result = modules.run("bc_substrate", check=True, **{"pool": "gpu-fleet", field: value})
        assert result["failed"], value
        assert "A fault in better_compute.fleet" not in result["msg"], (str(value)[:60], result["msg"])
        assert "exception" not in result
    assert modules.fleet.rows() == rows


@pytest.mark.parametrize(
    "field", ["name", "machine_type", "nodes", "gpus", "spot", "disk_gib", "zones", "autoscaling", "labels", "taints"]
)
def test_strange_flavors_are_told_with_their_paths(modules: Modules, field: str) -> None:
    modules.fleet.apply(document())
    rows = modules.fleet.rows()
    # ansible-core's own check of nested options breaks down on a number where a mapping belongs.
    for value in STRANGE[:-2] if field in ("gpus", "autoscaling") else STRANGE:
        flavor = {"name": "new", "machine_type": "p5.48xlarge", "nodes": 1, field: value}
        result = modules.run("bc_substrate", check=True, pool="gpu-fleet", flavors=[flavor])
        assert "A fault in better_compute.fleet" not in str(result.get("msg")), (str(value)[:60], result["msg"])
        assert "exception" not in result
        if "problems" in result:
            assert all(problem["path"].startswith("flavors[0]") for problem in result["problems"]), result["problems"]
    assert modules.fleet.rows() == rows


def test_what_postgresql_cannot_hold_is_told_as_well(make_modules: MakeModules, postgresql_url: str) -> None:
    modules = make_modules(url=postgresql_url)
    for value in ("\0", "a\0b", "²", LONG):
        for module in ("bc_substrate", "bc_substrate_info", "bc_node_info", "bc_reservation_info"):
            refused = modules.run(module, pool=value)
            elsewhere = modules.run(module, pool="gpu-fleet", tenant=value)
            assert refused["failed"]
            assert elsewhere["failed"]
            # What its log cannot hold, ansible-core 2.21 refuses before us.
            assert "\0" in value or refused["code"] == elsewhere["code"] == "NOT_FOUND"


def test_every_blocked_change_is_in_the_message_with_what_to_do(modules: Modules) -> None:
    modules.fleet.apply(document())
    flavors = "pools.0.policy.substrate.flavors"
    blocked = put(document(), "sites.0.region", "eu-west-1")
    put(blocked, "pools.0.gpuModel", "H200")
    put(blocked, f"{flavors}.0.machineType", "p5en.48xlarge")
    put(blocked, f"{flavors}.1.spot", False)
    refused = modules.run("bc_fleet", config=blocked)
    assert (refused["failed"], refused["code"]) == (True, "INVALID_STATE")
    for line in (
        "site k8s: region cannot change in place: create a new site instead",
        "pool gpu-fleet: gpuModel cannot change in place: create a new pool instead",
        "node_pool gpu-fleet/h100: machineType cannot change in place: add another flavor instead",
        "node_pool gpu-fleet/h100-spot: spot cannot change in place: add another flavor instead",
    ):
        assert line in refused["msg"].splitlines()
    assert refused["plan"]["text"] in refused["msg"]


def test_no_result_of_bc_substrate_or_of_drift_holds_a_credential(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    modules.run("bc_substrate", pool="gpu-fleet", flavors=[{"name": "h100", "nodes": 2}])
    modules.run("bc_fleet_info", drift=True)
    modules.run("bc_substrate", pool="gpu-fleet", state="absent")
    told = "".join(modules.told)
    assert modules.fleet.scene.environment["AWS_SECRET_ACCESS_KEY"] not in told
    for mark in ("k8s-aws-v1.", "eyJ", "BEGIN CERTIFICATE", "token_hash"):
        assert mark not in told
