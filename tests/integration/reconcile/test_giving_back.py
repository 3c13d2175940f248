# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An adopted cluster is given back, or the substrate stays deleting and says why: nothing is left unannounced."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final, Never

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import access, claim, names
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import PermissionDenied
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import passes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import work
from ansible_collections.better_compute.fleet.tests.support.life import remains
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, Place
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.tenants_cluster import (
    OWN_NODE_POOLS,
    TenantsCluster,
    adopting,
    made_by_a_tenant,
)

OTHER_POOL: Final = PoolId("pool_0000000000000000000000000z")
GONE: Final = {("deleted", 0, 0, ""): 1}
REFUSED: Final = Error(status=403, code="AccessDeniedException", message="you may not")
FORBIDDEN: Final = Error(status=403, code="Forbidden", message="an admission webhook says no")
DOWN: Final = Error(status=503, code="ServiceUnavailable", message="come back later")


@pytest.fixture
def cluster(fleet: Fleet, place: Place) -> TenantsCluster:
    """A tenant's EKS cluster on which a pool of ours is at rest."""
    made = made_by_a_tenant(fleet, place, AWS)
    made.admit()
    fleet.join_all(adopting(place, made, AWS.spot_flavor("h100")))
    return made


def prune(fleet: Fleet, place: Place) -> None:
    fleet.apply(place.document({}), prune=True)
    fleet.live(until=fleet.has_nothing_to_do, minutes=4)


def told(fleet: Fleet) -> str:
    """The message of the only substrate, which is deleting and comes again after the deleting interval."""
    [(state, _listed, _waiting, message)] = remains(fleet.scene)["substrates"]
    assert state == "deleting"
    with fleet.session.store.read() as tx:
        due, now = work.next_due(tx), tx.now
    assert due is not None
    assert due - now <= timedelta(seconds=30), "the scene's deleting interval"
    text: str = message
    return text


def is_told(fleet: Fleet, words: str) -> bool:
    return words in told(fleet)


def is_given_back(fleet: Fleet, cluster: TenantsCluster) -> bool:
    """Whether the records say so, and nothing of ours is left at the provider or in the cluster."""
    inside = [item.id for item in fleet.scene.engine.inventory.items(cloud="kubernetes")]
    node_pools = {pool.name for pool in cluster.driver.get_node_pools(cluster.spec)}
    return remains(fleet.scene)["substrates"] == GONE and node_pools == set(OWN_NODE_POOLS) and not inside


def stands(cluster: TenantsCluster, *, bcd: bool = True, identity: bool = True, claimed: bool = True) -> None:
    """See which of our things are in the cluster."""
    inside = cluster.inside
    assert (inside.read("DaemonSet", names.AGENT, names.AGENT_NAMESPACE) is not None) is bcd
    assert (inside.read("ServiceAccount", names.ACCESS_ACCOUNT, names.ACCESS_NAMESPACE) is not None) is identity
    assert (inside.read("ConfigMap", names.CLAIM, names.CLAIM_NAMESPACE) is not None) is claimed


def test_whatever_cannot_be_removed_is_told_and_tried_again_and_all_that_comes_after_it_stays(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    faults = fleet.scene.engine.faults
    cluster.shut_out()
    prune(fleet, place)
    message = told(fleet)
    assert "AmazonEKSClusterAdminPolicy" in message
    assert "bcd and our access are still in the cluster" in message
    stands(cluster)
    cluster.admit()

    bare = {"bcd": False, "identity": False}
    for cloud, call, error, left, says in (
        ("kubernetes", "*", DOWN, {}, "reaching adopted cluster prod in us-east-1: GET"),
        ("aws", "eks.DescribeCluster", DOWN, {}, "DescribeCluster: come back later"),
        ("aws", "eks.DescribeCluster", REFUSED, {}, "DescribeCluster: you may not"),
        ("kubernetes", "DELETE daemonsets", FORBIDDEN, {}, "daemonsets/bcd"),
        ("aws", "eks.ListNodegroups", REFUSED, {"bcd": False}, "ListNodegroups: you may not"),
        ("aws", "eks.DeleteNodegroup", REFUSED, {"bcd": False}, "DeleteNodegroup: you may not"),
        ("kubernetes", "DELETE serviceaccounts", FORBIDDEN, {"bcd": False}, "serviceaccounts/bc-substrate"),
        ("kubernetes", "DELETE clusterrolebindings", DOWN, bare, "clusterrolebindings/bc-substrate"),
        ("kubernetes", "DELETE configmaps", FORBIDDEN, bare, "configmaps/better-compute-substrate"),
    ):
        fault = faults.add(cloud, call, error, times=None)
        fleet.live(until=partial(is_told, fleet, says), minutes=5)
        assert says in told(fleet), (call, told(fleet))
        faults.remove(fault)
        stands(cluster, **left)

    fleet.live(until=fleet.has_nothing_to_do, minutes=10)
    assert is_given_back(fleet, cluster)


def test_another_subjects_namespace_stays_and_the_claim_goes_all_the_same(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    with cluster.api() as api:
        somebody = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "anna", "namespace": "bc-access"},
        }
        api.request("POST", "/api/v1/namespaces/bc-access/serviceaccounts", body=somebody)
    prune(fleet, place)
    stands(cluster, bcd=False, identity=False, claimed=False)
    assert remains(fleet.scene)["substrates"] == GONE
    assert cluster.inside.read("Namespace", "bc-access") is not None
    assert cluster.inside.read("ServiceAccount", "anna", "bc-access") is not None


def test_a_claim_that_somebody_deleted_by_hand_keeps_nothing_of_ours_there(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    with cluster.api() as api:
        claim.drop_claim(api, pool_id=fleet.pool_id)
    prune(fleet, place)
    assert is_given_back(fleet, cluster)


def test_whoever_claimed_the_cluster_meanwhile_keeps_its_claim_and_the_identity_that_it_lives_by(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    with cluster.api() as api:
        claim.drop_claim(api, pool_id=fleet.pool_id)
        claim.hold_claim(api, pool_id=OTHER_POOL)
        access.make_access(api, pool_id=OTHER_POOL)
    prune(fleet, place)
    assert remains(fleet.scene)["substrates"] == GONE
    stands(cluster, bcd=False)
    with cluster.api() as api:
        assert claim.held_by(api) == OTHER_POOL


def test_giving_back_takes_the_providers_token_and_makes_no_access(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    mark = fleet.scene.engine.log.mark
    prune(fleet, place)
    assert is_given_back(fleet, cluster)
    asked = [entry.call.name for entry in fleet.scene.engine.log.entries(after=mark, cloud="kubernetes")]
    assert not [name for name in asked if name.startswith("POST")], "no token of ours is asked for either"


def test_an_account_whose_credential_is_missing_leaves_the_substrate_deleting(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    def missing(_account: AccountRecord) -> Never:
        raise PermissionDenied("the variable of its credential is not set")

    pools = fleet.apply(place.document({}), prune=True)
    passes.run_once(replace(fleet.session, open_driver=missing), pools)
    assert "the provider account cannot be used: the variable of its credential is not set" in told(fleet)
    stands(cluster)


def test_a_claim_whose_reply_was_lost_is_not_forgotten(fleet: Fleet, place: Place) -> None:
    made = made_by_a_tenant(fleet, place, AWS)
    made.admit()
    fleet.scene.engine.faults.add("kubernetes", "POST configmaps", LostReply())
    fleet.apply(adopting(place, made, AWS.spot_flavor("h100")))
    assert not fleet.one_pass().record.claim_held
    made.shut_out()
    prune(fleet, place)
    assert "AmazonEKSClusterAdminPolicy" in told(fleet)
    made.admit()
    fleet.live(until=fleet.has_nothing_to_do, minutes=10)
    assert is_given_back(fleet, made)
