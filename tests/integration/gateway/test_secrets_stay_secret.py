# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Canaries: tokens and identities that go through the gateway stand in no log, no reply and no row."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.gateway import GatewayServer
from ansible_collections.better_compute.fleet.daemon.logs import JsonLines, Logfmt
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store
from ansible_collections.better_compute.fleet.tests.support.joining_machines import new_token
from ansible_collections.better_compute.fleet.tests.support.wire_client import Reply, WireClient

TOKEN = "bcj_canary-token-of-this-test"
IDENTITY = "canary-identity" + "i" * 28
CANARIES = ("canary-token", "canary-identity")


def every_way(client: WireClient, gateway: GatewayServer, monkeypatch: pytest.MonkeyPatch) -> list[Reply]:
    """Replies of every kind: good ones, refusals of each sort, faults."""
    joined = client.join(token=TOKEN, identity=IDENTITY)
    node_id = joined.body["nodeId"]
    replies = [
        joined,
        client.join(token=TOKEN, identity=IDENTITY),
        client.join(token=TOKEN, identity=IDENTITY, nonce=IDENTITY),
        client.join(token=TOKEN + "x", identity=IDENTITY),
        client.join(token=IDENTITY, identity=TOKEN),
        client.join(token=TOKEN, identity="x" + IDENTITY[1:]),
        client.heartbeat(node_id, identity=IDENTITY),
        client.heartbeat(node_id, identity=IDENTITY[::-1]),
        client.heartbeat(IDENTITY, identity=IDENTITY),
        client.heartbeat("node_" + "0" * 26, identity=IDENTITY),
        client.bookings(node_id, identity=IDENTITY),
        client.bookings(node_id, identity=IDENTITY, version={"x": IDENTITY}),
        client.call("/v1/join", b'{"identity": "%s", ' % IDENTITY.encode(), bearer=TOKEN),
        client.call(f"/{TOKEN}", {}, bearer=TOKEN),
    ]

    def fault(*_: object) -> None:
        raise ValueError(f"{TOKEN} {IDENTITY}")

    monkeypatch.setattr(gateway.heartbeats, "beat", fault)
    return [*replies, client.heartbeat(node_id, identity=IDENTITY)]


def test_no_log_line_and_no_reply_shows_a_token_or_an_identity(
    client: WireClient,
    gateway: GatewayServer,
    store: Store,
    pool: PoolRecord,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    new_token(store, pool, Secret(TOKEN), max_uses=3)
    with caplog.at_level(logging.DEBUG):
        replies = every_way(client, gateway, monkeypatch)
    assert {200, 400, 401, 403, 404, 409, 500} == {reply.status for reply in replies}
    formatters = (Logfmt(traces=True), JsonLines(traces=True))
    lines = [formatter.format(record) for record in caplog.records for formatter in formatters]
    assert any("a join was refused" in line for line in lines)
    assert any("a call failed" in line for line in lines)
    told = "\n".join([*lines, *(str(reply.body) + str(reply.headers) for reply in replies)])
    assert [canary for canary in CANARIES if canary in told] == []


def test_the_database_holds_neither(
    client: WireClient,
    gateway: GatewayServer,
    store: Store,
    store_url: str,
    pool: PoolRecord,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not store_url.startswith("sqlite"):
        return
    new_token(store, pool, Secret(TOKEN), max_uses=3)
    every_way(client, gateway, monkeypatch)
    folder = Path(store_url.removeprefix("sqlite:///")).parent
    content = b"".join(file.read_bytes() for file in folder.glob("fleet.db*"))
    assert b"gpu-fleet" in content
    assert [canary for canary in CANARIES if canary.encode() in content] == []
