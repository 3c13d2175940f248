# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a provider refuses is told with its reason, tried again slowly, and holds up nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import boto3

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import AGENT_MISSING
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools

from .conftest import MakeFleet

REFUSED = Error(status=400, code="InvalidParameterException", message="the launch template is not to our taste")


def gaps(fleet: Fleet, name: str, *, target: str = "") -> list[timedelta]:
    """The times between the calls of one name, about one target."""
    times = [entry.at for entry in fleet.scene.engine.log.entries(name=name) if target in entry.call.target]
    return [later - earlier for earlier, later in pairwise(times)]


def test_a_refused_flavor_leaves_the_other_going_and_its_cluster_in_error_with_the_pool_named(fleet: Fleet) -> None:
    fleet.scene.engine.faults.add("aws", "eks.CreateNodegroup", REFUSED, target="*/h100-spot", times=None)
    [view] = fleet.settle(fleet.apply(document()))
    assert view.record.state == SubstrateState.ERROR
    fleet.live(minutes=11)
    assert fleet.view().record.nodes_joined == 2
    assert fleet.node_pools()["h100"].state == NodePoolState.READY
    for message in (fleet.view().record.message, fleet.cluster().message):
        assert "node pool h100-spot" in message
        assert "not to our taste" in message
    assert fleet.cluster().state == ClusterState.ERROR
    assert len(fleet.events("kubernetes.nodepool.error")) == 1
    assert len(fleet.events("kubernetes.cluster.error")) == 1
    tries = gaps(fleet, "eks.CreateNodegroup", target="/h100-spot")
    assert len(tries) in (1, 2)
    assert min(tries) >= timedelta(minutes=5)


def test_a_flavor_that_was_refused_is_made_as_soon_as_the_provider_takes_it(fleet: Fleet) -> None:
    fault = fleet.scene.engine.faults.add("aws", "eks.CreateNodegroup", REFUSED, target="*/h100-spot", times=None)
    fleet.settle(fleet.apply(document()))
    fleet.scene.engine.faults.remove(fault)
    fleet.live(until=fleet.at_rest, minutes=10)
    assert fleet.view().ready
    assert fleet.view().record.nodes_joined == 3
    assert fleet.cluster().state == ClusterState.READY


def test_a_stockout_is_tried_again_at_most_once_in_five_minutes_and_told_once(fleet: Fleet) -> None:
    fleet.scene.world.aws.capacity.take_away("p5.48xlarge", "us-east-1a", spot=True)
    fleet.settle(fleet.apply(document()))
    fleet.live(until=lambda: fleet.view().record.state == SubstrateState.ERROR, minutes=10)
    assert "InsufficientInstanceCapacity" in fleet.view().record.message
    rows = {name: len(found) for name, found in fleet.rows().items()}
    fleet.live(minutes=11)
    assert {name: len(found) for name, found in fleet.rows().items()} == rows, "no row and no event for each try"
    assert fleet.view().record.state == SubstrateState.ERROR
    assert fleet.view().record.nodes_joined == 2
    tries = gaps(fleet, "eks.CreateNodegroup", target="/h100-spot")
    assert tries
    assert min(tries) >= timedelta(minutes=5)

    fleet.scene.world.aws.capacity.give_back()
    fleet.live(until=fleet.at_rest, minutes=15)
    assert fleet.view().record.nodes_joined == 3


def test_a_refused_delete_of_a_cluster_is_tried_again_after_5_10_20_minutes_and_told_once(fleet: Fleet) -> None:
    fleet.join_all(document())
    refusal = Error(status=400, code="InvalidParameterException", message="a security group is in use")
    fault = fleet.scene.engine.faults.add("aws", "eks.DeleteCluster", refusal, times=None)
    cluster = fleet.cluster()
    pools = fleet.apply(without_pools(), prune=True)
    fleet.live(minutes=90)
    tries = gaps(fleet, "eks.DeleteCluster")
    assert [round(gap / timedelta(minutes=1)) for gap in tries] == [5, 10, 20, 40]
    assert [event.subject for event in fleet.events("kubernetes.cluster.error")] == [cluster.id]
    assert "a security group is in use" in fleet.events("kubernetes.cluster.error")[0].data["message"]

    fleet.scene.engine.faults.remove(fault)
    [view] = fleet.settle(pools)
    assert view.record.state == SubstrateState.DELETED
    assert fleet.scene.engine.inventory.items() == ()


def test_a_cluster_of_our_name_that_is_not_ours_is_never_touched(fleet: Fleet) -> None:
    pools = fleet.apply(document())
    name = fleet.cluster().name
    client: Any = boto3.client("eks", region_name="us-east-1")
    client.create_cluster(
        name=name,
        roleArn="arn:aws:iam::111111111111:role/eks-cluster",
        resourcesVpcConfig={"subnetIds": ["subnet-0000000000000000a", "subnet-0000000000000000b"]},
        tags={"owner": "somebody"},
    )
    fleet.scene.clock.advance(60)
    mark = fleet.scene.engine.log.mark
    [view] = fleet.settle(pools)
    assert view.record.state == SubstrateState.ERROR
    assert name in view.record.message
    fleet.apply(without_pools(), prune=True)
    fleet.live(minutes=30)
    assert fleet.scene.engine.log.entries(after=mark, mutating=True) == ()
    assert client.describe_cluster(name=name)["cluster"]["status"] == "ACTIVE"


def test_without_agent_settings_nothing_is_made_and_the_substrate_says_why(make_fleet: MakeFleet) -> None:
    agent = ("IMAGE", "GATEWAY_URL", "PINS")
    fleet = make_fleet(**{f"BC_FLEET_AGENT_{name}": "" for name in agent})
    [view] = fleet.settle(fleet.apply(document()))
    assert view.record.state == SubstrateState.ERROR
    assert view.record.message == AGENT_MISSING
    fleet.live(minutes=30)
    assert (fleet.view().record.state, fleet.view().record.message) == (SubstrateState.ERROR, AGENT_MISSING)
    assert fleet.scene.engine.log.entries(mutating=True) == ()


def test_settings_that_lose_their_agent_keep_what_stands_and_make_nothing_anew(fleet: Fleet) -> None:
    fleet.join_all(document())
    bare = replace(fleet, session=replace(fleet.session, settings=replace(fleet.session.settings, agent=None)))
    mark = fleet.scene.engine.log.mark
    record = bare.one_pass().record
    assert (record.state, record.message) == (SubstrateState.ERROR, AGENT_MISSING)
    assert (record.nodes_listed, record.nodes_joined) == (3, 3), "the nodes are looked after all the same"
    assert fleet.scene.engine.log.writes(after=mark) == ()
    assert fleet.one_pass().record.state == SubstrateState.READY


def test_after_15_minutes_without_a_join_the_message_names_the_daemon_set(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(BC_FLEET_AGENT_GATEWAY_URL="https://127.0.0.1:9")
    fleet.settle(fleet.apply(document()))
    fleet.live(minutes=10)
    assert fleet.view().record.nodes_listed == 3
    assert fleet.view().record.message == ""
    fleet.live(minutes=7)
    assert fleet.view().ready
    message = fleet.view().record.message
    assert "3 of 3 Nodes have no joined bcd" in message
    assert "DaemonSet better-compute/bcd" in message
