# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_cluster where a provider makes no cluster without nodes: it waits for its first node pool, and says so.

EKS stands in for such a provider: all that differs up to the driver is what it is said to be able to do.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import CAPABILITIES
from ansible_collections.better_compute.fleet.tests.support.life.world import without_pools
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

WEB = {"name": "web", "account": "managed-k8s", "location": "us-east-1"}
SYSTEM = {"name": "system", "machine_type": "m7i.large", "node_count": 1}
REASON = "EKS makes no cluster without nodes: it is made once it has a node pool"


@pytest.fixture(autouse=True)
def _needs_nodes(monkeypatch: pytest.MonkeyPatch, modules: Modules) -> None:
    monkeypatch.setitem(CAPABILITIES, "aws", replace(CAPABILITIES["aws"], cluster_needs_nodes=True))
    modules.fleet.apply(without_pools())


def test_without_a_node_pool_it_is_pending_and_the_task_ends_with_a_warning(modules: Modules) -> None:
    made = modules.run("bc_cluster", clusters=[WEB])
    assert (made["failed"], made["changed"]) == (False, True)
    assert [(one["state"], one["message"]) for one in made["clusters"]] == [("pending", REASON)]
    assert any(REASON in str(warning) for warning in made["warnings"])
    assert modules.writes() == 0
    modules.fleet.live(minutes=11)
    again = modules.run("bc_cluster", clusters=[WEB])
    assert (again["failed"], again["changed"], again["clusters"]) == (False, False, made["clusters"])
    assert modules.writes() == 0


def test_its_first_node_pool_has_it_made(modules: Modules) -> None:
    [web] = modules.run("bc_cluster", clusters=[WEB])["clusters"]
    made = modules.run("bc_nodepool", cluster_id=web["id"], node_pools=[SYSTEM])
    assert (made["failed"], [one["state"] for one in made["node_pools"]]) == (False, ["ready"])
    [ready] = modules.run("bc_cluster_info")["clusters"]
    assert (ready["state"], ready["message"]) == ("ready", "")


def test_with_its_first_node_pools_it_is_made_at_once(modules: Modules) -> None:
    made = modules.run("bc_cluster", clusters=[{**WEB, "node_pools": [SYSTEM]}])
    assert [(one["state"], one["message"]) for one in made["clusters"]] == [("ready", "")]


def test_one_that_waits_is_deleted_without_a_write(modules: Modules) -> None:
    modules.run("bc_cluster", clusters=[WEB])
    gone = modules.run("bc_cluster", clusters=[WEB], state="absent")
    assert (gone["failed"], gone["changed"], gone["clusters"]) == (False, True, [])
    assert modules.writes() == 0
