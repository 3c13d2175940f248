# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access entries: who may use a cluster's API. Made on clusters that are ours, taken back where we made them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ...model.errors import AlreadyExists, NotFound
from ..contract import ClusterSpec
from ..ownership import is_ours
from . import clusters
from .calls import Calls
from .principal import who_am_i

if TYPE_CHECKING:
    from .clients import Clients

_ADMIN_POLICY = "eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


def grant(call: Calls, clients: Clients, cluster: ClusterSpec) -> None:
    """Make the account's principal an administrator of the cluster. Safe to repeat.

    An entry that somebody else made for this principal is kept, with the policy added: the cluster is ours.

    Raises:
        NotFound: there is no such cluster.
        AlreadyExists: the cluster is not ours.
    """
    if not clusters.describe(call, clients.eks, cluster):
        raise NotFound(f"there is no cluster {cluster.name!r} in {cluster.location}")
    principal = who_am_i(call, clients)
    # Already there: somebody else's, or ours from an earlier call that did not get as far as the policy.
    with contextlib.suppress(AlreadyExists):
        call(
            clients.eks.create_access_entry,
            clusterName=cluster.name,
            principalArn=principal.arn,
            type="STANDARD",
            tags=dict(cluster.tags),
        )
    call(
        clients.eks.associate_access_policy,
        clusterName=cluster.name,
        principalArn=principal.arn,
        policyArn=f"arn:{principal.partition}:{_ADMIN_POLICY}",
        accessScope={"type": "cluster"},
    )


def needed(call: Calls, clients: Clients, cluster: ClusterSpec) -> str:
    """How a person gives the account's principal the access entry that it needs on an adopted cluster."""
    principal = who_am_i(call, clients)
    of_it = f"--region {cluster.location} --cluster-name {cluster.name} --principal-arn {principal.arn}"
    return (
        f"give {principal.arn} an access entry with AmazonEKSClusterAdminPolicy, because we grant ourselves access on "
        f"clusters that we created only: `aws eks create-access-entry {of_it}`, then `aws eks associate-access-policy "
        f"{of_it} --access-scope type=cluster --policy-arn arn:{principal.partition}:{_ADMIN_POLICY}` (a cluster whose "
        "authentication mode is CONFIG_MAP takes no entries before it is API_AND_CONFIG_MAP)"
    )


def revoke(call: Calls, clients: Clients, cluster: ClusterSpec) -> None:
    """Delete the principal's access entry if it carries our marks. One that somebody else made stays."""
    principal = who_am_i(call, clients)
    try:
        entry = call(clients.eks.describe_access_entry, clusterName=cluster.name, principalArn=principal.arn)
        if is_ours(tags=entry["accessEntry"].get("tags", {}), wanted=cluster.tags):
            call(clients.eks.delete_access_entry, clusterName=cluster.name, principalArn=principal.arn)
    except NotFound:
        return
