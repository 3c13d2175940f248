# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Auto Scaling group behind a node group: launches what is missing, ends what is too much, replaces losses."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Final
from uuid import uuid4

from ...engine import inventory
from ...neighbours import Machine
from ..account import REGION
from ..instance_types import instance_type
from .records import ACTIVE, CREATING, DEGRADED, Document, Instance, NodeGroup
from .state import CLOUD, State

_ADDRESSES_A_BLOCK: Final = 250
_FIRST_ADDRESS: Final = 4
"""AWS keeps the first four addresses of a subnet."""

_ZONE_OFFSETS: Final = {"a": 0, "b": 64, "c": 128, "e": 192}
"""Third number of the first address in each zone's subnet (network.SUBNETS)."""

_EFFECTS: Final = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}


def adjust(state: State, group: NodeGroup) -> int:
    """Launch or end instances until there are as many as desired, or no capacity is left.

    Returns:
        How many were launched.
    """
    while group.missing < 0:
        end(state, group, _victim(group))
    planned = _zone_sizes(group)
    launched = 0
    for _instance in range(group.missing):
        # A zone without capacity keeps its share: the others do not make up for it.
        zone = min(group.zones, key=lambda candidate: planned[candidate])
        planned[zone] += 1
        if _has_capacity(state, group, zone):
            _launch(state, group, zone)
            launched += 1
    return launched


def keep_trying(state: State, group: NodeGroup) -> None:
    """After an adjustment: a group that is short is DEGRADED, and capacity is looked for again after a while."""
    if group.missing <= 0:
        return
    group.status = DEGRADED
    group.issues = [launch_failure(state, group)]
    if group.seeks_capacity:
        return
    group.seeks_capacity = True

    def again() -> None:
        group.seeks_capacity = False
        follow(state, group)

    state.after(state.timings.replace, kind="launch-instances", target=group.arn, finish=again)


def follow(state: State, group: NodeGroup) -> None:
    """The Auto Scaling group comes to its desired capacity by itself, without an update of the node group.

    What makes a DEGRADED node group ACTIVE is nothing but instances that were launched (public reports): at size 0 it
    stays DEGRADED.
    """
    if group.status == CREATING:
        adjust(state, group)
        group.check_created()
    elif group.status in (ACTIVE, DEGRADED):
        launched = adjust(state, group)
        if launched and group.missing <= 0:
            group.status = ACTIVE
            group.issues = []
        keep_trying(state, group)


def relabel(state: State, group: NodeGroup) -> None:
    """Labels and taints of a node group that changed reach the Nodes that stand."""
    for instance in group.instances.values():
        machine = instance.machine
        changed = replace(machine, labels=_labels(group, machine), taints=_taints(group))
        if changed != machine:
            instance.machine = changed
            state.later(partial(state.machines.change, changed))


def lose(state: State, group: NodeGroup, instance_id: str) -> None:
    """An instance is gone although nobody here ended it (reclaimed, broken): it is replaced after a while."""
    end(state, group, instance_id)
    state.after(state.timings.replace, kind="replace-instance", target=group.arn, finish=lambda: follow(state, group))


def end(state: State, group: NodeGroup, instance_id: str) -> None:
    """Terminate one instance, now."""
    del group.instances[instance_id]
    state.engine.inventory.remove(CLOUD, inventory.MACHINE, instance_id)
    state.later(partial(state.machines.terminate, instance_id))


def launch_failure(state: State, group: NodeGroup) -> Document:
    """The health issue of a group that found no capacity, in AWS's words."""
    market = "Spot" if group.spot else "On-Demand"
    short = next((zone for zone in group.zones if not _has_capacity(state, group, zone)), group.zones[0])
    message = (
        f"Could not launch {market} Instances. InsufficientInstanceCapacity - We currently do not have sufficient "
        f"{group.instance_types[0]} capacity in the Availability Zone you requested ({short}). Our system will be "
        f"working on provisioning additional capacity. Launching EC2 instance failed."
    )
    return {"code": "AsgInstanceLaunchFailures", "message": message, "resourceIds": [group.auto_scaling_group]}


def join_failure(group: NodeGroup) -> Document:
    """The health issue of a group whose instances did not join; instances that never were have made-up ids."""
    absent = [instance_id for instance_id, instance in group.instances.items() if not instance.ready]
    dummies = [f"DUMMY_{uuid4()}" for _instance in range(max(0, group.missing))]
    return {
        "code": "NodeCreationFailure",
        "message": "Instances failed to join the kubernetes cluster",
        "resourceIds": [*absent, *dummies],
    }


def _victim(group: NodeGroup) -> str:
    """The oldest instance in the fullest zone."""
    sizes = _zone_sizes(group)
    fullest = max(group.zones, key=lambda zone: sizes[zone])
    return next(key for key, instance in group.instances.items() if instance.machine.zone == fullest)


def _zone_sizes(group: NodeGroup) -> Counter[str]:
    return Counter(instance.machine.zone for instance in group.instances.values())


def _has_capacity(state: State, group: NodeGroup, zone: str) -> bool:
    return state.capacity.has(group.instance_types[0], zone, spot=group.spot)


def _launch(state: State, group: NodeGroup, zone: str) -> None:
    machine = _machine(state, group, zone)
    release = group.rolling_to or group.release
    group.instances[machine.instance_id] = Instance(machine=machine, release=release)
    state.engine.inventory.add(
        CLOUD,
        inventory.MACHINE,
        machine.instance_id,
        cluster=group.cluster,
        node_group=group.name,
        node_name=machine.node_name,
        zone=zone,
    )
    state.later(partial(state.machines.launch, machine, partial(_ready, state, group, machine.instance_id)))


def _ready(state: State, group: NodeGroup, instance_id: str) -> None:
    with state.changing():
        instance = group.instances.get(instance_id)
        if instance is not None:
            instance.ready = True
        group.check_created()


def _machine(state: State, group: NodeGroup, zone: str) -> Machine:
    state.launched += 1
    number = state.launched
    kind = instance_type(group.instance_types[0])
    assert kind is not None, "checked when the node group was created"
    block, host = divmod(number, _ADDRESSES_A_BLOCK)
    node_name = f"ip-10-0-{_ZONE_OFFSETS[zone[-1]] + block % 64}-{_FIRST_ADDRESS + host}.ec2.internal"
    instance_id = f"i-{number:017x}"
    machine = Machine(
        cluster=group.cluster,
        node_group=group.name,
        instance_id=instance_id,
        instance_type=kind.name,
        zone=zone,
        node_name=node_name,
        provider_id=f"aws:///{zone}/{instance_id}",
        labels={},
        taints=_taints(group),
        spot=group.spot,
        gpus=kind.gpus,
        gpu_model=kind.gpu_model,
    )
    return replace(machine, labels=_labels(group, machine))


def _labels(group: NodeGroup, machine: Machine) -> dict[str, str]:
    kind = instance_type(machine.instance_type)
    return {
        **group.labels,
        "eks.amazonaws.com/nodegroup": group.name,
        "eks.amazonaws.com/capacityType": group.capacity_type,
        "kubernetes.io/arch": "arm64" if kind is not None and "arm64" in kind.architectures else "amd64",
        "kubernetes.io/hostname": machine.node_name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine.instance_type,
        "topology.kubernetes.io/region": REGION,
        "topology.kubernetes.io/zone": machine.zone,
    }


def _taints(group: NodeGroup) -> tuple[dict[str, str], ...]:
    return tuple({**taint, "effect": _EFFECTS[taint["effect"]]} for taint in group.taints)
