# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_fleet: what it does, what it says of it, and that both are the same in check mode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

FLAVORS = "pools.0.policy.substrate.flavors"
EMPTY: dict[str, Any] = {"version": 1}


def said(result: dict[str, Any]) -> list[str]:
    """Each change of a result's plan as `kind resource name`."""
    return [f"{change['kind']} {change['resource']} {change['name']}" for change in result["plan"]["changes"]]


def test_a_new_document_is_created_and_ready(modules: Modules) -> None:
    result = modules.run("bc_fleet", config=document())
    assert (result["failed"], result["changed"]) == (False, True)
    assert "create node_pool gpu-fleet/h100" in said(result)
    [substrate] = result["substrates"]
    assert (substrate["pool"], substrate["state"], substrate["message"]) == ("gpu-fleet", "ready", "")


def test_a_second_run_changes_nothing_anywhere(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    rows, writes = modules.fleet.rows(), modules.writes()
    again = modules.run("bc_fleet", config=document())
    assert (again["failed"], again["changed"], said(again)) == (False, False, [])
    assert again["diff"] == {"before": {}, "after": {}}
    assert [one["state"] for one in again["substrates"]] == ["ready"]
    assert (modules.fleet.rows(), modules.writes()) == (rows, writes)


def resized() -> dict[str, Any]:
    changed: dict[str, Any] = put(document(), f"{FLAVORS}.0.nodes", 2)
    return changed


@pytest.mark.parametrize(
    ("before", "after", "arguments"),
    [
        pytest.param(None, document(), {}, id="new"),
        pytest.param(document(), document(), {}, id="unchanged"),
        pytest.param(document(), resized(), {}, id="resized"),
        pytest.param(document(), without_pools(), {}, id="kept"),
        pytest.param(document(), without_pools(), {"prune": True}, id="pruned"),
        pytest.param(document(), document(), {"prune": True, "state": "absent"}, id="absent"),
        pytest.param(document(), resized(), {"wait": False, "refresh": False}, id="without looking or waiting"),
    ],
)
def test_check_mode_says_exactly_what_a_run_says_and_writes_nothing(
    modules: Modules, before: dict[str, Any] | None, after: dict[str, Any], arguments: dict[str, Any]
) -> None:
    if before:
        modules.run("bc_fleet", config=before)
    rows, writes = modules.fleet.rows(), modules.writes()
    checked = modules.run("bc_fleet", check=True, config=after, **arguments)
    assert (modules.fleet.rows(), modules.writes()) == (rows, writes)
    done = modules.run("bc_fleet", config=after, **arguments)
    for field in ("failed", "changed", "plan", "diff"):
        assert checked[field] == done[field], field
    assert done["changed"] == (done["diff"] != {"before": {}, "after": {}})


def test_a_blocked_change_stops_all_others_and_says_what_to_do(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    rows = modules.fleet.rows()
    other = put(document(), "pools.0.policy.substrate.cluster.create.privateNodes", True)
    put(other, f"{FLAVORS}.0.nodes", 2)
    for check in (True, False):
        refused = modules.run("bc_fleet", check=check, config=other)
        assert (refused["failed"], refused["changed"], refused["code"]) == (True, False, "INVALID_STATE")
        assert "create a new pool instead" in refused["msg"]
    assert modules.fleet.rows() == rows


def test_without_prune_nothing_goes(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    kept = modules.run("bc_fleet", config=EMPTY)
    assert (kept["failed"], kept["changed"]) == (False, False)
    assert "needs prune" in kept["plan"]["text"]
    assert modules.fleet.view().ready


def test_one_run_with_prune_leaves_nothing_at_the_provider_and_nothing_declared(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    pruned = modules.run("bc_fleet", config=EMPTY, prune=True)
    assert (pruned["failed"], pruned["changed"]) == (False, True)
    assert [one["state"] for one in pruned["substrates"]] == ["deleted"]
    assert modules.fleet.scene.engine.inventory.items() == ()
    left = modules.run("bc_fleet_info")
    assert [left[kind] for kind in ("sites", "provider_accounts", "pools", "quotas", "substrates")] == [[]] * 5
    assert not modules.run("bc_fleet", config=EMPTY, prune=True)["changed"]


def test_absent_needs_prune_and_then_takes_away_only_what_the_document_names(modules: Modules) -> None:
    two = document()
    two["pools"].append({**two["pools"][0], "name": "other"})
    modules.run("bc_fleet", config=two)
    assert not modules.run("bc_fleet", config=document(), state="absent")["changed"]
    gone = modules.run("bc_fleet", config=document(), state="absent", prune=True)
    assert (gone["failed"], gone["changed"]) == (False, True)
    assert [(one["pool"], one["state"]) for one in gone["substrates"]] == [("gpu-fleet", "deleted")]
    left = modules.run("bc_fleet_info")
    assert [pool["name"] for pool in left["pools"]] == ["other"]
    assert [account["name"] for account in left["provider_accounts"]] == ["managed-k8s"]


def test_a_pruning_run_goes_on_with_what_an_earlier_one_did_not_get_done(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    modules.run("bc_fleet", config=EMPTY, prune=True, wait=False)
    going = modules.run("bc_fleet", config=EMPTY, prune=True)
    assert (going["failed"], going["changed"]) == (False, False)
    assert modules.fleet.scene.engine.inventory.items() == ()
    last = modules.run("bc_fleet", config=EMPTY, prune=True)
    assert said(last) == ["delete site k8s", "delete account managed-k8s"]


def test_a_bad_document_is_refused_with_all_its_problems_and_their_paths(modules: Modules) -> None:
    bad = put(document(), f"{FLAVORS}.1.nodes", "two")
    put(bad, "sites.0.name", "münchen")
    bad["sandboxTemplates"] = []
    refused = modules.run("bc_fleet", config=bad)
    assert (refused["failed"], refused["code"]) == (True, "INVALID_INPUT")
    paths = {problem["path"] for problem in refused["problems"]}
    assert {"sites[0].name", "pools[0].policy.substrate.flavors[1].nodes", "sandboxTemplates"} <= paths
    assert all(problem["message"] in refused["msg"] for problem in refused["problems"])
    assert all(line.startswith("config: ") for line in refused["msg"].splitlines())
    assert "exception" not in refused


def test_a_file_on_the_target_is_read_there(modules: Modules, tmp_path: Path) -> None:
    file = tmp_path / "fleet.json"
    file.write_text(json.dumps(document()))
    assert modules.run("bc_fleet", check=True, src=str(file), remote_src=True)["changed"]
    missing = modules.run("bc_fleet", check=True, src=str(tmp_path / "none.json"), remote_src=True)
    assert missing["code"] == "INVALID_INPUT"
    assert missing["msg"] == f"{tmp_path / 'none.json'} cannot be read: No such file or directory"
    file.write_text(json.dumps(put(document(), "sites.0.name", "münchen")))
    wrong = modules.run("bc_fleet", check=True, src=str(file), remote_src=True)
    assert wrong["msg"].startswith(f"{file}: sites[0].name: ")
