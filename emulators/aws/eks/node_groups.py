# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Managed node groups: created, read, resized, deleted."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

from ..errors import AwsError, in_use, invalid_parameter, not_found
from . import clusters, constraints, instances
from .records import ACTIVE, CREATE_FAILED, CREATING, DEGRADED, DELETING, UPDATING, Document, NodeGroup, Update
from .state import CLOUD, NODE_GROUP_KIND, Asked, State, check_tags, page

_DEFAULT_SCALING: Final = {"minSize": 1, "maxSize": 2, "desiredSize": 2}
_DEFAULT_DISK_GIB: Final = 20
_SETTLED: Final = (ACTIVE, DEGRADED, CREATE_FAILED)
"""The states in which a node group can be deleted: nothing else is going on with it."""


def create(state: State, asked: Asked) -> Document:
    """CreateNodegroup."""
    cluster = state.cluster(asked["clusterName"])
    made: list[NodeGroup] = []

    def current() -> Document | None:
        alive = state.clusters.get(cluster.name) is cluster and cluster.node_groups.get(made[0].name) is made[0]
        return {"nodegroup": made[0].describe()} if alive else None

    def do() -> Document:
        made.append(_create(state, asked))
        return {"nodegroup": made[0].describe()}

    return state.once(f"CreateNodegroup {cluster.uuid}", asked, current=current, do=do)


def _create(state: State, asked: Asked) -> NodeGroup:
    cluster = clusters.active(state, asked["clusterName"])
    name: str = asked["nodegroupName"]
    if name in cluster.node_groups:
        text = f"NodeGroup already exists with name {name} and cluster name {cluster.name}"
        raise in_use(text, clusterName=cluster.name, nodegroupName=name)
    check_tags(asked.get("tags", {}))
    zones = constraints.check_new(state, cluster, asked)
    scaling = asked.get("scalingConfig", _DEFAULT_SCALING)
    if set(scaling) != set(_DEFAULT_SCALING):
        raise invalid_parameter("scalingConfig needs minSize, maxSize and desiredSize", nodegroupName=name)
    constraints.check_scaling(scaling)
    now = state.engine.clock.now()
    group = NodeGroup(
        name=name,
        cluster=cluster.name,
        uuid=str(uuid4()),
        created_at=now,
        modified_at=now,
        version=cluster.version,
        node_role=asked["nodeRole"],
        subnets=list(asked["subnets"]),
        zones=zones,
        instance_types=list(asked.get("instanceTypes", constraints.DEFAULT_INSTANCE_TYPES)),
        ami_type=asked.get("amiType", constraints.DEFAULT_AMI_TYPE),
        capacity_type=asked.get("capacityType", "ON_DEMAND"),
        disk_gib=asked.get("diskSize", _DEFAULT_DISK_GIB),
        scaling=dict(scaling),
        labels=dict(asked.get("labels", {})),
        taints=list(asked.get("taints", [])),
        update_config=asked.get("updateConfig", {"maxUnavailable": 1}),
        tags=dict(asked.get("tags", {})),
    )
    cluster.node_groups[name] = group
    state.engine.inventory.add(CLOUD, NODE_GROUP_KIND, f"{cluster.name} {name}", cluster=cluster.name)

    def launch() -> None:
        instances.adjust(state, group)
        group.check_created()

    def give_up() -> None:
        if group.status != CREATING:
            return
        group.status = CREATE_FAILED
        short = [instances.launch_failure(state, group)] if group.missing > 0 else []
        group.issues = [*short, instances.join_failure(group)]

    state.after(state.timings.node_group_launch, kind="create-node-group", target=group.arn, finish=launch)
    state.after(state.timings.node_wait, kind="wait-for-nodes", target=group.arn, finish=give_up)
    return group


def describe(state: State, asked: Asked) -> Document:
    """DescribeNodegroup."""
    return {"nodegroup": state.node_group(asked["clusterName"], asked["nodegroupName"]).describe()}


def list_names(state: State, asked: Asked) -> Document:
    """ListNodegroups."""
    return page(list(state.cluster(asked["clusterName"]).node_groups), asked, key="nodegroups")


def delete(state: State, asked: Asked) -> Document:
    """DeleteNodegroup: its instances end at once, whatever it failed at."""
    group = state.node_group(asked["clusterName"], asked["nodegroupName"])
    if group.status not in _SETTLED:
        text = f"Nodegroup {group.name} is in {group.status} state and cannot be deleted"
        raise in_use(text, clusterName=group.cluster, nodegroupName=group.name)
    group.status = DELETING
    for instance_id in list(group.instances):
        instances.end(state, group, instance_id)

    def gone() -> None:
        del state.cluster(group.cluster).node_groups[group.name]
        state.engine.inventory.remove(CLOUD, NODE_GROUP_KIND, f"{group.cluster} {group.name}")

    state.after(state.timings.node_group_delete, kind="delete-node-group", target=group.arn, finish=gone)
    return {"nodegroup": group.describe()}


def update_config(state: State, asked: Asked) -> Document:
    """UpdateNodegroupConfig: the size. Labels, taints and the update's own settings are not emulated."""
    group = state.node_group(asked["clusterName"], asked["nodegroupName"])
    made: list[Update] = []

    def current() -> Document | None:
        return {"update": made[0].describe()}

    def do() -> Document:
        made.append(_update_scaling(state, group, asked))
        return {"update": made[0].describe()}

    return state.once(f"UpdateNodegroupConfig {group.uuid}", asked, current=current, do=do)


def _update_scaling(state: State, group: NodeGroup, asked: Asked) -> Update:
    about = {"clusterName": group.cluster, "nodegroupName": group.name}
    for other in ("labels", "taints", "updateConfig", "nodeRepairConfig", "warmPoolConfig"):
        if asked.get(other) is not None:
            raise AwsError(501, "NotImplementedException", f"The emulator does not update {other}.", **about)
    wanted: dict[str, int] = asked.get("scalingConfig") or {}
    if not wanted:
        raise invalid_parameter("No changes were provided for the node group.", **about)
    if group.status != ACTIVE:
        raise in_use("Nodegroup cannot be updated as it is currently not in Active State", **about)
    scaling = {**group.scaling, **wanted}
    constraints.check_scaling(scaling)
    update = Update(
        id=str(uuid4()),
        type="ConfigUpdate",
        params=[{"type": _parameter_type(name), "value": str(value)} for name, value in sorted(wanted.items())],
        created_at=state.engine.clock.now(),
    )
    group.updates[update.id] = update
    group.status = UPDATING

    def finish() -> None:
        update.status = "Successful"
        group.scaling = scaling
        group.modified_at = state.engine.clock.now()
        instances.adjust(state, group)
        instances.keep_trying(state, group)

    state.after(state.timings.node_group_update, kind="update-node-group", target=group.arn, finish=finish)
    return update


def describe_update(state: State, asked: Asked) -> Document:
    """DescribeUpdate: of a node group; clusters have none here."""
    update = _updates(state, asked).get(asked["updateId"])
    if update is None:
        raise not_found(f"No update found for ID: {asked['updateId']}", clusterName=asked["name"])
    return {"update": update.describe()}


def list_updates(state: State, asked: Asked) -> Document:
    """ListUpdates: of a node group; clusters have none here."""
    return page(list(_updates(state, asked)), asked, key="updateIds")


def _updates(state: State, asked: Asked) -> dict[str, Update]:
    name: Any = asked.get("nodegroupName")
    if name is None:
        state.cluster(asked["name"])
        return {}
    return state.node_group(asked["name"], name).updates


def _parameter_type(name: str) -> str:
    return name[0].upper() + name[1:]
