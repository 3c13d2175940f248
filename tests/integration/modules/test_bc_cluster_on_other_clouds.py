# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_cluster and bc_nodepool on the emulated GKE and DOKS, from a new cluster to nothing left, on either account."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from ansible_collections.better_compute.fleet.tests.support.life import memory_folder, scene
from ansible_collections.better_compute.fleet.tests.support.life.clouds import DOKS, GKE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import fleet_at_hand
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import environment_of
from ansible_collections.better_compute.fleet.tests.support.life.world import without_pools
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules, Result, modules_on

MACHINE: Final = {GKE: "e2-standard-4", DOKS: "s-4vcpu-8gb"}

ZONES: Final = {GKE: 2, DOKS: 1}
"""How often a node pool's `node_count` counts."""


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Modules]:
    """The modules beside all three emulated clouds, with nothing declared."""
    with memory_folder() as folder, scene(f"sqlite:///{folder / 'fleet.db'}", gcp=True) as stage:
        yield modules_on(fleet_at_hand(stage), monkeypatch, **environment_of(stage))


@pytest.fixture(params=["platform", "acme"])
def owner(request: pytest.FixtureRequest) -> str:
    """Whose the account is that acme's clusters stand on: the platform's, then acme's own."""
    found: str = request.param
    return found


def declare(modules: Modules, folder: Path, cloud: Cloud, *, owner: str) -> None:
    """Declare an account at a provider, named as the provider is."""
    config = {**cloud.config, **cloud.config_of(modules.fleet.scene.world, folder)}
    account = {"name": cloud.provider, "provider": cloud.provider, "tenantId": owner, "config": config}
    modules.run("bc_fleet", config={**without_pools(), "providerAccounts": [account]})


def run(modules: Modules, cluster: dict[str, Any], **more: Any) -> Result:
    """bc_cluster for one cluster of acme's."""
    return modules.run("bc_cluster", tenant="acme", clusters=[{"name": "web", **cluster}], **more)


def new(cloud: Cloud, **more: Any) -> dict[str, Any]:
    return {"account": cloud.provider, "location": cloud.location, **more}


def system(cloud: Cloud, **more: Any) -> dict[str, Any]:
    return {"name": "system", "machine_type": MACHINE[cloud], "node_count": 1, **more}


def minor(cluster: dict[str, Any]) -> str:
    """The version that it runs, without its patch (`1.33.5-gke.1308000`)."""
    return ".".join(cluster["running_version"].split(".")[:2])


def standing(modules: Modules) -> list[str]:
    """What there is at the providers."""
    return [f"{item.cloud} {item.kind} {item.id}" for item in modules.fleet.scene.engine.inventory.items()]


@pytest.mark.parametrize("cloud", [GKE, DOKS], ids=["gke", "doks"])
def test_a_cluster_lives_with_its_node_pools_and_leaves_nothing(
    modules: Modules, tmp_path: Path, cloud: Cloud, owner: str
) -> None:
    declare(modules, tmp_path, cloud, owner=owner)
    before, inventory = standing(modules), modules.fleet.scene.engine.inventory

    made = run(modules, new(cloud, version="1.33", node_pools=[system(cloud)]))
    assert (made["failed"], made["changed"]) == (False, True), made
    [web] = made["clusters"]
    assert (web["state"], web["mode"], web["pool"]) == ("ready", "standard", None)
    assert (web["provider"], web["account"], minor(web)) == (cloud.provider, cloud.provider, "1.33")
    assert (web["endpoint"].startswith("https://"), bool(web["global_id"])) == (True, True)
    assert inventory.machines() == ZONES[cloud]

    mark = modules.fleet.scene.engine.log.mark
    again = run(modules, new(cloud, version="1.33", node_pools=[system(cloud)]))
    assert (again["failed"], again["changed"], again["clusters"]) == (False, False, [web])
    assert modules.fleet.scene.engine.log.mark == mark, "what is recorded and ready asks nobody"

    added = modules.run(
        "bc_nodepool",
        tenant="acme",
        cluster_id=web["id"],
        node_pools=[{**system(cloud), "name": "batch"}, {"name": "system", "node_count": 2}],
    )
    assert (added["failed"], added["changed"]) == (False, True), added
    assert inventory.machines() == 3 * ZONES[cloud]
    told = modules.run("bc_nodepool_info", tenant="acme", cluster_id=web["id"])["node_pools"]
    assert {one["name"]: (one["node_count"], one["state"]) for one in told} == {
        "batch": (1, "ready"),
        "system": (2, "ready"),
    }

    raised = run(modules, {"version": "1.34"})
    assert (raised["failed"], raised["changed"]) == (False, True), raised
    [after] = raised["clusters"]
    assert (after["id"], after["global_id"], minor(after)) == (web["id"], web["global_id"], "1.34")
    assert {one["state"] for one in after["node_pools"]} == {"ready"}

    fewer = modules.run(
        "bc_nodepool", tenant="acme", cluster_id=web["id"], node_pools=[{"name": "batch"}], state="absent"
    )
    assert (fewer["failed"], fewer["changed"]) == (False, True), fewer
    assert inventory.machines() == 2 * ZONES[cloud]

    gone = run(modules, {}, state="absent")
    assert (gone["failed"], gone["changed"], gone["clusters"]) == (False, True, []), gone
    assert (inventory.machines(), standing(modules)) == (0, before)
    assert modules.run("bc_cluster_info", tenant="acme")["clusters"] == []


def test_an_autopilot_cluster_is_made_read_upgraded_and_deleted(modules: Modules, tmp_path: Path, owner: str) -> None:
    declare(modules, tmp_path, GKE, owner=owner)
    before = standing(modules)

    checked = run(modules, new(GKE, mode="autopilot", version="1.33"), check=True)
    assert (checked["changed"], checked["clusters"], standing(modules)) == (True, [], before)
    made = run(modules, new(GKE, mode="autopilot", version="1.33"))
    assert (made["failed"], made["changed"], made["diff"]) == (False, True, checked["diff"]), made
    [web] = made["clusters"]
    assert (web["state"], web["mode"], minor(web)) == ("ready", "autopilot", "1.33")
    assert web["node_pools"] == []
    assert modules.run("bc_cluster_info", tenant="acme", names=["web"])["clusters"] == [web]

    again = run(modules, new(GKE, mode="autopilot", version="1.33"))
    assert (again["failed"], again["changed"], again["clusters"]) == (False, False, [web])

    raised = run(modules, {"version": "1.34"})
    assert (raised["failed"], raised["changed"]) == (False, True), raised
    [after] = raised["clusters"]
    assert (after["id"], after["mode"], minor(after)) == (web["id"], "autopilot", "1.34")

    gone = run(modules, {}, state="absent")
    assert (gone["failed"], gone["changed"], gone["clusters"]) == (False, True, []), gone
    assert standing(modules) == before


def test_an_autopilot_cluster_has_no_node_pools_and_stays_one(modules: Modules, tmp_path: Path) -> None:
    declare(modules, tmp_path, GKE, owner="acme")
    in_a_zone = run(modules, {"account": "gcp", "location": "us-central1-a", "mode": "autopilot"})
    assert (in_a_zone["failed"], in_a_zone["code"]) == (True, "INVALID_INPUT")
    assert [problem["path"] for problem in in_a_zone["problems"]] == ["clusters[0].location"]
    with_one = run(modules, new(GKE, mode="autopilot", node_pools=[system(GKE)]))
    assert (with_one["failed"], with_one["code"]) == (True, "INVALID_STATE")
    assert modules.run("bc_cluster_info", tenant="acme")["clusters"] == [], "nothing was recorded"

    [web] = run(modules, new(GKE, mode="autopilot"))["clusters"]
    mark = modules.fleet.scene.engine.log.mark
    for refused in (
        run(modules, {"node_pools": [system(GKE)]}),
        modules.run("bc_nodepool", tenant="acme", cluster_id=web["id"], node_pools=[system(GKE)]),
    ):
        assert (refused["failed"], refused["code"]) == (True, "INVALID_STATE")
        assert "autopilot cluster: the provider runs its nodes" in refused["msg"]
    changed = run(modules, {"mode": "standard"})
    assert (changed["failed"], changed["code"]) == (True, "INVALID_INPUT")
    [problem] = changed["problems"]
    assert problem["path"] == "clusters[0].mode"
    assert problem["message"] == "never changes on a cluster that stands: delete it and create another"
    assert modules.fleet.scene.engine.log.mark == mark
    assert modules.run("bc_cluster_info", tenant="acme")["clusters"] == [web]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [({"mode": "autopilot"}, "has no autopilot"), ({"private_nodes": True}, "has no private nodes")],
)
def test_what_doks_lacks_is_unsupported(modules: Modules, tmp_path: Path, wanted: dict[str, Any], said: str) -> None:
    declare(modules, tmp_path, DOKS, owner="acme")
    refused = run(modules, new(DOKS, **wanted))
    assert (refused["failed"], refused["code"]) == (True, "UNSUPPORTED")
    assert said in refused["msg"]
    assert modules.run("bc_cluster_info", tenant="acme")["clusters"] == []


DOKS_HAS_NOT: Final = [
    ({"node_count": 0}, "node_count", "a DOKS node pool has no nodes only with autoscaling and its min_nodes 0"),
    ({"zones": ["nyc2-a"]}, "zones", "DOKS node pools are regional"),
    ({"disk_gib": 100}, "disk_gib", "DOKS node pools take the disk of their machine type"),
    ({"disk_type": "pd-ssd"}, "disk_type", "DOKS node pools have no disk type to choose"),
    (
        {"spot": True},
        "spot",
        "Spot is a preview at DigitalOcean: the config of account digitalocean needs previews true",
    ),
]


@pytest.mark.parametrize(
    ("wanted", "field", "said"), DOKS_HAS_NOT, ids=[field for _wanted, field, _said in DOKS_HAS_NOT]
)
def test_a_node_pool_that_doks_does_not_have_is_refused_before_anything_is_recorded(
    modules: Modules, tmp_path: Path, wanted: dict[str, Any], field: str, said: str
) -> None:
    declare(modules, tmp_path, replace(DOKS, config={**DOKS.config, "previews": False}), owner="acme")
    refused = run(modules, new(DOKS, node_pools=[system(DOKS, **wanted)]))
    assert (refused["failed"], refused["code"]) == (True, "INVALID_INPUT")
    [problem] = refused["problems"]
    assert problem["path"] == f"clusters[0].node_pools[0].{field}"
    assert problem["message"].startswith(said)
    assert modules.run("bc_cluster_info", tenant="acme")["clusters"] == []
