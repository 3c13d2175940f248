# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetesNodePools over the API: each call, each refusal, and what is recorded by it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.api import ApiServer
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterMode,
    ClusterState,
    NodePoolState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters, events, fleet, work
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.api_client import ApiClient, Reply, api_client
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk

from .conftest import READ, UPDATE, CallerWith

CREATE, LIST, UPDATED, DELETE = (f"kubernetesNodePools/{name}" for name in ("create", "list", "update", "delete"))


def where(desk: Desk) -> dict[str, Any]:
    return {"tenantId": "platform", "clusterId": desk.cluster.id}


def wanted(desk: Desk, **different: Any) -> dict[str, Any]:
    return {**where(desk), "name": "system", "machineType": "m7i.large", "nodeCount": 2, **different}


def test_a_node_pool_is_created_pending_with_everything_that_was_asked(caller: ApiClient, desk: Desk) -> None:
    asked = {
        "autoscaling": {"minNodes": 1, "maxNodes": 4},
        "diskGiB": 100,
        "spot": True,
        "accelerators": {"type": "nvidia-l4", "count": 1},
        "zones": ["eu-west-1a"],
        "labels": {"team": "ml"},
        "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
    }
    reply = caller.call(CREATE, wanted(desk, **asked))
    assert reply.status == 200
    assert asked.items() <= reply.body.items()
    assert {"state": "pending", "version": 1, "flavor": False, "message": None}.items() <= reply.body.items()
    assert desk.recorded(reply.body["id"]).state == NodePoolState.PENDING


def test_a_create_makes_its_cluster_updating_and_due_and_asks_no_provider(caller: ApiClient, desk: Desk) -> None:
    with desk.session.store.write() as tx:
        lease = work.acquire(tx, desk.pool.id, "a pass")
        assert lease is not None
        work.release(tx, lease, rows.START + timedelta(hours=1))
    caller.call(CREATE, wanted(desk))  # the session's provider refuses to be asked
    assert desk.cluster_now().state == ClusterState.UPDATING
    with desk.session.store.read() as tx:
        assert work.due_of(tx, desk.pool.id) == rows.START


def test_a_list_has_the_node_pools_that_are_not_deleted(caller: ApiClient, desk: Desk) -> None:
    made = caller.call(CREATE, wanted(desk)).body["id"]
    assert [one["name"] for one in caller.call(LIST, where(desk)).body["nodePools"]] == ["h100", "system"]
    desk.set_state(made, NodePoolState.DELETED)
    assert [one["name"] for one in caller.call(LIST, where(desk)).body["nodePools"]] == ["h100"]


def test_an_update_resizes_and_raises_the_version(caller: ApiClient, desk: Desk) -> None:
    which = {**where(desk), "nodePoolId": caller.call(CREATE, wanted(desk)).body["id"]}
    resized = caller.call(UPDATED, {**which, "nodeCount": 5}).body
    assert (resized["nodeCount"], resized["state"], resized["version"]) == (5, "updating", 2)


def test_null_turns_autoscaling_off_and_what_is_left_out_stays(caller: ApiClient, desk: Desk) -> None:
    bounds = {"minNodes": 1, "maxNodes": 4}
    which = {**where(desk), "nodePoolId": caller.call(CREATE, wanted(desk, autoscaling=bounds)).body["id"]}
    assert caller.call(UPDATED, {**which, "nodeCount": 3}).body["autoscaling"] == bounds
    off = caller.call(UPDATED, {**which, "autoscaling": None}).body
    assert (off["autoscaling"], off["nodeCount"]) == (None, 3)


def test_a_count_outside_the_recorded_bounds_is_invalid(caller: ApiClient, desk: Desk) -> None:
    made = caller.call(CREATE, wanted(desk, autoscaling={"minNodes": 1, "maxNodes": 4})).body["id"]
    reply = caller.call(UPDATED, {**where(desk), "nodePoolId": made, "nodeCount": 5})
    assert (reply.told, reply.paths) == ((400, "INVALID_INPUT"), ["nodeCount"])


def test_a_delete_marks_it_and_a_repetition_changes_nothing(caller: ApiClient, desk: Desk) -> None:
    which = {**where(desk), "nodePoolId": caller.call(CREATE, wanted(desk)).body["id"]}
    first = caller.call(DELETE, which).body
    assert (first["state"], first["version"]) == ("deleting", 2)
    assert caller.call(DELETE, which).body == first
    assert caller.call(UPDATED, {**which, "nodeCount": 1}).told == (409, "INVALID_STATE")


def test_the_same_key_gives_the_same_node_pool_and_one_event(caller: ApiClient, desk: Desk) -> None:
    first = caller.call(CREATE, wanted(desk, idempotencyKey="k-1"))
    again = caller.call(CREATE, wanted(desk, idempotencyKey="k-1"))
    assert again.body == first.body
    with desk.session.store.read() as tx:
        told = [one for one in events.events(tx) if one.type == "kubernetes.nodepool.created"]
    assert [one.data["nodePoolId"] for one in told] == [first.body["id"]]


def test_the_same_key_from_many_connections_at_once_makes_one_node_pool(
    api: ApiServer, caller: ApiClient, desk: Desk
) -> None:
    def create(_number: int) -> Reply:
        with api_client(api.port, caller.token) as one:
            return one.call(CREATE, wanted(desk, idempotencyKey="k-1"))

    with ThreadPoolExecutor(6) as threads:
        replies = list(threads.map(create, range(6)))
    assert {reply.status for reply in replies} == {200}
    assert len({reply.body["id"] for reply in replies}) == 1
    assert len(desk.node_pools()) == 2  # with the flavor


def test_the_same_key_with_another_request_is_a_conflict(caller: ApiClient, desk: Desk) -> None:
    caller.call(CREATE, wanted(desk, idempotencyKey="k-1"))
    assert caller.call(CREATE, wanted(desk, idempotencyKey="k-1", nodeCount=3)).told == (409, "CONFLICT")


def test_a_key_is_the_callers_own(caller: ApiClient, caller_with: CallerWith, desk: Desk) -> None:
    caller.call(CREATE, wanted(desk, idempotencyKey="k-1"))
    other = caller_with(READ, UPDATE, name="another")
    made = other.call(CREATE, wanted(desk, idempotencyKey="k-1", name="others", nodeCount=3))
    assert (made.status, made.body["name"]) == (200, "others")


def test_a_key_is_the_clusters_own(caller: ApiClient, desk: Desk) -> None:
    first = caller.call(CREATE, wanted(desk, idempotencyKey="k-1"))
    there = caller.call(CREATE, wanted(desk, idempotencyKey="k-1", clusterId=desk.other_cluster()))
    assert there.status == 200
    assert there.body["id"] != first.body["id"]


def test_a_taken_name_is_a_conflict_until_it_is_deleted(caller: ApiClient, desk: Desk) -> None:
    made = caller.call(CREATE, wanted(desk)).body["id"]
    assert caller.call(CREATE, wanted(desk)).told == (409, "CONFLICT")
    desk.set_state(made, NodePoolState.DELETED)
    assert caller.call(CREATE, wanted(desk)).status == 200


def test_the_eleventh_node_pool_is_over_the_quota(caller: ApiClient, desk: Desk) -> None:
    for number in range(9):  # the flavor is one
        assert caller.call(CREATE, wanted(desk, name=f"n{number}")).status == 200
    assert caller.call(CREATE, wanted(desk, name="n9")).told == (409, "QUOTA_EXCEEDED")


@pytest.mark.parametrize("different", [{"mode": ClusterMode.AUTOPILOT}, {"state": ClusterState.DELETING}])
def test_an_autopilot_cluster_and_one_that_goes_take_no_node_pool(
    caller: ApiClient, desk: Desk, different: dict[str, Any]
) -> None:
    own = rows.cluster(None, account_id=desk.account.id, **different)
    with desk.session.store.write() as tx:
        work.add_unit(tx, own.id, rows.START)
        clusters.add_cluster(tx, own)
    assert caller.call(CREATE, wanted(desk, clusterId=own.id)).told == (409, "INVALID_STATE")


def test_a_flavors_node_pool_is_changed_in_the_document_only(caller: ApiClient, desk: Desk) -> None:
    flavor = desk.node_pools()["h100"].id
    which = {**where(desk), "nodePoolId": flavor}
    assert caller.call(UPDATED, {**which, "nodeCount": 1}).told == (409, "INVALID_STATE")
    assert caller.call(DELETE, which).told == (409, "INVALID_STATE")


@pytest.mark.parametrize("call", [CREATE, LIST, UPDATED, DELETE])
def test_a_cluster_that_is_not_there_is_not_found(caller: ApiClient, desk: Desk, call: str) -> None:
    body = {**where(desk), "clusterId": "kcl_" + "0" * 26}
    more: dict[str, Any] = {CREATE: wanted(desk), LIST: {}, UPDATED: {"nodeCount": 1}, DELETE: {}}[call]
    which = {"nodePoolId": "knp_" + "0" * 26} if call in (UPDATED, DELETE) else {}
    assert caller.call(call, {**more, **which, **body}).told == (404, "NOT_FOUND")


def test_an_account_of_another_region_is_told_by_its_zones(caller: ApiClient, desk: Desk) -> None:
    with desk.session.store.read() as tx:
        assert fleet.account(tx, desk.account.id) is not None
    reply = caller.call(CREATE, wanted(desk, zones=["us-east-1a"]))
    assert (reply.told, reply.paths) == ((400, "INVALID_INPUT"), ["zones"])
