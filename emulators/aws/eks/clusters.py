# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters: created, read, deleted."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

from .. import network
from ..errors import in_use, invalid_parameter, invalid_request, limit_exceeded, unsupported_zone
from . import access, versions
from .records import ACTIVE, CREATING, DELETING, FAILED, Cluster, Document
from .state import ACCESS_ENTRY_KIND, CLOUD, CLUSTER_KIND, Asked, State, check_tags, page

_CLUSTERS_A_REGION: Final = 100
_ZONES: Final = 2
"""A control plane wants subnets in at least two zones."""


def create(state: State, asked: Asked) -> Document:
    """CreateCluster."""
    made: list[Cluster] = []

    def current() -> Document | None:
        alive = state.clusters.get(made[0].name) is made[0]
        return {"cluster": made[0].describe()} if alive else None

    def do() -> Document:
        made.append(_create(state, asked))
        return {"cluster": made[0].describe()}

    return state.once("CreateCluster", asked, current=current, do=do)


def _create(state: State, asked: Asked) -> Cluster:
    name: str = asked["name"]
    if name in state.clusters or name in state.kept_names:
        raise in_use(f"Cluster already exists with name: {name}", clusterName=name)
    if len(state.clusters) >= _CLUSTERS_A_REGION:
        raise limit_exceeded(f"Cluster limit exceeded: {_CLUSTERS_A_REGION}")
    version = asked.get("version", versions.DEFAULT_VERSION)
    versions.check_supported(version, clusterName=name)
    if not state.account.role_exists(asked["roleArn"]):
        raise invalid_parameter(
            "Role with arn: " + asked["roleArn"] + ", could not be assumed because it does not exist"
        )
    tags = asked.get("tags", {})
    check_tags(tags)
    access_config = asked.get("accessConfig", {})
    cluster = Cluster(
        name=name,
        uuid=str(uuid4()),
        created_at=state.engine.clock.now(),
        version=version,
        role_arn=asked["roleArn"],
        network=_network(name, asked["resourcesVpcConfig"]),
        authentication_mode=access_config.get("authenticationMode", "CONFIG_MAP"),
        tags=dict(tags),
    )
    state.clusters[name] = cluster
    state.engine.inventory.add(CLOUD, CLUSTER_KIND, name, tags=_text(tags))
    if access_config.get("bootstrapClusterCreatorAdminPermissions", True):
        access.make_creator_admin(state, cluster, asked.caller)
    failure = state.failures.take("create", name)

    def finish() -> None:
        if failure is None:
            _start_api(state, cluster)
        else:
            cluster.status = FAILED
            cluster.issues = [failure.issue()]

    state.after(state.timings.cluster_create, kind="create-cluster", target=name, finish=finish)
    return cluster


def _network(cluster: str, wanted: dict[str, Any]) -> Document:
    subnets: list[str] = wanted.get("subnetIds", [])
    zones = network.zones(subnets)
    unknown = [subnet for subnet, zone in zones.items() if zone is None]
    if unknown:
        raise invalid_parameter(f"The subnet ID '{unknown[0]}' does not exist (Service: AmazonEC2)")
    unfit = sorted(network.WITHOUT_CONTROL_PLANES.intersection(zones.values()))
    if unfit:
        valid = sorted({subnet.zone for subnet in network.SUBNETS} - network.WITHOUT_CONTROL_PLANES)
        text = (
            f"Cannot create cluster '{cluster}' because {unfit[0]}, the targeted availability zone, does not currently "
            "have sufficient capacity to support the cluster. Retry and choose from these availability zones: "
            f"{', '.join(valid)}"
        )
        raise unsupported_zone(text, cluster=cluster, valid=valid)
    if len(set(zones.values())) < _ZONES:
        raise invalid_parameter("Subnets specified must be in at least two different AZs")
    public = wanted.get("endpointPublicAccess", True)
    private = wanted.get("endpointPrivateAccess", False)
    if not public and not private:
        raise invalid_parameter("Private and public endpoint access cannot be false")
    return {
        "subnetIds": subnets,
        "securityGroupIds": wanted.get("securityGroupIds", []),
        "clusterSecurityGroupId": f"sg-{uuid4().hex[:17]}",
        "vpcId": network.VPC_ID,
        "endpointPublicAccess": public,
        "endpointPrivateAccess": private,
        "publicAccessCidrs": wanted.get("publicAccessCidrs", ["0.0.0.0/0"]) if public else [],
    }


def _start_api(state: State, cluster: Cluster) -> None:
    def start() -> None:
        url, ca_pem = state.apis.start(cluster.name)
        with state.changing():
            cluster.endpoint, cluster.ca_pem = url, ca_pem
            cluster.status = ACTIVE

    state.later(start)


def describe(state: State, asked: Asked) -> Document:
    """DescribeCluster."""
    return {"cluster": state.cluster(asked["name"]).describe()}


def list_names(state: State, asked: Asked) -> Document:
    """ListClusters."""
    return page(list(state.clusters), asked, key="clusters")


def delete(state: State, asked: Asked) -> Document:
    """DeleteCluster."""
    name: str = asked["name"]
    cluster = state.cluster(name)
    if cluster.node_groups:
        raise in_use("Cluster has nodegroups attached", clusterName=name, nodegroupName=",".join(cluster.node_groups))
    if cluster.status == DELETING:
        raise in_use(f"Cluster {name} is already being deleted", clusterName=name)
    if cluster.status == CREATING or cluster.running_update is not None:
        text = f"Cannot delete because cluster {name} currently has an update in progress"
        raise in_use(text, clusterName=name)
    cluster.status = DELETING
    state.after(state.timings.cluster_delete, kind="delete-cluster", target=name, finish=lambda: _gone(state, cluster))
    return {"cluster": cluster.describe()}


def _gone(state: State, cluster: Cluster) -> None:
    def stop() -> None:
        state.apis.stop(cluster.name)
        with state.changing():
            del state.clusters[cluster.name]
            _keep_name(state, cluster.name)
            state.engine.inventory.remove(CLOUD, CLUSTER_KIND, cluster.name)
            for arn in cluster.access_entries:
                state.engine.inventory.remove(CLOUD, ACCESS_ENTRY_KIND, f"{cluster.name} {arn}")

    state.later(stop)


def _keep_name(state: State, name: str) -> None:
    """The name can stay taken after EKS shows the cluster no more (public reports)."""
    if not state.timings.cluster_name_kept:
        return
    state.kept_names.add(name)

    def free() -> None:
        state.kept_names.discard(name)

    state.after(state.timings.cluster_name_kept, kind="keep-name", target=name, finish=free)


def active(state: State, name: str) -> Cluster:
    """The cluster, which must be ACTIVE for what is asked."""
    cluster = state.cluster(name)
    if cluster.status != ACTIVE:
        raise invalid_request(f"Cluster '{name}' is not in ACTIVE status", clusterName=name)
    return cluster


def _text(tags: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(tags.items()))
