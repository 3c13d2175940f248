# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_nodepool: node pools beside the flavors, and never the flavors themselves."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

SYSTEM = {"name": "system", "machine_type": "m7i.large", "node_count": 1}
REFUSED = Error(status=400, code="InvalidParameterException", message="no such machines here")


@pytest.fixture
def fleet(modules: Modules) -> Modules:
    """The modules, with the example's pool ready."""
    modules.run("bc_fleet", config=document())
    return modules


@pytest.fixture
def declared(modules: Modules) -> Modules:
    """The modules, with the example's pool recorded and its cluster on its way."""
    modules.run("bc_fleet", config=document(), wait=False)
    return modules


def node_pool(modules: Modules, *node_pools: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    return modules.run("bc_nodepool", pool="gpu-fleet", node_pools=list(node_pools), **arguments)


def test_a_node_pool_is_added_once_resized_and_taken_away(fleet: Modules) -> None:
    added = node_pool(fleet, SYSTEM)
    assert (added["failed"], added["changed"]) == (False, True)
    [one] = added["node_pools"]
    assert (one["name"], one["state"], one["node_count"], one["version"], one["flavor"]) == (
        "system",
        "ready",
        1,
        1,
        False,
    )
    assert added["diff"]["before"] == {}

    writes = fleet.writes()
    assert not node_pool(fleet, SYSTEM)["changed"]
    assert fleet.writes() == writes

    resized = node_pool(fleet, {"name": "system", "node_count": 2})
    assert (resized["failed"], resized["changed"]) == (False, True)
    assert [(one["node_count"], one["version"], one["state"]) for one in resized["node_pools"]] == [(2, 2, "ready")]
    assert resized["diff"]["before"]["gpu-fleet/system"]["node_count"] == 1
    assert resized["diff"]["after"]["gpu-fleet/system"]["node_count"] == 2

    gone = node_pool(fleet, {"name": "system"}, state="absent")
    assert (gone["failed"], gone["changed"], gone["node_pools"]) == (False, True, [])
    assert not node_pool(fleet, {"name": "system"}, state="absent")["changed"]
    assert "system" not in fleet.fleet.node_pools()
    assert node_pool(fleet, SYSTEM)["node_pools"][0]["version"] == 1, "its name is free again"


@pytest.mark.parametrize("state", ["present", "absent"])
def test_check_mode_says_what_a_run_changes_and_writes_nothing(declared: Modules, state: str) -> None:
    if state == "absent":
        node_pool(declared, SYSTEM, wait=False)
    rows, writes = declared.fleet.rows(), declared.writes()
    checked = node_pool(declared, SYSTEM, state=state, check=True)
    assert (declared.fleet.rows(), declared.writes()) == (rows, writes)
    done = node_pool(declared, SYSTEM, state=state, wait=False)
    assert (checked["changed"], checked["diff"]) == (done["changed"], done["diff"]) == (True, checked["diff"])


@pytest.mark.parametrize(("state", "check"), [("present", False), ("absent", False), ("present", True)])
def test_a_flavors_node_pool_is_refused_with_pool_and_flavor_named(declared: Modules, state: str, check: bool) -> None:
    rows = declared.fleet.rows()
    refused = node_pool(declared, SYSTEM, {"name": "h100", "node_count": 3}, state=state, check=check)
    assert (refused["failed"], refused["code"]) == (True, "INVALID_STATE")
    assert "'h100' is a flavor of pool 'gpu-fleet'" in refused["msg"]
    assert declared.fleet.rows() == rows


def test_what_never_changes_is_refused_with_every_field_named(declared: Modules) -> None:
    node_pool(declared, {**SYSTEM, "zones": ["us-east-1a"], "disk_gib": 50}, wait=False)
    other = {"name": "system", "machine_type": "m7i.xlarge", "spot": True, "disk_gib": 60, "zones": ["us-east-1b"]}
    refused = node_pool(declared, other)
    assert refused["code"] == "INVALID_INPUT"
    assert [problem["path"] for problem in refused["problems"]] == [
        f"node_pools[0].{field}" for field in ("machine_type", "spot", "disk_gib", "zones")
    ]


def test_a_call_that_cannot_be_right_is_refused_with_all_its_problems(declared: Modules) -> None:
    bad: list[dict[str, Any]] = [
        {"name": "Big_One", "machine_type": "M7I", "node_count": 1001, "disk_gib": 5},
        {"name": "system", "zones": ["eu-west-1a"]},
        {"name": "system", "machine_type": "m7i.large", "node_count": 1},
    ]
    refused = node_pool(declared, *bad)
    assert refused["code"] == "INVALID_INPUT"
    assert {problem["path"] for problem in refused["problems"]} == {
        *(f"node_pools[0].{field}" for field in ("name", "machine_type", "node_count", "disk_gib")),
        *(f"node_pools[1].{field}" for field in ("zones", "machine_type", "node_count")),
        "node_pools[2].name",
    }
    assert "zones of the cluster's region us-east-1" in refused["msg"]


def test_an_eleventh_node_pool_is_over_the_quota(declared: Modules) -> None:
    eight = [{**SYSTEM, "name": f"p{number}", "node_count": 0} for number in range(8)]
    assert not node_pool(declared, *eight, wait=False)["failed"]
    for check in (True, False):
        refused = node_pool(declared, SYSTEM, check=check)
        assert (refused["failed"], refused["code"]) == (True, "QUOTA_EXCEEDED")
        assert "10 are there, 1 more wanted" in refused["msg"]


def test_what_the_provider_refuses_fails_the_task_with_its_reason_each_time(fleet: Modules) -> None:
    fleet.fleet.scene.engine.faults.add("aws", "eks.CreateNodegroup", REFUSED, target="*/system", times=None)
    refused = node_pool(fleet, SYSTEM)
    assert (refused["failed"], refused["changed"], refused["code"]) == (True, True, "INVALID_STATE")
    reason = "node pool system of pool gpu-fleet is error: CreateNodegroup: no such machines here"
    assert refused["msg"].startswith(reason)
    again = node_pool(fleet, SYSTEM)
    assert (again["failed"], again["changed"]) == (True, False)


def test_a_pool_that_is_unknown_has_no_cluster_or_is_torn_down_takes_no_node_pools(declared: Modules) -> None:
    assert declared.run("bc_nodepool", pool="other", node_pools=[SYSTEM])["code"] == "NOT_FOUND"
    assert node_pool(declared, SYSTEM, tenant="acme")["code"] == "NOT_FOUND"
    pool_id = declared.fleet.pool_id
    declared.fleet.apply(without_pools(), prune=True)
    for check in (True, False):
        refused = declared.run("bc_nodepool", check=check, pool=pool_id, node_pools=[SYSTEM])
        assert (refused["failed"], refused["code"]) == (True, "INVALID_STATE")
        assert "is being deleted" in refused["msg"]
