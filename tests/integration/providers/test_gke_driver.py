# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the GKE driver makes and deletes, and how it reads it."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    AlreadyExists,
    InvalidRequest,
    NotFound,
    OperationInProgress,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import NodeBounds
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterMode,
    ProviderStatus,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Deletion
from ansible_collections.better_compute.fleet.tests.support.gke_subject import CLUSTER, NODE_POOL, GkeSubject

OTHER = dataclasses.replace(NODE_POOL, name="cpu", machine_type="e2-standard-4", gpus_per_node=0, gpu_type=None)
THEIRS = {**NODE_POOL.tags, "better-compute.dev/cluster": "kcl_00000000000000000000000000"}


@pytest.mark.parametrize("private", [False, True])
def test_a_cluster_is_made_with_its_first_node_pools_in_one_call(google: GkeSubject, private: bool) -> None:
    wanted = dataclasses.replace(CLUSTER, private_nodes=private)
    made = google.open().ensure_cluster(wanted, (NODE_POOL, OTHER))
    assert (made.status, made.outputs, made.tags) == (ProviderStatus.CREATING, None, CLUSTER.tags)
    assert google.changes() == ["CreateCluster"]
    google.settle()
    observed = google.open().get_cluster(wanted)
    assert observed is not None
    assert observed.outputs is not None
    assert observed.private_nodes is private
    link = "https://container.googleapis.com/v1/projects/my-project/locations/us-central1/clusters/"
    assert observed.outputs.global_id == f"{link}{CLUSTER.name}"
    assert observed.outputs.node_version.startswith("1.34.")
    assert observed.outputs.zones == tuple(sorted(google.shown().locations))
    for spec in (NODE_POOL, OTHER):
        assert google.converge(spec) == []
        assert google.machines_of(spec.name) == 4
    assert google.shown().network_config.enable_private_nodes is private


def test_a_cluster_is_made_without_a_channel_and_its_nodes_are_not_upgraded_behind_our_back(google: GkeSubject) -> None:
    google.stand()
    name = google.node_pool_name().partition("/nodePools")[0]
    made = google.clients.gke.get_cluster(request={"name": name}, metadata=google.clients.tokens.metadata())
    assert made.release_channel.channel.name == "UNSPECIFIED"
    assert list(made.locations) == ["us-central1-a", "us-central1-b"]
    assert made.ip_allocation_policy.use_ip_aliases is True
    management = google.shown().management
    assert (management.auto_upgrade, management.auto_repair) == (False, True)


def test_an_autopilot_cluster_has_no_node_pools_of_ours_and_its_mode_never_changes(google: GkeSubject) -> None:
    autopilot = dataclasses.replace(CLUSTER, mode=ClusterMode.AUTOPILOT)
    assert google.open().ensure_cluster(autopilot).status is ProviderStatus.CREATING
    google.settle()
    assert google.open().ensure_cluster(autopilot).status is ProviderStatus.ACTIVE
    assert google.open().get_node_pools(autopilot) == ()
    with pytest.raises(InvalidRequest, match="is autopilot and is to be standard"):
        google.open().ensure_cluster(CLUSTER, (NODE_POOL,))
    with pytest.raises(InvalidRequest, match="Autopilot"):
        google.open().ensure_node_pool(autopilot, NODE_POOL, None)
    assert google.changes() == ["CreateCluster"]


def test_an_autopilot_cluster_of_a_zone_is_refused_and_a_standard_one_never_becomes_one(google: GkeSubject) -> None:
    zonal = dataclasses.replace(CLUSTER, mode=ClusterMode.AUTOPILOT, location="us-central1-a")
    with pytest.raises(InvalidRequest, match="in regions only"):
        google.open().ensure_cluster(zonal)
    google.stand()
    with pytest.raises(InvalidRequest, match="is standard and is to be autopilot"):
        google.open().ensure_cluster(dataclasses.replace(CLUSTER, mode=ClusterMode.AUTOPILOT))
    assert google.changes() == ["CreateCluster"]


def test_a_zonal_cluster_is_one_of_its_zone(google: GkeSubject) -> None:
    zonal = dataclasses.replace(google, cluster=dataclasses.replace(CLUSTER, location="us-central1-b"))
    zonal.stand()
    observed = zonal.open().get_cluster(zonal.cluster)
    assert observed is not None
    assert observed.outputs is not None
    assert observed.outputs.location == "us-central1-b"
    assert "/zones/us-central1-b/clusters/" in str(observed.outputs.global_id)
    assert zonal.converge(NODE_POOL) == []
    assert zonal.machines_of() == 4


def test_an_account_without_zones_leaves_them_to_gke_and_sizes_count_for_each(google: GkeSubject) -> None:
    anywhere = dataclasses.replace(google, settings=dataclasses.replace(google.settings, zones=()))
    spec = dataclasses.replace(NODE_POOL, places=(), nodes=2, bounds=NodeBounds(least=1, most=3))
    assert anywhere.open().node_places() == {}
    anywhere.stand(spec)
    held = anywhere.standing()
    assert (held.nodes, held.bounds) == (6, NodeBounds(least=3, most=9))
    assert anywhere.machines_of() == 6
    assert anywhere.converge(spec) == []
    autoscaling = anywhere.shown().autoscaling
    assert (autoscaling.min_node_count, autoscaling.total_max_node_count) == (1, 0)
    assert "SetNodePoolSize" in anywhere.converge(dataclasses.replace(spec, nodes=1, bounds=None))
    assert anywhere.machines_of() == 3


def test_a_node_pool_has_gpus_with_a_driver_and_without_gkes_own_device_plugin(google: GkeSubject) -> None:
    google.stand(OTHER)
    wanted = dataclasses.replace(NODE_POOL, spot=True, disk_type="pd-ssd", places=("us-central1-b",))
    sent = google.open().ensure_node_pool(CLUSTER, wanted, None)
    assert google.open().compare(wanted, sent) == ()
    google.settle()
    config = google.shown().config
    (accelerator,) = config.accelerators
    assert (accelerator.accelerator_type, accelerator.accelerator_count) == ("nvidia-h100-80gb", 8)
    assert accelerator.gpu_driver_installation_config.gpu_driver_version.name == "DEFAULT"
    assert config.labels["gke-no-default-nvidia-gpu-device-plugin"] == "true"
    assert (config.spot, config.disk_size_gb, config.disk_type) == (True, 200, "pd-ssd")
    assert list(google.shown().locations) == ["us-central1-b"]
    assert "gke-no-default-nvidia-gpu-device-plugin" not in google.shown("cpu").config.labels


def test_gpus_of_no_type_are_refused_before_anything_is_sent(google: GkeSubject) -> None:
    untyped = dataclasses.replace(NODE_POOL, gpu_type=None)
    with pytest.raises(InvalidRequest, match="of which type"):
        google.open().ensure_cluster(CLUSTER, (untyped,))
    assert google.changes() == []


@pytest.mark.parametrize("first", [(), (NODE_POOL, NODE_POOL)])
def test_a_cluster_without_node_pools_or_with_two_of_one_name_is_not_sent(
    google: GkeSubject, first: tuple[object, ...]
) -> None:
    with pytest.raises(InvalidRequest):
        google.open().ensure_cluster(CLUSTER, first)  # type: ignore[arg-type] # the parameter's tuples
    assert google.changes() == []


@pytest.mark.parametrize("location", ["us-east4", "us-central1-f", "us-east4-a", "nowhere-9", ""])
def test_a_cluster_where_the_account_can_make_none_is_refused_without_a_call(google: GkeSubject, location: str) -> None:
    with pytest.raises(InvalidRequest, match="is to be in"):
        google.open().get_cluster(dataclasses.replace(CLUSTER, location=location))
    assert google.calls() == 0


def test_a_node_pool_of_another_regions_zones_alone_is_refused(google: GkeSubject) -> None:
    google.stand()
    astray = dataclasses.replace(NODE_POOL, name="b", places=("us-east4-a",))
    with pytest.raises(InvalidRequest, match="none of them"):
        google.open().ensure_node_pool(CLUSTER, astray, None)


def test_zones_of_other_regions_count_for_the_clusters_there_alone(google: GkeSubject) -> None:
    both = dataclasses.replace(NODE_POOL, nodes=4, places=("us-central1-a", "us-east4-a"))
    google.stand(both)
    assert google.machines_of() == 2
    assert google.converge(both) == []
    google.converge(dataclasses.replace(both, bounds=NodeBounds(least=2, most=8), keep_count=True))
    assert google.standing().bounds == NodeBounds(least=1, most=4)


def test_a_pass_over_what_is_converged_is_one_call(google: GkeSubject) -> None:
    google.stand(NODE_POOL, OTHER)
    driver, before = google.open(), google.calls()
    assert driver.ensure_cluster(CLUSTER, (NODE_POOL, OTHER)).status is ProviderStatus.ACTIVE
    found = {pool.name: pool for pool in driver.get_node_pools(CLUSTER)}
    for spec in (NODE_POOL, OTHER):
        assert driver.ensure_node_pool(CLUSTER, spec, found[spec.name]) == found[spec.name]
    assert google.calls() == before + 1


def test_what_was_read_is_read_again_after_a_change_and_after_a_while(google: GkeSubject) -> None:
    google.stand(OTHER)
    driver = google.open()
    driver.get_cluster(CLUSTER)
    driver.ensure_node_pool(CLUSTER, NODE_POOL, None)
    assert len(driver.get_node_pools(CLUSTER)) == 2
    driver.get_cluster(CLUSTER)
    google.settle()
    assert {pool.status for pool in driver.get_node_pools(CLUSTER)} == {ProviderStatus.ACTIVE}
    with pytest.raises(NotFound):
        driver.get_node_pools(dataclasses.replace(CLUSTER, name="other"))


def test_a_name_that_gke_still_holds_means_wait(google: GkeSubject) -> None:
    held = Error(status=409, code="ALREADY_EXISTS", message="Already exists: projects/my-project/…")
    google.engine.faults.add("gcp", "gke.CreateCluster", held)
    with pytest.raises(OperationInProgress):
        google.open().ensure_cluster(CLUSTER, (OTHER,))
    google.stand(OTHER)
    google.engine.faults.add("gcp", "gke.CreateNodePool", held)
    with pytest.raises(OperationInProgress):
        google.open().ensure_node_pool(CLUSTER, NODE_POOL, None)


def test_a_create_that_is_answered_with_404_is_settled_by_looking(google: GkeSubject) -> None:
    gone = Error(status=404, code="NOT_FOUND", message="Not found: projects/my-project/…")
    google.engine.faults.add("gcp", "gke.CreateCluster", gone)
    with pytest.raises(Unavailable):
        google.open().ensure_cluster(CLUSTER, (OTHER,))
    with pytest.raises(NotFound):
        google.open().ensure_node_pool(CLUSTER, NODE_POOL, None)
    google.stand(OTHER)
    google.engine.faults.add("gcp", "gke.CreateNodePool", gone)
    with pytest.raises(Unavailable):
        google.open().ensure_node_pool(CLUSTER, NODE_POOL, None)
    google.open().ensure_node_pool(CLUSTER, NODE_POOL, None)
    google.engine.faults.add("gcp", "gke.CreateNodePool", gone)
    assert google.open().ensure_node_pool(CLUSTER, NODE_POOL, None).status is ProviderStatus.CREATING


def test_what_strangers_made_is_never_touched(google: GkeSubject) -> None:
    theirs = dataclasses.replace(NODE_POOL, tags=THEIRS)
    google.stand(OTHER, theirs)
    driver, seen, before = google.open(), google.standing(), google.changes()
    for observed in (seen, None):
        with pytest.raises(AlreadyExists, match="not ours"):
            driver.ensure_node_pool(CLUSTER, dataclasses.replace(NODE_POOL, nodes=6), observed)
    with pytest.raises(AlreadyExists):
        driver.delete_node_pool(CLUSTER, NODE_POOL.name, NODE_POOL.tags)
    stranger = dataclasses.replace(CLUSTER, tags=THEIRS, version="1.35")
    for refused in (driver.ensure_cluster, driver.get_cluster, driver.delete_cluster, driver.grant_access):
        with pytest.raises(AlreadyExists):
            refused(stranger)
    assert google.changes() == before


def test_node_pool_and_cluster_are_deleted_once_and_gone_when_gke_says_so(google: GkeSubject) -> None:
    google.stand(OTHER, NODE_POOL)

    def delete() -> Deletion:
        return google.open().delete_node_pool(CLUSTER, NODE_POOL.name, NODE_POOL.tags)

    after = google.engine.log.mark
    assert {delete() for _time in range(3)} == {Deletion.UNDER_WAY}
    with pytest.raises(OperationInProgress, match="incompatible operation"):
        google.open().delete_cluster(CLUSTER)
    google.settle()
    assert delete() is Deletion.GONE
    assert {google.open().delete_cluster(CLUSTER) for _time in range(3)} == {Deletion.UNDER_WAY}
    google.settle()
    assert google.open().delete_cluster(CLUSTER) is Deletion.GONE
    assert delete() is Deletion.GONE
    assert google.changes(after) == ["DeleteNodePool", "DeleteCluster"]
    assert google.leftovers() == []


def test_access_is_googles_own_token(google: GkeSubject) -> None:
    google.stand(OTHER)
    driver = google.open()
    driver.grant_access(CLUSTER)
    cluster = driver.get_cluster(CLUSTER)
    assert cluster is not None
    access = driver.bootstrap_access(cluster)
    assert google.accepts(access)
    assert access.token.reveal() not in repr(access)
    life = access.expires_at - google.clock.now()
    assert 50 * 60 < life.total_seconds() < 60 * 60
    before = google.calls()
    driver.revoke_access(CLUSTER)
    assert google.calls() == before
    with pytest.raises(InvalidRequest, match="no endpoint"):
        driver.bootstrap_access(dataclasses.replace(cluster, outputs=None))


def test_a_cluster_is_gone_although_what_its_workloads_made_outlives_it(google: GkeSubject) -> None:
    google.stand()
    google.gcp.console.add_load_balancer(CLUSTER.name, "web")
    google.open().delete_cluster(CLUSTER)
    google.settle()
    assert google.open().delete_cluster(CLUSTER) is Deletion.GONE
    assert google.leftovers() == ["load-balancer web"]
