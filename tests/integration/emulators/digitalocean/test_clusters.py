# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters as pydo makes, changes, lists and deletes them.

What DigitalOcean's behaviours tell and no test here shows:
- an endpoint is the address of an emulated API, not `https://<uuid>.k8s.ondigitalocean.com`: it has to be reached;
- the state `deleted` is never seen: a cluster that is gone answers 404;
- statuses 200, 201, 202 and 204 are pydo's to check: it raises at any other but 404;
- the kubeconfig call: pydo cannot read its answer (application/yaml), so nobody can call it;
- scopes regions:read, sizes:read and actions:read: of calls that a driver has no need of;
- DigitalOcean's own GPU plugins and drivers: machines run no image but bcd's; only switches and taints are there;
- how long a dead machine's Node lingers is the machine host's: test_world_with_doks.py and tests/integration/machines.
"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import LostReply

from .conftest import CLUSTER, POOL, Account, refusal

NAMES_TAKEN = "validation error: a cluster with this name already exists"


def test_a_cluster_is_made_with_its_pool_runs_and_leaves_nothing_when_deleted(account: Account) -> None:
    made = account.create()
    assert (made["status"]["state"], made["endpoint"]) == ("provisioning", "")
    [pool] = made["node_pools"]
    assert [(node["name"], node["droplet_id"], node["status"]) for node in pool["nodes"]] == [
        ("", "", {"state": "provisioning"})
    ] * 2
    account.clock.advance(account.timings.cluster_create)
    up = account.cluster(made)
    assert (up["status"]["state"], up["endpoint"]) == ("running", "https://127.0.0.1:9")
    assert account.exists("machine") == []
    account.clock.advance(account.timings.droplet_create)
    [pool] = account.cluster(made)["node_pools"]
    assert len(pool["nodes"]) == pool["count"] == 2
    assert {node["status"]["state"] for node in pool["nodes"]} == {"running"}
    assert sorted(node["droplet_id"] for node in pool["nodes"]) == account.exists("machine")
    assert account.apis.running == {"do-nyc2-one"}

    assert account.doks.delete_cluster(made["id"]) is None
    assert account.cluster(made)["status"]["state"] == "deleting"
    assert account.doks.delete_cluster(made["id"]) is None
    account.clock.advance(account.timings.cluster_delete)
    assert account.doks.get_cluster(made["id"])["id"] == "not_found"
    assert account.doks.delete_cluster(made["id"])["id"] == "not_found"
    assert account.apis.running == set()
    account.settle()
    assert account.engine.inventory.items() == ()


def test_automatic_tags_stand_before_the_owner_s_and_cannot_be_taken_away(account: Account) -> None:
    made = account.create(tags=["ours:1", "k8s"], node_pools=[{**POOL, "tags": ["mine"]}])
    assert made["tags"] == ["k8s", f"k8s:{made['id']}", "ours:1"]
    assert made["node_pools"][0]["tags"] == ["k8s", f"k8s:{made['id']}", "k8s:worker", "mine"]
    changed = account.doks.update_cluster(made["id"], body={"name": "one", "tags": ["other"]})["kubernetes_cluster"]
    assert changed["tags"] == ["k8s", f"k8s:{made['id']}", "other"]


def test_a_change_needs_the_name_and_leaves_alone_what_it_does_not_say(account: Account) -> None:
    made = account.create(tags=["ours"])
    put = account.doks.update_cluster
    assert refusal(lambda: put(made["id"], body={"tags": []}))[::2] == (
        422,
        "validation error: cluster name is required",
    )
    changed = put(made["id"], body={"name": "renamed", "auto_upgrade": True})["kubernetes_cluster"]
    assert (changed["name"], changed["auto_upgrade"]) == ("renamed", True)
    assert changed["tags"] == made["tags"]
    assert put("unknown", body={"name": "x"})["id"] == "not_found"


def test_the_provider_s_gpu_device_plugins_are_on_until_somebody_turns_them_off(account: Account) -> None:
    made = account.create()
    off = account.create(
        name="off", nvidia_gpu_device_plugin={"enabled": False}, amd_gpu_device_plugin={"enabled": False}
    )
    names = ("nvidia_gpu_device_plugin", "amd_gpu_device_plugin")
    assert [made[name] for name in names] == [{"enabled": True}] * 2
    assert [off[name] for name in names] == [{"enabled": False}] * 2
    body = {"name": "one", "nvidia_gpu_device_plugin": {"enabled": False}}
    changed = account.doks.update_cluster(made["id"], body=body)["kubernetes_cluster"]
    assert [changed[name]["enabled"] for name in names] == [False, True]


def test_a_cluster_with_high_availability_has_no_ipv4_and_keeps_it(account: Account) -> None:
    made = account.running(ha=True)
    assert "ipv4" not in made
    assert account.running(name="plain")["ipv4"]
    status, _code, message = refusal(lambda: account.doks.update_cluster(made["id"], body={"name": "one", "ha": False}))
    assert (status, message) == (422, "validation error: high availability cannot be disabled")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"region": "moon1"}, "invalid region slug"),
        ({"version": "1.0.0-do.0"}, "invalid version slug"),
        ({"name": None}, "cluster name is required"),
        ({"name": "c" * 64}, "cluster name is too long (maximum is 63 characters)"),
        ({"name": "One"}, "invalid cluster name"),
        ({"tags": ["with space"]}, "invalid tag name: with space"),
        ({"tags": ["t" * 256]}, f"invalid tag name: {'t' * 256}"),
        ({"node_pools": []}, "at least one node pool is required"),
        ({"node_pools": [{**POOL, "auto_scale": True, "count": 0, "max_nodes": 2}]}, "at least one worker is required"),
        ({"node_pools": [POOL, {**POOL, "count": 0}]}, "node pool count must be greater than or equal to 1"),
        ({"node_pools": [{**POOL, "size": "huge"}]}, "invalid size slug"),
        ({"node_pools": [POOL, POOL]}, "node pool names must be unique within a cluster"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(account: Account, change: dict[str, Any], message: str) -> None:
    assert refusal(lambda: account.create(**change)) == (422, "unprocessable_entity", f"validation error: {message}")
    assert account.engine.inventory.items() == ()


def test_names_and_tags_as_long_as_may_be_are_taken(account: Account) -> None:
    made = account.create(name="c" * 63, tags=["t" * 255], node_pools=[{**POOL, "name": "p" * 57}])
    node = account.running(name="other", node_pools=[{**POOL, "name": "p" * 57}])["node_pools"][0]["nodes"][0]
    assert made["name"] == "c" * 63
    assert len(node["name"]) == 63


def test_a_second_cluster_of_a_name_is_refused_by_the_strictest_reading_only(account: Account) -> None:
    first = account.create()
    assert refusal(account.create)[::2] == (422, NAMES_TAKEN)
    other = account.create(name="two")
    assert refusal(lambda: account.doks.update_cluster(other["id"], body={"name": "one"}))[::2] == (422, NAMES_TAKEN)
    account.cloud.readings.unique_names = False
    second = account.running()
    assert second["id"] != first["id"]
    assert account.apis.running == {"do-nyc2-one", "do-nyc2-two", f"do-nyc2-one-{second['id']}"}


def test_minor_versions_and_latest_are_resolved(account: Account) -> None:
    assert account.create(version="1.33")["version"] == "1.33.6-do.0"
    assert account.create(name="two", version="latest")["version"] == "1.34.1-do.0"


def test_a_list_comes_in_pages_of_twenty_unless_asked_otherwise(account: Account) -> None:
    for number in range(21):
        account.create(name=f"c{number}")
    first = account.doks.list_clusters()
    assert len(first["kubernetes_clusters"]) == 20
    assert first["meta"] == {"total": 21}
    assert set(first["links"]["pages"]) == {"next", "last"}
    assert "page=2" in first["links"]["pages"]["next"]
    second = account.doks.list_clusters(page=2)
    assert [cluster["name"] for cluster in second["kubernetes_clusters"]] == ["c20"]
    assert set(second["links"]["pages"]) == {"first", "prev"}
    assert account.doks.list_clusters(per_page=200)["links"] == {}


def test_a_lost_reply_leaves_the_cluster(account: Account) -> None:
    account.cloud.faults.add("digitalocean", "POST clusters", LostReply())
    with pytest.raises(Exception, match=r"(?i)connection|eof|closed|ssl"):
        account.create()
    [made] = account.doks.list_clusters()["kubernetes_clusters"]
    assert made["name"] == CLUSTER["name"]


def test_load_balancers_and_volumes_stay_unless_they_are_destroyed_with_the_cluster(account: Account) -> None:
    kept, whole = account.running(), account.running(name="two")
    for cluster in (kept, whole):
        account.cloud.console.add_load_balancer(cluster["id"], "web")
        account.cloud.console.add_volume(cluster["id"], "pvc-1")
    found = account.doks.list_associated_resources(kept["id"])
    assert [found["load_balancers"][0]["name"], found["volumes"][0]["name"]] == ["web", "pvc-1"]
    account.doks.delete_cluster(kept["id"])
    account.doks.destroy_associated_resources_dangerous(whole["id"])
    account.settle()
    assert [(item.kind, item.id) for item in account.engine.inventory.items()] == [
        ("load-balancer", found["load_balancers"][0]["id"]),
        ("volume", found["volumes"][0]["id"]),
    ]


def test_why_a_cluster_is_not_well_is_in_its_status_and_its_messages(account: Account) -> None:
    made = account.running()
    account.cloud.console.degrade(made["id"], "etcd is slow")
    assert account.cluster(made)["status"] == {"state": "degraded", "message": "etcd is slow"}
    account.cloud.console.recover(made["id"])
    account.cloud.console.fail(made["id"], "lost quorum")
    assert account.cluster(made)["status"] == {"state": "error", "message": "lost quorum"}
    messages = account.doks.get_status_messages(made["id"])["messages"]
    assert [entry["message"] for entry in messages] == ["etcd is slow", "lost quorum"]


def test_a_degraded_cluster_stays_so_whatever_its_nodes_do(account: Account) -> None:
    made = account.running()
    account.cloud.console.degrade(made["id"], "etcd is slow")
    account.add(made)
    account.settle()
    assert account.cluster(made)["status"] == {"state": "degraded", "message": "etcd is slow"}
    account.cloud.console.recover(made["id"])
    assert account.cluster(made)["status"] == {"state": "running", "message": ""}


def test_a_create_an_upgrade_and_a_delete_that_were_accepted_can_fail(account: Account) -> None:
    upgraded, deleted = account.running(version="1.33"), account.running(name="two")
    new = account.create(name="new")
    account.doks.upgrade_cluster(upgraded["id"], body={"version": "1.34.1-do.0"})
    account.doks.delete_cluster(deleted["id"])
    for cluster in (new, upgraded, deleted):
        account.cloud.console.fail(cluster["id"], "internal error")
    account.settle()
    for cluster in (new, upgraded, deleted):
        assert account.cluster(cluster)["status"] == {"state": "error", "message": "internal error"}
    assert account.cluster(new)["endpoint"] == ""
    assert account.cluster(upgraded)["version"] == "1.33.6-do.0"
    for cluster in (new, upgraded, deleted):
        account.doks.delete_cluster(cluster["id"])
    account.settle()
    assert account.engine.inventory.items() == ()


def test_a_cluster_that_is_deleted_while_it_is_made_never_runs(account: Account) -> None:
    made = account.create()
    account.doks.delete_cluster(made["id"])
    account.settle()
    assert account.apis.running == set()
    assert account.engine.inventory.items() == ()
