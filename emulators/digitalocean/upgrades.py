# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades: the control plane first, then all nodes of all node pools, each replaced by one of another name.

With surge upgrade there is a new node before an old one goes, and so one more than the count for a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from . import catalogue, nodes
from .records import RUNNING, UPGRADING, Cluster
from .refusals import conflict, invalid
from .state import State


def available(cluster: Cluster) -> dict[str, Any]:
    """GET …/upgrades."""
    slugs = catalogue.upgrades(cluster.version)
    return {"available_upgrade_versions": [catalogue.describe_version(slug) for slug in slugs]}


def begin(state: State, cluster: Cluster, asked: Mapping[str, Any]) -> None:
    """POST …/upgrade.

    Raises:
        Refusal: 422 for a version that it cannot be upgraded to, 409 while it is busy.
    """
    state.check_changeable(cluster)
    if cluster.state == UPGRADING:
        raise conflict("cluster is upgrading")
    version = asked.get("version")
    if version not in catalogue.VERSIONS:
        raise invalid("invalid version slug")
    if version not in catalogue.upgrades(cluster.version):
        raise invalid("invalid upgrade path")
    move(state, cluster, version)


def move(state: State, cluster: Cluster, version: str) -> None:
    """Begin to give a cluster another version, whoever asks for it."""
    cluster.state, cluster.message = UPGRADING, ""
    state.touch(cluster)
    raised = partial(_raised, state, cluster, version)
    state.after(state.timings.cluster_upgrade, kind="upgrade-cluster", target=cluster.id, finish=raised)


def _raised(state: State, cluster: Cluster, version: str) -> None:
    if cluster.state == UPGRADING:
        cluster.version = version
        _replace_one(state, cluster)


def _replace_one(state: State, cluster: Cluster) -> None:
    """One node of each node pool makes room for another, until none of the old version is left."""
    if cluster.state != UPGRADING:
        return
    left = False
    for pool in cluster.staying:
        old = [node for node in pool.staying if node.version != cluster.version]
        new = [node for node in pool.staying if node.version == cluster.version]
        left = left or bool(old) or any(node.state != RUNNING for node in new)
        pool.surge = 1 if old and cluster.surge_upgrade else 0
        if old and len(new) >= pool.surge and all(node.state == RUNNING for node in new):
            nodes.end(state, cluster, pool, old[0])
        nodes.follow(state, cluster, pool)
    if left:
        again = partial(_replace_one, state, cluster)
        state.after(state.timings.replace, kind="replace-nodes", target=cluster.id, finish=again)
        return
    cluster.state = RUNNING
    state.touch(cluster)
    nodes.settle(state, cluster)
