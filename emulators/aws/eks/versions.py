# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes versions: which there are, and updates from one to another of control planes and node groups."""

from __future__ import annotations

from typing import Final

from ..errors import AwsError, invalid_parameter, invalid_request
from . import rolling, updates
from .records import Cluster, Document, NodeGroup, Update
from .state import Asked, State

DEFAULT_VERSION: Final = "1.34"
VERSIONS: Final = ("1.31", "1.32", "1.33", "1.34", "1.35")

_RELEASES: Final = ("20261001", "20261101")
"""Days on which images were released for every version, the newest last."""

_MINORS_BEHIND: Final = 3
"""How far a managed node group may lag behind its control plane (EKS user guide)."""


def check_supported(version: str, **about: str) -> None:
    """Refuse a version that EKS does not have."""
    if version not in VERSIONS:
        raise invalid_parameter(f"unsupported Kubernetes version {version}", **about)


def image(cluster: Cluster, *, version: str | None, release: str | None, standing: NodeGroup | None) -> tuple[str, str]:
    """The version and release that a node group is to have; refused when it cannot.

    Arguments:
        version: that was asked for; without one a new group has the control plane's, and another keeps its own.
        release: that was asked for; the newest of the version without one.
        standing: the group, unless it is new.
    """
    about = {"clusterName": cluster.name, **({"nodegroupName": standing.name} if standing else {})}
    wanted = version or (standing.version if standing else cluster.version)
    check_supported(wanted, **about)
    if _minor(wanted) > _minor(cluster.version):
        text = f"Nodegroup Kubernetes version {wanted} cannot be newer than the cluster's version {cluster.version}"
        raise invalid_parameter(text, **about)
    if _minor(wanted) < _minor(cluster.version) - _MINORS_BEHIND:
        text = f"Nodegroup Kubernetes version {wanted} is too old for the cluster's version {cluster.version}"
        raise invalid_parameter(text, **about)
    if standing is not None and _minor(wanted) < _minor(standing.version):
        raise invalid_parameter(_unsupported_update(standing.version, wanted), **about)
    releases = [f"{wanted}.2-{day}" for day in _RELEASES]
    if release is not None and release not in releases:
        text = f"Requested release version {release} is not valid for kubernetes version {wanted}."
        raise invalid_parameter(text, **about)
    return wanted, release or releases[-1]


def update_cluster(state: State, asked: Asked) -> Document:
    """UpdateClusterVersion."""
    cluster = state.cluster(asked["name"])
    made: list[Update] = []

    def current() -> Document | None:
        return {"update": made[0].describe()}

    def do() -> Document:
        made.append(_begin_cluster(state, cluster, asked["version"]))
        return {"update": made[0].describe()}

    return state.once(f"UpdateClusterVersion {cluster.uuid}", asked, current=current, do=do)


def _begin_cluster(state: State, cluster: Cluster, version: str) -> Update:
    if _minor(version) != _minor(cluster.version) + 1:
        raise invalid_parameter(_unsupported_update(cluster.version, version), clusterName=cluster.name)
    check_supported(version, clusterName=cluster.name)
    behind = [g.name for g in cluster.node_groups.values() if _minor(g.version) < _minor(version) - _MINORS_BEHIND]
    if behind:
        text = f"Nodegroups {', '.join(behind)} must be updated before the cluster can have version {version}"
        raise invalid_request(text, clusterName=cluster.name)
    params = {"Version": version, "PlatformVersion": "eks.1"}
    update = updates.of_cluster(state, cluster, kind="VersionUpdate", params=params)
    failure = state.failures.take("update", cluster.name)

    def finish() -> None:
        updates.end(cluster, update, failure)
        if failure is None:
            cluster.version = version

    state.after(state.timings.cluster_update, kind="update-cluster", target=cluster.arn, finish=finish)
    return update


def update_node_group(state: State, asked: Asked) -> Document:
    """UpdateNodegroupVersion: every machine is replaced by one of the new release."""
    group = state.node_group(asked["clusterName"], asked["nodegroupName"])
    made: list[Update] = []

    def current() -> Document | None:
        return {"update": made[0].describe()}

    def do() -> Document:
        made.append(_begin_node_group(state, group, asked))
        return {"update": made[0].describe()}

    return state.once(f"UpdateNodegroupVersion {group.uuid}", asked, current=current, do=do)


def _begin_node_group(state: State, group: NodeGroup, asked: Asked) -> Update:
    about = {"clusterName": group.cluster, "nodegroupName": group.name}
    if asked.get("launchTemplate"):
        raise AwsError(501, "NotImplementedException", "The emulator has no launch templates.", **about)
    cluster = state.cluster(group.cluster)
    version, release = image(cluster, version=asked.get("version"), release=asked.get("releaseVersion"), standing=group)
    params = {"Version": version, "ReleaseVersion": release}
    update = updates.of_node_group(state, group, kind="VersionUpdate", params=params)
    failure = state.failures.take("update", f"{group.cluster}/{group.name}")
    rolling.begin(state, group, update, version=version, release=release, failure=failure)
    return update


def _minor(version: str) -> int:
    """The minor version; below all that exist when it is none."""
    major, _dot, minor = version.partition(".")
    return int(minor) if major == "1" and minor.isascii() and minor.isdigit() else -1


def _unsupported_update(before: str, after: str) -> str:
    return f"Unsupported Kubernetes minor version update from {before} to {after}"
