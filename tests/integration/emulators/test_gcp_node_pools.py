# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GKE node pools, their machines and operations, as the real client sees them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import grpc
import pytest
from google.api_core import exceptions

from ansible_collections.better_compute.fleet.emulators.engine import Error, LostReply
from ansible_collections.better_compute.fleet.emulators.gcp import QUOTA

from .gke_client import GPUS, REGION, Gcp, gcp, pool_name

__all__ = ["gcp"]


@pytest.fixture
def one(gcp: Gcp) -> Gcp:
    """With a RUNNING cluster `one`, whose first node pool has no GPUs."""
    gcp.running_cluster()
    return gcp


def resize(gcp: Gcp, nodes: int, name: str = "h100") -> Any:
    return gcp.call("set_node_pool_size", {"name": pool_name(name), "node_count": nodes})


def test_a_node_pool_is_running_once_its_machines_are_up_in_each_zone(one: Gcp) -> None:
    begun = one.create_pool(nodes=2)
    assert (begun.operation_type.name, begun.status.name) == ("CREATE_NODE_POOL", "PENDING")
    assert begun.target_link.endswith("/clusters/one/nodePools/h100")
    one.clock.advance(30)
    assert (one.pool().status.name, one.operation(begun).status.name) == ("PROVISIONING", "RUNNING")
    one.clock.advance(30)
    assert (one.pool().status.name, one.operation(begun).status.name) == ("RUNNING", "DONE")
    zones = Counter(machine.zone for machine in one.of_pool())
    assert zones == {"us-central1-a": 2, "us-central1-b": 2, "us-central1-c": 2}


def test_a_node_pool_has_the_server_s_defaults(one: Gcp) -> None:
    pool = one.running_pool(locations=["us-central1-b"])
    assert (pool.config.disk_type, pool.config.disk_size_gb) == ("pd-balanced", 100)
    assert (pool.config.image_type, pool.upgrade_settings.max_surge) == ("COS_CONTAINERD", 1)
    assert (pool.management.auto_repair, pool.management.auto_upgrade) == (True, True)
    assert pool.max_pods_constraint.max_pods_per_node == 110
    assert pool.config.metadata["disable-legacy-endpoints"] == "true"
    assert pool.version == one.cluster().current_master_version
    assert pool.etag
    (group,) = pool.instance_group_urls
    assert "/zones/us-central1-b/instanceGroupManagers/gke-one-h100-" in group


def test_a_machine_is_what_its_node_pool_says(one: Gcp) -> None:
    one.running_pool(
        locations=["us-central1-b"],
        config={**GPUS, "spot": True, "labels": {"mine": "yes"}},
    )
    (machine,) = one.of_pool()
    assert (machine.gpus, machine.gpu_model, machine.spot) == (8, "H100", True)
    assert machine.node_name.startswith("gke-one-h100-")
    assert machine.provider_id == f"gce://my-project/us-central1-b/{machine.node_name}"
    assert machine.taints == ({"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},)
    assert {
        "mine": "yes",
        "cloud.google.com/gke-nodepool": "h100",
        "cloud.google.com/gke-accelerator": "nvidia-h100-80gb",
        "cloud.google.com/gke-spot": "true",
        "topology.kubernetes.io/zone": "us-central1-b",
    }.items() <= machine.labels.items()


def test_a_cluster_of_nothing_but_gpus_has_no_gpu_taint(gcp: Gcp) -> None:
    made = gcp.running_cluster(node_pools=[{"name": "h100", "initial_node_count": 1, "config": GPUS}])
    assert list(made.node_pools[0].config.taints) == []


def test_long_names_are_cut_in_the_names_of_nodes(gcp: Gcp) -> None:
    cluster, pool = "c" * 40, "p" * 40
    gcp.running_cluster(cluster, node_pools=[{"name": pool, "initial_node_count": 1}])
    names = [machine.node_name for machine in gcp.machines.running.values()]
    assert len(names) == 3
    assert {len(name) for name in names} == {len("gke-") + 32 + 1 + len("-00000000-0000")}


def test_a_resize_is_per_zone_and_the_initial_node_count_stays(one: Gcp) -> None:
    one.running_pool(nodes=1)
    begun = resize(one, 2)
    assert (begun.operation_type.name, one.pool().status.name) == ("SET_NODE_POOL_SIZE", "RECONCILING")
    one.clock.advance(20)
    assert (one.operation(begun).status.name, one.pool().status.name) == ("DONE", "RUNNING")
    assert (len(one.of_pool()), one.pool().initial_node_count) == (6, 1)
    resize(one, 0)
    one.clock.advance(20)
    assert (len(one.of_pool()), one.pool().status.name) == (0, "RUNNING")


def test_a_deleted_node_pool_is_gone_and_the_cluster_stays(one: Gcp) -> None:
    one.running_pool()
    begun = one.call("delete_node_pool", {"name": pool_name("h100")})
    assert (one.pool().status.name, one.of_pool()) == ("STOPPING", [])
    one.clock.advance(60)
    with pytest.raises(exceptions.NotFound, match=r'Not found: node pool "h100" not found.'):
        one.pool()
    assert one.operation(begun).status.name == "DONE"
    assert one.cluster().status.name == "RUNNING"


def test_node_pool_operations_run_side_by_side_up_to_five(one: Gcp) -> None:
    for number in range(5):
        one.create_pool(f"n{number}")
    with pytest.raises(exceptions.ResourceExhausted, match="concurrent operations quota 5"):
        one.create_pool("n5")
    one.clock.advance(60)
    one.create_pool("n5")


def test_a_second_operation_on_a_node_pool_is_refused_with_the_reason(one: Gcp) -> None:
    begun = one.create_pool()
    with pytest.raises(exceptions.FailedPrecondition, match=f"incompatible operation {begun.name}") as error:
        resize(one, 2)
    assert error.value.reason == "CLUSTER_ALREADY_HAS_OPERATION"
    with pytest.raises(exceptions.FailedPrecondition):
        one.call("delete_cluster", {"name": f"{REGION}/clusters/one"})


def test_a_cluster_that_is_being_made_takes_no_node_pool(gcp: Gcp) -> None:
    gcp.create_cluster()
    with pytest.raises(exceptions.FailedPrecondition, match="incompatible operation"):
        gcp.create_pool()


def test_a_node_pool_of_a_taken_name_is_refused(one: Gcp) -> None:
    one.create_pool()
    with pytest.raises(exceptions.AlreadyExists, match=r"Already exists: projects/my-project/.*/nodePools/h100"):
        one.create_pool()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "n" * 41}, "at most 40"),
        ({"name": "Upper"}, "at most 40"),
        ({"config": {"machine_type": "z9-huge"}}, "'z9-huge' does not exist"),
        (
            {"config": {**GPUS, "accelerators": [{"accelerator_type": "nvidia-l4", "accelerator_count": 1}]}},
            "not supported on machine type a3-highgpu-8g",
        ),
        ({"config": {"labels": {"kubernetes.io/mine": "no"}}}, "reserved prefix"),
        ({"config": {"resource_labels": {"Mine": "yes"}}}, "Invalid resource label"),
        ({"config": {"disk_size_gb": 9}}, "at least 10"),
        ({"locations": ["europe-west4-a"]}, "not a zone in region 'us-central1'"),
        ({"version": "1.35"}, "greater than master version"),
        ({"autoscaling": {"enabled": True, "min_node_count": 2, "max_node_count": 1}}, "autoscaling bounds"),
        (
            {"autoscaling": {"enabled": True, "max_node_count": 1, "total_max_node_count": 3}},
            "Only one of",
        ),
        ({"management": {"auto_repair": True}}, "Auto_upgrade must be true"),
    ],
)
def test_a_node_pool_that_gke_would_refuse_is_refused(one: Gcp, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(exceptions.InvalidArgument, match=said):
        one.create_pool(**changes)
    assert [item.id for item in one.engine.inventory.items(kind="node-pool")] == ["us-central1/one/default-pool"]


def test_a_stockout_ends_the_create_with_an_error_and_the_node_pool_goes_on_trying(one: Gcp) -> None:
    for zone in ("us-central1-a", "us-central1-b", "us-central1-c"):
        one.emulator.capacity.take_away("a3-highgpu-8g", zone)
    begun = one.create_pool()
    one.clock.advance(60)
    assert (one.pool().status.name, one.operation(begun).status.name) == ("PROVISIONING", "RUNNING")
    one.clock.advance(2104)
    ended = one.operation(begun)
    assert ended.status.name == "DONE"
    assert "Not all instances running in IGM after 35m4s. Expected 3, running 0, transitioning 3" in ended.error.message
    assert "[GCE_STOCKOUT]" in ended.error.message
    assert one.pool().status.name == "ERROR"
    assert [condition.code.name for condition in one.pool().conditions] == ["GCE_STOCKOUT"]
    one.emulator.capacity.give_back()
    one.clock.advance(60)
    assert (one.pool().status.name, len(one.of_pool())) == ("RUNNING", 3)
    assert [condition.code.name for condition in one.pool().conditions] == ["GCE_STOCKOUT"]


def test_a_node_pool_that_lacks_one_zone_serves_and_resizes(one: Gcp) -> None:
    one.emulator.capacity.take_away("a3-highgpu-8g", "us-central1-b", code=QUOTA)
    one.create_pool()
    one.clock.advance(60 + 2104)
    assert (one.pool().status.name, len(one.of_pool())) == ("RUNNING_WITH_ERROR", 2)
    assert [condition.code.name for condition in one.pool().conditions] == ["GCE_QUOTA_EXCEEDED"]
    resize(one, 0)
    one.clock.advance(20)
    assert (one.pool().status.name, len(one.of_pool())) == ("RUNNING", 0)


def test_a_stockout_of_the_first_node_pool_leaves_a_cluster_in_error_that_recovers(gcp: Gcp) -> None:
    for zone in ("us-central1-a", "us-central1-b", "us-central1-c"):
        gcp.emulator.capacity.take_away("a3-highgpu-8g", zone)
    gcp.create_cluster(node_pools=[{"name": "h100", "initial_node_count": 1, "config": GPUS}])
    gcp.clock.advance(300 + 2104)
    made = gcp.cluster()
    assert (made.status.name, made.endpoint != "") == ("ERROR", True)
    assert [condition.code.name for condition in made.conditions] == ["GCE_STOCKOUT"]
    gcp.emulator.capacity.give_back()
    gcp.clock.advance(60)
    assert gcp.cluster().status.name == "RUNNING"


def test_too_little_quota_is_refused_at_the_call_in_words_of_its_own(one: Gcp) -> None:
    one.emulator.capacity.limit("a3-highgpu-8g", 4)
    one.running_pool()
    with pytest.raises(exceptions.Forbidden, match=r"Insufficient regional quota .* requires '3.0' and is short '2.0'"):
        one.create_pool("more")
    with pytest.raises(exceptions.Forbidden, match="Insufficient regional quota"):
        resize(one, 2)


def test_labels_and_taints_are_replaced_as_a_whole_and_the_machines_one_by_one(one: Gcp) -> None:
    one.running_pool(config={**GPUS, "labels": {"old": "yes"}}, locations=["us-central1-a"], nodes=2)
    before = {machine.instance_id for machine in one.of_pool()}
    etag = one.pool().etag
    taint = {"key": "mine", "value": "yes", "effect": "NO_EXECUTE"}
    request = {"name": pool_name("h100"), "labels": {"labels": {"new": "yes"}}, "taints": {"taints": [taint]}}
    begun = one.call("update_node_pool", {**request, "etag": etag})
    assert begun.operation_type.name == "UPGRADE_NODES"
    one.clock.advance(15)
    assert len(before & {machine.instance_id for machine in one.of_pool()}) == 1
    one.clock.advance(120)
    assert (one.operation(begun).status.name, one.pool().status.name) == ("DONE", "RUNNING")
    assert before.isdisjoint(machine.instance_id for machine in one.of_pool())
    assert dict(one.pool().config.labels) == {"new": "yes"}
    assert all(machine.taints[0]["key"] == "mine" for machine in one.of_pool())
    with pytest.raises(exceptions.Aborted, match="etag"):
        one.call("update_node_pool", {**request, "etag": etag})


def test_resource_labels_are_replaced_as_a_whole_but_for_google_s_and_no_machine_with_them(one: Gcp) -> None:
    one.running_pool(config={**GPUS, "resource_labels": {"old": "yes"}})
    before = {machine.instance_id for machine in one.of_pool()}
    name = pool_name("h100")
    one.call("update_node_pool", {"name": name, "resource_labels": {"labels": {"new": "yes"}}})
    one.clock.advance(15)
    labels = dict(one.pool().config.resource_labels)
    assert labels == {"new": "yes", "goog-gke-node-pool-provisioning-model": "on-demand"}
    assert (one.pool().status.name, {machine.instance_id for machine in one.of_pool()}) == ("RUNNING", before)
    with pytest.raises(exceptions.InvalidArgument, match="reserved prefix"):
        one.call("update_node_pool", {"name": name, "resource_labels": {"labels": {"goog-mine": "yes"}}})


def test_what_is_fixed_is_not_changed(one: Gcp) -> None:
    one.running_pool()
    with pytest.raises(exceptions.InvalidArgument, match="At least one of"):
        one.call("update_node_pool", {"name": pool_name("h100")})
    with pytest.raises(exceptions.MethodNotImplemented, match="machine_type"):
        one.call("update_node_pool", {"name": pool_name("h100"), "machine_type": "e2-medium"})


def test_the_control_plane_goes_first_by_one_minor_and_its_nodes_follow(gcp: Gcp) -> None:
    made = gcp.running_cluster(initial_cluster_version="1.33")
    assert made.current_master_version == "1.33.5-gke.1308000"
    name = f"{REGION}/clusters/one"
    with pytest.raises(exceptions.InvalidArgument, match="by 2 minor versions"):
        gcp.call("update_cluster", {"name": name, "update": {"desired_master_version": "1.35"}})
    begun = gcp.call("update_cluster", {"name": name, "update": {"desired_master_version": "1.34"}})
    assert (begun.operation_type.name, gcp.cluster().status.name) == ("UPGRADE_MASTER", "RECONCILING")
    gcp.clock.advance(480)
    assert gcp.cluster().current_master_version == "1.34.9-gke.1029000"
    assert gcp.pool("default-pool").version == "1.33.5-gke.1308000"
    gcp.call("update_node_pool", {"name": pool_name("default-pool"), "node_version": "-"})
    gcp.clock.advance(15 + 3 * 60)
    assert (gcp.pool("default-pool").status.name, gcp.pool("default-pool").version) == ("RUNNING", "1.34.9-gke.1029000")


def test_autoscaling_bounds_are_set_without_touching_a_machine(one: Gcp) -> None:
    one.running_pool()
    bounds = {"enabled": True, "total_min_node_count": 0, "total_max_node_count": 9}
    one.call("set_node_pool_autoscaling", {"name": pool_name("h100"), "autoscaling": bounds})
    one.clock.advance(15)
    assert one.pool().autoscaling.total_max_node_count == 9
    assert len(one.of_pool()) == 3


def test_a_machine_that_is_taken_back_returns_under_its_name(one: Gcp) -> None:
    one.running_pool(config={**GPUS, "spot": True}, locations=["us-central1-a"])
    (lost,) = one.of_pool()
    one.emulator.lose_instance(lost.instance_id)
    assert one.of_pool() == []
    one.clock.advance(60)
    (back,) = one.of_pool()
    assert (back.node_name, back.instance_id != lost.instance_id) == (lost.node_name, True)


def test_only_the_bearer_of_a_token_that_was_issued_may_ask(one: Gcp) -> None:
    with pytest.raises(exceptions.Unauthenticated):
        one.call("get_cluster", {"name": f"{REGION}/clusters/one"}, token="nobody")
    token = one.emulator.tokens.issue("somebody", seconds=600)
    request = {"name": f"{REGION}/clusters/one"}
    assert one.call("get_cluster", request, token=token).name == "one"
    one.clock.advance(600)
    with pytest.raises(exceptions.Unauthenticated):
        one.call("get_cluster", request, token=token)


def test_scripted_refusals_and_lost_replies_strike_calls_by_name(one: Gcp) -> None:
    faults = one.emulator.faults
    faults.add("gcp", "gke.CreateNodePool", Error(status=503, code="UNAVAILABLE", message="try later"))
    with pytest.raises(exceptions.ServiceUnavailable, match="try later"):
        one.create_pool()
    faults.add("gcp", "gke.CreateNodePool", LostReply(), target="h100")
    with pytest.raises(exceptions.ServiceUnavailable) as error:
        one.create_pool()
    assert error.value.grpc_status_code == grpc.StatusCode.UNAVAILABLE
    assert one.pool().name == "h100"
    writes = [entry.call.name for entry in one.emulator.requests.writes()]
    assert writes == ["gke.CreateCluster", "gke.CreateNodePool"]


def test_operations_and_versions_can_be_listed(one: Gcp) -> None:
    one.create_pool()
    listed = one.call("list_operations", {"parent": REGION}).operations
    assert [operation.operation_type.name for operation in listed] == ["CREATE_CLUSTER", "CREATE_NODE_POOL"]
    assert one.call("list_node_pools", {"parent": f"{REGION}/clusters/one"}).node_pools[1].name == "h100"
    config = one.call("get_server_config", {"name": REGION})
    assert config.default_cluster_version in config.valid_master_versions
