# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters made, read, upgraded and deleted."""

from __future__ import annotations

import base64
from functools import partial
from typing import Final

from google.cloud.container_v1.types import cluster_service as api
from grpc import StatusCode

from . import constraints, node_pools, versions
from .errors import GcpError, already_exists, invalid
from .project import default_zones, is_zone
from .records import (
    Cluster,
    ClusterStatus,
    Message,
    Operation,
    OperationType,
    cluster_link,
    new_etag,
    timestamp,
)
from .state import CLOUD, CLUSTER_KIND, State, parse

_DEFAULT_POOL: Final = "default-pool"


def create(state: State, request: Message) -> Message:
    """CreateCluster: with `initialNodeCount` or `nodePools`, one of the two."""
    location = parse(request.parent)["location"]
    if location == "-":
        raise invalid("A cluster needs one location.")
    cluster = _build(request.cluster, location)
    if (location, cluster.name) in state.clusters:
        raise already_exists(cluster.path)
    pools = [node_pools.build(state, cluster, wanted) for wanted in _first_pools(request.cluster)]
    names = [pool.name for pool in pools]
    if len(set(names)) < len(names):
        raise GcpError(StatusCode.INTERNAL, "Internal error encountered.")
    operation = state.begin(OperationType.CREATE_CLUSTER, location=location, cluster=cluster.name)
    state.clusters[location, cluster.name] = cluster
    state.engine.inventory.add(CLOUD, CLUSTER_KIND, f"{location}/{cluster.name}")
    gpus = [bool(pool.shown.config.accelerators) for pool in pools]
    for pool, has_gpus in zip(pools, gpus, strict=True):
        if has_gpus and not all(gpus):
            node_pools.taint_gpus(pool)
        node_pools.add(state, cluster, pool)
    state.engine.operations.begin(
        kind="create-cluster",
        target=cluster.path,
        seconds=state.timings.cluster_create,
        finish=partial(_up, state, cluster, operation),
    )
    return operation.describe(state.engine.clock.now())


def get(state: State, request: Message) -> Message:
    """GetCluster."""
    return state.cluster(request.name).describe()


def list_all(state: State, request: Message) -> Message:
    """ListClusters of a location, or of all with `-`: there are no pages."""
    location = parse(request.parent)["location"]
    clusters = [cluster for cluster in state.clusters.values() if location in ("-", cluster.location)]
    return api.ListClustersResponse.pb()(clusters=[cluster.describe() for cluster in clusters])


def delete(state: State, request: Message) -> Message:
    """DeleteCluster, and the node pools and machines with it."""
    cluster = state.cluster(request.name)
    operation = state.begin(OperationType.DELETE_CLUSTER, location=cluster.location, cluster=cluster.name)
    cluster.shown.status = ClusterStatus.STOPPING
    for pool in cluster.pools.values():
        node_pools.stop(state, pool)

    def gone() -> None:
        for pool in list(cluster.pools.values()):
            node_pools.remove(state, cluster, pool)
        del state.clusters[cluster.location, cluster.name]
        state.engine.inventory.remove(CLOUD, CLUSTER_KIND, f"{cluster.location}/{cluster.name}")
        state.later(partial(state.apis.stop, cluster.api_name))
        state.finish(operation)

    state.after(state.timings.cluster_delete, kind="delete-cluster", target=cluster.path, finish=gone)
    return operation.describe(state.engine.clock.now())


def update(state: State, request: Message) -> Message:
    """UpdateCluster: one field at a time, and of those only the control plane's version."""
    cluster = state.cluster(request.name)
    change = request.update
    changed = [field.name for field, _value in change.ListFields() if field.name != "etag"]
    if len(changed) != 1:
        raise invalid("Must specify exactly one field to update.")
    if changed != ["desired_master_version"]:
        raise GcpError(StatusCode.UNIMPLEMENTED, f"The emulator does not update {changed[0]}.")
    if change.etag and change.etag != cluster.shown.etag:
        raise GcpError(StatusCode.ABORTED, "The etag does not match the current cluster.")
    wanted = versions.resolve(change.desired_master_version)
    versions.check_upgrade(cluster.shown.current_master_version, wanted)
    operation = state.begin(OperationType.UPGRADE_MASTER, location=cluster.location, cluster=cluster.name)
    before = cluster.shown.status
    cluster.shown.status = ClusterStatus.RECONCILING

    def upgraded() -> None:
        cluster.shown.status = before
        cluster.shown.current_master_version = wanted
        cluster.shown.etag = new_etag()
        state.finish(operation)

    state.after(state.timings.cluster_upgrade, kind="upgrade-master", target=cluster.path, finish=upgraded)
    return operation.describe(state.engine.clock.now())


def server_config(state: State, request: Message) -> Message:  # noqa: ARG001 - as every call is
    """GetServerConfig: the versions that can be had."""
    parse(request.name)
    newest_first = list(reversed(versions.VERSIONS))
    regular = api.ServerConfig.ReleaseChannelConfig.pb()(
        channel=api.ReleaseChannel.Channel.REGULAR, default_version=versions.DEFAULT, valid_versions=newest_first
    )
    return api.ServerConfig.pb()(
        default_cluster_version=versions.DEFAULT,
        valid_master_versions=newest_first,
        valid_node_versions=newest_first,
        default_image_type="COS_CONTAINERD",
        valid_image_types=["COS_CONTAINERD", "UBUNTU_CONTAINERD"],
        channels=[regular],
    )


def _build(wanted: Message, location: str) -> Cluster:
    constraints.check_name("Cluster", wanted.name)
    constraints.check_resource_labels(wanted.resource_labels)
    private = wanted.private_cluster_config.enable_private_nodes
    if private and wanted.network_config.HasField("default_enable_private_nodes"):
        raise invalid("Only one of enable_private_nodes and default_enable_private_nodes may be set.")
    shown = api.Cluster.pb()()
    shown.CopyFrom(wanted)
    del shown.node_pools[:]
    if not shown.locations:
        shown.locations.extend(default_zones(location))
    constraints.check_zones(list(shown.locations), location)
    if is_zone(location) and location not in shown.locations:
        raise invalid(f"Cluster.locations must contain the cluster's zone {location}.")
    version = versions.resolve(wanted.initial_cluster_version)
    if not wanted.HasField("release_channel"):
        shown.release_channel.channel = api.ReleaseChannel.Channel.REGULAR
    if private:
        shown.network_config.default_enable_private_nodes = True
    shown.initial_cluster_version = version
    shown.current_master_version = version
    shown.current_node_version = version
    shown.network = shown.network or "default"
    shown.subnetwork = shown.subnetwork or "default"
    shown.self_link = cluster_link(location, wanted.name)
    shown.location = location
    shown.zone = location
    shown.status = ClusterStatus.PROVISIONING
    shown.etag = new_etag()
    return Cluster(shown=shown, location=location)


def _first_pools(wanted: Message) -> list[Message]:
    """The node pools that a create asks for.

    Raises:
        GcpError: it asks for none, or in both ways.
    """
    if wanted.node_pools and (wanted.initial_node_count or wanted.HasField("node_config")):
        raise invalid("Only one of node_pools and (initial_node_count, node_config) may be set.")
    if wanted.autopilot.enabled:
        if wanted.node_pools:
            raise invalid("Autopilot clusters do not support node pools.")
        return []
    if not wanted.node_pools and wanted.initial_node_count < 1:
        raise invalid("Cluster.initial_node_count must be greater than zero.")
    if wanted.node_pools:
        return list(wanted.node_pools)
    return [
        api.NodePool.pb()(name=_DEFAULT_POOL, initial_node_count=wanted.initial_node_count, config=wanted.node_config)
    ]


def _up(state: State, cluster: Cluster, operation: Operation) -> None:
    """The control plane answers."""
    url, ca_pem = state.apis.start(cluster.api_name)
    with state.changing():
        cluster.shown.endpoint = url.removeprefix("https://")
        cluster.shown.master_auth.cluster_ca_certificate = base64.b64encode(ca_pem.encode()).decode()
        cluster.shown.create_time = timestamp(state.engine.clock.now())
        if cluster.pools:
            node_pools.start_with_cluster(state, cluster, operation)
        else:
            cluster.shown.status = ClusterStatus.RUNNING
            state.finish(operation)
