# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules on a cluster that stands already: adopted, told of, left alone, given back."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.owners import as_it_stands, eks_cluster, eks_of
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

POOL = "gpu-fleet"
CLUSTER = "pools.0.policy.substrate.cluster"


def adopting(cluster: str = "us-east-1/prod", pool: str = POOL) -> dict[str, Any]:
    """The life's document, its pool on a cluster that stands already."""
    data = put(document(), "pools.0.name", pool) | {"quotas": []}
    result: dict[str, Any] = put(data, CLUSTER, {"adopt": cluster})
    return result


def said(result: dict[str, Any]) -> list[str]:
    """Each change of a result's plan as `kind resource name`."""
    return [f"{change['kind']} {change['resource']} {change['name']}" for change in result["plan"]["changes"]]


@pytest.fixture
def owned(modules: Modules) -> Modules:
    """The modules, and somebody's own cluster with a node group called as a flavor is."""
    eks_cluster(modules.fleet.scene)
    return modules


def test_a_pool_adopts_a_cluster_and_every_module_says_so(owned: Modules) -> None:
    before = as_it_stands(owned.fleet.scene)
    checked = owned.run("bc_fleet", check=True, config=adopting())
    result = owned.run("bc_fleet", config=adopting())
    assert (result["failed"], result["changed"], checked["changed"]) == (False, True, True)
    assert said(result) == said(checked)
    assert "adopt cluster gpu-fleet" in said(result)
    assert result["plan"]["totals"]["adopt"] == checked["plan"]["totals"]["adopt"] == 1
    [substrate] = result["substrates"]
    assert (substrate["mode"], substrate["state"], substrate["message"]) == ("adopt", "ready", "")
    again = owned.run("bc_fleet", config=adopting())
    assert (again["changed"], again["plan"]["changes"]) == (False, [])

    [read] = owned.run("bc_substrate_info", pool=POOL)["substrates"]
    assert (read["mode"], read["cluster_id"]) == ("adopt", substrate["cluster_id"])
    assert owned.run("bc_fleet_info")["substrates"][0]["mode"] == "adopt"
    [cluster] = owned.run("bc_cluster_info")["clusters"]
    assert (cluster["name"], cluster["adopted"], cluster["pool"], cluster["state"]) == ("prod", True, POOL, "ready")
    assert (cluster["private_nodes"], cluster["version"], cluster["running_version"]) == (None, None, "1.33")
    assert cluster["global_id"].endswith(":cluster/prod")
    short = substrate["pool_id"][-6:]
    ours = {f"bc-{short}-h100", f"bc-{short}-h100-spot"}
    assert {one["name"] for one in cluster["node_pools"]} == ours
    assert {one["name"] for one in owned.run("bc_nodepool_info", pool=POOL)["node_pools"]} == ours
    now = as_it_stands(owned.fleet.scene)
    assert (now["cluster"], now["own"]) == (before["cluster"], before["own"])
    assert set(now["groups"]) == {"h100", *ours}


def test_bc_substrate_adopts_for_a_pool_that_has_none_and_changes_its_flavors(owned: Modules) -> None:
    owned.run("bc_fleet", config=put(adopting(), "pools.0.policy", {}))
    [wanted] = adopting()["providerAccounts"]
    flavor = {"name": "h100", "machine_type": "p5.48xlarge", "nodes": 1, "gpus": {"type": "nvidia-h100", "count": 8}}
    arguments: dict[str, Any] = {
        "pool": POOL,
        "account": wanted["name"],
        "cluster": {"adopt": "US-EAST-1/prod"},
        "flavors": [flavor],
    }
    checked = owned.run("bc_substrate", check=True, **arguments)
    result = owned.run("bc_substrate", **arguments)
    assert said(result) == said(checked) == ["adopt cluster gpu-fleet", "create node_pool gpu-fleet/h100"]
    assert (result["substrate"]["mode"], result["substrate"]["state"]) == ("adopt", "ready")
    assert not owned.run("bc_substrate", **arguments)["changed"]
    bigger = owned.run("bc_substrate", pool=POOL, flavors=[{"name": "h100", "nodes": 2}])
    assert (said(bigger), bigger["substrate"]["state"]) == (["update node_pool gpu-fleet/h100"], "ready")
    other = owned.run("bc_substrate", pool=POOL, cluster={"adopt": "us-east-1/other"})
    assert (other["failed"], other["code"]) == (True, "INVALID_STATE")
    assert "create a new pool instead" in other["msg"]


def test_a_cluster_that_another_pool_has_is_refused_with_who_has_it(owned: Modules) -> None:
    owned.run("bc_fleet", config=adopting(), wait=False)
    rows = owned.fleet.rows()
    for check in (True, False):
        refused = owned.run("bc_fleet", check=check, config=adopting(pool="second"))
        assert (refused["failed"], refused.get("changed", False), refused["code"]) == (True, False, "CONFLICT")
        assert "pool second is to adopt cluster us-east-1/prod" in refused["msg"]
        assert f"it backs pool {POOL} " in refused["msg"]
    twice = adopting()
    twice["pools"].append({**twice["pools"][0], "name": "second"})
    refused = owned.run("bc_fleet", config=twice)
    assert refused["code"] == "INVALID_INPUT"
    [problem] = refused["problems"]
    assert problem["path"] == "pools[1].policy.substrate.cluster.adopt"
    assert problem["message"].endswith("is adopted already: pools[0].policy.substrate.cluster.adopt")
    assert owned.fleet.rows() == rows


def test_what_would_change_or_delete_it_is_refused(owned: Modules) -> None:
    owned.run("bc_fleet", config=adopting(), wait=False)
    [cluster] = owned.run("bc_cluster_info")["clusters"]
    rows, writes = owned.fleet.rows(), owned.writes()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("bc_cluster", {"clusters": [{"name": "prod", "version": "1.35"}]}),
        ("bc_cluster", {"clusters": [{"name": "prod"}], "state": "absent"}),
        ("bc_nodepool", {"node_pools": [{"name": "more", "machine_type": "m7i.large", "node_count": 1, "pool": POOL}]}),
    ]
    for module, arguments in calls:
        refused = owned.run(module, **arguments)
        assert (refused["failed"], refused["code"]) == (True, "INVALID_STATE"), refused
        assert "adopted" in refused["msg"]
    assert (owned.fleet.rows(), owned.writes()) == (rows, writes)
    assert cluster["adopted"] is True


def test_what_its_owner_does_with_it_is_no_drift_and_what_happens_to_our_node_pools_is(owned: Modules) -> None:
    owned.run("bc_fleet", config=adopting())
    scene, eks = owned.fleet.scene, eks_of(owned.fleet.scene)
    eks.update_cluster_version(name="prod", version="1.34")
    scene.clock.advance(120)
    eks.update_nodegroup_config(clusterName="prod", nodegroupName="h100", labels={"addOrUpdateLabels": {"x": "y"}})
    scene.clock.advance(60)
    [pool] = owned.run("bc_fleet_info", drift=True)["drift"]
    assert (pool["state"], pool["fields"]) == ("in_sync", [])
    assert not owned.run("bc_fleet", config=adopting())["changed"]

    name = next(name for name in owned.fleet.node_pools() if name.endswith("-h100"))
    scene.world.aws.console.edit_node_group("prod", name, scaling={"minSize": 3, "desiredSize": 3, "maxSize": 3})
    scene.clock.advance(60)
    [pool] = owned.run("bc_fleet_info", drift=True)["drift"]
    assert [(one["name"], one["path"], one["repaired"]) for one in pool["fields"]] == [
        ("gpu-fleet/h100", "totalNodes", True)
    ]
    assert said(owned.run("bc_fleet", config=adopting())) == ["update node_pool gpu-fleet/h100"]
    eks.delete_nodegroup(clusterName="prod", nodegroupName=name)
    scene.clock.advance(60)
    assert said(owned.run("bc_fleet", config=adopting())) == ["create node_pool gpu-fleet/h100"]
    assert name in as_it_stands(scene)["groups"]


def test_one_that_is_gone_is_told_and_nothing_is_made_in_its_place(owned: Modules) -> None:
    owned.run("bc_fleet", config=adopting())
    scene, eks = owned.fleet.scene, eks_of(owned.fleet.scene)
    for name in ("h100", *owned.fleet.node_pools()):
        eks.delete_nodegroup(clusterName="prod", nodegroupName=name)
    scene.clock.advance(60)
    eks.delete_cluster(name="prod")
    scene.clock.advance(60)
    [pool] = owned.run("bc_fleet_info", drift=True)["drift"]
    assert [(one["name"], one["path"], one["repaired"]) for one in pool["fields"]] == [("gpu-fleet", "exists", False)]
    writes = owned.writes()
    result = owned.run("bc_fleet", config=adopting(), check=True)
    assert (result["changed"], result["plan"]["changes"]) == (False, [])
    assert any(
        "cluster prod, which it adopted, is not at the provider any more" in one for one in result["plan"]["warnings"]
    )
    [substrate] = owned.run("bc_fleet", config=adopting(), wait=False)["substrates"]
    assert (substrate["mode"], owned.writes()) == ("adopt", writes)


def test_it_is_given_back_as_it_was_found(owned: Modules) -> None:
    before = as_it_stands(owned.fleet.scene)
    owned.run("bc_fleet", config=adopting())
    gone = adopting() | {"pools": []}
    checked = owned.run("bc_fleet", check=True, config=gone, prune=True)
    result = owned.run("bc_fleet", config=gone, prune=True)
    assert said(result) == said(checked)
    assert "give_back cluster gpu-fleet" in said(result)
    assert result["plan"]["totals"]["give_back"] == 1
    assert result["substrates"] == [] or result["substrates"][0]["state"] == "deleted"
    assert as_it_stands(owned.fleet.scene) == before
    free = owned.run("bc_fleet", config=adopting(pool="second"))
    assert (free["failed"], free["substrates"][0]["state"]) == (False, "ready")
