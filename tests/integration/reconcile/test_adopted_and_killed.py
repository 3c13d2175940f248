# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An adopted cluster's whole life, in which the process dies at every point once, or every reply is lost once.

A point is a commit (before it, after it), or a request that changes something (after its effect). The first time that
the life gets there, the process ends; another one takes the pool over when the lease has lapsed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.driver import EksDriver
from ansible_collections.better_compute.fleet.tests.support.life import remains
from ansible_collections.better_compute.fleet.tests.support.life.child import committing
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, Place
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.tenants_cluster import (
    TenantsCluster,
    adopting,
    made_by_a_tenant,
)

STEPS = (
    "reconcile.steps.first_claim._record_let_in",
    "reconcile.steps.first_claim.record_held",
    "reconcile.steps.facts.record_outputs",
    "reconcile.steps.finish.finish",
)
"""Commits of ours that a life is not complete without."""

SENT = (
    "POST /api/v1/namespaces/kube-system/configmaps",
    "POST /api/v1/namespaces/bc-access/serviceaccounts",
    "DELETE /api/v1/namespaces/kube-system/configmaps/better-compute-substrate",
    "DELETE /apis/apps/v1/namespaces/better-compute/daemonsets/bcd",
    "DELETE /api/v1/namespaces/bc-access",
    "ensure_node_pool",
    "delete_node_pool",
)
"""And requests."""


class Died(BaseException):
    """As if the process were killed here: the product has no answer to it."""


class Deaths:
    """Ends the process at every point that it has not ended at before."""

    def __init__(self) -> None:
        """None so far."""
        self.points: list[str] = []

    def at(self, point: str) -> None:
        """The process is at a point."""
        if point not in self.points:
            self.points.append(point)
            raise Died(point)

    def at_commit(self, moment: str) -> None:
        """Somebody commits: that it is a pass is told by where it was called from."""
        step = committing(sys._getframe(1))
        if step.startswith("reconcile."):
            self.at(f"{moment} {step}")


@pytest.fixture
def cluster(fleet: Fleet, place: Place) -> TenantsCluster:
    """A tenant's EKS cluster that lets us in."""
    made = made_by_a_tenant(fleet, place, AWS)
    made.admit()
    return made


def live(fleet: Fleet, *, until: Callable[[], bool], minutes: float) -> None:
    """As Fleet.live, through any number of deaths."""
    end = fleet.scene.clock.now().timestamp() + 60 * minutes
    while not until():
        left = end - fleet.scene.clock.now().timestamp()
        assert left > 0, "the life does not come to its end"
        try:
            fleet.live(until=until, minutes=left / 60)
        except Died:
            fleet.scene.clock.advance(61)  # until its lease has lapsed


def is_over(fleet: Fleet) -> bool:
    return bool(remains(fleet.scene)["substrates"] == {("deleted", 0, 0, ""): 1})


def is_as_it_was(fleet: Fleet, cluster: TenantsCluster, *, there: list[str], own: dict[str, Any]) -> None:
    """Nothing of ours is left anywhere, and all of the tenant's is there."""
    assert [f"{item.cloud} {item.kind} {item.id}" for item in fleet.scene.engine.inventory.items()] == there
    assert cluster.node_pools == own
    left = remains(fleet.scene)
    assert (left["clusters"], left["work"], left["live tokens"]) == ({("deleted", ""): 1}, 0, 0)
    assert left["nodes"] == {"retired": 1}
    assert left["events"]["kubernetes.cluster.deleted"] == left["events"]["kubernetes.nodepool.ready"] == 1


def test_a_process_that_dies_at_any_point_leaves_the_next_one_nothing_that_it_cannot_bring_to_its_end(
    fleet: Fleet, place: Place, cluster: TenantsCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = [f"{item.cloud} {item.kind} {item.id}" for item in fleet.scene.engine.inventory.items()]
    own, document = cluster.node_pools, adopting(place, cluster, AWS.spot_flavor("h100"))
    deaths = Deaths()
    send = ClusterApi._send

    def after_the_effect(api: ClusterApi, token: Any, method: str, target: str, *rest: Any) -> Any:
        reply = send(api, token, method, target, *rest)
        if method != "GET":
            deaths.at(f"{method} {target.partition('?')[0]}")
        return reply

    def dying(name: str) -> Callable[..., Any]:
        asked = getattr(EksDriver, name)

        def call(*arguments: Any) -> Any:
            answer = asked(*arguments)
            deaths.at(name)
            return answer

        return call

    fleet.apply(document)
    monkeypatch.setattr(ClusterApi, "_send", after_the_effect)
    for name in ("get_cluster", "ensure_node_pool", "delete_node_pool"):
        monkeypatch.setattr(EksDriver, name, dying(name))
    fleet.session.store.on_commit.append(deaths.at_commit)
    live(fleet, until=fleet.at_rest, minutes=120)
    fleet.session.store.on_commit.clear()
    fleet.apply(place.document({}), prune=True)
    fleet.session.store.on_commit.append(deaths.at_commit)
    live(fleet, until=lambda: is_over(fleet), minutes=120)

    is_as_it_was(fleet, cluster, there=there, own=own)
    wanted = {*SENT, *(f"{moment} {step}" for step in STEPS for moment in ("before", "after"))}
    assert wanted <= set(deaths.points)


def test_replies_that_are_lost_once_each_change_nothing_of_how_it_ends(
    fleet: Fleet, place: Place, cluster: TenantsCluster
) -> None:
    there = [f"{item.cloud} {item.kind} {item.id}" for item in fleet.scene.engine.inventory.items()]
    own = cluster.node_pools
    lost = [
        fleet.scene.engine.faults.add(cloud, name, LostReply(), target=target)
        for cloud, name, target in (
            ("kubernetes", "POST configmaps", "*/kube-system/*"),
            ("kubernetes", "POST namespaces", "*bc-access"),
            ("kubernetes", "POST clusterrolebindings", "*"),
            ("kubernetes", "POST serviceaccounts", "*"),
            ("kubernetes", "DELETE daemonsets", "*"),
            ("kubernetes", "DELETE namespaces", "*bc-access"),
            ("kubernetes", "DELETE serviceaccounts", "*"),
            ("kubernetes", "DELETE clusterrolebindings", "*"),
            ("kubernetes", "DELETE configmaps", "*/kube-system/*"),
            ("aws", "eks.CreateNodegroup", "*"),
            ("aws", "eks.DeleteNodegroup", "*"),
        )
    ]
    fleet.apply(adopting(place, cluster, AWS.spot_flavor("h100")))
    fleet.live(until=fleet.at_rest, minutes=60)
    assert fleet.at_rest(), fleet.view()
    fleet.apply(place.document({}), prune=True)
    fleet.live(until=lambda: is_over(fleet), minutes=60)
    assert [fault.name for fault in lost if fault.struck != 1] == []
    is_as_it_was(fleet, cluster, there=there, own=own)
