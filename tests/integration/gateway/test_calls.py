# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The three calls against real records: every reply here is also judged by the schema of wire/."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.better_compute.fleet.daemon.gateway import GatewayServer
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import Intent
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    fleet,
    join_tokens,
    pool_nodes,
)
from ansible_collections.better_compute.fleet.tests.support.joining_machines import due_at, new_token, node_of, nodes_of
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock
from ansible_collections.better_compute.fleet.tests.support.wire_client import INVENTORY, WireClient

OTHER_IDENTITY = "o" * 43


class TestJoin:
    def test_a_machine_with_a_token_becomes_a_node_of_the_pool(
        self, client: WireClient, token: str, store: Store, pool: PoolRecord
    ) -> None:
        reply = client.join(token=token)
        (node,) = nodes_of(store, pool)
        assert reply.body == {"nodeId": node.id, "heartbeatSeconds": 10}
        assert node.reported_node_name == "ip-10-0-0-1.ec2.internal"
        assert [device.id for device in node.devices] == ["GPU-0", "GPU-1"]

    def test_it_makes_the_pool_due_at_once(
        self, client: WireClient, token: str, store: Store, pool: PoolRecord, clock: HandClock
    ) -> None:
        client.join(token=token)
        assert due_at(store, pool) == clock.now()

    def test_a_repeated_join_is_the_same_node_and_costs_no_second_use(
        self, client: WireClient, token: str, store: Store, pool: PoolRecord
    ) -> None:
        first = client.join(token=token)
        assert client.join(token=token).body == first.body
        with store.read() as tx:
            assert [one.uses for one in join_tokens.live_tokens(tx, pool.id)] == [1]

    def test_another_machine_with_the_same_nonce_is_refused(self, client: WireClient, token: str) -> None:
        client.join(token=token)
        reply = client.join(
            token=token,
            identity=OTHER_IDENTITY,
            hostname="other",
            inventory={"os": {"kubernetesNodeName": "other"}, "gpus": []},
        )
        assert (reply.status, reply.code) == (409, "CONFLICT")

    def test_unknown_expired_revoked_and_used_up_tokens_look_alike(
        self, client: WireClient, store: Store, pool: PoolRecord, clock: HandClock
    ) -> None:
        new_token(store, pool, Secret("expired-" * 3), expires_at=clock.now())
        new_token(store, pool, Secret("revoked-" * 3), revoked_at=clock.now())
        new_token(store, pool, Secret("used-up-" * 3), max_uses=1)
        first = {"os": {"kubernetesNodeName": "first"}, "gpus": []}
        assert client.join(token="used-up-" * 3, nonce="1" * 22, identity="1" * 43, inventory=first).status == 200
        replies = [client.join(token=word * 3) for word in ("expired-", "revoked-", "used-up-", "unknown-")]
        assert {(reply.status, reply.code) for reply in replies} == {(401, "UNAUTHENTICATED")}
        assert len({reply.body["message"] for reply in replies}) == 1

    def test_a_pool_that_is_being_torn_down_takes_nobody(
        self, client: WireClient, token: str, store: Store, pool: PoolRecord
    ) -> None:
        with store.write() as tx:
            fleet.put_pool(tx, replace(pool, intent=Intent.TEAR_DOWN))
        reply = client.join(token=token)
        assert (reply.status, reply.code) == (403, "FORBIDDEN")

    def test_every_problem_of_a_body_is_named(self, client: WireClient, token: str) -> None:
        reply = client.join(token=token, nonce="short", hostname="", bcdVersion=1)
        assert (reply.status, reply.code) == (400, "INVALID_INPUT")
        assert [line.partition(":")[0] for line in reply.body["message"].splitlines()] == [
            "nonce",
            "hostname",
            "bcdVersion",
        ]


class TestHeartbeat:
    def test_it_is_written_with_the_next_flush(
        self, client: WireClient, gateway: GatewayServer, node_id: str, store: Store, clock: HandClock
    ) -> None:
        clock.advance(seconds=10)
        assert client.heartbeat(node_id).status == 200
        gateway.heartbeats.flush(store)
        assert node_of(store, NodeId(node_id)).last_seen_at == clock.now()

    def test_an_inventory_is_recorded_and_its_absence_changes_nothing(
        self, client: WireClient, node_id: str, store: Store
    ) -> None:
        changed = {**INVENTORY, "gpus": [{"id": "GPU-7", "model": "NVIDIA H200"}]}
        assert client.heartbeat(node_id, inventory=changed).status == 200
        assert client.heartbeat(node_id).status == 200
        node = node_of(store, NodeId(node_id))
        assert [(device.id, device.model) for device in node.devices] == [("GPU-7", "NVIDIA H200")]
        assert node.hostname == "ip-10-0-0-1"

    def test_it_tells_the_version_that_the_bookings_call_tells(self, client: WireClient, node_id: str) -> None:
        assert client.heartbeat(node_id).body["bookingsVersion"] == client.bookings(node_id).body["version"]

    def test_an_unknown_identity_is_told_to_join_again(self, client: WireClient, node_id: str) -> None:
        reply = client.heartbeat(node_id, identity=OTHER_IDENTITY)
        assert (reply.status, reply.code) == (401, "UNAUTHENTICATED")

    def test_a_retired_node_is_told_to_join_again(self, client: WireClient, node_id: str, store: Store) -> None:
        with store.write() as tx:
            pool_nodes.retire_node(tx, NodeId(node_id))
        assert client.heartbeat(node_id).status == 401

    def test_a_node_cannot_speak_for_another(self, client: WireClient, node_id: str) -> None:
        another = "node_" + "0" * 26
        for reply in (client.heartbeat(another), client.bookings(another)):
            assert (reply.status, reply.code) == (403, "FORBIDDEN")
        assert client.heartbeat(node_id).status == 200


class TestForm:
    @pytest.mark.parametrize("path", ["/v1/join", "/v1/heartbeat", "/v1/bookings"])
    def test_a_call_without_a_credential_is_unauthenticated(self, client: WireClient, path: str) -> None:
        for headers in ({}, {"Authorization": "Basic eDp5"}, {"Authorization": "Bearer"}, {"Authorization": "Bearer "}):
            reply = client.call(path, {}, bearer=None, headers=headers)
            assert (reply.status, reply.code) == (401, "UNAUTHENTICATED")

    def test_what_is_no_call_is_not_found(self, client: WireClient) -> None:
        for path in ("/", "/v1", "/v1/join/", "/v2/join", "/v1/%2e%2e/join"):
            reply = client.call(path, {}, bearer="x")
            assert (reply.status, reply.code) == (404, "NOT_FOUND")
            calls = "/v1/join, /v1/heartbeat, /v1/bookings"
            assert reply.body["message"].startswith(f"this path is unknown: bcd's calls are POST {calls}")

    def test_another_method_is_refused(self, client: WireClient) -> None:
        for method in ("GET", "PUT", "DELETE"):
            reply = client.call("/v1/heartbeat", {}, bearer="x", method=method)
            assert (reply.status, reply.code) == (405, "INVALID_INPUT")
            assert reply.body["message"] == "this method is not allowed here: use POST"
            assert {name.lower(): value for name, value in reply.headers.items()}["allow"] == "POST"

    @pytest.mark.parametrize(
        ("body", "found"),
        [
            (b"", "an empty body"),
            (b" ", "an empty body"),
            (b"nodeId=x", "what is no JSON: expected "),
            (b"[]", "something else"),
        ],
    )
    def test_a_body_that_is_no_object_is_told_what_was_expected(
        self, client: WireClient, body: bytes, found: str
    ) -> None:
        reply = client.call("/v1/bookings", body, bearer="x" * 43)
        assert (reply.status, reply.code) == (400, "INVALID_INPUT")
        expected = "expected a JSON object with nodeId, version, waitSeconds"
        assert reply.body["message"].startswith(f"{expected}; found {found}")

    def test_properties_of_the_future_are_ignored(self, client: WireClient, token: str) -> None:
        assert client.join(token=token, colour="blue").status == 200
