# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others do at GKE, and what GKE does by itself: the autoscaler, edits by hand, upgrades, repairs, failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from google.api_core import exceptions

from ansible_collections.better_compute.fleet.emulators.gcp import Timings

from .gke_client import REGION, Gcp, gcp, open_gcp, pool_name

__all__ = ["gcp"]

CLUSTER = f"{REGION}/clusters/one"
H100 = pool_name("h100")


@pytest.fixture
def one(gcp: Gcp) -> Gcp:
    """With a RUNNING cluster `one` and in it the RUNNING node pool `h100`, a machine in each of three zones."""
    gcp.running_cluster()
    gcp.running_pool()
    return gcp


@pytest.fixture
def busy() -> Iterator[Gcp]:
    """GKE that is busy for two minutes with each cluster that it has made."""
    with open_gcp(Timings(after_create=120)) as made:
        yield made


def test_the_autoscaler_moves_a_node_pool_within_its_total_bounds_and_begins_no_operation(one: Gcp) -> None:
    one.console.edit_node_pool(H100, bounds={"enabled": True, "total_min_node_count": 1, "total_max_node_count": 5})
    one.console.autoscale(H100, 5)
    assert sorted(Counter(machine.zone for machine in one.of_pool()).values()) == [1, 2, 2]
    assert (one.pool().status.name, one.pool().initial_node_count) == ("RUNNING", 1)
    one.console.autoscale(H100, 1)
    assert len(one.of_pool()) == 1
    operations = one.call("list_operations", {"parent": REGION}).operations
    assert [operation.operation_type.name for operation in operations] == ["CREATE_CLUSTER", "CREATE_NODE_POOL"]
    for outside in (0, 6):
        with pytest.raises(Exception, match="not within the autoscaler's bounds"):
            one.console.autoscale(H100, outside)


def test_the_autoscaler_keeps_each_zone_within_bounds_per_zone(one: Gcp) -> None:
    one.console.edit_node_pool(H100, bounds={"enabled": True, "min_node_count": 1, "max_node_count": 2})
    one.console.autoscale(H100, 6)
    assert set(Counter(machine.zone for machine in one.of_pool()).values()) == {2}
    for outside in (2, 7):
        with pytest.raises(Exception, match="not within the autoscaler's bounds"):
            one.console.autoscale(H100, outside)
    one.console.edit_node_pool(H100, bounds={"enabled": False})
    with pytest.raises(Exception, match="not within the autoscaler's bounds"):
        one.console.autoscale(H100, 3)


def test_a_resize_after_the_autoscaler_gives_each_zone_the_same_again(one: Gcp) -> None:
    one.console.edit_node_pool(H100, bounds={"enabled": True, "total_max_node_count": 9})
    one.console.autoscale(H100, 4)
    one.call("set_node_pool_size", {"name": H100, "node_count": 2})
    one.clock.advance(20)
    assert set(Counter(machine.zone for machine in one.of_pool()).values()) == {2}


def test_an_edit_by_hand_takes_effect_at_once(one: Gcp) -> None:
    etag = one.pool().etag
    taint = {"key": "theirs", "value": "yes", "effect": "NO_SCHEDULE"}
    one.console.edit_node_pool(H100, nodes=2, labels={"theirs": "yes"}, taints=[taint])
    assert (len(one.of_pool()), dict(one.pool().config.labels)) == (6, {"theirs": "yes"})
    assert {machine.labels["theirs"] for machine in one.of_pool()} == {"yes"}
    assert {machine.taints[0]["key"] for machine in one.of_pool()} == {"theirs"}
    assert one.pool().etag != etag


def test_callers_wait_while_gke_is_busy_with_a_cluster_that_it_has_just_made(busy: Gcp) -> None:
    made = busy.running_cluster()
    assert (made.status.name, made.endpoint != "") == ("RECONCILING", True)
    with pytest.raises(exceptions.FailedPrecondition, match="incompatible operation") as error:
        busy.create_pool()
    assert error.value.reason == "CLUSTER_ALREADY_HAS_OPERATION"
    busy.clock.advance(120)
    assert busy.cluster().status.name == "RUNNING"
    busy.create_pool()


def test_gke_upgrades_a_control_plane_by_itself(gcp: Gcp) -> None:
    gcp.running_cluster(initial_cluster_version="1.33")
    name = gcp.console.upgrade_cluster(CLUSTER, "1.34")
    with pytest.raises(exceptions.FailedPrecondition, match=f"incompatible operation {name}"):
        gcp.call("update_cluster", {"name": CLUSTER, "update": {"desired_master_version": "1.34"}})
    gcp.clock.advance(480)
    assert gcp.cluster().current_master_version.startswith("1.34.")


def test_gke_repairs_a_control_plane_by_itself(one: Gcp) -> None:
    name = one.console.repair_cluster(CLUSTER, seconds=60)
    assert one.cluster().status.name == "RECONCILING"
    with pytest.raises(exceptions.FailedPrecondition, match=f"incompatible operation {name}"):
        one.call("delete_node_pool", {"name": H100})
    one.clock.advance(60)
    assert one.cluster().status.name == "RUNNING"


def test_auto_upgrade_brings_nodes_to_the_control_plane_s_version_and_callers_wait(gcp: Gcp) -> None:
    gcp.running_cluster(initial_cluster_version="1.33")
    gcp.running_pool()
    gcp.console.upgrade_cluster(CLUSTER, "1.34")
    gcp.clock.advance(480)
    before = {machine.instance_id for machine in gcp.of_pool()}
    name = gcp.console.upgrade_nodes(H100)
    assert gcp.pool().status.name == "RECONCILING"
    with pytest.raises(exceptions.FailedPrecondition, match=f"incompatible operation {name}"):
        gcp.call("set_node_pool_size", {"name": H100, "node_count": 2})
    gcp.clock.advance(15 + 3 * 60)
    assert (gcp.pool().status.name, gcp.pool().version) == ("RUNNING", gcp.cluster().current_master_version)
    assert before.isdisjoint(machine.instance_id for machine in gcp.of_pool())


def test_auto_repair_makes_a_machine_anew_under_its_name_and_callers_wait(one: Gcp) -> None:
    broken = one.of_pool()[0]
    one.console.repair_node(H100, broken.instance_id)
    with pytest.raises(exceptions.FailedPrecondition, match="incompatible operation"):
        one.call("set_node_pool_size", {"name": H100, "node_count": 2})
    one.clock.advance(15)
    assert one.pool().status.name == "RUNNING"
    by_name = {machine.node_name: machine.instance_id for machine in one.of_pool()}
    assert len(by_name) == 3
    assert by_name[broken.node_name] != broken.instance_id


def test_which_machines_a_resize_ends_is_chance(one: Gcp) -> None:
    one.console.edit_node_pool(H100, nodes=10)
    ages = [machine.instance_id for machine in one.of_pool()]
    one.console.edit_node_pool(H100, nodes=5)
    kept = [machine.instance_id for machine in one.of_pool()]
    assert len(kept) == 15
    assert kept not in (ages[:15], ages[15:])


def test_what_is_degraded_says_why_and_its_condition_outlives_its_recovery(one: Gcp) -> None:
    one.console.degrade(CLUSTER, code="CA_EXPIRING", message="Rotate the credentials.")
    one.console.degrade(H100, code="GCE_QUOTA_EXCEEDED", message="Quota exceeded.", canonical="RESOURCE_EXHAUSTED")
    assert (one.cluster().status.name, one.cluster().status_message) == ("DEGRADED", "Rotate the credentials.")
    assert (one.pool().status.name, one.pool().conditions[0].canonical_code) == ("RUNNING_WITH_ERROR", 8)
    for name in (CLUSTER, H100):
        one.console.recover(name)
    assert (one.cluster().status.name, one.pool().status.name) == ("RUNNING", "RUNNING")
    assert [condition.code.name for condition in one.cluster().conditions] == ["CA_EXPIRING"]
    assert [condition.code.name for condition in one.pool().conditions] == ["GCE_QUOTA_EXCEEDED"]


def test_a_list_that_misses_zones_says_so(one: Gcp) -> None:
    one.console.lose_sight("us-central1-b")
    listed = one.call("list_clusters", {"parent": "projects/my-project/locations/-"})
    assert (list(listed.clusters), list(listed.missing_zones)) == ([], ["us-central1-b"])
    one.console.lose_sight()
    listed = one.call("list_clusters", {"parent": "projects/my-project/locations/-"})
    assert ([cluster.name for cluster in listed.clusters], list(listed.missing_zones)) == (["one"], [])


def test_a_cluster_whose_create_fails_is_in_error_with_the_reason_and_without_machines(gcp: Gcp) -> None:
    gcp.emulator.failures.add("create", code="GKE_SERVICE_ACCOUNT_DELETED", message="The service account is gone.")
    begun = gcp.create_cluster()
    gcp.clock.advance(300)
    made = gcp.cluster()
    assert (made.status.name, made.status_message, made.endpoint) == ("ERROR", "The service account is gone.", "")
    assert [condition.code.name for condition in made.conditions] == ["GKE_SERVICE_ACCOUNT_DELETED"]
    assert (gcp.operation(begun).status.name, gcp.operation(begun).error.code) == ("DONE", 13)
    assert gcp.engine.inventory.machines() == 0
    gcp.call("delete_cluster", {"name": CLUSTER})
    gcp.clock.advance(180)
    assert gcp.engine.inventory.items() == ()


def test_a_node_pool_whose_create_fails_is_in_error_and_can_be_deleted(one: Gcp) -> None:
    one.emulator.failures.add("create", target="one/more", message="Internal error.")
    begun = one.create_pool("more")
    one.clock.advance(60)
    assert (one.pool("more").status.name, one.of_pool("more")) == ("ERROR", [])
    assert one.operation(begun).error.message == "Internal error."
    one.call("delete_node_pool", {"name": pool_name("more")})
    one.clock.advance(60)
    with pytest.raises(exceptions.NotFound):
        one.pool("more")


@pytest.mark.parametrize(
    ("method", "request_", "seconds"),
    [
        ("set_node_pool_size", {"node_count": 2}, 20),
        ("set_node_pool_autoscaling", {"autoscaling": {"enabled": True, "total_max_node_count": 9}}, 15),
        ("update_node_pool", {"labels": {"labels": {"new": "yes"}}}, 15),
    ],
)
def test_only_the_operation_tells_that_a_change_of_a_node_pool_failed(
    one: Gcp, method: str, request_: dict[str, Any], seconds: float
) -> None:
    before = one.pool()
    one.emulator.failures.add("update", target="one/h100", message="Internal error.")
    begun = one.call(method, {"name": H100, **request_})
    assert one.pool().status.name == "RECONCILING"
    one.clock.advance(seconds)
    assert (one.operation(begun).status.name, one.operation(begun).error.message) == ("DONE", "Internal error.")
    assert one.pool() == before
    assert len(one.of_pool()) == 3


def test_only_the_operation_tells_that_an_upgrade_failed(gcp: Gcp) -> None:
    before = gcp.running_cluster(initial_cluster_version="1.33")
    gcp.emulator.failures.add("update", target="one", message="Internal error.")
    begun = gcp.call("update_cluster", {"name": CLUSTER, "update": {"desired_master_version": "1.34"}})
    gcp.clock.advance(480)
    assert gcp.operation(begun).error.message == "Internal error."
    assert gcp.cluster() == before


@pytest.mark.parametrize(("name", "seconds"), [(CLUSTER, 180), (H100, 60)])
def test_a_delete_that_fails_is_tried_again_by_gke_itself(one: Gcp, name: str, seconds: float) -> None:
    kind = "node_pool" if "nodePools" in name else "cluster"
    one.emulator.failures.add("delete", message="Internal error.")
    begun = one.call(f"delete_{kind}", {"name": name})
    one.clock.advance(seconds)
    assert one.operation(begun).error.message == "Internal error."
    assert one.call(f"get_{kind}", {"name": name}).status.name == "ERROR"
    one.clock.advance(60)
    with pytest.raises(exceptions.FailedPrecondition, match="incompatible operation"):
        one.call(f"delete_{kind}", {"name": name})
    one.clock.advance(seconds)
    with pytest.raises(exceptions.NotFound):
        one.call(f"get_{kind}", {"name": name})


def test_a_failure_needs_a_code_that_the_api_has(gcp: Gcp) -> None:
    with pytest.raises(ValueError, match="NO_SUCH_CODE is not one of UNKNOWN, GCE_STOCKOUT"):
        gcp.emulator.failures.add("create", code="NO_SUCH_CODE", message="")
