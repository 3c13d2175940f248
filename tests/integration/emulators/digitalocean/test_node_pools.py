# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node pools as pydo makes, changes and deletes them; single nodes that are deleted or replaced."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import POOL, Account, refusal

AT_LEAST_ONE = "validation error: node pool count must be greater than or equal to 1"
SCALED = {"auto_scale": True, "min_nodes": 1, "max_nodes": 4}


def names(pool: Any) -> set[str]:
    return {node["name"] for node in pool["nodes"]}


def test_a_node_pool_is_added_to_a_running_cluster_and_goes_with_its_last_node(account: Account) -> None:
    cluster = account.running()
    added = account.add(cluster, tags=["mine"], labels={"a": "b"}, taints=[{"key": "k", "effect": "NoExecute"}])
    assert added["taints"] == [{"key": "k", "value": "", "effect": "NoExecute"}]
    assert {node["status"]["state"] for node in added["nodes"]} == {"provisioning"}
    account.clock.advance(account.timings.droplet_create)
    pool = account.pool(cluster, added)
    assert all(name.startswith("two-") and len(name) == len("two-") + 5 for name in names(pool))

    assert account.doks.delete_node_pool(cluster["id"], added["id"]) is None
    assert {node["status"]["state"] for node in account.pool(cluster, added)["nodes"]} == {"draining"}
    assert account.doks.delete_node_pool(cluster["id"], added["id"]) is None
    account.clock.advance(account.timings.node_drain)
    assert {node["status"]["state"] for node in account.pool(cluster, added)["nodes"]} == {"deleting"}
    account.clock.advance(account.timings.node_delete)
    assert account.doks.get_node_pool(cluster["id"], added["id"])["id"] == "not_found"
    assert account.doks.delete_node_pool(cluster["id"], added["id"])["id"] == "not_found"


def test_the_last_node_pool_stays_unless_that_reading_is_turned_over(account: Account) -> None:
    cluster = account.running()
    first = cluster["node_pools"][0]
    second = account.add(cluster)
    account.doks.delete_node_pool(cluster["id"], second["id"])
    status, code, message = refusal(lambda: account.doks.delete_node_pool(cluster["id"], first["id"]))
    assert (status, code) == (422, "unprocessable_entity")
    assert message == "validation error: cluster must have at least one node pool"
    account.cloud.readings.keeps_last_node_pool = False
    account.doks.delete_node_pool(cluster["id"], first["id"])
    account.settle()
    assert account.cluster(cluster)["node_pools"] == []


def test_a_count_is_followed_up_and_down(account: Account) -> None:
    cluster = account.running()
    pool = cluster["node_pools"][0]
    grown = account.put(cluster, pool, name="h100", count=3)
    assert (grown["count"], len(grown["nodes"])) == (3, 3)
    account.settle()
    assert len(account.exists("machine")) == 3
    shrunk = account.put(cluster, pool, name="h100", count=1)
    assert [node["status"]["state"] for node in shrunk["nodes"]].count("draining") == 2
    account.settle()
    [left] = account.pool(cluster, pool)["nodes"]
    assert account.exists("machine") == [left["droplet_id"]]


def test_a_change_needs_name_and_count_and_leaves_alone_what_it_does_not_say(account: Account) -> None:
    cluster = account.running(node_pools=[{**POOL, "tags": ["mine"], "labels": {"a": "b"}}])
    pool = cluster["node_pools"][0]
    assert refusal(lambda: account.put(cluster, pool, count=2))[2] == "validation error: node pool name is required"
    assert refusal(lambda: account.put(cluster, pool, name="h100"))[2] == AT_LEAST_ONE
    changed = account.put(cluster, pool, name="h100", count=2)
    assert [changed[key] for key in ("tags", "labels", "taints")] == [pool[key] for key in ("tags", "labels", "taints")]


def test_tags_labels_and_taints_of_a_change_replace_all_there_were(account: Account) -> None:
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    cluster = account.running(node_pools=[{**POOL, "tags": ["a"], "labels": {"a": "b"}, "taints": [taint]}])
    pool = cluster["node_pools"][0]
    changed = account.put(cluster, pool, name="h100", count=2, tags=["b"], labels={"c": "d"}, taints=[])
    assert changed["tags"] == ["k8s", f"k8s:{cluster['id']}", "k8s:worker", "b"]
    assert (changed["labels"], changed["taints"]) == ({"c": "d"}, [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": 0}, "node pool count must be greater than or equal to 1"),
        ({"count": None}, "count must be a number that is not negative"),
        ({"count": -1}, "count must be a number that is not negative"),
        ({"size": "gpu-unheard-of"}, "invalid size slug"),
        ({"name": "p" * 58}, "node pool name is too long (maximum is 57 characters)"),
        ({"name": "h100"}, "node pool names must be unique within a cluster"),
        ({"name": "UPPER"}, "invalid node pool name"),
        ({"tags": ["no/slash"]}, "invalid tag name: no/slash"),
        ({"labels": {"a b": "c"}}, "invalid label: a b=c"),
        ({"taints": [{"key": "k", "effect": "Never"}]}, "invalid taint effect"),
        ({**SCALED, "max_nodes": 0}, "max nodes must be greater than or equal to 1 and to min nodes"),
        ({**SCALED, "min_nodes": 5}, "max nodes must be greater than or equal to 1 and to min nodes"),
        ({**SCALED, "count": 5}, "node pool count must be between min nodes and max nodes"),
    ],
)
def test_what_cannot_be_is_refused(account: Account, change: dict[str, Any], message: str) -> None:
    cluster = account.running()
    assert refusal(lambda: account.add(cluster, **change)) == (
        422,
        "unprocessable_entity",
        f"validation error: {message}",
    )
    assert len(account.cluster(cluster)["node_pools"]) == 1


def test_a_second_node_pool_of_a_name_is_refused_by_the_strictest_reading_only(account: Account) -> None:
    cluster = account.running()
    other = account.add(cluster)
    taken = "validation error: node pool names must be unique within a cluster"
    assert refusal(lambda: account.put(cluster, other, name="h100", count=2))[2] == taken
    account.cloud.readings.unique_names = False
    assert account.add(cluster)["name"] == other["name"]
    assert len(account.doks.list_node_pools(cluster["id"])["node_pools"]) == 3


def test_a_cluster_s_node_pools_are_listed_without_pages(account: Account) -> None:
    cluster = account.running()
    for number in range(21):
        account.add(cluster, name=f"p{number}", count=1)
    assert len(account.doks.list_node_pools(cluster["id"])["node_pools"]) == 22
    assert len(account.cluster(cluster)["node_pools"]) == 22


def test_the_size_of_a_node_pool_never_changes(account: Account) -> None:
    cluster = account.running()
    pool = cluster["node_pools"][0]
    other = {"name": "h100", "count": 2, "size": "s-2vcpu-4gb"}
    assert refusal(lambda: account.put(cluster, pool, **other))[2] == "validation error: size cannot be changed"
    assert account.put(cluster, pool, name="h100", count=2, size=pool["size"])["size"] == pool["size"]


def test_bounds_read_zero_where_nothing_is_scaled_and_scaling_is_turned_on_and_off(account: Account) -> None:
    cluster = account.running()
    pool = cluster["node_pools"][0]
    assert [pool[key] for key in ("auto_scale", "min_nodes", "max_nodes")] == [False, 0, 0]
    scaled = account.put(cluster, pool, name="h100", **SCALED)
    assert [scaled[key] for key in ("auto_scale", "min_nodes", "max_nodes", "count")] == [True, 1, 4, 2]
    fixed = account.put(cluster, pool, name="h100", count=2, auto_scale=False)
    assert [fixed[key] for key in ("auto_scale", "min_nodes", "max_nodes")] == [False, 0, 0]


def test_a_node_pool_has_no_nodes_only_where_it_is_scaled_and_the_account_may_scale_to_zero(account: Account) -> None:
    cluster = account.running()
    empty = account.add(cluster, count=0, auto_scale=True, min_nodes=0, max_nodes=2)
    assert empty["nodes"] == []
    account.cloud.readings.scale_to_zero = False
    again = {"name": "three", "count": 0, "auto_scale": True, "min_nodes": 0, "max_nodes": 2}
    message = refusal(lambda: account.add(cluster, **again))[2]
    assert message == "validation error: min nodes must be greater than or equal to 1"


def test_the_autoscaler_s_count_stands_until_a_change_sends_another(account: Account) -> None:
    cluster = account.running(node_pools=[{**POOL, **SCALED}])
    pool = cluster["node_pools"][0]
    account.cloud.console.autoscale(cluster["id"], pool["id"], 4)
    assert account.put(cluster, pool, name="h100", tags=["x"])["count"] == 4
    assert account.put(cluster, pool, name="h100", count=2)["count"] == 2
    account.settle()
    assert len(account.pool(cluster, pool)["nodes"]) == 2


def test_one_node_is_deleted_by_its_id_and_the_count_falls_by_one(account: Account) -> None:
    cluster = account.running()
    pool = cluster["node_pools"][0]
    gone, left = pool["nodes"]
    assert account.doks.delete_node(cluster["id"], pool["id"], gone["id"]) is None
    draining = account.pool(cluster, pool)
    assert (draining["count"], draining["nodes"][0]["status"]["state"]) == (1, "draining")
    account.settle()
    assert [node["id"] for node in account.pool(cluster, pool)["nodes"]] == [left["id"]]
    assert account.doks.delete_node(cluster["id"], pool["id"], gone["id"])["id"] == "not_found"
    assert refusal(lambda: account.doks.delete_node(cluster["id"], pool["id"], left["id"]))[2] == AT_LEAST_ONE


def test_draining_is_skipped_and_a_node_is_replaced_where_the_query_says_so(account: Account) -> None:
    cluster = account.running()
    pool = cluster["node_pools"][0]
    old = pool["nodes"][0]
    account.doks.delete_node(cluster["id"], pool["id"], old["id"], skip_drain=1, replace=1)
    now = account.pool(cluster, pool)
    assert now["count"] == 2
    assert [node["status"]["state"] for node in now["nodes"]] == ["deleting", "running", "provisioning"]
    account.doks.recycle_node_pool(cluster["id"], pool["id"], body={"nodes": [pool["nodes"][1]["id"]]})
    account.settle()
    assert len(names(account.pool(cluster, pool)) - names(pool)) == 2


def test_after_a_rename_old_nodes_keep_their_names_and_new_ones_get_the_new(account: Account) -> None:
    cluster = account.running()
    pool = cluster["node_pools"][0]
    account.put(cluster, pool, name="renamed", count=3)
    account.settle()
    prefixes = sorted(name.rpartition("-")[0] for name in names(account.pool(cluster, pool)))
    assert prefixes == ["h100", "h100", "renamed"]


def test_nothing_in_a_cluster_is_changed_while_it_is_made_or_deleted(account: Account) -> None:
    cluster = account.create()
    pool = cluster["node_pools"][0]
    assert refusal(lambda: account.add(cluster)) == (409, "conflict", "cluster is provisioning")
    assert refusal(lambda: account.put(cluster, pool, name="h100", count=3))[0] == 409
    assert refusal(lambda: account.doks.delete_node_pool(cluster["id"], pool["id"]))[0] == 409
    account.cloud.readings.busy_refuses = False
    account.add(cluster)
    account.settle()
    assert len(account.cluster(cluster)["node_pools"]) == 2
    account.doks.delete_cluster(cluster["id"])
    assert refusal(lambda: account.add(cluster, name="late")) == (409, "conflict", "cluster is being deleted")


def test_spot_is_a_preview_that_an_account_has_or_has_not(account: Account) -> None:
    cluster = account.running()
    assert account.add(cluster, spot=True)["spot"] is True
    account.settle()
    assert sum(machine.spot for machine in account.machines.running.values()) == 2
    account.cloud.readings.spot_preview = False
    assert refusal(lambda: account.add(cluster, name="three", spot=True))[0] == 422


def test_unknown_ids_are_answered_with_404_bodies_that_pydo_does_not_raise(account: Account) -> None:
    cluster = account.running()
    nothing = "00000000-0000-4000-8000-000000000000"
    found = [
        account.doks.get_cluster(nothing),
        account.doks.list_node_pools(nothing),
        account.doks.get_node_pool(cluster["id"], nothing),
        account.doks.update_node_pool(cluster["id"], nothing, body={"name": "x", "count": 1}),
        account.doks.delete_node_pool(cluster["id"], nothing),
        account.doks.get_credentials(nothing),
        account.doks.upgrade_cluster(nothing, body={"version": "1.34.1-do.0"}),
        account.droplets.get(1),
    ]
    assert {answer["id"] for answer in found} == {"not_found"}
