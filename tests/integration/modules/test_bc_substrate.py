# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_substrate: one pool's policy changed without its document, by the same planner and with the same refusals."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

from .conftest import MakeModules

POOL = "gpu-fleet"
FLAVORS = "pools.0.policy.substrate.flavors"
GPUS = {"type": "nvidia-h100", "count": 8}
NONE_CHANGED: dict[str, Any] = {"before": {}, "after": {}}


def said(result: dict[str, Any]) -> list[str]:
    """Each change of a result's plan as `kind resource name`."""
    return [f"{change['kind']} {change['resource']} {change['name']}" for change in result["plan"]["changes"]]


@pytest.fixture
def declared(modules: Modules) -> Modules:
    """The modules on a fleet that stands."""
    assert not modules.run("bc_fleet", config=document())["failed"]
    return modules


@pytest.fixture
def declared_on_either(modules_on_either: Modules) -> Modules:
    """The same on SQLite, then on PostgreSQL."""
    assert not modules_on_either.run("bc_fleet", config=document())["failed"]
    return modules_on_either


def test_with_nothing_but_the_pool_it_converges_it_and_says_where_it_stands(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    result = modules.run("bc_substrate", pool=POOL)
    assert (result["failed"], result["changed"], result["diff"]) == (False, False, NONE_CHANGED)
    assert (result["substrate"]["pool"], result["substrate"]["state"]) == (POOL, "ready")
    rows, writes = modules.fleet.rows(), modules.writes()
    again = modules.run("bc_substrate", pool=result["substrate"]["pool_id"])
    assert (again["changed"], again["substrate"]) == (False, result["substrate"])
    assert again["msg"] == f"pool {POOL}: ready, 0 of 3 Nodes joined"
    assert (modules.fleet.rows(), modules.writes()) == (rows, writes)


def a_flavor(**changes: Any) -> dict[str, Any]:
    """The document's first flavor, changed."""
    flavor: dict[str, Any] = document()["pools"][0]["policy"]["substrate"]["flavors"][0]
    return {**flavor, **changes}


@pytest.mark.parametrize(
    ("edit", "as_a_document_says_it"),
    [
        pytest.param({"nodes": 2}, [a_flavor(nodes=2)], id="resize"),
        pytest.param(
            {"name": "big", "machine_type": "p5.48xlarge", "nodes": 1, "gpus": GPUS},
            [a_flavor(), a_flavor(name="big")],
            id="another flavor",
        ),
        pytest.param(
            {"autoscaling": {"min_nodes": 1, "max_nodes": 3}},
            [a_flavor(autoscaling={"minNodes": 1, "maxNodes": 3})],
            id="autoscaling",
        ),
    ],
)
def test_the_document_that_says_the_same_changes_nothing_afterwards(
    declared_on_either: Modules, edit: dict[str, Any], as_a_document_says_it: list[dict[str, Any]]
) -> None:
    declared = declared_on_either
    arguments: dict[str, Any] = {"pool": POOL, "flavors": [{"name": "h100", **edit}]}
    checked = declared.run("bc_substrate", check=True, **arguments)
    done = declared.run("bc_substrate", **arguments)
    assert (done["failed"], done["changed"], done["substrate"]["state"]) == (False, True, "ready")
    for field in ("changed", "plan", "diff"):
        assert checked[field] == done[field], field
    again = declared.run("bc_substrate", **arguments)
    assert (again["failed"], again["changed"]) == (False, False)
    spot = document()["pools"][0]["policy"]["substrate"]["flavors"][1]
    same = put(document(), FLAVORS, [*as_a_document_says_it, spot])
    assert said(declared.run("bc_fleet", config=same)) == []


def test_autoscaling_is_turned_off_by_saying_so(declared: Modules) -> None:
    bounds = {"min_nodes": 1, "max_nodes": 3}
    declared.run("bc_substrate", pool=POOL, flavors=[{"name": "h100", "autoscaling": bounds}])
    left_out = declared.run("bc_substrate", pool=POOL, flavors=[{"name": "h100", "nodes": 1}])
    assert (left_out["failed"], left_out["changed"]) == (False, False)
    off = declared.run("bc_substrate", pool=POOL, flavors=[{"name": "h100", "autoscaling": {"enabled": False}}])
    assert (off["failed"], off["changed"]) == (False, True)
    assert said(declared.run("bc_fleet", config=document())) == []


def test_flavors_that_are_not_named_are_kept_without_prune_and_deleted_with_it(declared_on_either: Modules) -> None:
    declared = declared_on_either
    named = [{"name": "h100"}]
    kept = declared.run("bc_substrate", pool=POOL, flavors=named)
    assert (kept["changed"], said(kept)) == (False, ["keep node_pool gpu-fleet/h100-spot"])
    assert [change["note"] for change in kept["plan"]["changes"]] == ["not among those named: kept, needs prune"]
    pruned = declared.run("bc_substrate", pool=POOL, flavors=named, prune=True)
    assert (pruned["failed"], said(pruned)) == (False, ["delete node_pool gpu-fleet/h100-spot"])
    assert set(declared.fleet.node_pools()) == {"h100"}
    assert not declared.run("bc_substrate", pool=POOL, flavors=named, prune=True)["changed"]


def test_pruning_one_pool_touches_no_other(modules: Modules) -> None:
    two = document()
    two["pools"].append({**two["pools"][0], "name": "other"})
    modules.run("bc_fleet", config=two, wait=False)
    pruned = modules.run("bc_substrate", pool="other", flavors=[{"name": "h100"}], prune=True, wait=False)
    assert said(pruned) == ["delete node_pool other/h100-spot"]
    gone = modules.run("bc_substrate", pool="other", state="absent")
    assert (gone["failed"], gone["substrate"]["pool"]) == (False, "other")
    assert "h100-spot" in modules.fleet.node_pools()
    assert [one["pool"] for one in modules.run("bc_fleet_info")["substrates"]] == [POOL]


@pytest.mark.parametrize(
    "arguments",
    [
        {"cluster": {"create": {"private_nodes": True}}, "flavors": [{"name": "h100", "nodes": 2}]},
        {"flavors": [{"name": "h100", "spot": True}]},
        {"flavors": [{"name": "h100", "zones": ["us-east-1a"]}]},
        {"cluster": {"adopt": "us-east-1/mine"}},
    ],
)
def test_what_cannot_change_is_blocked_whole_with_what_to_do_instead(
    declared: Modules, arguments: dict[str, Any]
) -> None:
    rows = declared.fleet.rows()
    for check in (True, False):
        refused = declared.run("bc_substrate", check=check, pool=POOL, **arguments)
        assert (refused["failed"], refused["changed"], refused["code"]) == (True, False, "INVALID_STATE")
        assert "instead" in refused["msg"]
    assert declared.fleet.rows() == rows


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        (
            {"flavors": [{"name": "h100", "nodes": 1001}, {"name": "New", "nodes": 1}]},
            {"flavors[0].nodes", "flavors[1].name", "flavors[1].machine_type"},
        ),
        ({"flavors": [{"name": "h100"}, {"name": "h100"}]}, {"flavors[1].name"}),
        ({"flavors": []}, {"flavors"}),
        ({"flavors": [{"name": "h100", "disk_gib": 1}]}, {"flavors[0].disk_gib"}),
        ({"flavors": [{"name": "h100", "zones": ["eu-west-1a"]}]}, {"flavors[0].zones[0]"}),
        ({"cluster": {"create": {"location": "us-east-1a"}}}, {"cluster.create.location"}),
        ({"cluster": {"adopt": "eu-west-1/mine"}}, {"cluster.adopt"}),
        ({"cluster": {"adopt": "mine"}}, {"cluster.adopt"}),
        ({"wait_timeout": -1}, {"wait_timeout"}),
        ({"state": "absent", "flavors": [{"name": "h100"}]}, {"state"}),
    ],
)
def test_what_is_not_valid_is_refused_as_in_a_document_with_the_modules_own_paths(
    declared: Modules, arguments: dict[str, Any], problems: set[str]
) -> None:
    rows = declared.fleet.rows()
    refused = declared.run("bc_substrate", pool=POOL, **arguments)
    assert (refused["failed"], refused["code"]) == (True, "INVALID_INPUT")
    assert {problem["path"] for problem in refused["problems"]} == problems
    assert declared.fleet.rows() == rows


def test_who_is_not_there_is_not_found(declared: Modules) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"pool": "other"}, "a document declares pools"),
        ({"pool": POOL, "tenant": "acme"}, "tenant 'acme' has no pool"),
        ({"pool": "pool_01jb2k3m4n5p6q7r8s9t0v1w2x"}, "has no pool"),
        ({"pool": POOL, "account": "none"}, "there is no provider account 'none'"),
    ]
    for arguments, told in cases:
        refused = declared.run("bc_substrate", **arguments)
        assert (refused["failed"], refused["code"]) == (True, "NOT_FOUND")
        assert told in refused["msg"]


def test_a_pool_without_a_substrate_gets_one(modules: Modules) -> None:
    modules.run("bc_fleet", config=put(document(), "pools.0.policy", {}))
    refused = modules.run("bc_substrate", pool=POOL)
    assert (refused["code"], "give it an account" in refused["msg"]) == ("NOT_FOUND", True)
    partly = modules.run("bc_substrate", pool=POOL, flavors=[{"name": "h100"}])
    paths = {problem["path"] for problem in partly["problems"]}
    assert paths == {"account", "cluster", "flavors[0].machine_type", "flavors[0].nodes"}
    made = modules.run(
        "bc_substrate",
        pool=POOL,
        account="managed-k8s",
        cluster={"create": {"location": "us-east-1"}},
        flavors=[{"name": "h100", "machine_type": "p5.48xlarge", "nodes": 1, "gpus": GPUS}],
    )
    assert (made["failed"], made["changed"], made["substrate"]["state"]) == (False, True, "ready")
    assert said(made) == ["create cluster gpu-fleet", "create node_pool gpu-fleet/h100"]


def test_absent_archives_the_pool_and_takes_its_quotas_and_leaves_site_and_account(declared_on_either: Modules) -> None:
    declared = declared_on_either
    checked = declared.run("bc_substrate", check=True, pool=POOL, state="absent")
    assert (checked["changed"], checked["substrate"]["state"]) == (True, "ready")
    gone = declared.run("bc_substrate", pool=POOL, state="absent")
    assert (gone["failed"], gone["changed"], gone["substrate"]["state"]) == (False, True, "deleted")
    assert (gone["plan"], gone["diff"]) == (checked["plan"], checked["diff"])
    assert "delete quota gpu-fleet/platform" in said(gone)
    assert declared.fleet.scene.engine.inventory.items() == ()
    left = declared.run("bc_fleet_info")
    assert [left[kind] for kind in ("pools", "quotas", "substrates")] == [[], [], []]
    assert ([one["name"] for one in left["sites"]], len(left["provider_accounts"])) == (["k8s"], 1)
    again = declared.run("bc_substrate", pool=POOL, state="absent")
    assert (again["failed"], again["changed"]) == (False, False)


def test_absent_goes_on_with_a_teardown_that_somebody_began(declared: Modules) -> None:
    declared.run("bc_substrate", pool=POOL, state="absent", wait=False)
    watched = declared.run("bc_substrate", check=True, pool=POOL, state="absent")
    assert (watched["changed"], watched["substrate"]["state"]) == (False, "deleting")
    done = declared.run("bc_substrate", pool=POOL, state="absent")
    assert (done["failed"], done["changed"], done["substrate"]["state"]) == (False, False, "deleted")


def test_a_pool_that_never_was_is_absent(modules: Modules) -> None:
    result = modules.run("bc_substrate", pool="none", state="absent")
    assert (result["failed"], result["changed"], result["substrate"]) == (False, False, None)


def test_what_the_provider_refuses_fails_the_task_with_the_reason(make_modules: MakeModules) -> None:
    modules = make_modules(BC_FLEET_AGENT_IMAGE="", BC_FLEET_AGENT_GATEWAY_URL="", BC_FLEET_AGENT_PINS="")
    modules.run("bc_fleet", config=document(), wait=False)
    refused = modules.run("bc_substrate", pool=POOL)
    assert (refused["failed"], refused["code"]) == (True, "INVALID_STATE")
    assert "kubernetes.substrate-agent-missing" in refused["msg"]
    assert refused["substrate"]["state"] == "error"
