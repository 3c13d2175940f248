# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EKS clusters: read, create, upgrade, delete."""

from __future__ import annotations

import base64
import binascii
import contextlib
import dataclasses
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ...model.errors import AlreadyExists, NotFound, OperationInProgress
from ...model.observed import ObservedCluster
from ...model.records import ClusterOutputs
from ...model.states import ProviderStatus
from ...model.versions import is_older, next_step
from ..contract import ClusterSpec, Deletion
from ..messages import bounded
from ..ownership import is_readable
from . import updates
from .calls import Calls
from .request_token import request_token
from .settings import EksSettings
from .updates import Fate

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient
    from mypy_boto3_eks.type_defs import ClusterTypeDef

UPGRADE_RETRY = timedelta(minutes=30)
"""An update to another version that EKS gave up is not sent again for so long after it was sent. It takes about ten
minutes, and what it fails for (no free addresses, no right to the security group) somebody has to mend."""

_VERSION_CHANGES = ("VersionUpdate", "VersionRollback")

_STATUS = {
    "PENDING": ProviderStatus.CREATING,
    "CREATING": ProviderStatus.CREATING,
    "ACTIVE": ProviderStatus.ACTIVE,
    "UPDATING": ProviderStatus.UPDATING,
    "DELETING": ProviderStatus.DELETING,
    "FAILED": ProviderStatus.FAILED,
}


def describe(call: Calls, eks: EKSClient, spec: ClusterSpec) -> ObservedCluster | None:
    """The cluster; None when EKS says that there is none.

    Raises:
        AlreadyExists: it is not ours.
    """
    try:
        reply = call(eks.describe_cluster, name=spec.name)
    except NotFound:
        return None
    observed = observe(reply["cluster"], location=spec.location)
    if not is_readable(spec, tags=observed.tags):
        raise AlreadyExists(f"a cluster {spec.name!r} that was not made for this pool exists in {spec.location}")
    return observed


def ensure(call: Calls, eks: EKSClient, spec: ClusterSpec, *, settings: EksSettings, now: datetime) -> ObservedCluster:
    """The cluster as it is; created when EKS says that there is none, brought one version further when it is too old.

    Raises:
        AlreadyExists: it is not ours.
        OperationInProgress: EKS still holds the name of a cluster that it no longer shows.
        ProviderError: see upgrade.
    """
    found = describe(call, eks, spec)
    if found:
        return upgrade(call, eks, spec, found, now=now)
    request = _create_request(spec, settings=settings)
    try:
        reply = call(eks.create_cluster, **request, clientRequestToken=request_token(request))
    except AlreadyExists as taken:
        # Made by another process just now, by an earlier call whose reply was lost, or still being forgotten.
        found = describe(call, eks, spec)
        if found:
            return found
        raise OperationInProgress(str(taken)) from None
    return observe(reply["cluster"], location=spec.location)


def upgrade(
    call: Calls, eks: EKSClient, spec: ClusterSpec, found: ObservedCluster, *, now: datetime
) -> ObservedCluster:
    """Begin an update to the next minor version, if `found` is ACTIVE and older than `spec` wants it.

    A cluster whose update failed is ACTIVE as before, and only the update says why: that is raised until the update is
    so old that another try may follow. Looked for among its updates, because no one keeps the id of a cluster's.

    Raises:
        ProviderError: EKS gave up the last one a while ago, or refuses this one.
    """
    held = found.outputs.version if found.outputs else ""
    if found.status is not ProviderStatus.ACTIVE or not is_older(held, spec.version or ""):
        return found
    under_way = dataclasses.replace(found, status=ProviderStatus.UPDATING)
    step = next_step(held, spec.version or "")
    known = updates.of_cluster(call, eks, spec.name)
    if any(update.fate is Fate.UNDER_WAY for update in known):
        return under_way
    last = next((update for update in known if update.kind in _VERSION_CHANGES), None)
    if last and last.version == step:
        if last.fate is Fate.DONE:
            return under_way  # it ended since the cluster was read
        if last.reason and now - last.began_at < UPGRADE_RETRY:
            raise last.reason
    # In progress: another process was faster, or another update does not show yet.
    with contextlib.suppress(OperationInProgress):
        call(eks.update_cluster_version, name=spec.name, version=step)
    return under_way


def delete(call: Calls, eks: EKSClient, spec: ClusterSpec) -> Deletion:
    """Delete the cluster if it is there and ours.

    Raises:
        AlreadyExists: it is not ours.
        InUse: node groups are attached.
        OperationInProgress: it is being created or updated.
    """
    found = describe(call, eks, spec)
    if not found:
        return Deletion.GONE
    if found.status is not ProviderStatus.DELETING:
        try:
            call(eks.delete_cluster, name=spec.name)
        except NotFound:
            return Deletion.GONE
    return Deletion.UNDER_WAY


def observe(cluster: ClusterTypeDef, *, location: str) -> ObservedCluster:
    """EKS's description in the contract's words. A status that is new to us means: wait."""
    issues = cluster.get("health", {}).get("issues", [])
    return ObservedCluster(
        name=cluster["name"],
        status=_STATUS.get(cluster["status"], ProviderStatus.UPDATING),
        message=bounded("; ".join(f"{issue.get('code')}: {issue.get('message')}" for issue in issues)),
        outputs=_outputs(cluster, location=location),
        private_nodes=cluster.get("resourcesVpcConfig", {}).get("endpointPrivateAccess", False),
        tags=cluster.get("tags", {}),
    )


def _outputs(cluster: ClusterTypeDef, *, location: str) -> ClusterOutputs | None:
    endpoint, authority = cluster.get("endpoint"), cluster.get("certificateAuthority", {}).get("data")
    if not endpoint or not authority:
        return None
    try:
        ca_pem = base64.b64decode(authority, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None  # no cluster that can be used; one that can be deleted all the same
    return ClusterOutputs(
        endpoint=endpoint,
        ca_pem=ca_pem,
        version=cluster["version"],
        location=location,
        node_version=cluster["version"],  # EKS has one per node group; new ones start with the control plane's
        global_id=cluster["arn"],
    )


def _create_request(spec: ClusterSpec, *, settings: EksSettings) -> dict[str, Any]:
    return {
        "name": spec.name,
        "roleArn": settings.cluster_role_arn,
        "resourcesVpcConfig": {
            "subnetIds": list(settings.subnet_ids),
            "endpointPrivateAccess": spec.private_nodes,
            # The daemon stands outside of the VPC.
            "endpointPublicAccess": True,
        },
        "accessConfig": {
            # EKS's own default has no access entries, and the mode only moves one way.
            "authenticationMode": "API_AND_CONFIG_MAP",
            # One way in for every principal: grant_access. The creator's hidden right would never show in a read.
            "bootstrapClusterCreatorAdminPermissions": False,
        },
        "tags": dict(spec.tags),
        **({"version": spec.version} if spec.version else {}),
    }
