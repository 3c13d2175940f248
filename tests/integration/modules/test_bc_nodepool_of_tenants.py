# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_nodepool and bc_nodepool_info on a cluster that backs no pool: recorded, told, and no pass is run for it yet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId, new_cluster_id
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import ClusterRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ClusterState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

SYSTEM = {"name": "system", "machine_type": "m7i.large", "node_count": 1}


@pytest.fixture
def own(modules: Modules) -> ClusterRecord:
    """A ready cluster of acme's own on the platform's account, beside a pool of the platform's."""
    modules.run("bc_fleet", config=document())
    theirs = replace(
        modules.fleet.cluster(),
        id=new_cluster_id(rows.START),
        tenant_id=TenantId("acme"),
        substrate_pool_id=None,
        name="tenants-own",
        state=ClusterState.READY,
    )
    with modules.fleet.session.store.write() as tx:
        clusters.add_cluster(tx, theirs)
    return theirs


def test_node_pools_are_recorded_and_told_without_a_pool(modules: Modules, own: ClusterRecord) -> None:
    arguments: dict[str, Any] = {"tenant": "acme", "cluster_id": own.id, "node_pools": [SYSTEM]}
    checked = modules.run("bc_nodepool", check=True, **arguments)
    mark = modules.fleet.scene.engine.log.mark
    made = modules.run("bc_nodepool", wait=False, **arguments)
    assert (made["failed"], made["changed"]) == (False, True)
    assert made["diff"] == checked["diff"]
    assert set(made["diff"]["after"]) == {"tenants-own/system"}
    assert [(one["pool"], one["name"], one["state"]) for one in made["node_pools"]] == [(None, "system", "pending")]
    read = modules.run("bc_nodepool_info", tenant="acme")
    assert read["node_pools"] == made["node_pools"]
    assert modules.fleet.scene.engine.log.mark == mark, "no pass is run, for the platform's pool neither"
    assert [one["name"] for one in modules.run("bc_nodepool_info")["node_pools"]] == ["h100", "h100-spot"]


def test_whoever_waits_is_told_why_there_is_nothing_to_wait_for(modules: Modules, own: ClusterRecord) -> None:
    waited = modules.run("bc_nodepool", tenant="acme", cluster_id=own.id, node_pools=[SYSTEM])
    assert (waited["failed"], waited["changed"], waited["code"]) == (True, True, "INVALID_STATE")
    assert waited["msg"] == (
        "node pool system of cluster tenants-own is pending: it is recorded, and this version does not converge "
        "clusters without a pool yet"
    )


def test_the_platforms_fleet_is_not_concerned(modules: Modules, own: ClusterRecord) -> None:
    modules.run("bc_nodepool", tenant="acme", cluster_id=own.id, node_pools=[SYSTEM], wait=False)
    again = modules.run("bc_fleet", config=document(), prune=True)
    assert (again["failed"], again["changed"]) == (False, False)
    refused = modules.run("bc_nodepool", cluster_id=own.id, node_pools=[SYSTEM])
    assert (refused["failed"], refused["code"]) == (True, "NOT_FOUND")
    modules.fleet.live(minutes=6)
    with modules.fleet.session.store.read() as tx:
        [system] = clusters.node_pools(tx, own.id)
    assert (system.state, system.message) == ("pending", "")
