# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_node_info and bc_reservation_info on a fleet whose machines have joined."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

from .test_bc_reservation_of_tenants import book, told, with_quotas


@pytest.fixture
def fleet(modules_on_either: Modules) -> Modules:
    """The modules, with the example's machines joined, and a booking of acme's on one of them."""
    modules_on_either.fleet.join_all(with_quotas(platform=16, acme=8))
    assert told(book(modules_on_either)) == (True, "bound")
    return modules_on_either


def bookings(modules: Modules, **arguments: Any) -> list[dict[str, Any]]:
    result = modules.run("bc_reservation_info", **arguments)
    assert (result["failed"], result["changed"]) == (False, False)
    found: list[dict[str, Any]] = result["reservations"]
    return found


def test_machines_are_told_with_the_nodes_that_the_cluster_has_and_with_what_is_booked(fleet: Modules) -> None:
    result = fleet.run("bc_node_info", pool="gpu-fleet")
    assert (result["failed"], result["changed"], result["waiting_to_join"], result["pending"]) == (False, False, [], [])
    nodes = {node["id"]: node for node in result["nodes"]}
    machines = {machine.node_name for machine in fleet.fleet.scene.world.machines.running()}
    assert {node["node_name"] for node in nodes.values()} == machines
    assert {(node["node_pool"], node["spot"]) for node in nodes.values()} == {("h100", False), ("h100-spot", True)}
    assert {(node["state"], node["connection"]) for node in nodes.values()} == {("matched", "connected")}
    assert all(node["node_uid"] for node in nodes.values())
    [booking] = bookings(fleet)
    assert [node["bookings"] for node in nodes.values() if node["bookings"]] == [[booking]]
    stands_on = nodes[booking["node_id"]]
    assert booking["node_name"] == stands_on["node_name"]
    [gpus] = stands_on["gpus"]
    assert (gpus["count"], gpus["booked"]) == (8, 2)


def test_a_check_run_tells_the_same_and_neither_writes_anything(fleet: Modules) -> None:
    rows, asked = fleet.fleet.rows(), fleet.fleet.scene.engine.log.mark
    for module in ("bc_node_info", "bc_reservation_info"):
        run, check = fleet.run(module), fleet.run(module, check=True)
        assert {**run, "invocation": None} == {**check, "invocation": None}
    assert fleet.fleet.rows() == rows
    assert fleet.fleet.scene.engine.log.mark == asked, "no provider and no cluster is asked"


def test_a_booking_is_told_as_bc_reservation_tells_it_and_more(fleet: Modules) -> None:
    booked = book(fleet)["reservation"]
    [found] = bookings(fleet, names=["train-1"], tenant="acme", pool="gpu-fleet")
    assert {key: value for key, value in found.items() if key in booked} == booked
    operator = fleet.fleet.session.settings.operator
    assert (found["name"], found["booked_by"], found["pool"]) == ("train-1", operator, "gpu-fleet")
    assert bookings(fleet, names=["another"]) == bookings(fleet, tenant="platform") == []


def test_bookings_that_ended_are_told_by_their_state(fleet: Modules) -> None:
    book(fleet, state="absent")
    assert bookings(fleet) == []
    [released] = bookings(fleet, states=["released"])
    assert (released["state"], released["node_id"], released["ended_at"][-1]) == ("released", None, "Z")
    refused = fleet.run("bc_reservation_info", states=["gone"])
    assert refused["failed"]


def test_a_pool_is_not_found_by_those_whom_it_does_not_concern(fleet: Modules) -> None:
    for module, tenant in (("bc_node_info", "acme"), ("bc_reservation_info", "globex")):
        refused = fleet.run(module, pool="gpu-fleet", tenant=tenant)
        unknown = fleet.run(module, pool="no-such-pool", tenant=tenant)
        assert refused["code"] == unknown["code"] == "NOT_FOUND"
        assert refused["msg"].replace("gpu-fleet", "no-such-pool") == unknown["msg"]


def test_a_machine_that_is_gone_is_told_as_retired(fleet: Modules) -> None:
    [booking] = bookings(fleet)
    fleet.fleet.scene.world.aws.lose_instance(fleet.fleet.instance_of(booking["node_name"]))
    fleet.fleet.live(until=lambda: not bookings(fleet), minutes=20)
    [retired] = fleet.run("bc_node_info", states=["retired"])["nodes"]
    assert (retired["id"], retired["gpus"], retired["bookings"]) == (booking["node_id"], [], [])


def test_machines_that_have_not_joined_are_counted(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    modules.fleet.live(until=lambda: modules.fleet.view().record.waiting_nodes > 0, minutes=10)
    [waiting] = modules.run("bc_node_info")["waiting_to_join"]
    substrate = modules.fleet.view()
    assert (waiting["pool"], waiting["nodes"]) == ("gpu-fleet", substrate.record.waiting_nodes)
    assert {"nodes": waiting["nodes"], "since": waiting["since"]} == substrate.to_data()["waiting_to_join"]
