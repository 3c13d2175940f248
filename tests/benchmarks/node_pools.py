# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodepool.one_vs_eks_nodegroup, nodepool.twenty_vs_loop: bc_nodepool beside community.aws.eks_nodegroup.

On the same emulated EKS and the same node groups, with nothing to change. bc_nodepool goes by the records (drift is the
daemon's and bc_fleet's to find); eks_nodegroup describes the node group, and once more for its result.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from .community import Community, fetch
from .documents import idle_pools
from .item import Bar, Item
from .playbooks import Playbooks
from .product import Desk, desk, emulated_cloud
from .timing import Failed, by_turns

ONE: Final = Item(name="nodepool.one_vs_eks_nodegroup", unit="x", side=Bar.AT_MOST, bar=1.3)
TWENTY: Final = Item(name="nodepool.twenty_vs_loop", unit="x", side=Bar.AT_LEAST, bar=10.0)
ITEMS: Final = (ONE, TWENTY)

_CLUSTERS: Final = 3
_EACH: Final = 7
"""Three times seven, of which twenty are used: a cluster holds at most ten node pools, its flavors included."""

_MACHINE_TYPE: Final = "m7i.large"
_ROUNDS_OF_ONE: Final = 5
_ROUNDS_OF_TWENTY: Final = 2
"""Each takes half a minute of community.aws."""

NodeGroup = Mapping[str, Any]


def measure(folder: Path) -> Iterator[Item]:
    """Make the node pools, then run both modules by turns."""
    try:
        community = fetch()
    except Failed as error:
        for one in ITEMS:
            yield replace(one, note=f"community.aws cannot be had: {error}")
        return
    with emulated_cloud() as cloud:
        at = desk(folder, cloud.environment, BC_FLEET_RECONCILE_CONVERGING_SECONDS="1")
        names = _make_node_pools(at)
        groups = _node_groups(at.environment)
        run = Playbooks(desk=at, collections=(community.path,), whole={})
        yield _measure_one(run, community, names, groups)
        yield _measure_twenty(run, community, names, groups)


def _make_node_pools(at: Desk) -> list[tuple[str, str]]:
    """Three clusters with their node pools; (pool, name) of each."""
    made = []
    _, done = at.module("bc_fleet", {"config": idle_pools(*[1] * _CLUSTERS)})
    for substrate in done["substrates"]:
        names = [(substrate["pool"], f"{substrate['pool']}-{number}") for number in range(_EACH)]
        at.module("bc_nodepool", {"pool": substrate["pool"], "node_pools": [_wanted(name) for _pool, name in names]})
        made += names
    return made


def _wanted(name: str, **more: str) -> dict[str, Any]:
    return {"name": name, "machine_type": _MACHINE_TYPE, "node_count": 0, **more}


def _node_groups(environment: Mapping[str, str]) -> dict[str, NodeGroup]:
    """Every node group by name, as EKS describes it."""
    import boto3

    eks = boto3.client(
        "eks",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        region_name=environment["AWS_DEFAULT_REGION"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
    return {
        name: eks.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]
        for cluster in eks.list_clusters()["clusters"]
        for name in eks.list_nodegroups(clusterName=cluster)["nodegroups"]
    }


def _theirs(group: NodeGroup) -> dict[str, Any]:
    """The arguments with which eks_nodegroup finds nothing to change: without its tags, which would be a call more."""
    scaling = group["scalingConfig"]
    return {
        "name": group["nodegroupName"],
        "cluster_name": group["clusterName"],
        "node_role": group["nodeRole"],
        "subnets": group["subnets"],
        "instance_types": group["instanceTypes"],
        "disk_size": group["diskSize"],
        "capacity_type": group["capacityType"],
        "labels": group.get("labels", {}),
        "scaling_config": {
            "min_size": scaling["minSize"],
            "max_size": scaling["maxSize"],
            "desired_size": scaling["desiredSize"],
        },
    }


def _measure_one(
    run: Playbooks, community: Community, names: Sequence[tuple[str, str]], groups: Mapping[str, NodeGroup]
) -> Item:
    [(pool, name), *_] = names
    ours = {"better_compute.fleet.bc_nodepool": {"pool": pool, "node_pools": [_wanted(name)]}}
    theirs = {"community.aws.eks_nodegroup": _theirs(groups[name])}
    taken = by_turns(
        {
            "ours": lambda: run.task_seconds("one of ours", ours),
            "theirs": lambda: run.task_seconds("one of theirs", theirs),
        },
        rounds=_ROUNDS_OF_ONE,
    )
    note = (
        f"task time, medians of {_ROUNDS_OF_ONE} ansible-playbook runs by turns: {taken['ours']:.2f} s beside "
        f"{taken['theirs']:.2f} s; whole runs {_median(run, 'one of ours')} and {_median(run, 'one of theirs')}"
    )
    return replace(ONE, value=taken["ours"] / taken["theirs"], note=note, versions=community.versions)


def _measure_twenty(
    run: Playbooks, community: Community, names: Sequence[tuple[str, str]], groups: Mapping[str, NodeGroup]
) -> Item:
    chosen = names[:20]
    ours = {"better_compute.fleet.bc_nodepool": {"node_pools": [_wanted(name, pool=pool) for pool, name in chosen]}}
    # Each argument out of the item, as a person writes a loop.
    arguments = [_theirs(groups[name]) for _pool, name in chosen]
    theirs = {
        "community.aws.eks_nodegroup": {key: f"{{{{ item.{key} }}}}" for key in arguments[0]},
        "loop": arguments,
        "loop_control": {"label": "{{ item.name }}"},
    }
    taken = by_turns(
        {
            "ours": lambda: run.task_seconds("twenty of ours", ours),
            "theirs": lambda: run.task_seconds("twenty of theirs", theirs),
        },
        rounds=_ROUNDS_OF_TWENTY,
    )
    note = (
        f"task time, medians of {_ROUNDS_OF_TWENTY} ansible-playbook runs by turns: 20 node pools of {_CLUSTERS} "
        f"clusters in one task, {taken['ours']:.2f} s; a loop of 20, {taken['theirs']:.2f} s"
    )
    return replace(TWENTY, value=taken["theirs"] / taken["ours"], note=note, versions=community.versions)


def _median(run: Playbooks, name: str) -> str:
    return f"{statistics.median(run.whole[name]):.2f} s"
