# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines and the names of their Nodes, on each provider: strange host names, and names that come back.

Real bcd, gateway and passes in an emulated world on virtual time. A machine with a booking is put to it, beside one
that nothing happens to.
"""

from __future__ import annotations

import base64
import re
from typing import Final

import pytest

from ansible_collections.better_compute.fleet.emulators.kubernetes import EmulatedCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.names import (
    AGENT_NAMESPACE,
    JOIN_SECRET,
    JOIN_SECRET_KEY,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolNode, Reservation
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState, ReservationState
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, DOKS, GKE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds
from ansible_collections.better_compute.fleet.tests.support.wire_client import wire_client

NODE_NAMES: Final = {
    AWS: r"ip-[0-9-]+\.ec2\.internal",
    GKE: r"gke-[a-z0-9-]+",
    DOKS: r"h100-[a-z0-9]+",
}
"""EKS: the instance's DNS name; GKE: the VM's name; DOKS: `<node pool>-<suffix>`."""


@pytest.fixture(params=[AWS, GKE, DOKS], ids=["eks", "gke", "doks"])
def cloud(request: pytest.FixtureRequest) -> Cloud:
    """Each of the three."""
    found: Cloud = request.param
    return found


def two_machines(clouds: FleetOnClouds, cloud: Cloud) -> Fleet:
    """A pool of two, of which each has a GPU booked, at rest."""
    per_zone = {AWS: 1, GKE: 1, DOKS: 2}[cloud]
    clouds.join_all(cloud, cloud.flavor("h100", nodes=per_zone), nodes=2)
    return clouds.fleet


def book_on(fleet: Fleet, name: str) -> Reservation:
    """A booking on the machine of that name: both machines are filled, and the other one's bookings given back."""
    made = [fleet.book(name=f"job-{number}", gpus=8) for number in range(2)]
    [mine] = [one for one in made if one.node_id == fleet.nodes()[name].id]
    [other] = [one for one in made if one is not mine]
    fleet.release(other)
    return mine


def inside(fleet: Fleet) -> EmulatedCluster:
    """What is in the cluster."""
    cluster = fleet.scene.world.apis.cluster(fleet.scene.world.machines.running()[0].cluster)
    assert cluster is not None
    return cluster


def uid_in_cluster(fleet: Fleet, name: str) -> str:
    """The UID of the Node of that name."""
    return next(str(node["metadata"]["uid"]) for node in inside(fleet).nodes() if node["metadata"]["name"] == name)


def join_token(fleet: Fleet) -> str:
    """What lies in the cluster's Secret."""
    secret = inside(fleet).read("Secret", JOIN_SECRET, AGENT_NAMESPACE)
    assert secret is not None
    return base64.b64decode(secret["data"][JOIN_SECRET_KEY]).decode()


def joined_again(fleet: Fleet, name: str, before: PoolNode) -> bool:
    """Whether the machine of that name is matched to another Node than before, and nothing is left to do."""
    node = fleet.nodes().get(name)
    return node is not None and node.node_uid != before.node_uid and fleet.at_rest() and len(fleet.nodes()) == 2


def test_a_node_is_found_by_the_name_that_bcd_reports_or_else_by_its_host_name_in_lower_case(
    clouds: FleetOnClouds, cloud: Cloud
) -> None:
    fleet, machines = clouds.fleet, clouds.place.world.machines
    clouds.apply(cloud, cloud.flavor("h100", nodes={AWS: 1, GKE: 1, DOKS: 2}[cloud]))
    while len(machines.running()) < 2:
        fleet.run_due()
        fleet.scene.clock.advance(1)
    strange, older = machines.running()
    machines.rename(strange.instance_id, hostname="DHCP-17.Corp.Example")
    machines.cut_off(older.instance_id)
    fleet.live(until=lambda: fleet.view().record.nodes_joined == 1 == fleet.view().record.waiting_nodes, minutes=10)

    # The other machine has a bcd that does not report its Node, on a host whose name is the Node's, but for the case.
    with wire_client(fleet.scene.gateway.port) as old_bcd:
        inventory = {"os": {}, "gpus": [{"id": "GPU-old", "model": "NVIDIA H100"}]}
        reply = old_bcd.join(token=join_token(fleet), hostname=older.node_name.upper(), inventory=inventory)
    assert reply.status == 200, reply.body
    fleet.run_due()
    nodes = fleet.nodes()
    assert {name: (node.hostname, node.state) for name, node in nodes.items()} == {
        strange.node_name: ("DHCP-17.Corp.Example", NodeState.MATCHED),
        older.node_name: (older.node_name.upper(), NodeState.MATCHED),
    }
    assert all(re.fullmatch(NODE_NAMES[cloud], name) for name in nodes), nodes.keys()
    assert all(node.node_uid == uid_in_cluster(fleet, name) for name, node in nodes.items())


def test_another_machine_of_the_same_name_is_a_node_of_its_own_and_ends_the_old_ones_bookings(
    clouds: FleetOnClouds, cloud: Cloud
) -> None:
    fleet = two_machines(clouds, cloud)
    name, other = sorted(fleet.nodes())
    old, bystander = fleet.nodes()[name], fleet.nodes()[other]
    booked = book_on(fleet, name)
    clouds.place.world.machines.replace_machine(fleet.instance_of(name))
    fleet.live(until=lambda: joined_again(fleet, name, old) and bool(fleet.events("node.retired")), minutes=5)
    new = fleet.nodes()[name]
    assert (new.node_uid, new.id != old.id) == (uid_in_cluster(fleet, name), True)
    assert fleet.nodes()[other].id == bystander.id
    assert fleet.reservation(booked).state == ReservationState.RELEASED
    rows = fleet.rows()
    assert (len(rows["refunds"]), rows["held_devices"], len(fleet.events("node.retired"))) == (2, [], 1)
    assert fleet.book(name="next", gpus=8).node_id in (new.id, bystander.id)


def test_a_name_that_comes_back_after_an_hour_is_another_machine(clouds: FleetOnClouds, cloud: Cloud) -> None:
    zones = {"zones": [cloud.zone]} if cloud.zone else {}
    clouds.join_all(cloud, cloud.flavor("h100", **zones), nodes=1)
    fleet = clouds.fleet
    [(name, old)] = fleet.nodes().items()
    booked = fleet.book(name="job", gpus=8)
    clouds.place.world.machines.replace_machine(fleet.instance_of(name), after_seconds=3600)
    fleet.live(until=lambda: not fleet.nodes(), minutes=3)
    assert fleet.reservation(booked).state == ReservationState.RELEASED
    fleet.scene.clock.advance(3600)
    clouds.live_until_joined(1)
    new = fleet.nodes()[name]
    assert (new.node_uid, new.id != old.id) == (uid_in_cluster(fleet, name), True)
    assert fleet.book(name="next", gpus=8).node_id == new.id
    assert (len(fleet.rows()["refunds"]), len(fleet.events("node.retired"))) == (1, 1)


def test_a_living_machine_whose_node_is_deleted_is_matched_again(clouds: FleetOnClouds, cloud: Cloud) -> None:
    fleet = two_machines(clouds, cloud)
    name, other = sorted(fleet.nodes())
    old, bystander = fleet.nodes()[name], fleet.nodes()[other]
    booked = book_on(fleet, name)
    clouds.place.world.machines.replace_node(fleet.instance_of(name))
    fleet.live(until=lambda: joined_again(fleet, name, old), minutes=5)
    new = fleet.nodes()[name]
    assert (new.id, new.node_uid) == (old.id, uid_in_cluster(fleet, name)), "its bcd never fell silent"
    assert fleet.nodes()[other].id == bystander.id
    assert fleet.events("node.retired") == ()
    assert fleet.reservation(booked).state == ReservationState.BOUND


def test_a_living_machine_whose_pods_ended_with_its_node_joins_again(clouds: FleetOnClouds) -> None:
    fleet = two_machines(clouds, AWS)
    name, _other = sorted(fleet.nodes())
    old = fleet.nodes()[name]
    booked = book_on(fleet, name)
    clouds.place.world.machines.replace_node(fleet.instance_of(name), after_seconds=150)
    fleet.live(until=lambda: joined_again(fleet, name, old), minutes=5)
    new = fleet.nodes()[name]
    assert (new.node_uid, new.id != old.id) == (uid_in_cluster(fleet, name), True), "nobody spoke for it meanwhile"
    assert fleet.reservation(booked).state == ReservationState.RELEASED
    assert (len(fleet.rows()["refunds"]), len(fleet.events("node.retired"))) == (2, 1)
