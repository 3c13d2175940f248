# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A document that changes: node groups grow and shrink, flavors come and go, a pool is declared anew."""

from __future__ import annotations

from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import list_substrates
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools


def with_spot_nodes(nodes: int) -> dict[str, Any]:
    """The document with another size of its Spot flavor."""
    made = document()
    made["pools"][0]["policy"]["substrate"]["flavors"][1]["nodes"] = nodes
    return made


def without_spot() -> dict[str, Any]:
    """The document without its Spot flavor."""
    made = document()
    made["pools"][0]["policy"]["substrate"]["flavors"].pop()
    return made


def test_a_flavor_grows_and_shrinks_through_the_document(fleet: Fleet) -> None:
    fleet.join_all(document())
    fleet.join_all(with_spot_nodes(3))
    assert fleet.view().record.nodes_joined == 5
    assert fleet.node_pools()["h100-spot"].version == 2
    assert len(fleet.scene.engine.log.entries(name="eks.UpdateNodegroupConfig")) == 1

    fleet.join_all(with_spot_nodes(1))
    fleet.live(until=lambda: len(fleet.nodes()) == 3, minutes=10)
    assert len(fleet.nodes()) == 3
    assert fleet.scene.engine.inventory.machines() == 3
    assert len(fleet.events("node.retired")) == 2
    assert len(fleet.events("kubernetes.cluster.ready")) == 1
    assert len(fleet.events("kubernetes.cluster.updated")) == 2


def test_a_flavor_that_leaves_the_document_goes_with_prune_and_comes_again_as_another(fleet: Fleet) -> None:
    fleet.join_all(document())
    fleet.apply(without_spot())
    fleet.live(minutes=6)
    assert fleet.scene.engine.inventory.machines() == 3, "nothing goes without prune"

    fleet.settle(fleet.apply(without_spot(), prune=True))
    fleet.live(until=lambda: len(fleet.nodes()) == 2, minutes=10)
    assert fleet.scene.engine.inventory.machines() == 2
    assert set(fleet.node_pools()) == {"h100"}

    fleet.join_all(document())
    assert fleet.view().record.nodes_joined == 3
    assert len(fleet.scene.engine.log.entries(name="eks.CreateNodegroup")) == 3


def test_a_pool_declared_again_under_its_name_is_a_new_one_while_the_old_one_goes(fleet: Fleet) -> None:
    old = fleet.join_all(document()).record
    fleet.apply(without_pools(), prune=True)
    fleet.run_due()
    new = fleet.join_all(document()).record
    assert new.pool_id != old.pool_id
    assert new.cluster_id != old.cluster_id
    fleet.live(minutes=10)
    [gone, stands] = list_substrates(fleet.session, pool_ids=frozenset({old.pool_id, new.pool_id}))
    assert {gone.record.pool_id: gone.record.state, stands.record.pool_id: stands.record.state} == {
        old.pool_id: SubstrateState.DELETED,
        new.pool_id: SubstrateState.READY,
    }
    assert [item.id for item in fleet.scene.engine.inventory.items(cloud="aws", kind="cluster")] == [
        fleet.cluster().name
    ]
    assert fleet.scene.engine.inventory.machines() == 3
    assert fleet.view().record.nodes_joined == 3
