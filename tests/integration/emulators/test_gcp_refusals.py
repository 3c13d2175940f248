# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What GKE refuses, call by call. Node pools' settings that it refuses at their create are in test_gcp_node_pools.py.

No cases are:
- a change of a node pool's name, Spot, service account or scopes: the API's requests have no such fields; what they
  have beside size, bounds, labels, taints and version is answered UNIMPLEMENTED (test_gcp_node_pools.py);
- disks that outlive their cluster: as load balancers do (tests/integration/providers/test_gke_driver.py);
- compute's instance group managers (sizes, machines taken out one by one): the product reads sizes from the Nodes, and
  takes out no single machine;
- the request rate, and whether Spot pools get a taint of GKE's own: not known. A rate limit is a scripted 429;
- GKE's own device plugin, and the driver that it installs: the machines run no image but bcd's;
- GKE's audit of node service accounts, KMS and the like: conditions by script (`Console.degrade`).
"""

from __future__ import annotations

from typing import Any

import pytest
from google.api_core import exceptions

from ansible_collections.better_compute.fleet.emulators.engine import Call, Error, Hook, InjectedError

from .gke_client import GPUS, REGION, ZONE, Gcp, gcp, pool_name

__all__ = ["gcp"]

CLUSTER = f"{REGION}/clusters/one"
POOL = {"name": "h100", "initial_node_count": 1, "config": GPUS}
AUTOPILOT: dict[str, Any] = {"initial_node_count": 0, "autopilot": {"enabled": True}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "c" * 41}, "at most 40"),
        ({"name": "1one"}, "starting with a letter"),
        ({"name": "one-"}, "ending with a letter or digit"),
        ({"name": "One"}, "lower case"),
        ({"name": ""}, "is invalid"),
        ({"initial_node_count": 0}, "initial_node_count must be greater than zero"),
        ({"initial_node_count": 1, "node_pools": [POOL]}, "Only one of node_pools and"),
        ({"initial_cluster_version": "1.28"}, 'version "1.28" is unsupported'),
        ({"locations": ["us-central1-z"]}, "not a zone in region 'us-central1'"),
        ({"locations": ["europe-west4-a"]}, "not a zone in region 'us-central1'"),
        ({"locations": ["us-central1-a", "us-central1-a"]}, "Duplicate locations"),
        ({"resource_labels": {"Mine": "yes"}}, "Invalid resource label"),
        ({"resource_labels": {f"k{number}": "" for number in range(65)}}, "at most 64"),
        (
            {
                "private_cluster_config": {"enable_private_nodes": True},
                "network_config": {"default_enable_private_nodes": True},
            },
            "Only one of enable_private_nodes",
        ),
        ({"node_pools": [{**POOL, "config": {"machine_type": "z9-huge"}}]}, "'z9-huge' does not exist"),
        ({**AUTOPILOT, "node_pools": [POOL]}, "Autopilot clusters do not support node pools"),
    ],
)
def test_a_cluster_that_gke_would_refuse_is_refused(gcp: Gcp, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(exceptions.InvalidArgument, match=said):
        gcp.create_cluster(**changes)
    assert gcp.engine.inventory.items() == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"locations": ["us-central1-b"]}, "must contain the cluster's zone"), (AUTOPILOT, "must be regional")],
)
def test_a_zonal_cluster_that_gke_would_refuse_is_refused(gcp: Gcp, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(exceptions.InvalidArgument, match=said):
        gcp.create_cluster(parent=ZONE, **changes)


def test_the_longest_and_the_shortest_name_are_taken(gcp: Gcp) -> None:
    for name in ("c" * 40, "c"):
        gcp.create_cluster(name)
    gcp.clock.advance(300)
    assert {gcp.cluster(name).status.name for name in ("c" * 40, "c")} == {"RUNNING"}


def test_a_name_is_taken_in_its_location_only_and_a_repeated_create_is_refused_too(gcp: Gcp) -> None:
    gcp.create_cluster()
    said = "Already exists: projects/my-project/locations/us-central1/clusters/one"
    with pytest.raises(exceptions.AlreadyExists, match=said):
        gcp.create_cluster()
    gcp.create_cluster(parent=ZONE)
    assert [item.id for item in gcp.engine.inventory.items(kind="cluster")] == ["us-central1-a/one", "us-central1/one"]


def test_one_name_twice_among_the_first_node_pools_is_google_s_own_error(gcp: Gcp) -> None:
    with pytest.raises(exceptions.InternalServerError):
        gcp.create_cluster(node_pools=[POOL, POOL])
    assert gcp.engine.inventory.items() == ()


def test_first_node_pools_without_quota_are_refused_with_their_cluster(gcp: Gcp) -> None:
    gcp.emulator.capacity.limit("a3-highgpu-8g", 2)
    with pytest.raises(exceptions.Forbidden, match="Insufficient regional quota to satisfy request"):
        gcp.create_cluster(node_pools=[POOL])
    gcp.emulator.capacity.limit("a3-highgpu-8g", 3)
    with pytest.raises(exceptions.Forbidden, match=r"request requires '6.0' and is short '3.0'"):
        gcp.create_cluster(node_pools=[POOL, {**POOL, "name": "more"}])
    assert gcp.engine.inventory.items() == ()


@pytest.mark.parametrize("location", ["us-central9", "us-central1-z", "nowhere"])
def test_a_location_that_is_none_is_refused_as_a_matter_of_permission(gcp: Gcp, location: str) -> None:
    said = rf"Permission denied on 'locations/{location}' \(or it may not exist\)"
    with pytest.raises(exceptions.Forbidden, match=said):
        gcp.create_cluster(parent=f"projects/my-project/locations/{location}")


def test_another_project_is_refused_as_a_matter_of_permission(gcp: Gcp) -> None:
    with pytest.raises(exceptions.Forbidden, match=r'Required "container.clusters.get" permission\(s\) for'):
        gcp.call("get_cluster", {"name": "projects/theirs/locations/us-central1/clusters/one"})


@pytest.mark.parametrize(
    ("permission", "method", "request_"),
    [
        ("clusters.create", "create_cluster", {"parent": REGION, "cluster": {"name": "two", "initial_node_count": 1}}),
        ("clusters.get", "get_cluster", {"name": CLUSTER}),
        ("clusters.list", "list_clusters", {"parent": REGION}),
        ("clusters.update", "create_node_pool", {"parent": CLUSTER, "node_pool": POOL}),
        ("clusters.update", "set_node_pool_size", {"name": pool_name("default-pool"), "node_count": 2}),
        ("clusters.update", "delete_node_pool", {"name": pool_name("default-pool")}),
        ("clusters.delete", "delete_cluster", {"name": CLUSTER}),
        ("operations.list", "list_operations", {"parent": REGION}),
    ],
)
def test_a_call_without_its_permission_is_refused_and_the_permission_named(
    gcp: Gcp, permission: str, method: str, request_: dict[str, Any]
) -> None:
    gcp.running_cluster()
    token = gcp.emulator.tokens.issue("somebody", lacks=[f"container.{permission}"])
    before = gcp.engine.inventory.items()
    with pytest.raises(exceptions.Forbidden, match=rf'Required "container.{permission}" permission\(s\) for'):
        gcp.call(method, request_, token=token)
    assert gcp.engine.inventory.items() == before


def test_who_may_not_get_credentials_sees_no_certificate(gcp: Gcp) -> None:
    assert gcp.running_cluster().master_auth.cluster_ca_certificate != ""
    token = gcp.emulator.tokens.issue("somebody", lacks=["container.clusters.getCredentials"])
    seen = gcp.call("get_cluster", {"name": CLUSTER}, token=token)
    assert (seen.name, seen.master_auth.cluster_ca_certificate) == ("one", "")
    (listed,) = gcp.call("list_clusters", {"parent": REGION}, token=token).clusters
    assert listed.master_auth.cluster_ca_certificate == ""


@pytest.mark.parametrize(
    ("method", "request_", "said"),
    [
        ("get_cluster", {"name": f"{REGION}/clusters/none"}, "projects/my-project/locations/us-central1/clusters/none"),
        ("delete_cluster", {"name": f"{ZONE}/clusters/one"}, "projects/my-project/zones/us-central1-a/clusters/one"),
        ("get_node_pool", {"name": pool_name("none")}, 'node pool "none" not found'),
        ("delete_node_pool", {"name": pool_name("none")}, 'node pool "none" not found'),
        ("set_node_pool_size", {"name": pool_name("none"), "node_count": 1}, 'node pool "none" not found'),
        ("create_node_pool", {"parent": f"{REGION}/clusters/none", "node_pool": POOL}, ".*/clusters/none"),
        ("get_operation", {"name": f"{REGION}/operations/operation-1"}, ".*/operations/operation-1"),
    ],
)
def test_what_is_not_there_is_not_found(gcp: Gcp, method: str, request_: dict[str, Any], said: str) -> None:
    gcp.running_cluster()
    with pytest.raises(exceptions.NotFound, match=f"Not found: {said}"):
        gcp.call(method, request_)


@pytest.mark.parametrize("name", ["one", "projects/my-project/locations/us-central1/clusters/one/more/parts"])
def test_a_name_that_is_none_is_refused(gcp: Gcp, name: str) -> None:
    with pytest.raises(exceptions.InvalidArgument, match="Invalid resource name"):
        gcp.call("get_cluster", {"name": name})


@pytest.mark.parametrize("nodes", [-1, 1001])
def test_a_node_count_that_no_zone_can_have_is_refused(gcp: Gcp, nodes: int) -> None:
    gcp.running_cluster()
    with pytest.raises(exceptions.InvalidArgument, match="node_count must be between 0 and 1000"):
        gcp.create_pool(nodes=nodes)
    with pytest.raises(exceptions.InvalidArgument, match="node_count must be between 0 and 1000"):
        gcp.call("set_node_pool_size", {"name": pool_name("default-pool"), "node_count": nodes})


def test_a_node_pool_of_no_nodes_is_taken_with_its_cluster_too(gcp: Gcp) -> None:
    made = gcp.running_cluster(node_pools=[{**POOL, "initial_node_count": 0}])
    assert (made.status.name, made.node_pools[0].status.name, made.current_node_count) == ("RUNNING", "RUNNING", 0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"config": {"disk_type": "floppy"}}, "Disk type 'floppy' does not exist"),
        ({"config": {"machine_type": "n1-standard-4", "accelerators": [{"accelerator_type": "nvidia-none",
                                                                        "accelerator_count": 1}]}}, "not supported"),
        ({"config": {"taints": [{"key": "mine", "value": "yes"}]}}, "needs a key and an effect"),
        ({"config": {"labels": {"mine": "a value with spaces"}}}, "Invalid node label"),
        ({"locations": ["us-central1-z"]}, "not a zone"),
        ({"version": "1.28"}, "unsupported"),
        ({"autoscaling": {"enabled": True}}, "maximum must be at least 1"),
    ],
)  # fmt: skip
def test_a_node_pool_s_settings_that_are_none_are_refused(gcp: Gcp, changes: dict[str, Any], said: str) -> None:
    gcp.running_cluster()
    with pytest.raises(exceptions.InvalidArgument, match=said):
        gcp.create_pool(**changes)
    assert [item.id for item in gcp.engine.inventory.items(kind="node-pool")] == ["us-central1/one/default-pool"]


def test_an_autopilot_cluster_refuses_every_change_of_node_pools(gcp: Gcp) -> None:
    made = gcp.running_cluster(**AUTOPILOT)
    assert (made.status.name, made.autopilot.enabled, list(made.node_pools)) == ("RUNNING", True, [])
    with pytest.raises(exceptions.InvalidArgument, match="do not support mutating node pools"):
        gcp.create_pool()


def test_a_cluster_changes_one_field_at_a_time_and_never_its_mode(gcp: Gcp) -> None:
    gcp.running_cluster(initial_cluster_version="1.33")
    for update in ({}, {"desired_master_version": "1.34", "desired_node_version": "1.34"}):
        with pytest.raises(exceptions.InvalidArgument, match="exactly one field"):
            gcp.call("update_cluster", {"name": CLUSTER, "update": update})
    autopilot = {"desired_autopilot_workload_policy_config": {"allow_net_admin": True}}
    with pytest.raises(exceptions.MethodNotImplemented, match="desired_autopilot_workload_policy_config"):
        gcp.call("update_cluster", {"name": CLUSTER, "update": autopilot})
    with pytest.raises(exceptions.Aborted, match="etag"):
        gcp.call("update_cluster", {"name": CLUSTER, "update": {"desired_master_version": "1.34", "etag": "stale"}})


def test_a_control_plane_never_goes_back(gcp: Gcp) -> None:
    gcp.running_cluster()
    with pytest.raises(exceptions.InvalidArgument, match="cannot upgrade from"):
        gcp.call("update_cluster", {"name": CLUSTER, "update": {"desired_master_version": "1.33"}})


def test_nodes_are_never_newer_than_their_control_plane_nor_more_than_two_minors_older(gcp: Gcp) -> None:
    gcp.running_cluster(initial_cluster_version="1.32")
    for version in ("1.33", "1.34"):
        gcp.call("update_cluster", {"name": CLUSTER, "update": {"desired_master_version": version}})
        gcp.clock.advance(480)
    with pytest.raises(exceptions.InvalidArgument, match="must not be greater than master version"):
        gcp.call("update_node_pool", {"name": pool_name("default-pool"), "node_version": "1.35"})
    with pytest.raises(exceptions.InvalidArgument, match=r'Node version "1.32.* is too old for master version "1.35'):
        gcp.call("update_cluster", {"name": CLUSTER, "update": {"desired_master_version": "1.35"}})
    gcp.call("update_node_pool", {"name": pool_name("default-pool"), "node_version": "1.33"})
    gcp.clock.advance(15 + 3 * 60)
    gcp.call("update_cluster", {"name": CLUSTER, "update": {"desired_master_version": "1.35"}})
    gcp.clock.advance(480)
    with pytest.raises(exceptions.InvalidArgument, match="is too old"):
        gcp.create_pool(version="1.32")


def test_while_a_cluster_is_deleted_every_change_waits(gcp: Gcp) -> None:
    gcp.running_cluster()
    gcp.call("delete_cluster", {"name": CLUSTER})
    changes: dict[str, dict[str, Any]] = {
        "create_node_pool": {"parent": CLUSTER, "node_pool": POOL},
        "delete_node_pool": {"name": pool_name("default-pool")},
        "delete_cluster": {"name": CLUSTER},
        "update_cluster": {"name": CLUSTER, "update": {"desired_master_version": "1.35"}},
    }
    for method, request in changes.items():
        with pytest.raises(exceptions.FailedPrecondition, match="incompatible operation"):
            gcp.call(method, request)


def test_operations_on_the_node_pools_of_one_cluster_leave_another_s_alone(gcp: Gcp) -> None:
    gcp.running_cluster()
    gcp.running_cluster("two")
    for number in range(5):
        gcp.create_pool(f"n{number}")
    parent = f"{REGION}/clusters/two"
    gcp.call("create_node_pool", {"parent": parent, "node_pool": POOL})
    assert len(gcp.engine.inventory.items(kind="node-pool")) == 8


def test_a_node_pool_can_appear_although_its_create_was_answered_not_found(gcp: Gcp) -> None:
    gcp.running_cluster()

    def not_found(call: Call) -> None:
        raise InjectedError(status=404, code="NOT_FOUND", message=f'Not found: node pool "{call.target}" not found.')

    gcp.emulator.faults.add("gcp", "gke.CreateNodePool", Hook(on_after=not_found))
    with pytest.raises(exceptions.NotFound, match='node pool "h100" not found'):
        gcp.create_pool()
    assert gcp.pool().status.name == "PROVISIONING"


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (
            400,
            "FAILED_PRECONDITION",
            "Operation operation-1 is currently creating a node pool for cluster one. Please wait and try again once "
            "it is done.",
            exceptions.FailedPrecondition,
        ),
        (403, "PERMISSION_DENIED", "Kubernetes Engine API is not enabled for this project.", exceptions.Forbidden),
        (429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Requests'.", exceptions.ResourceExhausted),
        (500, "", "Internal error encountered.", exceptions.InternalServerError),
        (503, "", "The service is currently unavailable.", exceptions.ServiceUnavailable),
        (504, "", "Deadline exceeded.", exceptions.DeadlineExceeded),
    ],
)
def test_other_refusals_of_google_s_come_by_script(
    gcp: Gcp, status: int, code: str, message: str, kind: type[Exception]
) -> None:
    gcp.emulator.faults.add("gcp", "gke.CreateCluster", Error(status=status, code=code, message=message))
    with pytest.raises(kind, match=message):
        gcp.create_cluster()
    gcp.create_cluster()
