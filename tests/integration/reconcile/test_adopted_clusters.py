# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a pool from an adopted cluster, and what the state then says: nothing is put into a cluster before."""

from __future__ import annotations

from typing import Any, Final

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import claim, names
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.tests.support.life import remains
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, Place
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.tenants_cluster import (
    TenantsCluster,
    adopting,
    made_by_a_tenant,
)

OTHER_POOL: Final = PoolId("pool_0000000000000000000000000z")
DOWN: Final = Error(status=503, code="ServiceUnavailable", message="come back later")
NOT_FOUND: Final = Error(status=404, code="ResourceNotFoundException", message="No cluster found for name: prod.")
GONE: Final = {("deleted", 0, 0, ""): 1}


@pytest.fixture
def cluster(fleet: Fleet, place: Place) -> TenantsCluster:
    """A tenant's EKS cluster that does not let us in."""
    return made_by_a_tenant(fleet, place, AWS)


def adopted(place: Place, cluster: TenantsCluster) -> Any:
    """A document with a flavor of one node."""
    return adopting(place, cluster, AWS.spot_flavor("h100"))


def prune(fleet: Fleet, place: Place, *, minutes: float = 4) -> None:
    fleet.apply(place.document({}), prune=True)
    fleet.live(until=fleet.has_nothing_to_do, minutes=minutes)


def writes(fleet: Fleet, *, after: int) -> list[str]:
    """Every change that a provider or a cluster carried out."""
    return [f"{entry.call.name} {entry.call.target}" for entry in fleet.scene.engine.log.writes(after=after)]


def claim_of_another(cluster: TenantsCluster) -> None:
    """Another deployment has the cluster."""
    with cluster.api() as api:
        claim.hold_claim(api, pool_id=OTHER_POOL)


def test_a_cluster_that_does_not_let_us_in_says_what_its_owner_does_and_then_the_pool_begins(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    mark = fleet.scene.engine.log.mark
    fleet.apply(adopted(place, cluster))
    fleet.live(minutes=2)
    view = fleet.view()
    assert view.record.state == SubstrateState.ERROR
    assert fleet.scene.world.aws.operator.principal_arn in view.record.message
    assert "AmazonEKSClusterAdminPolicy" in view.record.message
    assert "aws eks create-access-entry --region us-east-1 --cluster-name prod" in view.record.message
    assert writes(fleet, after=mark) == []

    cluster.admit()
    fleet.live(until=fleet.at_rest, minutes=20)
    assert fleet.at_rest(), fleet.view()
    assert fleet.view().record.message == ""


def test_a_pool_that_was_never_let_in_goes_without_a_trace_and_without_being_let_in(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    mark = fleet.scene.engine.log.mark
    fleet.apply(adopted(place, cluster))
    fleet.live(minutes=2)
    prune(fleet, place, minutes=1)
    assert remains(fleet.scene)["substrates"] == GONE
    assert writes(fleet, after=mark) == []


def test_a_cluster_that_is_not_there_is_told_with_its_id_and_its_account(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    document = adopted(place, cluster)
    document["pools"][0]["policy"]["substrate"]["cluster"]["adopt"] = "us-east-1/prud"
    mark = fleet.scene.engine.log.mark
    fleet.apply(document)
    fleet.live(minutes=2)
    record = fleet.view().record
    assert record.state == SubstrateState.ERROR
    assert "cluster prud in us-east-1 is not found" in record.message
    assert "provider account aws" in record.message
    assert fleet.cluster().state == ClusterState.ERROR
    prune(fleet, place, minutes=1)
    assert remains(fleet.scene)["substrates"] == GONE
    assert writes(fleet, after=mark) == []


def test_a_cluster_that_another_deployment_claimed_gets_nothing_of_ours(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    cluster.admit()
    claim_of_another(cluster)
    mark = fleet.scene.engine.log.mark
    fleet.apply(adopted(place, cluster))
    fleet.live(minutes=2)
    record = fleet.view().record
    assert record.state == SubstrateState.ERROR
    assert f"pool {OTHER_POOL} holds this cluster" in record.message
    assert "Delete the ConfigMap by hand only if the deployment that made it is gone for good" in record.message
    prune(fleet, place, minutes=1)
    assert remains(fleet.scene)["substrates"] == GONE
    assert writes(fleet, after=mark) == []
    assert cluster.inside.read("ConfigMap", names.CLAIM, names.CLAIM_NAMESPACE) is not None


def test_a_second_pool_that_reaches_the_cluster_through_another_account_is_refused_before_anything_is_made(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    cluster.admit()
    document = adopted(place, cluster)
    fleet.join_all(document)
    both = {**document, "providerAccounts": list(document["providerAccounts"]), "pools": list(document["pools"])}
    both["providerAccounts"].append({**document["providerAccounts"][0], "name": "aws-too"})
    [pool] = document["pools"]
    policy = {**pool["policy"], "substrate": {**pool["policy"]["substrate"], "account": "aws-too"}}
    both["pools"].append({**pool, "name": "second", "policy": policy})
    second = Fleet(scene=fleet.scene, session=fleet.session, pool="second")
    mark = fleet.scene.engine.log.mark
    fleet.apply(both)
    fleet.live(minutes=2)
    record = second.view().record
    assert (record.state, record.claim_held) == (SubstrateState.ERROR, False)
    assert f"pool {fleet.pool} ({fleet.pool_id})" in record.message
    assert second.cluster().state == ClusterState.ERROR
    assert writes(fleet, after=mark) == []

    both["pools"] = both["pools"][1:]
    both["quotas"] = []
    fleet.apply(both, prune=True)
    fleet.live(until=second.at_rest, minutes=30)
    assert second.at_rest(), second.view()


def test_an_adopted_clusters_provider_that_is_down_keeps_nobody_from_being_looked_after(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    cluster.admit()
    fleet.join_all(adopted(place, cluster))
    [lost] = fleet.nodes()
    fleet.scene.world.aws.lose_instance(fleet.instance_of(lost))
    fleet.scene.engine.faults.add("aws", "*", DOWN, times=None)
    fleet.live(until=lambda: lost not in fleet.nodes(), minutes=8)
    assert lost not in fleet.nodes()
    assert fleet.view().record.state == SubstrateState.READY


def test_an_adopted_cluster_that_its_provider_does_not_find_keeps_nobody_from_being_looked_after_while_it_answers(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    cluster.admit()
    fleet.join_all(adopted(place, cluster))
    [lost] = fleet.nodes()
    mark = fleet.scene.engine.log.mark
    fleet.scene.world.aws.lose_instance(fleet.instance_of(lost))
    fleet.scene.engine.faults.add("aws", "eks.DescribeCluster", NOT_FOUND, times=None)
    fleet.live(until=lambda: len(fleet.nodes()) == 1 and lost not in fleet.nodes(), minutes=12)
    assert len(fleet.nodes()) == 1
    assert lost not in fleet.nodes(), "its machine is gone, and the one in its place has joined"
    record = fleet.view().record
    assert record.state == SubstrateState.ERROR
    assert "cluster prod in us-east-1 is not found" in record.message
    assert [line for line in writes(fleet, after=mark) if line.startswith("eks.")] == []


def test_a_flavor_that_is_refused_on_an_adopted_cluster_leaves_the_others_in_care(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    cluster.admit()
    zone = AWS.zone
    assert zone is not None
    fleet.scene.world.aws.capacity.take_away(AWS.machine_type, zone, spot=False)
    document = adopting(place, cluster, AWS.spot_flavor("h100"), AWS.flavor("dear", zones=[zone]))
    fleet.apply(document)
    fleet.live(until=lambda: fleet.view().record.nodes_joined == 1, minutes=20)
    fleet.live(minutes=5)
    states = {name.rpartition("-")[2]: pool.state for name, pool in fleet.node_pools().items()}
    assert states == {"h100": NodePoolState.READY, "dear": NodePoolState.ERROR}
    assert fleet.view().record.state == SubstrateState.ERROR
    [lost] = fleet.nodes()
    fleet.scene.world.aws.lose_instance(fleet.instance_of(lost))
    fleet.live(until=lambda: lost not in fleet.nodes(), minutes=8)
    assert lost not in fleet.nodes()


def test_a_cluster_whose_owner_deleted_it_is_told_while_the_pool_runs_and_is_gone_with_all_of_ours(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    cluster.admit()
    fleet.join_all(adopted(place, cluster))
    booked = fleet.book(name="job", gpus=8, spot=True)
    cluster.delete()
    fleet.live(minutes=3)
    record = fleet.view().record
    assert record.state == SubstrateState.ERROR
    assert "cluster prod in us-east-1 is not found" in record.message

    fault = fleet.scene.engine.faults.add("aws", "eks.DescribeCluster", DOWN, times=None)
    prune(fleet, place)
    assert remains(fleet.scene)["substrates"] != GONE, "nobody knows"
    fleet.scene.engine.faults.remove(fault)
    fleet.live(until=fleet.has_nothing_to_do, minutes=10)
    assert remains(fleet.scene)["substrates"] == GONE
    assert fleet.reservation(booked).ended_at is not None, "its machine went with the cluster"
    assert fleet.scene.engine.inventory.items() == ()
