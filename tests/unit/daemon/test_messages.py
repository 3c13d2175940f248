# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway takes exactly what wire/ says bcd sends, and names every problem of anything else without its value."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.daemon.gateway.messages import (
    BookingsBody,
    HeartbeatBody,
    JoinBody,
    parse,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput
from ansible_collections.better_compute.fleet.tests.support import wire_schema

NODE_ID = "node_" + "0" * 26
INVENTORY: dict[str, Any] = {
    "os": {"kubernetesNodeName": "ip-10-0-0-1.ec2.internal"},
    "gpus": [{"id": "GPU-0", "model": "NVIDIA H100"}, {"id": "GPU-1", "model": "NVIDIA H100"}],
}
GOOD: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "joinRequest": (
        JoinBody,
        {
            "nonce": "n" * 22,
            "identity": "i" * 43,
            "hostname": "ip-10-0-0-1",
            "bcdVersion": "0.1.0",
            "inventory": INVENTORY,
        },
    ),
    "heartbeatRequest": (HeartbeatBody, {"nodeId": NODE_ID, "inventory": INVENTORY}),
    "bookingsRequest": (BookingsBody, {"nodeId": NODE_ID, "version": "", "waitSeconds": 30}),
}

# Pieces of other types, sizes and alphabets. No text that ends in a newline: Python's $, which the schema is judged
# with, lets that pass; JSON Schema's and the gateway's do not.
OTHERS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 61),
    st.sampled_from(["", "x", "X" * 43, "x" * 22, "x" * 254, "node_1", "a b", "ü", "-a", "GPU-0", "²", "x\0y"]),
    st.just([]),
    st.just({}),
    st.just([{"id": "GPU-0", "model": "H100"}] * 65),
)


def paths(message: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where every part of a message is."""
    items: list[tuple[Any, Any]] = []
    if isinstance(message, dict):
        items = list(message.items())
    elif isinstance(message, list):
        items = list(enumerate(message))
    return [place for key, value in items for place in ((*at, key), *paths(value, (*at, key)))]


@st.composite
def messages(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A good message with up to two parts replaced, taken out or added."""
    name = draw(st.sampled_from(sorted(GOOD)))
    message = copy.deepcopy(GOOD[name][1])
    for _ in range(draw(st.integers(0, 2))):
        *parents, last = draw(st.sampled_from(paths(message)))
        part: Any = message
        for key in parents:
            part = part[key]
        change = draw(st.sampled_from(["replace", "remove", "add"]))
        if change == "replace":
            part[last] = copy.deepcopy(draw(OTHERS))
        elif change == "remove":
            del part[last]
        elif isinstance(part, dict):
            part["aPropertyOfTheFuture"] = copy.deepcopy(draw(OTHERS))
        if not paths(message):
            break
    return name, message


def taken(name: str, message: object) -> bool:
    try:
        parse(GOOD[name][0], json.dumps(message).encode())
    except InvalidInput:
        return False
    return True


def repeated_ids(message: dict[str, Any]) -> list[str]:
    """What the schema says in words only: no two GPUs have one id."""
    ids = [gpu["id"] for gpu in message.get("inventory", {}).get("gpus", [])]
    return sorted({one for one in ids if ids.count(one) > 1})


@given(messages())
def test_what_the_schema_takes_is_taken_and_nothing_else(told: tuple[str, dict[str, Any]]) -> None:
    name, message = told
    problems = wire_schema.problems(name, message, strict=False) or repeated_ids(message)
    assert taken(name, message) is not bool(problems), problems


def test_gpus_of_one_id_are_refused() -> None:
    twice = [{"id": "GPU-0", "model": "H100"}, {"id": "GPU-0", "model": "H200"}]
    message = {**GOOD["joinRequest"][1], "inventory": {"os": {}, "gpus": twice}}
    assert not taken("joinRequest", message)


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_good_message_is_taken(name: str) -> None:
    assert wire_schema.problems(name, GOOD[name][1]) == []
    assert taken(name, GOOD[name][1])


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b'"text"', b"{", b"\xff", b"[" * 5000, b'{"nodeId": NaN}'])
def test_what_is_no_object_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput):
        parse(HeartbeatBody, content)


def test_every_problem_is_named_with_its_place() -> None:
    message = {"nonce": "short", "identity": 3, "hostname": "", "inventory": {"os": {}, "gpus": [{"id": "a b"}]}}
    with pytest.raises(InvalidInput) as refused:
        parse(JoinBody, json.dumps(message).encode())
    assert [problem.path for problem in refused.value.problems] == [
        "nonce",
        "identity",
        "hostname",
        "bcdVersion",
        "inventory.gpus.0.id",
        "inventory.gpus.0.model",
    ]


def test_a_value_is_never_repeated_in_the_refusal() -> None:
    message = {**GOOD["joinRequest"][1], "identity": "the-secret!", "nonce": "the-secret!", "hostname": ["the-secret"]}
    with pytest.raises(InvalidInput) as refused:
        parse(JoinBody, json.dumps(message).encode())
    assert "the-secret" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


def test_identities_and_names_do_not_end_in_a_newline() -> None:
    for changed in ({"identity": "i" * 43 + "\n"}, {"nonce": "n" * 22 + "\n"}, {"hostname": "host\n"}):
        assert not taken("joinRequest", {**GOOD["joinRequest"][1], **changed})


def test_an_inventory_whose_gpus_share_an_id_is_refused() -> None:
    gpus = [{"id": "GPU-0", "model": "H100"}] * 2
    assert not taken("heartbeatRequest", {"nodeId": NODE_ID, "inventory": {"os": {}, "gpus": gpus}})


def test_the_repr_of_a_join_does_not_show_the_identity() -> None:
    body = parse(JoinBody, json.dumps(GOOD["joinRequest"][1]).encode())
    assert "i" * 43 not in repr(body)
