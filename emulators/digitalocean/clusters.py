# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters: made with their first node pools, changed, deleted alone or with what was made from within them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final
from uuid import uuid4

from . import catalogue, constraints, node_pools, nodes
from .records import DELETING, PLUGINS, PROVISIONING, RUNNING, Cluster
from .refusals import conflict, invalid
from .state import CLOUD, CLUSTER_KIND, LOAD_BALANCER_KIND, NODE_POOL_KIND, VOLUME_KIND, State

_CHANGEABLE: Final = ("auto_upgrade", "surge_upgrade", "ha")


def create(state: State, asked: Mapping[str, Any]) -> Cluster:
    """POST /v2/kubernetes/clusters: at least one node pool comes with it."""
    name = constraints.cluster_name(asked.get("name"))
    region = asked.get("region")
    if not isinstance(region, str) or region not in catalogue.REGIONS:
        raise invalid("invalid region slug")
    version = catalogue.resolve_version(asked.get("version"))
    if state.readings.unique_names and any(other.name == name for other in state.clusters.values()):
        raise invalid("a cluster with this name already exists")
    wanted = asked.get("node_pools")
    if not isinstance(wanted, list) or not wanted:
        raise invalid("at least one node pool is required")
    if sum(constraints.number(pool, "count") for pool in wanted if isinstance(pool, dict)) < 1:
        raise invalid("at least one worker is required")
    cluster_id = str(uuid4())
    now = state.engine.clock.now()
    cluster = Cluster(
        id=cluster_id,
        name=name,
        api_name=_api_name(state, cluster_id, name=name, region=region),
        region=region,
        version=version,
        ha=constraints.flag(asked, "ha", default=False),
        auto_upgrade=constraints.flag(asked, "auto_upgrade", default=False),
        surge_upgrade=constraints.flag(asked, "surge_upgrade", default=False),
        maintenance=_maintenance(asked.get("maintenance_policy")),
        own_tags=constraints.tags(asked.get("tags") or []),
        switches={**PLUGINS, **_switches(asked)},
        created_at=now,
        updated_at=now,
    )
    pools = [node_pools.checked(state, cluster, pool) for pool in wanted]
    if state.readings.unique_names and len({pool.name for pool in pools}) < len(pools):
        raise invalid("node pool names must be unique within a cluster")
    node_pools.check_limit(state, sum(pool.claim for pool in pools))
    state.clusters[cluster.id] = cluster
    state.engine.inventory.add(CLOUD, CLUSTER_KIND, cluster.id, name=name, tags=", ".join(cluster.own_tags))
    for pool in pools:
        node_pools.add(state, cluster, pool)
    start = partial(_start_api, state, cluster)
    state.after(state.timings.cluster_create, kind="create-cluster", target=cluster.id, finish=start)
    return cluster


def update(state: State, cluster: Cluster, asked: Mapping[str, Any]) -> None:
    """PUT: the name must be there; tags replace all; what is not said stays."""
    name = constraints.cluster_name(asked.get("name"))
    if cluster.state == DELETING:
        raise conflict("cluster is being deleted")
    others = (other for other in state.clusters.values() if other is not cluster)
    if state.readings.unique_names and any(other.name == name for other in others):
        raise invalid("a cluster with this name already exists")
    flags = {key: constraints.flag(asked, key, default=getattr(cluster, key)) for key in _CHANGEABLE}
    if cluster.ha and not flags["ha"]:
        raise invalid("high availability cannot be disabled")
    switches = _switches(asked)
    tags = constraints.tags(asked["tags"]) if "tags" in asked else cluster.own_tags
    maintenance = _maintenance(asked["maintenance_policy"]) if "maintenance_policy" in asked else cluster.maintenance
    cluster.name, cluster.own_tags, cluster.maintenance = name, tags, maintenance
    cluster.switches.update(switches)
    for key, on in flags.items():
        setattr(cluster, key, on)
    state.touch(cluster)


def delete(state: State, cluster: Cluster) -> None:
    """DELETE: answered at once, gone after a while; load balancers and volumes stay. Once more changes nothing."""
    if cluster.state == DELETING:
        return
    cluster.state, cluster.message = DELETING, ""
    state.touch(cluster)
    gone = partial(_gone, state, cluster)
    state.after(state.timings.cluster_delete, kind="delete-cluster", target=cluster.id, finish=gone)


def associated(cluster: Cluster) -> dict[str, Any]:
    """GET …/destroy_with_associated_resources: what would stay."""
    return {
        "load_balancers": [{"id": key, "name": name} for key, name in cluster.load_balancers.items()],
        "volumes": [{"id": key, "name": name} for key, name in cluster.volumes.items()],
        "volume_snapshots": [],
    }


def delete_with_all(state: State, cluster: Cluster) -> None:
    """DELETE …/destroy_with_associated_resources/dangerous: nothing stays."""
    for kind, found in ((LOAD_BALANCER_KIND, cluster.load_balancers), (VOLUME_KIND, cluster.volumes)):
        for key in found:
            state.engine.inventory.remove(CLOUD, kind, key)
        found.clear()
    delete(state, cluster)


def _api_name(state: State, cluster_id: str, *, name: str, region: str) -> str:
    """The name of its context in a kubeconfig; with its id where another one of that name is there."""
    context = f"do-{region}-{name}"
    taken = any(other.api_name == context for other in state.clusters.values())
    return f"{context}-{cluster_id}" if taken else context


def _start_api(state: State, cluster: Cluster) -> None:
    if cluster.state != PROVISIONING:
        return

    def start() -> None:
        url, ca_pem = state.apis.start(cluster.api_name)
        with state.changing():
            if cluster.state != PROVISIONING:
                state.later(partial(state.apis.stop, cluster.api_name))
                return
            cluster.endpoint, cluster.ca_pem = url, ca_pem
            cluster.state = RUNNING
            state.touch(cluster)
            nodes.start_all(state, cluster)

    state.later(start)


def _gone(state: State, cluster: Cluster) -> None:
    if cluster.state != DELETING:
        return
    for pool in list(cluster.pools.values()):
        pool.deleted = True
        for node in list(pool.nodes.values()):
            nodes.remove(state, cluster, pool, node)
        state.engine.inventory.remove(CLOUD, NODE_POOL_KIND, pool.id)
    del state.clusters[cluster.id]
    state.engine.inventory.remove(CLOUD, CLUSTER_KIND, cluster.id)
    state.later(partial(state.apis.stop, cluster.api_name))


def _switches(asked: Mapping[str, Any]) -> dict[str, bool]:
    found = {}
    for name in PLUGINS:
        if asked.get(name) is None:
            continue
        if not isinstance(asked[name], dict):
            raise invalid(f"{name} must be an object")
        found[name] = constraints.flag(asked[name], "enabled", default=False)
    return found


def _maintenance(asked: object) -> dict[str, Any]:
    default = {"start_time": "00:00", "duration": "4h0m0s", "day": "any"}
    if asked is None:
        return default
    if not isinstance(asked, dict):
        raise invalid("maintenance_policy must be an object")
    return {key: asked.get(key, value) for key, value in default.items()}
