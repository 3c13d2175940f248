# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access entries and their policies: who may use a cluster's Kubernetes API."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

from ..account import Credentials
from ..errors import in_use, invalid_parameter, invalid_request, not_found
from .records import ADMIN_POLICY, CREATING, AccessEntry, Cluster, Document
from .state import ACCESS_ENTRY_KIND, CLOUD, Asked, State, check_tags, page

_POLICIES: Final = frozenset(
    f"arn:aws:eks::aws:cluster-access-policy/{name}"
    for name in (
        "AmazonEKSAdminPolicy",
        "AmazonEKSAdminViewPolicy",
        "AmazonEKSClusterAdminPolicy",
        "AmazonEKSEditPolicy",
        "AmazonEKSViewPolicy",
    )
)
_CLUSTER_SCOPE: Final = {"type": "cluster", "namespaces": []}
_NO_ENTRIES: Final = (
    "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation."
)
_TYPES: Final = ("STANDARD", "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "EC2", "HYBRID_LINUX")


def create(state: State, asked: Asked) -> Document:
    """CreateAccessEntry."""
    cluster = _cluster(state, asked)
    arn: str = asked["principalArn"]

    made: list[AccessEntry] = []

    def current() -> Document | None:
        alive = cluster.access_entries.get(arn) is made[0]
        return {"accessEntry": made[0].describe()} if alive else None

    def do() -> Document:
        if not state.account.principal_exists(arn):
            raise invalid_parameter(
                "The specified principalArn is invalid: invalid principal.", clusterName=cluster.name
            )
        if asked.get("type", "STANDARD") not in _TYPES:
            raise invalid_parameter("The specified access entry type is invalid", clusterName=cluster.name)
        check_tags(asked.get("tags", {}))
        if arn in cluster.access_entries:
            text = "The specified access entry resource is already in use on this cluster."
            raise in_use(text, clusterName=cluster.name)
        made.append(
            _add(
                state,
                cluster,
                arn,
                username=asked.get("username"),
                entry_type=asked.get("type", "STANDARD"),
                groups=asked.get("kubernetesGroups", []),
                tags=asked.get("tags", {}),
            )
        )
        return {"accessEntry": made[0].describe()}

    return state.once(f"CreateAccessEntry {cluster.uuid}", asked, current=current, do=do)


def make_creator_admin(state: State, cluster: Cluster, creator: Credentials) -> None:
    """What bootstrapClusterCreatorAdminPermissions does: an access entry where there are any, else unseen rights."""
    if cluster.authentication_mode == "CONFIG_MAP":
        cluster.hidden_admins.add(creator.principal_arn)
        return
    entry = _add(state, cluster, creator.principal_arn)
    entry.policies[ADMIN_POLICY] = _association(state, ADMIN_POLICY, _CLUSTER_SCOPE)


def _add(
    state: State,
    cluster: Cluster,
    arn: str,
    *,
    username: str | None = None,
    entry_type: str = "STANDARD",
    groups: list[str] | None = None,
    tags: dict[str, str] | None = None,
) -> AccessEntry:
    now = state.engine.clock.now()
    entry = AccessEntry(
        cluster=cluster.name,
        principal_arn=arn,
        uuid=str(uuid4()),
        created_at=now,
        modified_at=now,
        type=entry_type,
        username=username or arn,
        groups=list(groups or []),
        tags=dict(tags or {}),
    )
    cluster.access_entries[arn] = entry
    state.engine.inventory.add(CLOUD, ACCESS_ENTRY_KIND, f"{cluster.name} {arn}", cluster=cluster.name)
    return entry


def describe(state: State, asked: Asked) -> Document:
    """DescribeAccessEntry."""
    return {"accessEntry": _entry(state, asked).describe()}


def list_principals(state: State, asked: Asked) -> Document:
    """ListAccessEntries."""
    cluster = _cluster(state, asked)
    policy = asked.get("associatedPolicyArn")
    arns = [arn for arn, entry in cluster.access_entries.items() if policy is None or policy in entry.policies]
    return page(arns, asked, key="accessEntries")


def delete(state: State, asked: Asked) -> Document:
    """DeleteAccessEntry."""
    cluster = _cluster(state, asked)
    entry = _entry(state, asked)
    del cluster.access_entries[entry.principal_arn]
    state.engine.inventory.remove(CLOUD, ACCESS_ENTRY_KIND, f"{cluster.name} {entry.principal_arn}")
    return {}


def associate(state: State, asked: Asked) -> Document:
    """AssociateAccessPolicy: again is the same as once."""
    entry = _entry(state, asked)
    policy: str = asked["policyArn"]
    scope: dict[str, Any] = asked["accessScope"]
    if policy not in _POLICIES:
        raise invalid_parameter("The policyArn parameter format is not valid", clusterName=entry.cluster)
    if scope.get("type") not in ("cluster", "namespace"):
        raise invalid_parameter("The accessScope type is not valid", clusterName=entry.cluster)
    if bool(scope.get("namespaces")) != (scope["type"] == "namespace"):
        raise invalid_parameter("Namespaces go with the accessScope type namespace", clusterName=entry.cluster)
    entry.policies[policy] = _association(
        state, policy, {"type": scope["type"], "namespaces": scope.get("namespaces", [])}
    )
    return {
        "clusterName": entry.cluster,
        "principalArn": entry.principal_arn,
        "associatedAccessPolicy": entry.policies[policy],
    }


def disassociate(state: State, asked: Asked) -> Document:
    """DisassociateAccessPolicy."""
    entry = _entry(state, asked)
    if entry.policies.pop(asked["policyArn"], None) is None:
        raise not_found("The specified access policy is not associated", clusterName=entry.cluster)
    return {}


def list_policies(state: State, asked: Asked) -> Document:
    """ListAssociatedAccessPolicies."""
    entry = _entry(state, asked)
    answer = page(list(entry.policies), asked, key="associatedAccessPolicies")
    answer["associatedAccessPolicies"] = [entry.policies[arn] for arn in answer["associatedAccessPolicies"]]
    return {**answer, "clusterName": entry.cluster, "principalArn": entry.principal_arn}


def is_known(cluster: Cluster, principal_arn: str) -> bool:
    """Whether the cluster's authenticator lets the principal in at all."""
    return principal_arn in cluster.access_entries or principal_arn in cluster.hidden_admins


def is_admin(cluster: Cluster, principal_arn: str) -> bool:
    """Whether the principal is an administrator of the whole cluster."""
    entry = cluster.access_entries.get(principal_arn)
    return principal_arn in cluster.hidden_admins or (entry is not None and entry.is_admin)


def _cluster(state: State, asked: Asked) -> Cluster:
    cluster = state.cluster(asked["clusterName"])
    if cluster.authentication_mode == "CONFIG_MAP":
        raise invalid_request(_NO_ENTRIES, clusterName=cluster.name)
    if cluster.status == CREATING:
        raise invalid_request(f"Cluster '{cluster.name}' is not in ACTIVE status", clusterName=cluster.name)
    return cluster


def _entry(state: State, asked: Asked) -> AccessEntry:
    cluster = _cluster(state, asked)
    entry = cluster.access_entries.get(asked["principalArn"])
    if entry is None:
        text = f"The specified principalArn could not be found: {asked['principalArn']}"
        raise not_found(text, clusterName=cluster.name)
    return entry


def _association(state: State, policy: str, scope: Document) -> Document:
    now = state.engine.clock.now().timestamp()
    return {"policyArn": policy, "accessScope": scope, "associatedAt": now, "modifiedAt": now}
