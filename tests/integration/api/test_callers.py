# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may do what: tokens, permissions, tenants; and what a stranger learns, which is nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.api import ApiServer
from ansible_collections.better_compute.fleet.daemon.api.call import Call
from ansible_collections.better_compute.fleet.daemon.api.calls import CALLS
from ansible_collections.better_compute.fleet.daemon.web import bad_tokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import api_tokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters, fleet, work
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.api_client import ApiClient, api_client
from ansible_collections.better_compute.fleet.tests.support.everything_logged import everything_logged
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock

from .conftest import METRICS, READ, UPDATE, CallerWith

GUESS = "bca_" + "g" * 43


def example(call: Call) -> tuple[str, dict[str, Any]]:
    return f"{call.resource}/{call.method}", dict(call.example)


def test_without_a_good_token_nothing_is_answered(api: ApiServer, desk: Desk, clock: HandClock) -> None:
    issued = api_tokens.issue(desk.session, name="old", tenant="platform", permissions=[READ, UPDATE], lifetime="30m")
    revoked = api_tokens.issue(desk.session, name="gone", tenant="platform", permissions=[READ, UPDATE])
    api_tokens.revoke(desk.session, which="gone")
    clock.advance(minutes=31)
    texts = set()
    for token in ("x", GUESS, issued.token.reveal(), revoked.token.reveal()):
        with api_client(api.port, token) as client:
            reply = client.call(*example(CALLS[0]))
            assert reply.told == (401, "UNAUTHENTICATED")
            assert reply.headers["www-authenticate"] == "Bearer"
            texts.add(reply.body["message"])
    assert len(texts) == 1  # unknown, expired and revoked look alike
    with api_client(api.port, None) as nobody:
        for call in CALLS:
            assert nobody.call(*example(call)).told == (401, "UNAUTHENTICATED"), call.path


def test_a_token_without_the_permission_is_forbidden(caller_with: CallerWith) -> None:
    callers = {READ: caller_with(READ, METRICS, name="reads"), UPDATE: caller_with(UPDATE, name="updates")}
    for call in CALLS:
        (other,) = {READ, UPDATE} - {str(call.permission)}
        assert callers[other].call(*example(call)).told == (403, "FORBIDDEN"), call.path


def test_a_call_in_another_tenants_name_is_forbidden(caller_with: CallerWith) -> None:
    caller = caller_with(READ, UPDATE, tenant="acme")
    for call in CALLS:
        assert caller.call(*example(call)).told == (403, "FORBIDDEN"), call.path  # the examples are the platform's


def test_what_another_tenant_has_looks_as_if_it_were_not_there(
    caller: ApiClient, caller_with: CallerWith, desk: Desk
) -> None:
    stranger = caller_with(READ, UPDATE, tenant="acme", name="acme-ci")
    node_pool = desk.node_pools()["h100"].id
    body = {"tenantId": "acme", "clusterId": desk.cluster.id}
    nobodys = {"tenantId": "acme", "clusterId": "kcl_" + "0" * 26}
    more: dict[str, dict[str, Any]] = {
        "kubernetesNodePools/create": {"name": "a", "machineType": "m7i.large", "nodeCount": 1},
        "kubernetesNodePools/list": {},
        "kubernetesNodePools/update": {"nodePoolId": node_pool, "nodeCount": 1},
        "kubernetesNodePools/delete": {"nodePoolId": node_pool},
        "kubernetesClusters/get": {},
        "kubernetesClusters/update": {"version": "1.35"},
        "kubernetesClusters/delete": {},
        "kubernetesClusters/credentials": {"namespaces": ["jobs"]},
        "kubernetesClusters/revokeCredentials": {},
    }
    before = desk.rows()
    for call, rest in more.items():
        theirs, none = stranger.call(call, {**body, **rest}), stranger.call(call, {**nobodys, **rest})
        assert (theirs.told, none.told) == ((404, "NOT_FOUND"),) * 2, call
        assert theirs.body["message"].replace(desk.cluster.id, "X") == none.body["message"].replace(
            nobodys["clusterId"], "X"
        )
    get = {"tenantId": "acme", "poolId": desk.pool.id}
    assert stranger.call("kubernetesSubstrates/get", get).told == (404, "NOT_FOUND")
    assert stranger.call("kubernetesClusters/list", {"tenantId": "acme"}).body == {"clusters": []}
    assert desk.rows() == before


def test_another_tenants_node_pool_is_not_reached_through_a_cluster_of_ones_own(
    caller_with: CallerWith, desk: Desk
) -> None:
    own = rows.cluster(None, account_id=desk.account.id, tenant_id=TenantId("acme"))
    with desk.session.store.write() as tx:
        work.add_unit(tx, own.id, rows.START)
        clusters.add_cluster(tx, own)
    body = {"tenantId": "acme", "clusterId": own.id, "nodePoolId": desk.node_pools()["h100"].id}
    stranger = caller_with(READ, UPDATE, tenant="acme")
    assert stranger.call("kubernetesNodePools/delete", body).told == (404, "NOT_FOUND")
    assert stranger.call("kubernetesNodePools/update", {**body, "nodeCount": 9}).told == (404, "NOT_FOUND")


def test_too_many_bad_tokens_of_an_address_wait_while_a_good_one_does_not(
    api: ApiServer, caller: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bad_tokens, "MOST_IN_WINDOW", 3)
    body = {"tenantId": "platform"}
    assert caller.call("kubernetesClusters/list", body).status == 200
    with api_client(api.port, GUESS) as guesser:
        for _ in range(3):
            assert guesser.call("kubernetesClusters/list", body).status == 401
        reply = guesser.call("kubernetesClusters/list", body)
    assert (reply.told, reply.headers["retry-after"]) == ((429, "UNAUTHENTICATED"), "60")
    assert caller.call("kubernetesClusters/list", body).status == 200


def test_metrics_are_for_tokens_that_may_read_them(api: ApiServer, caller: ApiClient, caller_with: CallerWith) -> None:
    assert caller.ask("GET", "/metrics").told == (403, "FORBIDDEN")
    assert caller_with(METRICS, name="prometheus").ask("GET", "/metrics").body == {"passes": 3}
    with api_client(api.port, None) as nobody:
        assert nobody.ask("GET", "/metrics").told == (401, "UNAUTHENTICATED")


def test_no_token_gets_into_the_log_and_a_change_is_told_with_its_caller(
    api: ApiServer, caller: ApiClient, desk: Desk
) -> None:
    with everything_logged() as logged:
        example = {"tenantId": "platform", "clusterId": desk.cluster.id, "name": "a", "machineType": "b"}
        caller.call("kubernetesNodePools/create", {**example, "nodeCount": 1})
        caller.ask("POST", f"/{caller.token}", {})
        caller.call("kubernetesNodePools/create", {"tenantId": caller.token, caller.token or "": caller.token})
        with api_client(api.port, GUESS) as guesser:
            guesser.call("kubernetesNodePools/create", example)
    assert "kubernetesNodePools.create by ci (atk_" in logged()
    assert str(caller.token) not in logged()
    assert GUESS not in logged()


def test_a_fault_of_ours_is_told_without_a_trace(
    caller: ApiClient, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(fleet, "accounts", fault)
    reply = caller.call("kubernetesClusters/list", {"tenantId": "platform"})
    assert reply.status == 500
    assert "secret" not in json.dumps(reply.body)
    assert "Traceback" not in json.dumps(reply.body)


def test_a_token_that_takes_anothers_place_keeps_its_idempotency_keys(
    caller: ApiClient, caller_with: CallerWith, desk: Desk
) -> None:
    body = {"tenantId": "platform", "clusterId": desk.cluster.id, "name": "a", "machineType": "b", "nodeCount": 1}
    first = caller.call("kubernetesNodePools/create", {**body, "idempotencyKey": "k"})
    api_tokens.revoke(replace(desk.session, caller="ann"), which="ci")
    again = caller_with(READ, UPDATE, name="ci").call("kubernetesNodePools/create", {**body, "idempotencyKey": "k"})
    assert again.body == first.body
