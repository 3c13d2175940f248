# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole life as others see it: the marks at the provider and on Nodes, each event once, when it is looked at."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

from ansible_collections.better_compute.fleet.emulators.engine.faults import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import events, work
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools

from .declared import SPOT, with_flavor
from .test_node_pool_changes import group

REFUSED = Error(status=400, code="InvalidParameterException", message="the launch template is not to our taste")


def next_look(fleet: Fleet) -> timedelta:
    """How long the pool is left alone from now on."""
    with fleet.session.store.read() as tx:
        due = work.due_of(tx, fleet.pool_id)
        assert due is not None
        return due - tx.now


def told(fleet: Fleet) -> Counter[str]:
    """What was told of clusters and node pools: `ready of h100` -> how often."""
    with fleet.session.store.read() as tx:
        return Counter(
            f"{kind} {event.data['name'].replace(fleet.cluster().name, 'cluster')}"
            for event in events.events(tx)
            if (kind := event.type.removeprefix("kubernetes.")) != event.type
        )


def test_both_labels_stand_on_every_flavors_node_pool_at_the_provider_and_on_its_nodes(fleet: Fleet) -> None:
    fleet.join_all(document())
    ours: dict[str, Any] = {"better-compute.dev/substrate-pool": str(fleet.pool_id)}
    spots = {**ours, "better-compute.dev/capacity": "spot"}
    assert {name: group(fleet, name)["labels"] for name in ("h100", SPOT)} == {"h100": ours, SPOT: spots}
    cluster = fleet.scene.world.apis.cluster(fleet.cluster().name)
    assert cluster is not None
    marks: dict[str, list[dict[str, str]]] = {}
    for node in cluster.nodes():
        labels = node["metadata"]["labels"]
        mine = {key: value for key, value in labels.items() if key.startswith("better-compute.dev/")}
        marks.setdefault(labels["eks.amazonaws.com/nodegroup"], []).append(mine)
    assert marks == {"h100": [ours, ours], SPOT: [spots]}


def test_each_event_of_a_life_is_told_once_and_only_on_a_change(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    fleet.join_all(document())
    expected = Counter(
        {
            "nodepool.created h100": 1,
            f"nodepool.created {SPOT}": 1,
            "nodepool.ready h100": 1,
            f"nodepool.ready {SPOT}": 1,
            "cluster.ready cluster": 1,
        }
    )
    assert told(fleet) == expected
    fleet.live(minutes=16)
    assert told(fleet) == expected, "nothing changed, and nothing is told"

    fault = fleet.scene.engine.faults.add("aws", "eks.UpdateNodegroupConfig", REFUSED, times=None)
    fleet.apply(with_flavor(SPOT, nodes=2))
    fleet.live(minutes=21)
    assert fleet.node_pools()[SPOT].state == NodePoolState.ERROR
    expected += Counter({f"nodepool.error {SPOT}": 1, "cluster.error cluster": 1})
    assert told(fleet) == expected, "it was refused again and again, and told once"

    fleet.scene.engine.faults.remove(fault)
    fleet.live(until=fleet.at_rest, minutes=20)
    expected += Counter({f"nodepool.ready {SPOT}": 1, "cluster.updated cluster": 1})
    assert told(fleet) == expected

    fleet.settle(fleet.apply(without_pools(), prune=True))
    expected += Counter({"nodepool.deleted h100": 1, f"nodepool.deleted {SPOT}": 1, "cluster.deleted cluster": 1})
    with fleet.session.store.read() as tx:
        subjects = {
            event.subject
            for event in events.events(tx)
            if event.type.startswith(("kubernetes.cluster", "kubernetes.n"))
        }
        kinds = Counter(event.type for event in events.events(tx) if event.type.startswith("kubernetes."))
    assert len(subjects) == 1, "all of them on the cluster's subject"
    assert kinds == Counter(f"kubernetes.{name.split()[0]}" for name in expected.elements())


def test_what_converges_is_looked_at_every_30_seconds_and_what_is_ready_or_failed_every_5_minutes(
    fleet: Fleet,
) -> None:
    fleet.apply(document())
    looks = 0
    while fleet.one_pass().record.state == SubstrateState.PROVISIONING:
        assert next_look(fleet) == timedelta(seconds=30)
        fleet.scene.clock.advance(30)
        looks += 1
    assert looks
    fleet.live(until=fleet.at_rest, minutes=30)
    assert fleet.one_pass().ready
    assert next_look(fleet) == timedelta(minutes=5)

    fleet.scene.engine.faults.add("aws", "eks.UpdateNodegroupConfig", REFUSED, times=None)
    fleet.apply(with_flavor(SPOT, nodes=2))
    assert fleet.one_pass().record.state == SubstrateState.ERROR
    assert next_look(fleet) == timedelta(minutes=5)
