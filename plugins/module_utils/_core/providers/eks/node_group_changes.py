# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of a node group that stands: one at a time, only what differs, and not again before the last one is over.

An update that EKS took and gave up leaves the group ACTIVE as it was. So whoever kept the update's id is told why, and
nothing is sent again behind his back. Requests carry no idempotency token of ours: a repeated one meets a busy group
(409), or one that has what was asked for; and a token made of the request would be taken for the earlier request when
the same change is needed again.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ...model.errors import InvalidRequest, OperationInProgress
from ...model.observed import Difference, ObservedNodePool
from ...model.states import ProviderStatus
from ...model.versions import is_older
from ..contract import ClusterSpec, NodePoolSpec
from ..differences import told
from . import node_groups, updates
from .calls import Calls
from .comparison import changed, delta, differences
from .updates import Fate

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient

_CHANGEABLE = (ProviderStatus.ACTIVE, ProviderStatus.DEGRADED)


def change(
    call: Calls, eks: EKSClient, cluster: ClusterSpec, spec: NodePoolSpec, observed: ObservedNodePool
) -> ObservedNodePool:
    """Bring the node group closer to `spec`; sends nothing when it is that, or when EKS would not take it now.

    A degraded group that EKS refuses to change is returned as it is: its failure says why.

    Raises:
        AlreadyExists: it is not ours.
        InvalidRequest: its shape is another one.
        OperationInProgress: EKS is busy with it, though it does not show.
        ProviderError: EKS gave up the update `spec.update_id`, for this reason.
    """
    node_groups.check_ours(observed, cluster=cluster.name, tags=spec.tags)
    found = differences(spec, observed)
    _refuse_another_shape(spec, found)
    if observed.status not in _CHANGEABLE or not (found or is_older(observed.version, spec.version or "")):
        return observed
    if spec.update_id is not None:
        last = updates.of_node_group(call, eks, cluster=cluster.name, name=spec.name, update_id=spec.update_id)
        if last and last.reason:
            raise last.reason
        if last and last.fate is Fate.UNDER_WAY:
            return dataclasses.replace(observed, status=ProviderStatus.UPDATING, update_id=last.id)
        if last:
            return _after_one_that_is_done(call, eks, cluster, spec)
    return _send(call, eks, cluster, spec, observed)


def _after_one_that_is_done(call: Calls, eks: EKSClient, cluster: ClusterSpec, spec: NodePoolSpec) -> ObservedNodePool:
    """Look again: it may have ended since the group was read. What is still not as wanted was changed by others.

    A count that was set is the autoscaler's from then on.
    """
    observed = node_groups.describe(call, eks, cluster.name, spec.name)
    if observed is None:
        raise OperationInProgress(f"node group {spec.name!r} of cluster {cluster.name!r} has just gone")
    return change(call, eks, cluster, dataclasses.replace(spec, update_id=None, keep_count=True), observed)


def _send(
    call: Calls, eks: EKSClient, cluster: ClusterSpec, spec: NodePoolSpec, observed: ObservedNodePool
) -> ObservedNodePool:
    try:
        blocks = delta(spec, observed)
        if not blocks:
            return _upgrade(call, eks, cluster, spec, observed)
        reply = call(eks.update_nodegroup_config, clusterName=cluster.name, nodegroupName=spec.name, **blocks)
    except OperationInProgress:
        if observed.status is ProviderStatus.DEGRADED:
            return observed
        raise
    return dataclasses.replace(changed(spec, observed), status=ProviderStatus.UPDATING, update_id=reply["update"]["id"])


def _upgrade(
    call: Calls, eks: EKSClient, cluster: ClusterSpec, spec: NodePoolSpec, observed: ObservedNodePool
) -> ObservedNodePool:
    """Have the machines replaced by ones of a newer version, but never newer than the control plane's."""
    wanted = spec.version or ""
    control_plane = call(eks.describe_cluster, name=cluster.name)["cluster"]["version"]
    if is_older(control_plane, wanted):
        wanted = control_plane
    if not is_older(observed.version, wanted):
        return observed
    reply = call(eks.update_nodegroup_version, clusterName=cluster.name, nodegroupName=spec.name, version=wanted)
    return dataclasses.replace(observed, status=ProviderStatus.UPDATING, update_id=reply["update"]["id"])


def _refuse_another_shape(spec: NodePoolSpec, found: tuple[Difference, ...]) -> None:
    fixed = [item for item in found if not item.in_place]
    if fixed:
        raise InvalidRequest(f"node group {spec.name!r} cannot change its {told(fixed)}: EKS keeps these for life")
