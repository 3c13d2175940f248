# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines are stopped and started, renamed, registered anew and replaced by a control call, with the real bcd."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.machines import NoSuchMachine
from ansible_collections.better_compute.fleet.emulators.neighbours import Machine
from ansible_collections.better_compute.fleet.tests.integration.machines.conftest import TIMES, VirtualWorld
from ansible_collections.better_compute.fleet.tests.support.gateway_double import HEARTBEAT

HOUR = 3600.0


def uid_of(world: VirtualWorld, name: str) -> str | None:
    return next((str(node["metadata"]["uid"]) for node in world.cluster.nodes() if named(node) == name), None)


def named(node: Any) -> str:
    return str(node["metadata"]["name"])


def ready(world: VirtualWorld) -> dict[str, bool]:
    """Whether each Node is Ready."""
    return {named(node): node["status"]["conditions"][0]["status"] == "True" for node in world.cluster.nodes()}


def heard_in(world: VirtualWorld, seconds: float) -> int:
    """How many heartbeats come in so many seconds."""
    before = world.heartbeats()
    world.advance(seconds)
    return world.heartbeats() - before


def speaks_for(world: VirtualWorld) -> set[str]:
    """The identities that the last heartbeats came with."""
    return {request.bearer for request in world.gateway.requests(HEARTBEAT)[-2:]}


def last_inventory(world: VirtualWorld) -> Any:
    return [r.body["inventory"] for r in world.gateway.requests(HEARTBEAT) if "inventory" in r.body][-1]


def test_a_stopped_machine_is_silent_and_its_node_stands_and_is_not_ready_after_a_while(world: VirtualWorld) -> None:
    machine = world.join_one()
    world.machines.stop(machine.instance_id)
    world.settle()
    assert heard_in(world, TIMES.node_unready_seconds - 1) == 0
    assert ready(world) == {machine.node_name: True}
    world.advance(1)
    assert ready(world) == {machine.node_name: False}
    assert heard_in(world, HOUR) == 0
    assert ready(world) == {machine.node_name: False}


def test_a_started_machine_is_the_same_node_and_needs_no_token(world: VirtualWorld) -> None:
    machine = world.join_one()
    uid, identity = uid_of(world, machine.node_name), speaks_for(world)
    world.take_token()
    world.machines.stop(machine.instance_id)
    world.advance(HOUR)
    world.machines.start(machine.instance_id)
    world.advance(TIMES.boot_seconds + 30)
    assert ready(world) == {machine.node_name: True}
    assert uid_of(world, machine.node_name) == uid
    assert (len(world.joins()), speaks_for(world)) == (1, identity)
    assert heard_in(world, 100) >= 9


def test_a_machine_whose_node_was_deleted_while_it_was_off_registers_another_one(world: VirtualWorld) -> None:
    machine = world.join_one()
    uid = uid_of(world, machine.node_name)
    world.machines.stop(machine.instance_id)
    world.machines.replace_node(machine.instance_id)
    world.advance(HOUR)
    assert world.node_names == []
    world.machines.start(machine.instance_id)
    world.advance(TIMES.boot_seconds)
    assert uid_of(world, machine.node_name) not in (None, uid)
    assert len(world.joins()) == 1


def test_a_machine_stopped_while_it_boots_is_ready_once_it_was_started(world: VirtualWorld) -> None:
    machine = world.launch()
    world.advance(60)
    world.machines.stop(machine.instance_id)
    world.advance(HOUR)
    assert (world.node_names, world.ready) == ([], [])
    world.machines.start(machine.instance_id)
    world.machines.start(machine.instance_id)
    world.advance(TIMES.boot_seconds + HOUR)
    assert (world.node_names, world.ready) == ([machine.node_name], [machine.instance_id])


def test_stopping_twice_and_starting_what_runs_change_nothing(world: VirtualWorld) -> None:
    machine = world.join_one()
    world.machines.start(machine.instance_id)
    assert heard_in(world, 60) >= 5
    world.machines.stop(machine.instance_id)
    world.advance(TIMES.node_unready_seconds - 5)
    world.machines.stop(machine.instance_id)
    world.advance(5)
    assert ready(world) == {machine.node_name: False}


def test_a_stopped_machine_that_ends_takes_its_node_with_it(world: VirtualWorld) -> None:
    machine = world.join_one()
    world.machines.stop(machine.instance_id)
    world.advance(HOUR)
    world.machines.terminate(machine.instance_id)
    world.advance(TIMES.node_gone_seconds)
    assert world.node_names == []


@pytest.mark.parametrize("hostname", ["dhcp-17-4.lab.example", "IP-10-0-0-1.EC2.INTERNAL"])
def test_a_host_name_that_differs_is_told_beside_the_node_name(world: VirtualWorld, hostname: str) -> None:
    machine = world.launch()
    world.machines.rename(machine.instance_id, hostname=hostname)
    world.apply_agent()
    world.give_token()
    world.advance(TIMES.boot_seconds + 5)
    (join,) = world.joins()
    assert join.body["hostname"] == hostname
    assert join.body["inventory"]["os"] == {"kubernetesNodeName": machine.node_name}
    assert world.node_names == [machine.node_name]


def test_a_host_name_that_changes_while_bcd_runs_disturbs_nothing(world: VirtualWorld) -> None:
    machine = world.join_one()
    world.machines.rename(machine.instance_id, hostname="other")
    assert heard_in(world, 100) >= 9
    assert len(world.joins()) == 1


def test_a_kubelet_under_another_name_leaves_its_former_node_behind_until_the_machine_ends(
    world: VirtualWorld,
) -> None:
    machine = world.join_one()
    identity = speaks_for(world)
    world.take_token()
    world.machines.rename(machine.instance_id, node_name="renamed.ec2.internal")
    world.advance(TIMES.node_unready_seconds + 20)
    assert ready(world) == {machine.node_name: False, "renamed.ec2.internal": True}
    assert (len(world.joins()), speaks_for(world)) == (1, identity)
    assert last_inventory(world)["os"] == {"kubernetesNodeName": "renamed.ec2.internal"}
    world.machines.terminate(machine.instance_id)
    world.advance(TIMES.node_gone_seconds)
    assert world.node_names == []


def test_a_renamed_machine_keeps_its_name_when_its_cloud_changes_its_labels(world: VirtualWorld) -> None:
    machine = world.join_one()
    world.machines.rename(machine.instance_id, node_name="renamed.ec2.internal")
    world.settle()
    world.machines.change(machine_with(machine, team="a"))
    world.settle()
    labels = {named(node): node["metadata"]["labels"].get("team") for node in world.cluster.nodes()}
    assert labels == {machine.node_name: None, "renamed.ec2.internal": "a"}


def machine_with(machine: Machine, **labels: str) -> Machine:
    return replace(machine, labels={**machine.labels, **labels})


def test_a_node_registered_again_at_once_has_another_uid_and_its_bcd_goes_on(world: VirtualWorld) -> None:
    machine = world.join_one()
    uid = uid_of(world, machine.node_name)
    world.machines.replace_node(machine.instance_id)
    world.settle()
    assert uid_of(world, machine.node_name) not in (None, uid)
    assert heard_in(world, 100) >= 9
    assert len(world.joins()) == 1


def test_a_node_registered_again_after_an_hour_has_no_pods_meanwhile_and_its_bcd_needs_no_token(
    world: VirtualWorld,
) -> None:
    machine = world.join_one()
    uid, identity = uid_of(world, machine.node_name), speaks_for(world)
    world.take_token()
    world.machines.replace_node(machine.instance_id, after_seconds=HOUR)
    world.settle()
    assert world.node_names == []
    assert heard_in(world, TIMES.orphaned_pods_seconds) >= 5
    assert heard_in(world, HOUR - TIMES.orphaned_pods_seconds - 1) == 0
    assert world.node_names == []
    world.advance(1)
    assert uid_of(world, machine.node_name) not in (None, uid)
    assert heard_in(world, 100) >= 9
    assert (len(world.joins()), speaks_for(world)) == (1, identity)


def test_a_machine_that_ends_while_its_node_is_away_never_registers_again(world: VirtualWorld) -> None:
    machine = world.join_one()
    world.machines.replace_node(machine.instance_id, after_seconds=HOUR)
    world.advance(30)
    world.machines.terminate(machine.instance_id)
    world.advance(2 * HOUR)
    assert world.node_names == []


@pytest.mark.parametrize("seconds", [0.0, HOUR])
def test_another_machine_of_the_same_name_has_a_fresh_disk_and_other_gpus(world: VirtualWorld, seconds: float) -> None:
    machine = world.join_one()
    uid = uid_of(world, machine.node_name)
    world.give_token()
    world.machines.replace_machine(machine.instance_id, after_seconds=seconds)
    world.settle()
    if seconds:
        assert uid_of(world, machine.node_name) == uid
        assert heard_in(world, TIMES.node_gone_seconds) == 0
        assert world.node_names == []
        world.advance(seconds - TIMES.node_gone_seconds)
    assert uid_of(world, machine.node_name) not in (None, uid)
    world.advance(60)
    first, second = world.joins()
    assert first.body["inventory"]["os"] == second.body["inventory"]["os"]
    assert first.body["identity"] != second.body["identity"]
    devices = [{gpu["id"] for gpu in join.body["inventory"]["gpus"]} for join in (first, second)]
    assert not devices[0] & devices[1]
    assert world.ready == [machine.instance_id]


def test_a_lost_machine_is_what_its_cloud_hears_of(world: VirtualWorld) -> None:
    machine = world.join_one()
    told: list[str] = []
    world.machines.reclaim = told.append
    world.machines.lose(machine.instance_id)
    assert told == [machine.instance_id]


def test_a_machine_that_is_not_there_is_refused_whatever_is_asked_of_it(world: VirtualWorld) -> None:
    ended = world.launch()
    world.machines.terminate(ended.instance_id)
    machines = world.machines
    for instance_id in (ended.instance_id, "i-unknown"):
        for call in (
            machines.preempt,
            machines.lose,
            machines.cut_off,
            machines.stop,
            machines.start,
            machines.rename,
            machines.replace_node,
            machines.replace_machine,
        ):
            with pytest.raises(NoSuchMachine, match=instance_id):
                call(instance_id)
