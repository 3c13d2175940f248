# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes of lists: pages of Nodes as of one moment, continuations that end, and the accounts of a namespace."""

from __future__ import annotations

from typing import Any

from .observation import Told, told
from .subject import CREATE, METADATA_ONLY, NODES, ApiSubject, Reply, at, manifest


class _Nodes:
    """Five Nodes with a label of the probe's own, and one of somebody else."""

    def __init__(self, api: ApiSubject) -> None:
        self.api = api
        for letter in "abcde":
            api.node(letter, pool=api.name(), zone="z")
        api.node("x", pool="other")

    def page(self, **query: Any) -> Reply:
        return self.api.send(
            "GET", NODES, query={"labelSelector": f"pool={self.api.name()}"} | query, accept=METADATA_ONLY
        )


def _names(reply: Reply) -> list[str]:
    return [item["metadata"]["name"].rpartition("-")[2] for item in reply.body["items"]]


def only_metadata_of_the_selected_nodes_is_listed(api: ApiSubject) -> Told:
    nodes = _Nodes(api)
    return {"all": told(api, nodes.page()), "with a limit": told(api, nodes.page(limit=500))}


def an_empty_list_is_a_list(api: ApiSubject) -> Told:
    return {"none": told(api, api.send("GET", NODES, query={"labelSelector": "pool=none"}, accept=METADATA_ONLY))}


def pages_follow_one_another_as_of_the_first(api: ApiSubject) -> Told:
    nodes = _Nodes(api)
    first = nodes.page(limit=2)
    api.keeper.remove_node(api.name("d"))
    api.node("f", pool=api.name())
    second = nodes.page(limit=2, **{"continue": first.body["metadata"]["continue"]})
    third = nodes.page(limit=2, **{"continue": second.body["metadata"]["continue"]})
    versions = {page.body["metadata"]["resourceVersion"] for page in (first, second, third)}
    return {
        "pages": [_names(page) for page in (first, second, third)],
        "metadata": [sorted(page.body["metadata"]) for page in (first, second, third)],
        "versions": len(versions),
    }


def a_continuation_can_be_used_again(api: ApiSubject) -> Told:
    nodes = _Nodes(api)
    token = nodes.page(limit=2).body["metadata"]["continue"]
    return {"twice": [_names(nodes.page(limit=500, **{"continue": token})) for _turn in range(2)]}


def a_continuation_ends(api: ApiSubject) -> Told:
    nodes = _Nodes(api)
    token = nodes.page(limit=2).body["metadata"]["continue"]
    api.node("g", pool=api.name())
    api.keeper.forget_revisions()
    late = nodes.page(limit=2, **{"continue": token})
    return {"late": told(api, late), "a continuation in it": "continue" in late.body["metadata"]}


def a_query_that_makes_no_sense_is_refused(api: ApiSubject) -> Told:
    nodes = _Nodes(api)
    return {
        "continuation": told(api, nodes.page(limit=2, **{"continue": "made-up"})),
        "limit": told(api, nodes.page(limit="many")),
        "value": told(api, nodes.page(labelSelector="pool=-not-a-value-")),
        "key": told(api, nodes.page(labelSelector="-not-a-key-=v")),
    }


def the_accounts_of_a_namespace_are_listed(api: ApiSubject) -> Told:
    namespace = api.namespace()
    accounts = at(namespace, "serviceaccounts")
    # Kubernetes' own comes by itself, after a moment.
    api.keeper.wait_until(lambda: api.send("GET", f"{accounts}/default").code == 200)
    api.send("POST", accounts, manifest("ServiceAccount", "robot", namespace), query=CREATE)
    nowhere = api.send("GET", at(api.name("nowhere"), "serviceaccounts"))
    return {"listed": told(api, api.send("GET", accounts)), "in no namespace": told(api, nowhere)}


LISTING = (
    only_metadata_of_the_selected_nodes_is_listed,
    an_empty_list_is_a_list,
    pages_follow_one_another_as_of_the_first,
    a_continuation_can_be_used_again,
    a_continuation_ends,
    a_query_that_makes_no_sense_is_refused,
    the_accounts_of_a_namespace_are_listed,
)
