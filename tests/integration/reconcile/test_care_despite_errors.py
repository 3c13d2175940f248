# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An error does not stop the nodes that joined from being looked after; only a cluster without a life of its own does.

While something is wrong, a machine with a booking goes, another comes in its place and needs a token, and somebody
deletes bcd's DaemonSet: each pass still lists, retires, keeps the token and applies bcd.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import boto3
import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    NodePoolState,
    ReservationState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

from .declared import H100, SPOT, with_flavor
from .test_objects_in_the_cluster import DAEMON_SET, DELETE
from .test_our_access_taken_away import administrator

QUOTA = Error(status=400, code="ResourceLimitExceededException", message="no more node groups for this account")
FORBIDDEN = Error(status=403, code="AccessDeniedException", message="not any more")


def a_refused_flavor(fleet: Fleet) -> str:
    """A third flavor, for which the account has no quota."""
    fleet.scene.engine.faults.add("aws", "eks.CreateNodegroup", QUOTA, times=None)
    made = document()
    flavors = made["pools"][0]["policy"]["substrate"]["flavors"]
    flavors.append({**flavors[0], "name": "h100-more"})
    fleet.apply(made)
    return "no more node groups"


def a_refused_size(fleet: Fleet) -> str:
    """A flavor that is to grow, which the provider refuses."""
    fleet.scene.engine.faults.add("aws", "eks.UpdateNodegroupConfig", QUOTA, times=None)
    fleet.apply(with_flavor(H100, nodes=3))
    return "no more node groups"


def a_change_that_is_none_in_place(fleet: Fleet) -> str:
    """A flavor that is declared to be of other machines than it is made of."""
    with fleet.session.store.write() as tx:
        record = fleet.node_pools()[SPOT]
        other = replace(record.shape, machine_type="p4d.24xlarge")
        clusters.change_node_pool(tx, record.id, other, NodePoolState.UPDATING)
    return "machineType"


def a_cluster_that_may_not_be_looked_at(fleet: Fleet) -> str:
    """The account has lost its rights to read and change clusters."""
    fleet.scene.engine.faults.add("aws", "eks.*", FORBIDDEN, times=None)
    return "not any more"


@pytest.mark.parametrize(
    "go_wrong", [a_refused_flavor, a_refused_size, a_change_that_is_none_in_place, a_cluster_that_may_not_be_looked_at]
)
def test_in_error_nodes_are_listed_and_retired_and_let_in_and_bcd_is_applied(
    fleet: Fleet, go_wrong: Callable[[Fleet], str]
) -> None:
    fleet.join_all(document())
    why = go_wrong(fleet)
    in_error = fleet.one_pass().record
    assert (in_error.state, why in in_error.message) == (SubstrateState.ERROR, True)

    booked = fleet.book(name="job", gpus=8)
    lost = next(name for name, node in fleet.nodes().items() if node.id == booked.node_id)
    fleet.scene.world.aws.lose_instance(fleet.instance_of(lost))
    with administrator(fleet) as api:
        api.request("DELETE", DAEMON_SET, body=DELETE)
    fleet.live(until=lambda: len(fleet.nodes()) == 3 and lost not in fleet.nodes(), minutes=10)
    assert (len(fleet.nodes()), lost in fleet.nodes()) == (3, False), "the machine in its place has joined"
    assert fleet.reservation(booked).state == ReservationState.RELEASED
    after = fleet.one_pass().record
    assert (after.state, why in after.message) == (SubstrateState.ERROR, True)
    assert (after.nodes_listed, after.nodes_joined, after.waiting_nodes) == (3, 3, 0)


def test_a_control_plane_that_never_answered_is_not_entered(fleet: Fleet) -> None:
    fleet.scene.engine.faults.add("aws", "eks.CreateCluster", QUOTA, times=None)
    fleet.apply(document())
    fleet.live(minutes=6)
    assert fleet.view().record.state == SubstrateState.ERROR
    assert fleet.scene.engine.log.entries(cloud="kubernetes") == ()


def test_a_cluster_that_somebody_deletes_is_not_entered(fleet: Fleet) -> None:
    fleet.join_all(document())
    name = fleet.cluster().name
    eks = boto3.client("eks", region_name="us-east-1")
    for group in eks.list_nodegroups(clusterName=name)["nodegroups"]:
        eks.delete_nodegroup(clusterName=name, nodegroupName=group)
    fleet.scene.clock.advance(30)
    assert eks.list_nodegroups(clusterName=name)["nodegroups"] == []
    eks.delete_cluster(name=name)
    mark = fleet.scene.engine.log.mark
    record = fleet.one_pass().record
    assert "being deleted at the provider" in record.message
    assert fleet.scene.engine.log.entries(after=mark, cloud="kubernetes") == ()
