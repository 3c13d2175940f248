# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Control planes once they have come up: upgraded and repaired, by callers and by GKE itself."""

from __future__ import annotations

from collections.abc import Callable

from . import versions
from .records import Cluster, ClusterStatus, Operation, OperationType, new_etag
from .state import State


def running(state: State, cluster: Cluster) -> None:
    """A new cluster is RUNNING; GKE may have something to do to it at once (`Timings.after_create`)."""
    cluster.shown.status = ClusterStatus.RUNNING
    if state.timings.after_create > 0:
        repair(state, cluster, seconds=state.timings.after_create)


def upgrade(state: State, cluster: Cluster, version: str) -> Operation:
    """Give a control plane another version.

    Raises:
        GcpError: it cannot have it, or something else is going on.
    """
    versions.check_upgrade(cluster.shown.current_master_version, version)
    for pool in cluster.pools.values():
        versions.check_nodes(pool.shown.version, master=version)

    def upgraded() -> None:
        cluster.shown.current_master_version = version
        cluster.shown.etag = new_etag()

    kind, seconds = OperationType.UPGRADE_MASTER, state.timings.cluster_upgrade
    return _change(state, cluster, kind=kind, seconds=seconds, effect=upgraded)


def repair(state: State, cluster: Cluster, *, seconds: float) -> Operation:
    """Be busy with a control plane, without anything that callers see.

    Raises:
        GcpError: something else is going on.
    """
    return _change(state, cluster, kind=OperationType.REPAIR_CLUSTER, seconds=seconds, effect=lambda: None)


def _change(state: State, cluster: Cluster, *, kind: int, seconds: float, effect: Callable[[], None]) -> Operation:
    operation = state.begin(kind, location=cluster.location, cluster=cluster.name)
    failure = state.failures.take("update", cluster.name)
    before = cluster.shown.status
    cluster.shown.status = ClusterStatus.RECONCILING

    def due() -> None:
        cluster.shown.status = before
        if failure is None:
            effect()
        state.finish(operation, failure.status() if failure is not None else None)

    state.after(seconds, kind=f"change-{kind}", target=cluster.path, finish=due)
    return operation
