# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes: put and taken away by machines, listed page by page by the product."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.kubernetes.node_pages import METADATA_ONLY

from .conftest import Caller, Reply

NODES = "/api/v1/nodes"


def page(caller: Caller, **query: Any) -> Reply:
    return caller.send("GET", NODES, accept=METADATA_ONLY, **({"labelSelector": "pool=p"} | query))


def names(reply: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in reply["items"]]


def test_only_metadata_of_the_selected_nodes_is_listed(caller: Caller) -> None:
    caller.cluster.put_node("a", labels={"pool": "p"}, provider_id="aws:///us-east-1a/i-1")
    caller.cluster.put_node("b", labels={"pool": "q"})
    code, reply = page(caller)
    assert (code, reply["kind"], names(reply)) == (200, "PartialObjectMetadataList", ["a"])
    assert set(reply["items"][0]) == {"kind", "apiVersion", "metadata"}


def test_pages_follow_one_another_as_of_the_first(caller: Caller) -> None:
    for name in "abcde":
        caller.cluster.put_node(name, labels={"pool": "p"})
    _code, first = page(caller, limit=2)
    caller.cluster.remove_node("d")
    caller.cluster.put_node("f", labels={"pool": "p"})
    _code, second = page(caller, limit=2, **{"continue": first["metadata"]["continue"]})
    _code, third = page(caller, limit=2, **{"continue": second["metadata"]["continue"]})
    assert [names(one) for one in (first, second, third)] == [["a", "b"], ["c", "d"], ["e"]]
    assert "continue" not in third["metadata"]
    assert len({one["metadata"]["resourceVersion"] for one in (first, second, third)}) == 1


def test_a_continuation_is_refused_after_five_minutes(caller: Caller) -> None:
    for name in "ab":
        caller.cluster.put_node(name, labels={"pool": "p"})
    _code, first = page(caller, limit=1)
    caller.clock.advance(301)
    code, status = page(caller, limit=1, **{"continue": first["metadata"]["continue"]})
    assert (code, status["reason"]) == (410, "Expired")


@pytest.mark.parametrize(
    "query",
    [
        {"continue": "made-up"},
        {"limit": "many"},
    ],
)
def test_a_query_that_makes_no_sense_is_a_bad_request(caller: Caller, query: dict[str, str]) -> None:
    assert page(caller, **query)[0] == 400


def test_a_new_node_under_an_old_name_is_another_one(caller: Caller) -> None:
    first = caller.cluster.put_node("a", labels={})
    second = caller.cluster.put_node("a", labels={})
    assert first != second
    caller.cluster.remove_node("a", uid=first)
    assert [node["metadata"]["uid"] for node in caller.cluster.nodes()] == [second]
    caller.cluster.remove_node("a", uid=second)
    assert caller.cluster.nodes() == ()


def test_a_node_can_change_its_labels_and_readiness(caller: Caller) -> None:
    uid = caller.cluster.put_node("a", labels={"pool": "p"})
    caller.cluster.update_node("a", labels={"pool": "q"}, ready=False)
    (node,) = caller.cluster.nodes()
    assert node["metadata"]["uid"] == uid
    assert node["metadata"]["labels"] == {"pool": "q"}
    assert node["status"]["conditions"] == [{"type": "Ready", "status": "Unknown"}]


def test_some_labels_and_taints_of_a_node_change_and_those_of_others_and_other_nodes_stay(caller: Caller) -> None:
    blue = {"key": "team", "value": "blue", "effect": "NoSchedule"}
    green = {**blue, "value": "green"}
    busy = {"key": "busy", "effect": "NoExecute"}
    uid = caller.cluster.put_node("a", labels={"pool": "p", "old": "yes"}, taints=[blue, busy])
    before = caller.cluster.nodes()
    caller.cluster.amend_node("a", uid="another", labels={"pool": "q"}, taints=[], dropped_taints=[blue])
    assert caller.cluster.nodes() == before
    caller.cluster.amend_node("a", uid=uid, labels={"pool": "q", "old": None}, taints=[green], dropped_taints=[blue])
    (node,) = caller.cluster.nodes()
    assert node["metadata"]["labels"] == {"kubernetes.io/hostname": "a", "pool": "q"}
    assert node["spec"]["taints"] == [busy, green]


def test_changing_or_removing_a_node_that_is_not_there_is_no_error(caller: Caller) -> None:
    caller.cluster.update_node("a", ready=False)
    caller.cluster.remove_node("a")
    assert caller.cluster.nodes() == ()
