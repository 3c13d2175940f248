# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The access guard: an admission policy that keeps the subjects of `bc-access` off all that is not theirs.

RBAC is the first wall: subjects are bound in their own namespaces only (cluster/tenant_access), so they read and write
nothing of bcd's, of `bc-access` and of `kube-system`. The guard is the second one, for the day when somebody gives a
subject more than we do: whatever RBAC allows it, a subject writes only what lies within a namespace of tenants. That
covers exec, attach and port-forward, evictions, token requests, Nodes and their proxy, RBAC, webhooks, CRDs, volumes.

Its limits, which are Kubernetes':

- Admission sees no reads, and whoever may impersonate is somebody else to it. Both are RBAC's alone.
- The API puts no admission policy before writes of admission policies and webhooks, its own included.
- It knows who asks, not on whose behalf: what a controller makes of a subject's Deployment is that controller's.
  Pod Security (a label on the namespaces) therefore keeps pods off the hosts, where bcd's state lies.
- Clusters before Kubernetes 1.30 do not have the API: no subject gets a token there.
"""

from __future__ import annotations

from ..model import labels
from ..model.errors import ClusterObjectMissing
from .api import ClusterApi
from .ensuring import ensure
from .names import ACCESS_ACCOUNT, ACCESS_GUARD, ACCESS_NAMESPACE, AGENT_NAMESPACE, CLAIM_NAMESPACE
from .objects import Manifest, Owner, identity

_GROUP = f"system:serviceaccounts:{ACCESS_NAMESPACE}"
_OURSELVES = f"system:serviceaccount:{ACCESS_NAMESPACE}:{ACCESS_ACCOUNT}"

PROTECTED_NAMESPACES = (AGENT_NAMESPACE, ACCESS_NAMESPACE, CLAIM_NAMESPACE)
"""Never a tenant's, however they are labelled."""

_IS_A_SUBJECT = (
    f"has(request.userInfo.groups) && '{_GROUP}' in request.userInfo.groups"
    f" && request.userInfo.username != '{_OURSELVES}'"
)

_IN_A_TENANTS_NAMESPACE = (
    "namespaceObject != null"
    " && has(namespaceObject.metadata.labels)"
    f" && '{labels.TENANTS}' in namespaceObject.metadata.labels"
    f" && namespaceObject.metadata.labels['{labels.TENANTS}'] == 'true'"
    f" && !(namespaceObject.metadata.name in {list(PROTECTED_NAMESPACES)})"
)
"""A Namespace itself has none (the API gives it no namespaceObject), as what stands outside of namespaces has none."""

_REFUSAL = (
    f"subjects of {ACCESS_NAMESPACE} write only within namespaces that are labelled {labels.TENANTS}=true;"
    " ask bc_cluster_credentials for a namespace"
)


class GuardUnavailable(ClusterObjectMissing):
    """The cluster's API has no admission policies: it is older than Kubernetes 1.30, or has them turned off."""


def guard_manifests(*, owner: Owner) -> tuple[Manifest, ...]:
    """The policy, and the binding that puts it into force. Pure."""
    everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"], "scope": "*"}
    policy = identity("ValidatingAdmissionPolicy", ACCESS_GUARD, pool_id=owner) | {
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": [everything]},
            "matchConditions": [{"name": "subjects-of-bc-access", "expression": _IS_A_SUBJECT}],
            "validations": [{"expression": _IN_A_TENANTS_NAMESPACE, "message": _REFUSAL, "reason": "Forbidden"}],
        }
    }
    binding = identity("ValidatingAdmissionPolicyBinding", ACCESS_GUARD, pool_id=owner) | {
        "spec": {"policyName": ACCESS_GUARD, "validationActions": ["Deny"]}
    }
    return policy, binding


def ensure_guard(api: ClusterApi, *, owner: Owner) -> None:
    """Make the guard stand as it should; two reads where it does. The API takes a moment to heed a new one.

    Raises:
        GuardUnavailable: the cluster cannot have it.
        NotOurs: an object of its name stands there without our label.
    """
    for manifest in guard_manifests(owner=owner):
        try:
            ensure(api, manifest, pool_id=owner)
        except ClusterObjectMissing as error:
            # Nothing is missing that it could stand in: the API does not know the kind.
            raise GuardUnavailable(str(error)) from error
