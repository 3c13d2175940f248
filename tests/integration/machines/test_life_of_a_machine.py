# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine boots, joins, is booked, is preempted, cut off or switched off: the real bcd on it, on virtual time."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import RealClock, VirtualClock
from ansible_collections.better_compute.fleet.emulators.machines import MachineTimes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.tests.integration.machines.conftest import (
    START,
    TIMES,
    VirtualWorld,
    World,
    machine_number,
    open_world,
)
from ansible_collections.better_compute.fleet.tests.support.gateway_double import BOOKINGS, HEARTBEAT, JOIN


def state_files(world: World) -> dict[str, Path]:
    """What all bcds keep on their machines, by name."""
    return {path.name: path for path in Path(world.machines.folder).rglob("host/var/lib/bcd/*")}


def test_a_machine_has_booted_when_its_node_stands(world: VirtualWorld) -> None:
    machine = world.launch()
    world.advance(119)
    assert (world.node_names, world.ready) == ([], [])
    world.advance(1)
    assert (world.node_names, world.ready) == ([machine.node_name], [machine.instance_id])
    (node,) = world.cluster.nodes()
    assert node["spec"]["providerID"] == machine.provider_id
    assert machine.labels.items() <= node["metadata"]["labels"].items()


def test_a_machine_ended_while_it_boots_is_never_ready(world: VirtualWorld) -> None:
    machine = world.launch()
    world.advance(60)
    world.machines.terminate(machine.instance_id)
    world.advance(600)
    assert (world.node_names, world.ready) == ([], [])


def test_bcd_waits_for_its_daemon_set_and_for_its_token_and_then_joins(world: VirtualWorld) -> None:
    machine = world.launch()
    world.advance(200)
    world.apply_agent()
    world.advance(60)
    assert world.gateway.requests() == []
    world.give_token()
    world.advance(TIMES.secret_sync_seconds + 2)
    (join,) = world.joins()
    assert join.body["inventory"]["os"] == {"kubernetesNodeName": machine.node_name}
    assert [gpu["model"] for gpu in join.body["inventory"]["gpus"]] == ["H100", "H100"]
    world.take_token()
    before = world.heartbeats()
    world.advance(100)
    assert 10 <= world.heartbeats() - before <= 12


def test_a_machine_of_another_pool_runs_no_bcd(world: VirtualWorld) -> None:
    world.launch(pool=PoolId("pool_01k99999999999999999999999"))
    world.apply_agent()
    world.give_token()
    world.advance(600)
    assert world.gateway.requests() == []


def test_gpus_have_the_same_ids_whenever_a_machine_is_looked_at_and_no_other_machine_has_them(
    world: VirtualWorld,
) -> None:
    world.launch(1)
    world.launch(2)
    world.apply_agent()
    world.give_token(uses=2)
    world.advance(200)
    joined = [[gpu["id"] for gpu in join.body["inventory"]["gpus"]] for join in world.joins()]
    told = [
        [gpu["id"] for gpu in request.body["inventory"]["gpus"]]
        for request in world.gateway.requests(HEARTBEAT)
        if "inventory" in request.body
    ]
    assert len({device for devices in joined for device in devices}) == 4
    assert sorted(joined) == sorted(told)


def test_a_booking_is_known_on_the_machine_by_its_next_heartbeat(world: VirtualWorld) -> None:
    world.join_one()
    device = world.joins()[0].body["inventory"]["gpus"][0]["id"]
    world.gateway.book(("rsv_" + "1" * 26, (device,)))
    world.advance(10)
    kept = json.loads(state_files(world)["bookings.json"].read_text())
    assert kept["bookings"] == [{"reservationId": "rsv_" + "1" * 26, "deviceIds": [device]}]
    assert world.gateway.requests(BOOKINGS)[-1].body["waitSeconds"] == 0


def test_what_bcd_keeps_is_closed_to_others_and_goes_with_the_machine(world: VirtualWorld) -> None:
    machine = world.join_one()
    world.gateway.book(("rsv_" + "1" * 26, ("GPU-x",)))
    world.advance(10)
    files = state_files(world)
    assert set(files) == {"identity.json", "bookings.json"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files.values()} == {0o600}
    assert {stat.S_IMODE(path.parent.stat().st_mode) for path in files.values()} == {0o700}
    world.machines.terminate(machine.instance_id)
    world.settle()
    assert not any(path.exists() for path in files.values())
    assert list(Path(world.machines.folder).iterdir()) == []


def test_an_ended_machine_is_silent_at_once_and_its_node_lingers(world: VirtualWorld) -> None:
    machine = world.join_one()
    world.machines.terminate(machine.instance_id)
    world.settle()
    before = world.heartbeats()
    world.advance(59)
    assert world.node_names == [machine.node_name]
    world.advance(1)
    assert world.node_names == []
    assert world.heartbeats() == before
    assert world.machines.running() == ()


def test_a_node_of_the_same_name_that_came_meanwhile_stays(world: VirtualWorld) -> None:
    machine = world.join_one()
    world.machines.terminate(machine.instance_id)
    world.advance(30)
    successor = world.cluster.put_node(machine.node_name, labels=machine.labels)
    world.advance(300)
    assert [node["metadata"]["uid"] for node in world.cluster.nodes()] == [successor]


def test_a_spot_machine_goes_on_until_its_notice_is_over(world: VirtualWorld) -> None:
    machine = world.join_one()
    world.machines.preempt(machine.instance_id)
    before = world.heartbeats()
    world.advance(119)
    assert world.heartbeats() >= before + 10
    world.advance(1)
    after = world.heartbeats()
    world.advance(61)
    assert world.heartbeats() == after
    assert world.node_names == []


def test_a_machine_cut_off_is_silent_but_stands_and_is_the_same_node_afterwards(world: VirtualWorld) -> None:
    machine = world.join_one()
    before = world.heartbeats()
    world.machines.cut_off(machine.instance_id)
    world.advance(600)
    assert world.heartbeats() == before
    assert world.node_names == [machine.node_name]
    world.machines.cut_off(machine.instance_id, cut=False)
    world.advance(21)
    assert world.heartbeats() > before
    assert len(world.joins()) == 1


def test_a_gateway_that_was_away_hears_of_the_machine_again_without_a_new_join(world: VirtualWorld) -> None:
    world.join_one()
    world.take_token()
    world.gateway.stop()
    world.advance(600)
    before = world.heartbeats()
    world.gateway.start()
    world.advance(21)
    assert world.heartbeats() > before
    assert len(world.joins()) == 1


def test_a_machine_that_the_gateway_no_longer_knows_joins_again_without_a_new_pod(world: VirtualWorld) -> None:
    world.join_one()
    world.take_token()
    world.advance(TIMES.secret_sync_seconds + 2)
    world.gateway.double.nodes.clear()
    world.advance(60)
    assert len(world.joins()) == 1
    world.give_token()
    world.advance(TIMES.secret_sync_seconds + 40)
    assert len(world.joins()) == 2
    (identity,) = world.gateway.double.nodes
    assert world.gateway.requests(HEARTBEAT)[-1].bearer == identity


def test_changed_settings_replace_the_pod_and_the_machine_is_still_the_same_node(world: VirtualWorld) -> None:
    world.join_one()
    world.take_token()
    world.apply_agent(resource_name="bc.dev/other")
    world.settle()
    before = world.heartbeats()
    world.advance(30)
    assert world.heartbeats() >= before + 3
    assert len(world.joins()) == 1
    assert len(world.gateway.double.nodes) == 1


def test_a_removed_daemon_set_ends_bcd_and_leaves_the_machine(world: VirtualWorld) -> None:
    machine = world.join_one()
    world.remove_agent()
    world.advance(60)
    before = world.heartbeats()
    world.advance(60)
    assert world.heartbeats() == before
    assert world.node_names == [machine.node_name]


def test_a_daemon_set_that_refers_to_what_is_not_there_is_tried_again(world: VirtualWorld) -> None:
    world.launch()
    world.apply_agent()
    config_map = "/api/v1/namespaces/better-compute/configmaps/bcd"
    world.api.request("DELETE", config_map, body={"apiVersion": "v1", "kind": "DeleteOptions"})
    world.give_token()
    world.advance(300)
    assert world.gateway.requests() == []
    world.apply_agent()
    world.advance(300)
    assert len(world.joins()) == 1


def one_life() -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Two machines, second by second: how often each call had come, and which Nodes stood."""
    with open_world(VirtualWorld, VirtualClock(START), TIMES) as world:
        world.launch(1)
        world.launch(2)
        world.apply_agent()
        world.give_token(uses=2)
        for second in range(300):
            if second == 200:
                world.machines.terminate(machine_number(2).instance_id)
                world.settle()
            world.advance(1)
            yield len(world.joins()), world.heartbeats(), tuple(world.node_names)


def test_the_same_life_goes_the_same_way_second_by_second() -> None:
    first = list(one_life())
    assert first == list(one_life())
    assert first[-1][0] == 2
    assert len(first[-1][2]) == 1


@pytest.mark.parametrize("machines", [40])
def test_many_machines_share_one_thread(world: VirtualWorld, machines: int) -> None:
    world.apply_agent()
    world.give_token(uses=machines)
    for number in range(machines):
        world.launch(number, gpus=8)
    world.advance(150)
    assert len(world.joins()) == machines
    assert len(world.gateway.double.nodes) == machines


def test_on_real_time_a_booking_comes_by_the_long_poll() -> None:
    times = MachineTimes(boot_seconds=0.1, node_gone_seconds=0.1, secret_sync_seconds=0.1, spot_notice_seconds=0.1)
    with open_world(World, RealClock(), times) as world:
        world.apply_agent()
        world.give_token()
        machine = world.launch()
        world.gateway.until(JOIN, count=1)
        asked = world.gateway.until(BOOKINGS, count=2)
        assert asked.body["waitSeconds"] == 30
        world.gateway.book(("rsv_" + "1" * 26, ("GPU-x",)))
        assert world.gateway.until(BOOKINGS, count=3).body["version"] == "1"
        world.machines.terminate(machine.instance_id)
