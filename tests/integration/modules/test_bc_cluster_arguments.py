# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tasks may say to bc_cluster and bc_cluster_info: everything strange is a sentence, and nothing is recorded."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

from .conftest import MakeModules

STRANGE: list[Any] = ["", "\0", "a\0b", "²", "abc\n", "x" * 100_000, "../../etc/passwd", "kcl_" + "0" * 26, -1, 10**30]
WEB = {"name": "web", "account": "managed-k8s", "location": "us-east-1"}


@pytest.mark.parametrize("field", ["name", "account", "location", "mode", "version", "idempotency_key", "cluster_id"])
def test_strange_fields_are_told(make_modules: MakeModules, database_url: str, field: str) -> None:
    modules = make_modules(url=database_url)
    modules.fleet.apply(without_pools())
    rows = modules.fleet.rows()
    valid_anywhere = {"idempotency_key": {"kcl_" + "0" * 26, "-1", str(10**30)}}.get(field, set())
    for value in STRANGE:
        if str(value) in valid_anywhere:
            continue
        cluster = {**WEB, field: value} if field != "cluster_id" else {field: value}
        for state in ("present", "absent"):
            result = modules.run("bc_cluster", check=True, clusters=[cluster], state=state)
            # Of what is to go, only its name or id is looked at: a name that nothing has is gone already.
            assert result["failed"] or state == "absent", value
            assert "A fault in better_compute.fleet" not in str(result.get("msg")), (str(value)[:60], result["msg"])
            assert "exception" not in result
    assert modules.fleet.rows() == rows


def test_strange_tenants_and_node_pools_are_told(make_modules: MakeModules, database_url: str) -> None:
    modules = make_modules(url=database_url)
    modules.fleet.apply(without_pools())
    rows = modules.fleet.rows()
    for value in STRANGE:
        told = modules.run("bc_cluster", check=True, clusters=[{**WEB, "node_pools": [{"name": value}]}])
        assert told["failed"]
        for module, arguments in (("bc_cluster", {"clusters": [WEB]}), ("bc_cluster_info", {})):
            result = modules.run(module, tenant=value, **arguments, check=True)
            good = str(value) in ("kcl_" + "0" * 26, "-1", str(10**30))
            assert result["failed"] is not good, value
            assert "A fault in better_compute.fleet" not in str(result.get("msg"))
    assert modules.fleet.rows() == rows


@pytest.mark.parametrize(
    ("clusters", "said"),
    [
        ([{}], "one of the following is required: name, cluster_id"),
        ([{"name": "web", "cluster_id": "kcl_1"}], "mutually exclusive: name|cluster_id"),
        ([WEB, WEB], "stands twice in the call, also at clusters[0]"),
        ([{**WEB, "mode": "free"}], "value of mode must be one of"),
    ],
)
def test_calls_that_mean_nothing_are_told(modules: Modules, clusters: list[dict[str, Any]], said: str) -> None:
    modules.fleet.apply(without_pools())
    refused = modules.run("bc_cluster", clusters=clusters)
    assert refused["failed"]
    assert said in refused["msg"]


def test_of_several_clusters_all_or_none_are_recorded(modules: Modules) -> None:
    modules.fleet.apply(without_pools())
    refused = modules.run("bc_cluster", clusters=[WEB, {**WEB, "name": "two", "account": "nobodys"}])
    assert (refused["failed"], refused["code"]) == (True, "NOT_FOUND")
    assert modules.run("bc_cluster_info")["clusters"] == []
    made = modules.run("bc_cluster", clusters=[WEB, {**WEB, "name": "two"}])
    assert [(one["name"], one["state"]) for one in made["clusters"]] == [("web", "ready"), ("two", "ready")]


def test_the_cluster_of_a_pool_is_read_and_left_to_its_document(modules: Modules) -> None:
    modules.fleet.apply(document())
    [behind] = modules.run("bc_cluster_info")["clusters"]
    assert (behind["pool"], behind["state"]) == ("gpu-fleet", "pending")
    for named in ({"name": behind["name"]}, {"cluster_id": behind["id"]}):
        for state in ("present", "absent"):
            refused = modules.run("bc_cluster", clusters=[named], state=state)
            assert (refused["failed"], refused["code"]) == (True, "INVALID_STATE")
    missing = modules.run("bc_cluster_info", cluster_id="kcl_" + "0" * 26)
    assert (missing["failed"], missing["code"]) == (True, "NOT_FOUND")


def test_a_repeated_request_makes_nothing_again(modules: Modules) -> None:
    modules.fleet.apply(without_pools())
    made = modules.run("bc_cluster", clusters=[{**WEB, "idempotency_key": "k"}])
    again = modules.run("bc_cluster", clusters=[{**WEB, "idempotency_key": "k"}])
    assert (again["changed"], again["clusters"]) == (False, made["clusters"])
    other = modules.run("bc_cluster", clusters=[{**WEB, "idempotency_key": "k", "private_nodes": True}])
    assert (other["failed"], other["code"]) == (True, "CONFLICT")
    modules.run("bc_cluster", clusters=[WEB], state="absent")
    mark = modules.fleet.scene.engine.log.mark
    gone = modules.run("bc_cluster", clusters=[{**WEB, "idempotency_key": "k"}])
    assert (gone["failed"], gone["changed"], gone["clusters"]) == (False, False, [])
    assert any("is deleted, and a repeated request makes nothing again" in str(one) for one in gone["warnings"])
    assert modules.fleet.scene.engine.log.mark == mark


def test_no_result_holds_a_credential(modules: Modules) -> None:
    modules.fleet.apply(without_pools())
    modules.run("bc_cluster", clusters=[WEB])
    modules.run("bc_cluster_info")
    told = "".join(modules.told)
    assert modules.fleet.scene.environment["AWS_SECRET_ACCESS_KEY"] not in told
    for mark in ("k8s-aws-v1.", "eyJ", "BEGIN CERTIFICATE"):
        assert mark not in told
