# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom a plan asks, with `refresh` and without, of what is new and of what stands: as the modules' pages say."""

from __future__ import annotations

import ast
from typing import Any

import pytest
import yaml

from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules
from ansible_collections.better_compute.fleet.tests.support.pages import CHECKOUT


def asked(modules: Modules, since: int = 0) -> set[str]:
    """What the provider was asked after so many calls."""
    return {entry.call.name for entry in modules.fleet.scene.engine.log.entries(cloud="aws")[since:]}


def calls(modules: Modules) -> int:
    return len(modules.fleet.scene.engine.log.entries(cloud="aws"))


def without_zones() -> dict[str, Any]:
    """A flavor that is spread over whatever zones its account's subnets are in."""
    data = document()
    for flavor in data["pools"][0]["policy"]["substrate"]["flavors"]:
        flavor.pop("zones", None)
    for account in data["providerAccounts"]:
        account["config"].pop("zones", None)
    return data


def test_of_a_new_pool_only_its_account_is_asked_where_nodes_can_be(modules: Modules) -> None:
    assert modules.run("bc_fleet", check=True, config=document())["changed"]
    assert asked(modules) == {"ec2.DescribeSubnets"}


def test_a_new_account_that_is_wrong_fails_a_plan_that_refreshes_and_no_other(modules: Modules) -> None:
    wrong = put(document(), "providerAccounts.0.config.eksSubnetIds.0", "subnet-00000000000000bad")
    assert modules.run("bc_fleet", check=True, config=wrong)["failed"]
    before = calls(modules)
    assert modules.run("bc_fleet", check=True, config=wrong, refresh=False)["changed"]
    assert calls(modules) == before


def test_without_refresh_sizes_in_unknown_zones_have_no_total(modules: Modules) -> None:
    told = modules.run("bc_fleet", check=True, config=without_zones(), refresh=False)
    assert any("their totals are shown once the zones were read" in str(warning) for warning in told["warnings"])
    assert asked(modules) == set()
    # In two zones that is more than a node pool may have: said once the zones are known.
    big = put(without_zones(), "pools.0.policy.substrate.flavors.0.nodes", 450)
    assert not modules.run("bc_fleet", check=True, config=big, refresh=False)["failed"]
    assert modules.run("bc_fleet", check=True, config=big)["code"] == "QUOTA_EXCEEDED"


def test_the_passes_ask_the_provider_whatever_the_plan_did(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), refresh=False, wait=False)
    assert "eks.CreateCluster" in asked(modules)


def test_a_pool_that_was_never_ready_is_not_looked_at_and_one_that_was_is(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    before = calls(modules)
    modules.run("bc_fleet", check=True, config=document())
    modules.run("bc_substrate", check=True, pool="gpu-fleet")
    assert asked(modules, before) == set()
    modules.run("bc_fleet", config=document())
    before = calls(modules)
    modules.run("bc_substrate", check=True, pool="gpu-fleet", refresh=False)
    modules.run("bc_substrate", check=True, pool="gpu-fleet", state="absent", prune=True)
    assert asked(modules, before) == set()
    modules.run("bc_substrate", check=True, pool="gpu-fleet")
    assert "eks.DescribeCluster" in asked(modules, before)


@pytest.mark.parametrize("module", ["bc_fleet", "bc_substrate"])
def test_the_pages_say_so(module: str) -> None:
    source = (CHECKOUT / "plugins" / "modules" / f"{module}.py").read_text(encoding="utf-8")
    told = next(
        ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DOCUMENTATION"
    )
    refresh = " ".join(yaml.safe_load(told)["options"]["refresh"]["description"])
    for words in (
        "has never been ready, such as a new pool's",
        "asked where nodes can be",
        "With V(false) the plan asks nobody",
        "in any case",
    ):
        assert words in refresh, words
