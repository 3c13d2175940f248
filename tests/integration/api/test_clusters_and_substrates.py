# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetesClusters and kubernetesSubstrates over the API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import ClusterId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    clusters,
    events,
    fleet,
    substrates,
    work,
)
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.api_client import ApiClient
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock

from .conftest import READ, UPDATE, CallerWith

TENANT = {"tenantId": "platform"}
CREATE, GET, LIST, UPDATED, DELETE, CREDENTIALS = (
    f"kubernetesClusters/{name}" for name in ("create", "get", "list", "update", "delete", "credentials")
)
SUBSTRATE = "kubernetesSubstrates/get"


def wanted(**different: Any) -> dict[str, Any]:
    return {**TENANT, "name": "training", "account": "aws-main", "location": "eu-west-1", **different}


def with_gcp(desk: Desk) -> None:
    with desk.session.store.write() as tx:
        fleet.put_account(tx, rows.account(name="gcp-main", provider="gcp", config={"projectId": "my-project"}))


def test_a_cluster_is_created_pending_with_its_first_node_pools(caller: ApiClient, desk: Desk) -> None:
    node_pools = [{"name": "system", "machineType": "m7i.large", "nodeCount": 2}]
    reply = caller.call(CREATE, wanted(version="1.34", privateNodes=True, nodePools=node_pools))
    assert reply.status == 200
    cluster = reply.body
    assert (cluster["state"], cluster["mode"], cluster["version"]) == ("pending", "standard", "1.34")
    assert (cluster["privateNodes"], cluster["substratePoolId"]) == (True, None)
    assert (cluster["account"], cluster["providerAccountId"]) == ("aws-main", desk.account.id)
    assert [(one["name"], one["state"]) for one in cluster["nodePools"]] == [("system", "pending")]
    assert caller.call(GET, {**TENANT, "clusterId": cluster["id"]}).body == cluster
    with desk.session.store.read() as tx:
        assert work.due_of(tx, cluster["id"]) == rows.START


def test_an_autopilot_cluster_is_gkes_and_takes_no_node_pools(caller: ApiClient, desk: Desk) -> None:
    with_gcp(desk)
    auto = wanted(mode="autopilot", account="gcp-main", location="us-central1")
    made = caller.call(CREATE, auto)
    assert (made.status, made.body["mode"], made.body["nodePools"]) == (200, "autopilot", [])
    pools = [{"name": "a", "machineType": "e2-standard-4", "nodeCount": 1}]
    assert caller.call(CREATE, {**auto, "name": "other", "nodePools": pools}).told == (409, "INVALID_STATE")
    assert caller.call(CREATE, wanted(name="third", mode="autopilot")).told == (400, "UNSUPPORTED")


def test_a_list_has_the_tenants_clusters_and_those_behind_its_pools(caller: ApiClient, desk: Desk) -> None:
    caller.call(CREATE, wanted())
    found = caller.call(LIST, TENANT).body["clusters"]
    assert {one["substratePoolId"] for one in found} == {desk.pool.id, None}
    [own] = [one["id"] for one in found if one["substratePoolId"] is None]
    with desk.session.store.write() as tx:
        record = clusters.cluster(tx, ClusterId(own))
        assert record is not None
        assert clusters.set_cluster_status(tx, replace(record, state=ClusterState.DELETED))
    assert [one["substratePoolId"] for one in caller.call(LIST, TENANT).body["clusters"]] == [desk.pool.id]
    assert caller.call(GET, {**TENANT, "clusterId": own}).told == (404, "NOT_FOUND")


def test_a_version_is_raised_in_place_and_never_lowered(caller: ApiClient) -> None:
    which = {**TENANT, "clusterId": caller.call(CREATE, wanted(version="1.34")).body["id"]}
    assert caller.call(UPDATED, {**which, "version": "1.35"}).body["version"] == "1.35"
    lowered = caller.call(UPDATED, {**which, "version": "1.33"})
    assert (lowered.told, lowered.paths) == ((400, "INVALID_INPUT"), ["version"])


def test_a_delete_marks_it_and_a_repetition_changes_nothing(caller: ApiClient) -> None:
    which = {**TENANT, "clusterId": caller.call(CREATE, wanted()).body["id"]}
    first = caller.call(DELETE, which).body
    assert first["state"] == "deleting"
    assert caller.call(DELETE, which).body == first
    assert caller.call(UPDATED, {**which, "version": "1.35"}).told == (409, "INVALID_STATE")


def test_the_cluster_behind_a_pool_is_changed_in_the_document_only(caller: ApiClient, desk: Desk) -> None:
    which = {**TENANT, "clusterId": desk.cluster.id}
    assert caller.call(DELETE, which).told == (409, "INVALID_STATE")
    assert caller.call(UPDATED, {**which, "version": "1.35"}).told == (409, "INVALID_STATE")


def test_the_same_key_makes_one_cluster_and_tells_its_node_pools_once(
    caller: ApiClient, caller_with: CallerWith, desk: Desk
) -> None:
    body = wanted(idempotencyKey="k", nodePools=[{"name": "a", "machineType": "m7i.large", "nodeCount": 1}])
    first = caller.call(CREATE, body)
    assert caller.call(CREATE, body).body == first.body
    assert caller.call(CREATE, {**body, "version": "1.34"}).told == (409, "CONFLICT")
    other = caller_with(READ, UPDATE, name="another").call(CREATE, {**body, "name": "other"})
    assert (other.status, other.body["name"]) == (200, "other")
    with desk.session.store.read() as tx:
        told = [one.subject for one in events.events(tx) if one.type == "kubernetes.nodepool.created"]
    assert sorted(told) == sorted([first.body["id"], other.body["id"]])


def test_a_taken_name_is_a_conflict_and_an_unknown_account_is_not_found(caller: ApiClient) -> None:
    caller.call(CREATE, wanted())
    assert caller.call(CREATE, wanted()).told == (409, "CONFLICT")
    assert caller.call(CREATE, wanted(name="other", account="nobodys")).told == (404, "NOT_FOUND")


def test_everything_that_is_wrong_with_a_cluster_and_its_node_pools_is_told_at_once(caller: ApiClient) -> None:
    node_pools = [
        {"name": "A", "machineType": "m7i.large", "taints": [{"key": "a", "effect": "Never"}]},
        {"name": "b", "machineType": "m7i.large", "nodeCount": 9, "autoscaling": {"minNodes": 1, "maxNodes": 4}},
        "no node pool",
    ]
    body = wanted(version="1.34.2", mode="other", nodePools=node_pools[:2])
    assert caller.call(CREATE, body).paths == [
        "mode",
        "version",
        "nodePools[0].name",
        "nodePools[0].nodeCount",
        "nodePools[0].taints[0].effect",
        "nodePools[1].nodeCount",
    ]
    assert caller.call(CREATE, wanted(nodePools=node_pools)).paths == [
        "nodePools[0].name",
        "nodePools[0].nodeCount",
        "nodePools[2]",
    ]


def test_a_tenant_makes_clusters_on_the_platforms_account_and_sees_its_own_only(
    caller: ApiClient, caller_with: CallerWith, desk: Desk
) -> None:
    tenant = caller_with(READ, UPDATE, tenant="acme", name="acme-ci")
    made = tenant.call(CREATE, {**wanted(), "tenantId": "acme"})
    assert (made.status, made.body["tenantId"]) == (200, "acme")
    assert [one["id"] for one in tenant.call(LIST, {"tenantId": "acme"}).body["clusters"]] == [made.body["id"]]
    assert made.body["id"] not in [one["id"] for one in caller.call(LIST, TENANT).body["clusters"]]


def test_credentials_are_refused_while_there_is_no_cluster_and_for_an_adopted_one(
    caller: ApiClient, desk: Desk
) -> None:
    pending = caller.call(CREATE, wanted()).body["id"]
    pool = rows.pool(name="adopting")
    adopted = rows.cluster(pool.id, account_id=desk.account.id, name="theirs", adopted=True)
    with desk.session.store.write() as tx:
        fleet.put_pool(tx, pool)
        clusters.add_cluster(tx, adopted)
    for cluster in (pending, adopted.id):
        reply = caller.call(CREDENTIALS, {**TENANT, "clusterId": cluster, "namespaces": ["jobs"]})
        assert reply.told == (409, "INVALID_STATE")


@pytest.mark.parametrize(
    ("different", "paths"),
    [
        ({"namespaces": ["kube-system", "Upper"]}, ["namespaces[0]", "namespaces[1]"]),
        ({"namespaces": []}, ["namespaces"]),
        ({"expiresSeconds": 599}, ["expiresSeconds"]),
        ({"expiresSeconds": 86401, "namespaces": ["default"]}, ["expiresSeconds", "namespaces[0]"]),
        ({"subject": ""}, ["subject"]),
        ({"subject": "a\nb"}, ["subject"]),
    ],
)
def test_credentials_are_for_namespaces_of_ones_own_and_a_bounded_time(
    caller: ApiClient, desk: Desk, different: dict[str, Any], paths: list[str]
) -> None:
    body = {**TENANT, "clusterId": desk.cluster.id, "namespaces": ["jobs"], **different}
    assert caller.call(CREDENTIALS, body).paths == paths


def test_a_substrate_is_told_with_the_specs_fields_and_no_others(
    caller: ApiClient, desk: Desk, clock: HandClock
) -> None:
    which = {**TENANT, "poolId": desk.pool.id}
    assert caller.call(SUBSTRATE, which).told == (404, "NOT_FOUND")
    record = rows.substrate(
        desk.pool.id,
        desk.cluster,
        state=SubstrateState.READY,
        nodes_listed=3,
        nodes_joined=1,
        waiting_nodes=2,
        waiting_since=clock.now(),
    )
    with desk.session.store.write() as tx:
        substrates.put_substrate(tx, record)
    told = {
        "poolId": desk.pool.id,
        "tenantId": "platform",
        "providerAccountId": desk.account.id,
        "mode": "create",
        "clusterId": desk.cluster.id,
        "state": "ready",
        "message": None,
        "nodesListed": 3,
        "nodesJoined": 1,
        "waitingToJoin": {"nodes": 2, "since": "2026-11-01T12:00:00Z"},
        "upgrade": None,
    }
    assert caller.call(SUBSTRATE, which).body == told
    with desk.session.store.write() as tx:
        substrates.set_upgrade(tx, desk.pool.id, version="1.35", since=clock.now())
    assert caller.call(SUBSTRATE, which).body["upgrade"] == {"version": "1.35", "since": "2026-11-01T12:00:00Z"}
