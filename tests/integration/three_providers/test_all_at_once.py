# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One document with a pool on each provider; and ten flavors of one pool at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodePoolState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import passes
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, DOKS, GKE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds

ALL = (AWS, GKE, DOKS)
LOOKS = {
    AWS: ["eks.DescribeCluster", "eks.ListNodegroups", "eks.DescribeNodegroup"],
    GKE: ["gke.GetCluster"],
    DOKS: ["GET clusters", "GET clusters/{id}/credentials"],
}


def everywhere(clouds: FleetOnClouds) -> dict[str, Any]:
    """Two nodes on each provider: one flavor that is pinned to a zone where there are zones."""
    flavors = {cloud: [cloud.flavor("h100", nodes=2, **_pinned(cloud))] for cloud in ALL}
    return clouds.place.document(flavors, names={cloud: cloud.provider for cloud in ALL})


def _pinned(cloud: Cloud) -> dict[str, Any]:
    return {"zones": [cloud.zone]} if cloud.zone else {}


def test_one_document_converges_on_all_three_providers_and_goes_again(clouds: FleetOnClouds) -> None:
    fleets = [replace(clouds.fleet, pool=cloud.provider) for cloud in ALL]
    declared = everywhere(clouds)
    totals = {size.pool: size.total for size in clouds.fleet.plan(declared).sizes}
    assert totals == {cloud.provider: 2 for cloud in ALL}
    pools = clouds.fleet.apply(declared)
    clouds.fleet.live(until=lambda: all(fleet.at_rest() for fleet in fleets), minutes=20)
    assert [len(fleet.nodes()) for fleet in fleets] == [2, 2, 2]
    assert [fleet.view().record.message for fleet in fleets] == ["", "", ""]
    assert clouds.machines() == 6

    log = clouds.fleet.scene.engine.log
    mark = log.mark
    assert not clouds.fleet.plan(declared).changed
    passes.run_once(clouds.fleet.session, pools)
    asked_twice = {cloud: [entry.call.name for entry in clouds.asked(cloud, after=mark)] for cloud in ALL}
    for cloud in ALL:
        assert set(asked_twice[cloud]) == set(LOOKS[cloud]), "once by the plan and once by the pass"
    assert log.writes(after=mark) == ()

    clouds.prune()
    assert clouds.left() == []


def test_ten_flavors_at_once_never_end_in_error_on_gke(clouds: FleetOnClouds) -> None:
    fleet = clouds.fleet
    names = [f"flavor-{number}" for number in range(10)]
    first, rest = names[0], names[1:]

    def wanted(nodes: int, *flavors: str) -> list[dict[str, Any]]:
        return [GKE.spot_flavor(name, nodes=nodes) for name in flavors]

    def all_ready() -> bool:
        found = fleet.node_pools()
        return set(found) == set(names) and all(pool.state == NodePoolState.READY for pool in found.values())

    clouds.join_all(GKE, *wanted(1, first), nodes=1)
    mark = fleet.scene.engine.log.mark
    clouds.apply(GKE, *wanted(1, first), *wanted(0, *rest))
    fleet.live(until=all_ready, minutes=20)
    assert all_ready(), fleet.view()
    refused = [entry for entry in clouds.asked(GKE, after=mark, mutating=True) if entry.status >= 400]
    assert {entry.status for entry in refused} <= {400, 429}, "GKE runs five operations of one cluster at once"
    assert any(entry.status == 429 for entry in refused)
    clouds.join_all(GKE, *wanted(1, *names), nodes=10)
    clouds.join_all(GKE, *wanted(1, first), nodes=1)
    assert fleet.node_pools().keys() == {first}
    assert fleet.events("kubernetes.nodepool.error") == fleet.events("kubernetes.cluster.error") == ()


@pytest.mark.parametrize("zones", [(), ("us-central1-b",)], ids=["of its cluster", "of its own"])
def test_without_zones_in_its_account_a_flavor_stands_in_those_of_its_gke_cluster_or_its_own(
    clouds: FleetOnClouds, zones: tuple[str, ...]
) -> None:
    anywhere = replace(GKE, config={})
    flavor = anywhere.flavor("h100", **({"zones": list(zones)} if zones else {}))
    declared = clouds.document(anywhere, flavor)
    planned = clouds.fleet.plan(declared)
    assert [size.total for size in planned.sizes] == [1 if zones else None]
    assert [warning for warning in planned.warnings if "names no zones: GKE chooses" in warning] == list(
        planned.warnings if not zones else ()
    )
    clouds.join_all(anywhere, flavor, nodes=1 if zones else 3)
    assert clouds.fleet.plan(declared).sizes == planned.sizes
    mark = clouds.fleet.scene.engine.log.mark
    clouds.join_all(anywhere, {**flavor, "nodes": 2}, nodes=2 if zones else 6)
    assert clouds.carried_out(GKE, after=mark)["gke.SetNodePoolSize"] == 1
    assert not clouds.fleet.plan(clouds.document(anywhere, {**flavor, "nodes": 2})).changed
