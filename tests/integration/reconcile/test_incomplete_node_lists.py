# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Node list that is not known to be complete is acted on by nobody: nodes, counts, bookings stay, and it is told."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error, LostReply
from ansible_collections.better_compute.fleet.emulators.kubernetes import EmulatedCluster
from ansible_collections.better_compute.fleet.emulators.kubernetes.node_pages import NodePages
from ansible_collections.better_compute.fleet.emulators.kubernetes.requests import Request
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ReservationState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

LABEL = "better-compute.dev/substrate-pool"
OTHERS = 1001
"""Nodes beside the document's three: with them the list has three pages."""


def cluster_of(fleet: Fleet) -> EmulatedCluster:
    found = fleet.scene.world.apis.cluster(fleet.cluster().name)
    assert found is not None
    return found


def test_a_list_that_breaks_on_its_third_page_is_acted_on_by_nobody(fleet: Fleet) -> None:
    fleet.join_all(document())
    booking = fleet.book(name="job", gpus=8)
    cluster = cluster_of(fleet)
    for number in range(OTHERS):
        cluster.put_node(f"other-{number}", labels={LABEL: fleet.pool_id})
    before = fleet.one_pass().record
    assert (before.nodes_listed, before.nodes_joined, before.waiting_nodes) == (OTHERS + 3, 3, OTHERS)
    nodes = set(fleet.nodes())
    for name in nodes:
        fleet.scene.world.aws.lose_instance(fleet.instance_of(name))
    cluster.remove_node("other-1")
    fleet.scene.clock.advance(50)
    for action in (
        Error(status=410, code="Expired", message="the provided continue parameter is too old"),
        Error(status=500, code="InternalError", message="etcdserver: request timed out"),
        Error(status=429, code="TooManyRequests", message="please try again later"),
        Error(status=400, code="BadRequest", message="continue key is not valid"),
        LostReply(),
    ):
        fault = fleet.scene.engine.faults.add("kubernetes", "LIST nodes", action, nth=3)
        record = fleet.one_pass().record
        assert fault.struck
        fleet.scene.engine.faults.remove(fault)
        assert record.state == SubstrateState.READY
        assert record.message.startswith("listing the Nodes: ")
        assert (record.nodes_listed, record.nodes_joined, record.waiting_nodes) == (OTHERS + 3, 3, OTHERS)
        assert nodes <= set(fleet.nodes())
        assert fleet.reservation(booking).state == ReservationState.BOUND
    fleet.live(until=lambda: not nodes & set(fleet.nodes()), minutes=5)
    assert not nodes & set(fleet.nodes()), "the machines are gone, and a whole list says so"
    assert fleet.reservation(booking).state != ReservationState.BOUND


@pytest.mark.parametrize(
    "change",
    [
        lambda page: page["metadata"].update({"continue": "more"}),
        lambda page: page["metadata"].update(remainingItemCount=1),
        lambda page: page.pop("items"),
        lambda page: page.pop("metadata"),
        lambda page: page["items"][0]["metadata"].pop("labels"),
    ],
    ids=["more is announced than can be had", "short by its own count", "no items", "no metadata", "no labels"],
)
def test_a_list_that_is_short_or_makes_no_sense_is_acted_on_by_nobody(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    fleet.join_all(document())
    lost = next(iter(fleet.nodes()))
    fleet.scene.world.aws.lose_instance(fleet.instance_of(lost))
    fleet.scene.clock.advance(50)
    before, rows = fleet.view().record, set(fleet.nodes())
    answer = NodePages.answer

    def answered(pages: NodePages, request: Request) -> dict[str, Any]:
        page = copy.deepcopy(answer(pages, request))
        change(page)
        return page

    monkeypatch.setattr(NodePages, "answer", answered)
    record = fleet.one_pass().record
    assert "so what the cluster holds is unknown" in record.message
    assert (record.nodes_listed, record.nodes_joined) == (before.nodes_listed, before.nodes_joined)
    assert set(fleet.nodes()) == rows
