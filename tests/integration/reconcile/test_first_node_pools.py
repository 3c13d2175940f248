# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A provider that makes no cluster without nodes: which node pools go into the create call, and what is recorded.

EKS stands in for it here, with the refusal put in front of its driver: what the create call brings besides the cluster
is the drivers' own business, and the conformance suite's.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    NeedsNodes,
    ProviderError,
    ProviderQuotaExceeded,
    Throttled,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ObservedCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    ClusterSpec,
    NodePoolSpec,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.driver import EksDriver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

from .declared import SPOT


class Gate:
    """Stands before EKS: no cluster without nodes, and none with node pools that it refuses.

    Attributes:
        asked: the names of the node pools of each create that came.
        refuses: name -> the refusal of a create with that node pool.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.refuses: dict[str, ProviderError] = {}


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """In front of every driver of EKS."""
    made = Gate()
    ensure = EksDriver.ensure_cluster

    def gated(self: EksDriver, spec: ClusterSpec, first: tuple[NodePoolSpec, ...] = ()) -> ObservedCluster:
        if self.get_cluster(spec) is None:
            if not first:
                raise NeedsNodes("no cluster without nodes")
            made.asked.append(tuple(one.name for one in first))
            for one in first:
                if one.name in made.refuses:
                    raise made.refuses[one.name]
        return ensure(self, spec)

    monkeypatch.setattr(EksDriver, "ensure_cluster", gated)
    return made


def test_all_flavors_go_into_the_create_call_and_are_recorded_before_it(gate: Gate, fleet: Fleet) -> None:
    gate.refuses["h100"] = Throttled("later")
    fleet.apply(document())
    fleet.one_pass()
    assert gate.asked == [("h100", SPOT)]
    assert all(record.last_create_at is not None for record in fleet.node_pools().values())
    assert {record.state for record in fleet.node_pools().values()} == {NodePoolState.PENDING}
    gate.refuses.clear()
    fleet.join_all(document())
    assert gate.asked == [("h100", SPOT)] * 2
    assert fleet.view().ready


def test_a_refused_flavor_keeps_neither_the_cluster_nor_the_others_away(gate: Gate, fleet: Fleet) -> None:
    gate.refuses["h100"] = ProviderQuotaExceeded("8 more GPUs than the quota")
    fleet.apply(document())
    fleet.one_pass()
    assert gate.asked == [("h100", SPOT), ("h100",), (SPOT,)]
    refused = fleet.node_pools()["h100"]
    assert (refused.state, refused.message) == (NodePoolState.ERROR, "8 more GPUs than the quota")
    assert len(fleet.scene.engine.inventory.items(cloud="aws", kind="cluster")) == 1
    fleet.live(until=lambda: fleet.node_pools()[SPOT].state == NodePoolState.READY, minutes=15)
    assert fleet.node_pools()[SPOT].state == NodePoolState.READY
    assert len(fleet.events("kubernetes.nodepool.error")) == 1


def test_without_a_flavor_that_may_be_made_no_create_is_sent_for_five_minutes(gate: Gate, fleet: Fleet) -> None:
    for name in ("h100", SPOT):
        gate.refuses[name] = ProviderQuotaExceeded(f"no quota for {name}")
    fleet.settle(fleet.apply(document()))
    assert fleet.cluster().state == ClusterState.ERROR
    message = fleet.view().record.message
    assert f"node pool h100: no quota for h100; node pool {SPOT}: no quota for {SPOT}" in message
    tries = len(gate.asked)
    fleet.live(minutes=4)
    assert len(gate.asked) == tries == 3
    gate.refuses.clear()
    began = fleet.scene.clock.now()
    fleet.live(until=lambda: fleet.view().ready, minutes=30)
    assert fleet.view().ready
    assert gate.asked[tries:] == [("h100", SPOT)]
    assert fleet.scene.clock.now() - began < timedelta(minutes=30)
    assert len(fleet.events("kubernetes.cluster.error")) == 1


def test_a_zone_that_the_account_does_not_have_keeps_only_its_flavor_away(gate: Gate, fleet: Fleet) -> None:
    fleet.apply(document())
    with fleet.session.store.write() as tx:
        table = tables().node_pools
        [row] = tx.rows(table.select().where(table.c.name == "h100"))
        tx.execute(table.update().where(table.c.id == row.id).values(shape=row.shape | {"zones": ["us-east-1z"]}))
    fleet.one_pass()
    assert gate.asked == [(SPOT,)]
    assert "no place in us-east-1z" in fleet.node_pools()["h100"].message
