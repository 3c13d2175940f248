# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node lists that are long, that break on the way, that are short or strange: read to the end, or unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error, Hook, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.node_list import list_nodes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import ClusterUnreachable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ClusterNode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

from .conftest import LABEL, POOL, World
from .raw_server import answering

MANY = 2500
PAGES = 5


def node(name: str, **metadata: Any) -> dict[str, Any]:
    """A Node as an API lists it."""
    return {"metadata": {"name": name, "uid": f"uid-{name}", "labels": {LABEL: str(POOL)}, **metadata}}


def page(*items: Any, **metadata: Any) -> dict[str, Any]:
    """One page of a list."""
    return {"kind": "PartialObjectMetadataList", "metadata": {"resourceVersion": "7", **metadata}, "items": [*items]}


def listed(*pages: dict[str, Any]) -> tuple[ClusterNode, ...]:
    """What is made of these pages."""
    replies = []
    for each in pages:
        body = json.dumps(each).encode()
        replies.append(f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    with (
        answering(*replies) as (url, ca_pem, _received),
        ClusterApi(endpoint=url, ca_pem=ca_pem, token=Secret("any")) as api,
    ):
        return list_nodes(api, pool_id=POOL)


def test_2500_nodes_are_read_in_five_pages_and_a_break_at_the_third_makes_them_unknown(world: World) -> None:
    for number in range(MANY):
        world.cluster.put_node(f"ip-10-0-0-{number}.ec2.internal", labels={LABEL: POOL})
    api = world.open()
    mark = world.engine.log.mark
    assert len({one.uid for one in list_nodes(api, pool_id=POOL)}) == MANY
    assert world.calls(after=mark) == ["LIST nodes gpu"] * PAGES
    for action in (
        Hook(on_before=lambda _call: world.clock.advance(301)),
        Error(status=410, code="Expired", message="the provided continue parameter is too old"),
        Error(status=500, code="InternalError", message="etcdserver: request timed out"),
        Error(status=503, code="ServiceUnavailable", message="apiserver is shutting down"),
        LostReply(),
    ):
        fault = world.engine.faults.add("kubernetes", "LIST nodes", action, nth=3)
        with pytest.raises(ClusterUnreachable):
            list_nodes(world.open(), pool_id=POOL)
        world.engine.faults.remove(fault)
    assert len(list_nodes(world.open(), pool_id=POOL)) == MANY


@pytest.mark.parametrize(
    "pages",
    [
        [{"kind": "PartialObjectMetadataList", "metadata": {"resourceVersion": "7"}}],
        [{"kind": "PartialObjectMetadataList", "items": []}],
        [{"kind": "PartialObjectMetadataList", "metadata": {}, "items": []}],
        [{"kind": "PartialObjectMetadataList", "metadata": {"resourceVersion": 7}, "items": []}],
        [{"kind": "PartialObjectMetadataList", "metadata": {"resourceVersion": "7"}, "items": {}}],
        [{"kind": "Status", "status": "Success"}],
        [{}],
        [page(node("a"), remainingItemCount=1)],
        [page(node("a"), remainingItemCount="none")],
        [page(**{"continue": "x", "remainingItemCount": 2}), page(node("a"))],
        [page(node("a"), **{"continue": "x", "remainingItemCount": 2}), page(node("b"))],
        [page(node("a"), **{"continue": "x"}), page(node("b"), resourceVersion="8")],
        [page(node("a"), **{"continue": "x"}), page(node("a"))],
        [page(node("a"), **{"continue": 1})],
        [page(node("a"), None)],
        [page(node("a"), {"metadata": None})],
        [page(node("a"), node(""))],
        [page(node("a"), node("b", uid=None))],
        [page(node("a"), node("b", labels=None))],
        [page(node("a"), {"metadata": {"name": "b", "uid": "2"}})],
        [page(node("a"), node("b", labels={}))],
        [page(node("a"), node("b", labels={LABEL: "pool_another"}))],
    ],
    ids=[
        "no items",
        "no metadata",
        "no version",
        "a strange version",
        "strange items",
        "a status",
        "nothing",
        "short by its own count",
        "a strange count",
        "an empty page and one of two",
        "two of three",
        "of two moments",
        "one twice",
        "a strange continuation",
        "no object",
        "a Node without metadata",
        "a Node without a name",
        "a Node without a UID",
        "a Node whose labels are null",
        "a Node without labels",
        "a Node with no label at all",
        "another pool's Node",
    ],
)
def test_a_list_that_is_short_or_makes_no_sense_is_unknown(pages: list[dict[str, Any]]) -> None:
    with pytest.raises(ClusterUnreachable, match="the Node list is not complete, so what the cluster holds is unknown"):
        listed(*pages)


def test_an_empty_list_as_a_real_kube_apiserver_tells_it_is_a_list() -> None:
    assert listed({**page(), "items": None}) == ()


def test_counts_that_come_true_and_pages_without_items_are_fine() -> None:
    found = listed(
        page(node("b"), **{"continue": "x", "remainingItemCount": 1}),
        page(**{"continue": "y", "remainingItemCount": 1}),
        page(node("a"), **{"continue": ""}),
    )
    assert [one.name for one in found] == ["a", "b"]


def test_conditions_that_nobody_knows_and_what_else_a_node_may_have_play_no_part() -> None:
    strange = node("a", creationTimestamp="yesterday", annotations=None, managedFields=[{}], deletionTimestamp="soon")
    strange["status"] = {"conditions": [{"type": "Ready", "status": "Perhaps"}, {"type": "OnFire"}, 7]}
    strange["spec"] = {"unschedulable": True, "taints": [{"key": "node.kubernetes.io/unreachable"}]}
    [found] = listed(page(strange))
    assert (found.name, found.uid, found.age) == ("a", "uid-a", None)
