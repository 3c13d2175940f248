# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Updates of clusters and node groups: begun, ended, read. What they change is up to those who begin them."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

from ..errors import in_use, invalid_request, not_found
from .failures import Failure
from .records import ACTIVE, IN_PROGRESS, SUCCESSFUL, UPDATING, Cluster, Document, NodeGroup, Update
from .state import Asked, State, page


def of_node_group(state: State, group: NodeGroup, *, kind: str, params: Mapping[str, str]) -> Update:
    """Begin an update of a node group: there is one at a time, and none but on an ACTIVE one.

    Arguments:
        kind: UpdateType of the API's model.
        params: by UpdateParamType of the model.
    """
    if group.status != ACTIVE:
        raise in_use(
            "Nodegroup cannot be updated as it is currently not in Active State",
            clusterName=group.cluster,
            nodegroupName=group.name,
        )
    update = _begin(state, kind, params)
    group.updates[update.id] = update
    group.status = UPDATING
    return update


def of_cluster(state: State, cluster: Cluster, *, kind: str, params: Mapping[str, str]) -> Update:
    """Begin an update of a cluster, whose status shows it late (the API's model)."""
    running = cluster.running_update
    if running is not None:
        text = f"Cannot {kind} because cluster {cluster.name} currently has update {running.id} in progress"
        raise in_use(text, clusterName=cluster.name)
    if cluster.status != ACTIVE:
        raise invalid_request(f"Cluster '{cluster.name}' is not in ACTIVE status", clusterName=cluster.name)
    update = _begin(state, kind, params)
    cluster.updates[update.id] = update

    def show() -> None:
        if update.status == IN_PROGRESS:
            cluster.status = UPDATING

    state.after(state.timings.cluster_update_shows, kind="show-update", target=cluster.arn, finish=show)
    return update


def end(owner: Cluster | NodeGroup, update: Update, failure: Failure | None = None) -> None:
    """An update is over, and what it was of ACTIVE again, also when it failed: then only the update says so."""
    update.status = SUCCESSFUL if failure is None else "Failed"
    update.errors = [] if failure is None else [failure.update_error()]
    owner.status = ACTIVE


def describe(state: State, asked: Asked) -> Document:
    """DescribeUpdate."""
    update = _updates(state, asked).get(asked["updateId"])
    if update is None:
        raise not_found(f"No update found for ID: {asked['updateId']}", clusterName=asked["name"])
    return {"update": update.describe()}


def list_ids(state: State, asked: Asked) -> Document:
    """ListUpdates."""
    return page(list(_updates(state, asked)), asked, key="updateIds")


def _updates(state: State, asked: Asked) -> dict[str, Update]:
    name: str | None = asked.get("nodegroupName")
    if name is None:
        return state.cluster(asked["name"]).updates
    return state.node_group(asked["name"], name).updates


def _begin(state: State, kind: str, params: Mapping[str, str]) -> Update:
    return Update(
        id=str(uuid4()),
        type=kind,
        params=[{"type": name, "value": value} for name, value in params.items()],
        created_at=state.engine.clock.now(),
    )
