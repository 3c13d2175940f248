# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node pools' machines: the Nodes' names, labels and taints, capacity, losses; droplets that linger."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.emulators.neighbours import Machine

from .conftest import POOL, Account, refusal

CPU = {"name": "cpu", "size": "s-2vcpu-4gb", "count": 1}
NVIDIA = {"key": "nvidia.com/gpu", "value": "", "effect": "NoSchedule"}


def machine(account: Account, pool: str) -> Machine:
    """The one machine of a node pool."""
    [found] = [machine for machine in account.machines.running.values() if machine.node_group == pool]
    return found


def test_a_node_has_doks_s_labels_with_a_region_and_no_zone_and_the_droplet_as_provider_id(account: Account) -> None:
    cluster = account.running(node_pools=[{**POOL, "count": 1, "labels": {"mine": "yes"}}, CPU])
    pool = cluster["node_pools"][0]
    node = pool["nodes"][0]
    gpu, cpu = machine(account, "h100"), machine(account, "cpu")
    assert gpu.provider_id == f"digitalocean://{node['droplet_id']}"
    assert (gpu.cluster, gpu.node_name, gpu.gpus, gpu.gpu_model) == ("do-nyc2-one", node["name"], 1, "H100")
    assert gpu.labels == {
        "mine": "yes",
        "doks.digitalocean.com/managed": "true",
        "doks.digitalocean.com/node-id": node["id"],
        "doks.digitalocean.com/node-pool": "h100",
        "doks.digitalocean.com/node-pool-id": pool["id"],
        "doks.digitalocean.com/version": "1.34.1-do.0",
        "doks.digitalocean.com/gpu-brand": "nvidia",
        "doks.digitalocean.com/gpu-model": "h100",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node["name"],
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "gpu-h100x1-80gb",
        "region": "nyc2",
        "topology.kubernetes.io/region": "nyc2",
    }
    assert not [label for label in cpu.labels if "gpu" in label]


@pytest.mark.parametrize(
    ("size", "key", "gpus"), [("gpu-h100x8-640gb", "nvidia.com/gpu", 8), ("gpu-mi300x8-1536gb", "amd.com/gpu", 8)]
)
def test_gpu_nodes_are_tainted_by_brand_and_for_a_while_until_their_drivers_are_healthy(
    account: Account, size: str, key: str, gpus: int
) -> None:
    account.create(node_pools=[{**POOL, "size": size, "count": 1}])
    account.clock.advance(account.timings.cluster_create + account.timings.droplet_create)
    fresh = machine(account, "h100")
    assert [taint["key"] for taint in fresh.taints] == [key, "readiness.k8s.io/gpu-driver"]
    assert fresh.gpus == gpus
    account.clock.advance(account.timings.drivers_healthy)
    assert [taint["key"] for taint in machine(account, "h100").taints] == [key]


def test_removed_labels_stay_on_nodes_and_removed_taints_go(account: Account) -> None:
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    wanted = {**POOL, "count": 1, "labels": {"old": "1"}, "taints": [taint]}
    cluster = account.running(node_pools=[wanted])
    pool = cluster["node_pools"][0]
    assert machine(account, "h100").taints == (taint, NVIDIA)
    account.put(cluster, pool, name="h100", count=1, labels={"new": "2"}, taints=[])
    changed = machine(account, "h100")
    assert (changed.labels["old"], changed.labels["new"], changed.taints) == ("1", "2", (NVIDIA,))
    account.put(cluster, pool, name="h100", count=2)
    account.settle()
    labels = [one.labels for one in account.machines.running.values() if one.node_name != changed.node_name]
    assert ["old" in one for one in labels] == [False]


def test_after_a_rename_the_label_of_the_name_is_stale_and_that_of_the_id_is_not(account: Account) -> None:
    cluster = account.running(node_pools=[{**POOL, "count": 1}])
    pool = cluster["node_pools"][0]
    account.put(cluster, pool, name="renamed", count=1, labels={"x": "y"})
    labels = machine(account, "h100").labels
    assert labels["doks.digitalocean.com/node-pool"] == "h100"
    assert labels["doks.digitalocean.com/node-pool-id"] == pool["id"]


def test_where_there_is_no_capacity_nodes_wait_and_only_the_cluster_says_why(account: Account) -> None:
    account.cloud.capacity.take_away("gpu-h100x1-80gb")
    cluster = account.running(node_pools=[POOL, CPU])
    assert cluster["status"]["state"] == "degraded"
    message = 'node pool "h100": insufficient capacity for size gpu-h100x1-80gb in region nyc2'
    assert cluster["status"]["message"] == message
    assert [entry["message"] for entry in account.doks.get_status_messages(cluster["id"])["messages"]] == [message]
    starved, served = cluster["node_pools"]
    assert {(node["status"]["state"], node["droplet_id"]) for node in starved["nodes"]} == {("provisioning", "")}
    assert [node["status"]["state"] for node in served["nodes"]] == ["running"]
    account.cloud.capacity.give_back()
    account.settle()
    assert account.cluster(cluster)["status"] == {"state": "running", "message": ""}
    assert len(account.exists("machine")) == 3


def test_a_node_pool_that_never_got_a_droplet_is_deleted_all_the_same(account: Account) -> None:
    cluster = account.running()
    account.cloud.capacity.take_away("gpu-h100x8-640gb", spot=True)
    starved = account.add(cluster, size="gpu-h100x8-640gb", spot=True)
    account.clock.advance(account.timings.droplet_create)
    assert account.cluster(cluster)["status"]["state"] == "degraded"
    account.doks.delete_node_pool(cluster["id"], starved["id"])
    assert account.cluster(cluster)["status"]["state"] == "running"
    account.clock.advance(account.timings.node_delete)
    assert account.doks.get_node_pool(cluster["id"], starved["id"])["id"] == "not_found"
    account.cloud.capacity.give_back()
    account.settle()
    assert len(account.exists("machine")) == len(account.machines.running) == 2


def test_the_droplet_limit_is_refused_at_the_call_and_a_maximum_counts(account: Account) -> None:
    cluster = account.running()
    account.cloud.capacity.limit(4)
    text = "validation error: {} additional nodes but not enough available droplet limit"
    assert refusal(lambda: account.add(cluster, count=3)) == (422, "unprocessable_entity", text.format(3))
    scaled = {"count": 1, "auto_scale": True, "min_nodes": 1, "max_nodes": 3}
    assert refusal(lambda: account.add(cluster, **scaled))[2] == text.format(3)
    assert refusal(lambda: account.create(name="two", node_pools=[{**POOL, "count": 3}]))[2] == text.format(3)
    pool = cluster["node_pools"][0]
    assert refusal(lambda: account.put(cluster, pool, name="h100", count=5))[2] == text.format(3)
    assert account.put(cluster, pool, name="h100", count=4)["count"] == 4


def test_a_droplet_that_is_lost_is_replaced_by_a_node_of_another_name(account: Account) -> None:
    cluster = account.running()
    pool = cluster["node_pools"][0]
    lost, kept = pool["nodes"]
    account.cloud.lose_instance(lost["droplet_id"])
    with pytest.raises(KeyError):
        account.cloud.lose_instance(lost["droplet_id"])
    assert [node["id"] for node in account.pool(cluster, pool)["nodes"]] == [kept["id"]]
    account.settle()
    now = account.pool(cluster, pool)
    assert (now["count"], len(now["nodes"])) == (2, 2)
    assert lost["name"] not in {node["name"] for node in now["nodes"]}


def test_droplets_are_tagged_and_listed_for_a_while_after_their_node_pool_is_gone(account: Account) -> None:
    cluster = account.running(node_pools=[{**CPU, "tags": ["ours:1"]}, {**CPU, "name": "stays"}])
    pool = cluster["node_pools"][0]
    [droplet] = account.droplets.list(tag_name="ours:1")["droplets"]
    assert str(droplet["id"]) == pool["nodes"][0]["droplet_id"]
    assert droplet["tags"] == ["k8s", f"k8s:{cluster['id']}", "k8s:worker", "ours:1"]
    account.doks.delete_node_pool(cluster["id"], pool["id"])
    account.clock.advance(account.timings.node_drain + account.timings.node_delete)
    assert account.doks.get_node_pool(cluster["id"], pool["id"])["id"] == "not_found"
    assert len(account.droplets.list(tag_name="ours:1")["droplets"]) == 1
    account.clock.advance(account.timings.droplet_linger)
    assert account.droplets.list(tag_name="ours:1")["droplets"] == []
    assert account.droplets.get(droplet["id"])["id"] == "not_found"
    account.doks.delete_cluster(cluster["id"])
    account.clock.advance(account.timings.cluster_delete)
    assert account.doks.get_cluster(cluster["id"])["id"] == "not_found"
    assert len(account.droplets.list(tag_name=f"k8s:{cluster['id']}")["droplets"]) == 1


def test_gpu_droplets_are_listed_only_to_those_who_ask_for_them_without_a_tag(account: Account) -> None:
    cluster = account.running(node_pools=[{**POOL, "count": 1}, CPU])
    tag = f"k8s:{cluster['id']}"
    sizes = [droplet["size_slug"] for droplet in account.droplets.list()["droplets"]]
    assert sizes == ["s-2vcpu-4gb"]
    assert [one["size_slug"] for one in account.droplets.list(tag_name=tag)["droplets"]] == sizes
    [gpu] = account.droplets.list(type="gpus")["droplets"]
    assert (gpu["size_slug"], tag in gpu["tags"]) == ("gpu-h100x1-80gb", True)
    assert account.droplets.list(name=gpu["name"])["droplets"] == []
    assert refusal(lambda: account.droplets.list(tag_name=tag, type="gpus"))[0] == 422
    account.cloud.readings.tags_find_gpu_droplets = True
    assert len(account.droplets.list(tag_name=tag)["droplets"]) == 2
