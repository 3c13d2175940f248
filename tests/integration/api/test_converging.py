# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked over the API comes about: on an emulated AWS, by the same passes that look after everything else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from ansible_collections.better_compute.fleet.daemon.api import ApiServer
from ansible_collections.better_compute.fleet.daemon.web.certificate import Certificate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import api_tokens
from ansible_collections.better_compute.fleet.tests.support.api_client import ApiClient, api_client
from ansible_collections.better_compute.fleet.tests.support.everything_logged import everything_logged
from ansible_collections.better_compute.fleet.tests.support.life import memory_folder, scene
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet, fleet_at_hand
from ansible_collections.better_compute.fleet.tests.support.life.world import document

from .conftest import READ, UPDATE


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """A fleet at rest: its pool's nodes have joined."""
    with memory_folder() as folder, scene(f"sqlite:///{folder / 'fleet.db'}") as stage:
        for name, value in stage.environment.items():
            monkeypatch.setenv(name, value)
        made = fleet_at_hand(stage)
        made.join_all(document())
        yield made


@pytest.fixture
def caller(fleet: Fleet, certificate: Certificate) -> Iterator[ApiClient]:
    """A caller of an API on that fleet."""
    token = api_tokens.issue(fleet.session, name="ci", tenant="platform", permissions=[READ, UPDATE]).token
    with (
        ApiServer(session=fleet.session, certificate=certificate, host="127.0.0.1", port=0) as server,
        api_client(server.port, token.reveal()) as client,
    ):
        yield client


def test_a_node_pool_lives_from_create_to_gone_and_a_subject_is_let_in_meanwhile(
    fleet: Fleet, caller: ApiClient
) -> None:
    cluster = {"tenantId": "platform", "clusterId": fleet.cluster().id}

    def state() -> str:
        listed = caller.call("kubernetesNodePools/list", cluster).body["nodePools"]
        return next((str(one["state"]) for one in listed if one["name"] == "system"), "not there")

    def cluster_state() -> str:
        return str(caller.call("kubernetesClusters/get", cluster).body["state"])

    body = {**cluster, "name": "system", "machineType": "m7i.large", "nodeCount": 1, "idempotencyKey": "once"}
    which = {**cluster, "nodePoolId": caller.call("kubernetesNodePools/create", body).body["id"]}
    assert (state(), cluster_state()) == ("pending", "updating")
    fleet.live(until=lambda: (state(), cluster_state()) == ("ready", "ready"), minutes=30)
    assert (state(), cluster_state()) == ("ready", "ready")

    assert caller.call("kubernetesNodePools/update", {**which, "nodeCount": 2}).body["state"] == "updating"
    fleet.live(until=lambda: state() == "ready", minutes=30)
    again = caller.call("kubernetesNodePools/create", body).body
    assert (again["id"], again["nodeCount"], again["state"]) == (which["nodePoolId"], 2, "ready")

    with everything_logged() as logged:
        asked = {**cluster, "subject": "ci", "namespaces": ["jobs"]}
        given = caller.call("kubernetesClusters/credentials", asked).body
        assert given["endpoint"].startswith("https://")
        assert "BEGIN CERTIFICATE" in given["caPem"]
        revoke = {**cluster, "subject": "ci"}
        assert caller.call("kubernetesClusters/revokeCredentials", revoke).body["revoked"] is True
        assert caller.call("kubernetesClusters/revokeCredentials", revoke).body["revoked"] is False
    assert given["token"] not in logged()

    assert caller.call("kubernetesNodePools/delete", which).body["state"] == "deleting"
    fleet.live(until=lambda: state() == "not there", minutes=30)
    assert state() == "not there"
    told = Counter(
        what
        for what in ("created", "ready", "error", "deleted")
        for event in fleet.events(f"kubernetes.nodepool.{what}")
        if event.data["nodePoolId"] == which["nodePoolId"]
    )
    assert told == {"created": 1, "ready": 2, "deleted": 1}  # ready again after the resize
    pool = caller.call("kubernetesSubstrates/get", {"tenantId": "platform", "poolId": fleet.view().record.pool_id})
    assert (pool.body["state"], pool.body["mode"], pool.body["upgrade"]) == ("ready", "create", None)
