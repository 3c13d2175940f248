# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machines of node pools, zone by zone: started, ended, lost, replaced, and how a node pool fares with them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final
from uuid import uuid4

from google.cloud.container_v1.types import cluster_service as api
from google.rpc.code_pb2 import Code
from google.rpc.status_pb2 import Status

from ..engine import inventory
from ..neighbours import Machine
from .capacity import QUOTA, STOCKOUT
from .machine_types import gpu_model
from .project import PROJECT_ID, region
from .records import Cluster, Instance, Message, NodePool, Operation, PoolStatus
from .state import CLOUD, State

_EFFECTS: Final = {1: "NoSchedule", 2: "PreferNoSchedule", 3: "NoExecute"}
"""By NodeTaint.Effect."""

_FIRST_ID: Final = 10**18
"""Instance ids are numbers of 19 digits."""


def work(state: State, cluster: Cluster, pool: NodePool, operation: Operation) -> None:
    """Bring a node pool to its size; the operation waits for that, or until its patience is over."""
    operation.waits_for.add(pool.name)
    pool.operation = operation
    follow(state, cluster, pool)

    def over() -> None:
        if pool.operation is operation:
            _fail(state, cluster, pool, operation)

    if pool.operation is operation:
        state.after(state.timings.capacity_wait, kind="wait-for-machines", target=pool.name, finish=over)


def follow(state: State, cluster: Cluster, pool: NodePool) -> None:
    """Start or end machines until each zone has its size, or has no room; a zone without room is tried again."""
    if cluster.pools.get(pool.name) is not pool or pool.shown.status == PoolStatus.STOPPING:
        return
    for zone in pool.groups:
        there = pool.of_zone(zone)
        for instance in there[: max(0, len(there) - pool.size)]:
            end(state, pool, instance.machine.instance_id)
        for _missing in range(pool.size - len(there)):
            if state.capacity.lacks(pool.machine_type, zone, spot=pool.spot) is None:
                launch(state, cluster, pool, zone)
    settle(state, cluster, pool)
    if len(pool.instances) < pool.total and not pool.seeks:
        pool.seeks = True

        def again() -> None:
            pool.seeks = False
            follow(state, cluster, pool)

        state.after(state.timings.replace, kind="start-machines", target=pool.name, finish=again)


def settle(state: State, cluster: Cluster, pool: NodePool) -> None:
    """A node pool whose machines are all there is RUNNING, and what waited for them is done; conditions stay."""
    if not pool.complete:
        return
    operation, pool.operation = pool.operation, None
    if operation is not None or pool.shown.status in (PoolStatus.ERROR, PoolStatus.RUNNING_WITH_ERROR):
        pool.shown.status = PoolStatus.RUNNING
        pool.shown.status_message = ""
    if operation is not None:
        arrived(state, cluster, operation, pool.name)
    elif cluster.shown.status == api.Cluster.Status.ERROR:
        cluster.shown.status = api.Cluster.Status.RUNNING


def arrived(state: State, cluster: Cluster, operation: Operation, pool: str, error: Status | None = None) -> None:
    """An operation need not wait for a node pool any more; with the last one it is done."""
    operation.waits_for.discard(pool)
    if error is not None:
        operation.shown.error.CopyFrom(error)
    if operation.waits_for:
        return
    failed = operation.shown.error if operation.shown.HasField("error") else None
    state.finish(operation, failed)
    if cluster.shown.status == api.Cluster.Status.PROVISIONING:
        wanted = [p for p in cluster.pools.values() if p.total]
        lost = bool(wanted) and all(p.shown.status == PoolStatus.ERROR for p in wanted)
        cluster.shown.status = api.Cluster.Status.ERROR if lost else api.Cluster.Status.RUNNING
        for pool_ in wanted if lost else ():
            cluster.shown.conditions.extend(pool_.shown.conditions)


def launch(state: State, cluster: Cluster, pool: NodePool, zone: str) -> None:
    """Start one machine in a zone; one that was lost comes back under its name."""
    state.launched += 1
    vacant = pool.vacant.get(zone)
    name = vacant.pop(0) if vacant else f"{pool.groups[zone]}-{uuid4().hex[:4]}"
    accelerators = pool.shown.config.accelerators
    machine = Machine(
        cluster=cluster.api_name,
        node_group=pool.name,
        instance_id=str(_FIRST_ID + state.launched),
        instance_type=pool.machine_type,
        zone=zone,
        node_name=name,
        provider_id=f"gce://{PROJECT_ID}/{zone}/{name}",
        labels=labels(pool, name, zone),
        taints=taints(pool),
        spot=pool.spot,
        gpus=sum(accelerator.accelerator_count for accelerator in accelerators),
        gpu_model=gpu_model(accelerators[0].accelerator_type) if accelerators else "",
    )
    pool.instances[machine.instance_id] = Instance(machine=machine, generation=pool.generation)
    state.engine.inventory.add(
        CLOUD,
        inventory.MACHINE,
        machine.instance_id,
        cluster=cluster.name,
        node_pool=pool.name,
        node_name=name,
        zone=zone,
    )
    state.later(partial(state.machines.launch, machine, partial(_ready, state, cluster, pool, machine.instance_id)))


def end(state: State, pool: NodePool, instance_id: str) -> None:
    """End one machine, now."""
    del pool.instances[instance_id]
    state.engine.inventory.remove(CLOUD, inventory.MACHINE, instance_id)
    state.later(partial(state.machines.terminate, instance_id))


def lose(state: State, cluster: Cluster, pool: NodePool, instance_id: str) -> None:
    """A machine is gone although nobody here ended it: another comes under its name after a while."""
    machine = pool.instances[instance_id].machine
    end(state, pool, instance_id)
    pool.vacant.setdefault(machine.zone, []).append(machine.node_name)
    again = partial(follow, state, cluster, pool)
    state.after(state.timings.replace, kind="replace-machine", target=pool.name, finish=again)


def relabel(state: State, pool: NodePool) -> None:
    """Labels and taints of a node pool that were changed reach the Nodes that stand."""
    for instance in pool.instances.values():
        before = instance.machine
        changed = replace(before, labels=labels(pool, before.node_name, before.zone), taints=taints(pool))
        if changed != before:
            instance.machine = changed
            state.later(partial(state.machines.change, changed))


def labels(pool: NodePool, node: str, zone: str) -> dict[str, str]:
    """All labels that a machine registers its Node with."""
    config = pool.shown.config
    found = {
        **config.labels,
        "cloud.google.com/gke-nodepool": pool.name,
        "cloud.google.com/gke-os-distribution": "cos",
        "cloud.google.com/machine-family": config.machine_type.partition("-")[0],
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": config.machine_type,
        "topology.kubernetes.io/region": region(zone),
        "topology.kubernetes.io/zone": zone,
    }
    if config.accelerators:
        found["cloud.google.com/gke-accelerator"] = config.accelerators[0].accelerator_type
    if config.spot:
        found["cloud.google.com/gke-spot"] = "true"
    found["cloud.google.com/gke-provisioning"] = "spot" if config.spot else "standard"
    return found


def taints(pool: NodePool) -> tuple[dict[str, str], ...]:
    """The taints of a node pool as Kubernetes spells them."""
    return tuple(
        {"key": taint.key, "value": taint.value, "effect": _EFFECTS[taint.effect]} for taint in pool.shown.config.taints
    )


def shortage(state: State, pool: NodePool) -> Status:
    """The error of an operation whose machines did not all come, in GKE's words."""
    zones = [zone for zone in pool.groups if len(pool.of_zone(zone)) < pool.size]
    minutes, seconds = divmod(int(state.timings.capacity_wait), 60)
    running = sum(instance.ready for instance in pool.instances.values())
    text = (
        f"Google Compute Engine: Not all instances running in IGM after {minutes}m{seconds}s. "
        f"Expected {pool.total}, running {running}, transitioning {pool.total - running}."
    )
    code = state.capacity.lacks(pool.machine_type, zones[0], spot=pool.spot) if zones else None
    if code is not None:
        why = f"The zone '{zones[0]}' does not have enough resources available to fulfill the request."
        if code == QUOTA:
            why = f"Quota exceeded for {pool.machine_type} in region {region(zones[0])}."
        text += f" Current errors: [{code}]: Instance '{pool.groups[zones[0]]}-0000' creation failed: {why}"
    return Status(code=Code.Value("RESOURCE_EXHAUSTED"), message=text)


def condition(error: Status) -> Message:
    """The condition that shows an operation's error."""
    codes = api.StatusCondition.Code
    known = {STOCKOUT: codes.GCE_STOCKOUT, QUOTA: codes.GCE_QUOTA_EXCEEDED}
    code = next((shown for name, shown in known.items() if f"[{name}]" in error.message), codes.UNKNOWN)
    return api.StatusCondition.pb()(code=code, canonical_code=error.code, message=error.message)


def _fail(state: State, cluster: Cluster, pool: NodePool, operation: Operation) -> None:
    """The operation's patience is over; the node pool stays, and goes on trying."""
    pool.operation = None
    error = shortage(state, pool)
    serves = any(instance.ready for instance in pool.instances.values())
    pool.shown.status = PoolStatus.RUNNING_WITH_ERROR if serves else PoolStatus.ERROR
    pool.shown.status_message = error.message
    pool.shown.conditions.append(condition(error))
    operation.shown.nodepool_conditions.append(condition(error))
    arrived(state, cluster, operation, pool.name, error)


def _ready(state: State, cluster: Cluster, pool: NodePool, instance_id: str) -> None:
    with state.changing():
        instance = pool.instances.get(instance_id)
        if instance is not None:
            instance.ready = True
            settle(state, cluster, pool)
