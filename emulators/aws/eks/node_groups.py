# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Managed node groups: created, read, resized, deleted."""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from ..errors import in_use, invalid_parameter
from . import clusters, constraints, instances, versions
from .records import ACTIVE, CREATE_FAILED, CREATING, DEGRADED, DELETE_FAILED, DELETING, Document, NodeGroup
from .state import CLOUD, NODE_GROUP_KIND, Asked, State, check_tags, page

_DEFAULT_SCALING: Final = {"minSize": 1, "maxSize": 2, "desiredSize": 2}
_DEFAULT_DISK_GIB: Final = 20
_SETTLED: Final = (ACTIVE, DEGRADED, CREATE_FAILED, DELETE_FAILED)
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
    version, release = versions.image(
        cluster, version=asked.get("version"), release=asked.get("releaseVersion"), standing=None
    )
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
        version=version,
        release=release,
        node_role=asked["nodeRole"],
        subnets=list(asked["subnets"]),
        zones=zones,
        instance_types=list(asked.get("instanceTypes", constraints.DEFAULT_INSTANCE_TYPES)),
        ami_type=asked.get("amiType", constraints.DEFAULT_AMI_TYPE),
        capacity_type=asked.get("capacityType", "ON_DEMAND"),
        disk_gib=asked.get("diskSize", _DEFAULT_DISK_GIB),
        scaling=dict(scaling),
        desired=scaling["desiredSize"],
        labels=dict(asked.get("labels", {})),
        taints=list(asked.get("taints", [])),
        update_config=dict(asked.get("updateConfig", constraints.DEFAULT_UPDATE_CONFIG)),
        tags=dict(asked.get("tags", {})),
    )
    cluster.node_groups[name] = group
    state.engine.inventory.add(CLOUD, NODE_GROUP_KIND, f"{cluster.name} {name}", cluster=cluster.name)

    failure = state.failures.take("create", f"{cluster.name}/{name}")

    def launch() -> None:
        if failure is not None:
            group.status = CREATE_FAILED
            group.issues = [failure.issue()]
            return
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
    failure = state.failures.take("delete", f"{group.cluster}/{group.name}")
    for instance_id in list(group.instances):
        instances.end(state, group, instance_id)

    def gone() -> None:
        if failure is not None:
            group.status = DELETE_FAILED
            group.issues = [failure.issue()]
            return
        del state.cluster(group.cluster).node_groups[group.name]
        state.engine.inventory.remove(CLOUD, NODE_GROUP_KIND, f"{group.cluster} {group.name}")

    state.after(state.timings.node_group_delete, kind="delete-node-group", target=group.arn, finish=gone)
    return {"nodegroup": group.describe()}
