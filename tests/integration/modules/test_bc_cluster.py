# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_cluster and bc_cluster_info on the emulated EKS: on the platform's account, and on the tenant's own."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ClusterState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.world import without_pools
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules, Result

SYSTEM = {"name": "system", "machine_type": "m7i.large", "node_count": 1}


@pytest.fixture(params=["platform", "acme"])
def account(modules: Modules, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an account that acme's clusters may stand on: the platform's, and acme's own.

    Acme's has a credential of its own, and the platform's is not even there.
    """
    document = put(without_pools(), "providerAccounts.0.tenantId", request.param)
    if request.param == "acme":
        put(document, "providerAccounts.0.config.credential", {"env": "ACME"})
        key = modules.fleet.scene.world.aws.account.user("acme")
        monkeypatch.setenv("ACME_ACCESS_KEY_ID", key.access_key_id)
        monkeypatch.setenv("ACME_SECRET_ACCESS_KEY", key.secret_access_key)
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    modules.run("bc_fleet", config=document)
    return str(document["providerAccounts"][0]["name"])


def run(modules: Modules, cluster: dict[str, Any], **more: Any) -> Result:
    """bc_cluster for one cluster of acme's."""
    return modules.run("bc_cluster", tenant="acme", clusters=[cluster], **more)


def web(account: str, **more: Any) -> dict[str, Any]:
    return {"name": "web", "account": account, "location": "us-east-1", **more}


def test_it_is_made_with_its_first_node_pools_and_read(modules: Modules, account: str) -> None:
    wanted = web(account, version="1.33", node_pools=[SYSTEM])
    checked = run(modules, wanted, check=True)
    assert (checked["changed"], checked["clusters"]) == (True, [])
    assert modules.run("bc_cluster_info", tenant="acme")["clusters"] == []
    made = run(modules, wanted)
    assert (made["failed"], made["changed"], made["diff"]) == (False, True, checked["diff"])
    assert set(made["diff"]["after"]["web"]["node_pools"]) == {"system"}
    [web_now] = made["clusters"]
    assert (web_now["state"], web_now["pool"], web_now["mode"]) == ("ready", None, "standard")
    assert (web_now["version"], web_now["running_version"], web_now["account"]) == ("1.33", "1.33", account)
    assert web_now["endpoint"].startswith("https://")
    assert [(one["name"], one["state"]) for one in web_now["node_pools"]] == [("system", "ready")]
    assert modules.run("bc_cluster_info", tenant="acme")["clusters"] == [web_now]
    assert modules.run("bc_cluster_info")["clusters"] == [], "the platform's are others"


def test_a_second_run_changes_nothing_and_asks_nobody(modules: Modules, account: str) -> None:
    first = run(modules, web(account, node_pools=[SYSTEM]))
    mark = modules.fleet.scene.engine.log.mark
    again = run(modules, web(account, node_pools=[SYSTEM]))
    assert (again["failed"], again["changed"]) == (False, False)
    assert again["clusters"] == first["clusters"]
    assert again["diff"] == {"before": {}, "after": {}}
    assert modules.fleet.scene.engine.log.mark == mark


def test_its_version_is_raised_in_place_and_never_lowered(modules: Modules, account: str) -> None:
    [before] = run(modules, web(account, version="1.33"))["clusters"]
    raised = run(modules, {"name": "web", "version": "1.34"})
    assert (raised["failed"], raised["changed"]) == (False, True)
    [after] = raised["clusters"]
    assert (after["id"], after["running_version"]) == (before["id"], "1.34")
    assert raised["diff"]["before"]["web"]["version"] == "1.33"
    assert raised["diff"]["after"]["web"]["version"] == "1.34"
    lowered = run(modules, {"name": "web", "version": "1.33"})
    assert (lowered["failed"], lowered["code"]) == (True, "INVALID_INPUT")
    [problem] = lowered["problems"]
    assert problem["path"] == "clusters[0].version"
    assert problem["message"].startswith("is never lowered: leave it at 1.34 or above")


def test_its_node_pools_are_added_and_resized_beside_those_of_bc_nodepool(modules: Modules, account: str) -> None:
    [made] = run(modules, web(account))["clusters"]
    own = modules.run("bc_nodepool", tenant="acme", cluster_id=made["id"], node_pools=[{**SYSTEM, "name": "other"}])
    assert (own["failed"], [one["state"] for one in own["node_pools"]]) == (False, ["ready"])
    run(modules, web(account, node_pools=[SYSTEM]))
    resized = run(modules, {"cluster_id": made["id"], "node_pools": [{"name": "system", "node_count": 2}]})
    assert (resized["failed"], resized["changed"]) == (False, True)
    counts = {one["name"]: (one["node_count"], one["state"]) for one in resized["clusters"][0]["node_pools"]}
    assert counts == {"other": (1, "ready"), "system": (2, "ready")}


def test_it_is_deleted_with_its_node_pools_and_its_name_is_free_again(modules: Modules, account: str) -> None:
    [made] = run(modules, web(account, node_pools=[SYSTEM]))["clusters"]
    checked = run(modules, {"name": "web"}, state="absent", check=True)
    gone = run(modules, {"name": "web"}, state="absent")
    assert (gone["failed"], gone["changed"], gone["clusters"]) == (False, True, [])
    assert gone["diff"] == checked["diff"]
    assert set(gone["diff"]["before"]) == {"web"}
    assert gone["diff"]["after"] == {}
    assert modules.fleet.scene.engine.inventory.machines() == 0
    again = run(modules, {"name": "web"}, state="absent")
    assert (again["failed"], again["changed"]) == (False, False)
    [anew] = run(modules, web(account))["clusters"]
    assert anew["id"] != made["id"]


def test_without_waiting_one_pass_is_run_and_a_later_run_waits(modules: Modules, account: str) -> None:
    begun = run(modules, web(account), wait=False)
    assert (begun["failed"], begun["changed"]) == (False, True)
    assert begun["clusters"][0]["state"] == "provisioning"
    waited = run(modules, web(account))
    assert (waited["failed"], waited["changed"], waited["clusters"][0]["state"]) == (False, False, "ready")


def test_what_takes_too_long_fails_the_task_and_stays_recorded(modules: Modules, account: str) -> None:
    late = run(modules, web(account), wait_timeout=20)
    assert (late["failed"], late["changed"], late["code"]) == (True, True, "INVALID_STATE")
    assert late["msg"].startswith("cluster web: still provisioning after 20 s (")
    modules.fleet.live(minutes=30)
    [now] = modules.run("bc_cluster_info", tenant="acme", names=["web"])["clusters"]
    assert now["state"] == "ready"


def test_an_account_is_kept_while_a_cluster_stands_on_it(modules: Modules, account: str) -> None:
    run(modules, web(account), wait=False)
    kept = modules.run("bc_fleet", config={"version": 1}, prune=True)
    assert (kept["failed"], "kept until cluster web on it is deleted" in kept["plan"]["text"]) == (False, True)
    run(modules, {"name": "web"}, state="absent")
    assert modules.run("bc_fleet", config={"version": 1}, prune=True)["changed"] is True
    assert modules.run("bc_fleet_info")["provider_accounts"] == []


def test_a_refused_node_pool_is_told_and_fails_the_task(modules: Modules, account: str) -> None:
    refused = run(modules, web(account, node_pools=[{**SYSTEM, "machine_type": "m9x.never"}]))
    assert (refused["failed"], refused["changed"], refused["code"]) == (True, True, "INVALID_STATE")
    assert refused["msg"].startswith("cluster web is error: node pool system: ")


def test_a_cluster_that_went_while_it_was_deleted_is_no_row_left(modules: Modules, account: str) -> None:
    run(modules, web(account), wait=False)
    run(modules, {"name": "web"}, state="absent")
    with modules.fleet.session.store.read() as tx:
        assert [row.state for row in clusters.clusters(tx)] == [ClusterState.DELETED]
