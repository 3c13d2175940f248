# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The published schema: sound in itself, and strict where a mistake would hurt."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.wire_schema import check_schema, problems, schema

NODE = "node_" + "0" * 26
IDENTITY = "A" * 43

JOIN: dict[str, Any] = {
    "nonce": "n" * 22,
    "identity": IDENTITY,
    "hostname": "ip-10-0-0-1.ec2.internal",
    "bcdVersion": "0.1.0",
    "inventory": {
        "os": {"kubernetesNodeName": "ip-10-0-0-1.ec2.internal"},
        "gpus": [{"id": "GPU-9f1c1e6e-3a4b-5c6d-8e7f-000000000000", "model": "NVIDIA H100 80GB HBM3"}],
    },
}


def test_the_schema_is_a_schema() -> None:
    check_schema()


def test_every_call_names_definitions_that_stand() -> None:
    for call in schema()["x-calls"].values():
        assert call["bearer"] in schema()["$defs"]
        assert {call["request"], call["reply"]} <= {f"#/$defs/{name}" for name in schema()["$defs"]}


def test_the_largest_inventory_fits_into_a_request() -> None:
    gpus = [{"id": f"{index:063d}", "model": "M" * 128} for index in range(64)]
    largest = JOIN | {"inventory": {"os": {"kubernetesNodeName": "n" * 253}, "gpus": gpus}}
    assert problems("joinRequest", largest) == []
    assert len(json.dumps(largest)) < schema()["x-limits"]["requestBytes"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("joinRequest", JOIN),
        ("joinRequest", JOIN | {"inventory": {"os": {}, "gpus": []}}),
        ("joinReply", {"nodeId": NODE, "heartbeatSeconds": 10}),
        ("heartbeatRequest", {"nodeId": NODE}),
        ("heartbeatRequest", {"nodeId": NODE, "inventory": JOIN["inventory"]}),
        ("heartbeatReply", {"bookingsVersion": "7"}),
        ("bookingsRequest", {"nodeId": NODE, "version": "", "waitSeconds": 30}),
        ("bookingsReply", {"version": "7", "bookings": []}),
        ("bookingsReply", {"version": "7", "bookings": [{"reservationId": "rsv_" + "1" * 26, "deviceIds": ["GPU-1"]}]}),
        ("error", {"code": "UNAUTHENTICATED", "message": "join again"}),
    ],
)
def test_what_the_readme_shows_is_accepted(name: str, message: object) -> None:
    assert problems(name, message) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("joinRequest", {key: value for key, value in JOIN.items() if key != "nonce"}),
        ("joinRequest", JOIN | {"identity": "short"}),
        ("joinRequest", JOIN | {"token": "must never be in a body"}),
        ("joinRequest", JOIN | {"inventory": {"os": {}, "gpus": [{"id": "x" * 64, "model": "H100"}]}}),
        ("joinReply", {"nodeId": "pool_" + "0" * 26, "heartbeatSeconds": 10}),
        ("joinReply", {"nodeId": NODE, "heartbeatSeconds": 0}),
        ("heartbeatReply", {"bookingsVersion": 7}),
        ("bookingsRequest", {"nodeId": NODE, "version": "", "waitSeconds": 61}),
        ("bookingsReply", {"version": "7", "bookings": [{"reservationId": "rsv_" + "1" * 26, "deviceIds": []}]}),
        ("error", {"code": "TEAPOT", "message": ""}),
    ],
)
def test_what_does_not_fit_is_found(name: str, message: object) -> None:
    assert problems(name, message) != []


def test_a_receiver_ignores_what_it_does_not_know() -> None:
    assert problems("joinReply", {"nodeId": NODE, "heartbeatSeconds": 10, "later": True}, strict=False) == []
