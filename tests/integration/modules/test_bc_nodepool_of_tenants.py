# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_nodepool and bc_nodepool_info on a cluster that backs no pool."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

SYSTEM = {"name": "system", "machine_type": "m7i.large", "node_count": 1}


@pytest.fixture
def cluster_id(modules: Modules) -> str:
    """A ready cluster of acme's own on the platform's account, beside a pool of the platform's that nobody runs."""
    modules.run("bc_fleet", config=without_pools())
    wanted = {"name": "tenants-own", "account": "managed-k8s", "location": "us-east-1"}
    [made] = modules.run("bc_cluster", tenant="acme", clusters=[wanted])["clusters"]
    modules.fleet.apply(document())
    return str(made["id"])


def test_node_pools_are_made_resized_and_deleted(modules: Modules, cluster_id: str) -> None:
    arguments: dict[str, Any] = {"tenant": "acme", "cluster_id": cluster_id, "node_pools": [SYSTEM]}
    checked = modules.run("bc_nodepool", check=True, **arguments)
    made = modules.run("bc_nodepool", **arguments)
    assert (made["failed"], made["changed"], made["diff"]) == (False, True, checked["diff"])
    assert set(made["diff"]["after"]) == {"tenants-own/system"}
    assert [(one["pool"], one["name"], one["state"]) for one in made["node_pools"]] == [(None, "system", "ready")]
    assert modules.run("bc_nodepool_info", tenant="acme")["node_pools"] == made["node_pools"]
    assert {one["state"] for one in modules.run("bc_nodepool_info")["node_pools"]} == {"pending"}, (
        "another's pool rests"
    )
    resized = modules.run("bc_nodepool", **(arguments | {"node_pools": [{"name": "system", "node_count": 2}]}))
    assert [(one["node_count"], one["state"]) for one in resized["node_pools"]] == [(2, "ready")]
    gone = modules.run("bc_nodepool", state="absent", **arguments)
    assert (gone["failed"], gone["changed"], gone["node_pools"]) == (False, True, [])


def test_without_waiting_one_pass_is_run(modules: Modules, cluster_id: str) -> None:
    mark = modules.fleet.scene.engine.log.mark
    made = modules.run("bc_nodepool", tenant="acme", cluster_id=cluster_id, node_pools=[SYSTEM], wait=False)
    assert (made["failed"], made["changed"]) == (False, True)
    assert [one["state"] for one in made["node_pools"]] == ["pending"]
    assert len(modules.fleet.scene.engine.log.writes(after=mark)) == 1


def test_a_refused_one_is_told_with_the_providers_reason(modules: Modules, cluster_id: str) -> None:
    strange = {**SYSTEM, "machine_type": "m9x.never"}
    refused = modules.run("bc_nodepool", tenant="acme", cluster_id=cluster_id, node_pools=[strange])
    assert (refused["failed"], refused["changed"], refused["code"]) == (True, True, "INVALID_STATE")
    assert refused["msg"].startswith("node pool system of cluster tenants-own is error: ")


def test_the_platforms_fleet_is_not_concerned(modules: Modules, cluster_id: str) -> None:
    modules.run("bc_nodepool", tenant="acme", cluster_id=cluster_id, node_pools=[SYSTEM])
    made = modules.run("bc_fleet", config=document())
    again = modules.run("bc_fleet", config=document(), prune=True)
    assert (made["failed"], again["failed"], again["changed"]) == (False, False, False)
    refused = modules.run("bc_nodepool", cluster_id=cluster_id, node_pools=[SYSTEM])
    assert (refused["failed"], refused["code"]) == (True, "NOT_FOUND")
