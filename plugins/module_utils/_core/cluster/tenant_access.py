# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A subject's way into a cluster: a service account in `bc-access`, bound in namespaces that are made for tenants.

RBAC only adds and cannot take away. Kubernetes' own `edit`, bound for the whole cluster, would read the join token in
bcd's namespace and ask for tokens of `bc-substrate`, which is cluster-admin. So `better-compute:edit` is bound in
the subject's namespaces, each by a RoleBinding, and `better-compute:edit-cluster`, which only reads and knows no
Secret, for the whole cluster. In its namespaces a subject is no administrator of RBAC: it binds no one to anything.

Order: the guard first, then roles, namespaces, bindings, the account, and its token last. Everything is read, compared
and written only where it differs, so that somebody's change is put back and a repetition writes nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection

from ..model import labels
from ..model.ids import TenantId
from . import objects
from .access_guard import ensure_guard
from .api import ClusterApi
from .ensuring import ensure
from .names import ACCESS_NAMESPACE, EDIT_CLUSTER_ROLE, EDIT_ROLE
from .objects import Manifest, Owner, identity
from .token_request import IssuedToken, request_token

_SLUG_CHARACTERS = 30
_HASH_CHARACTERS = 20
"""80 bits: nobody finds a second subject of the same account's name."""

_RBAC = "rbac.authorization.k8s.io"
_READ = ["get", "list", "watch"]

_READ_IN_THE_CLUSTER = (
    ("", ["namespaces", "nodes", "persistentvolumes"]),
    ("apiextensions.k8s.io", ["customresourcedefinitions"]),
    ("metrics.k8s.io", ["nodes"]),
    ("networking.k8s.io", ["ingressclasses"]),
    ("node.k8s.io", ["runtimeclasses"]),
    ("scheduling.k8s.io", ["priorityclasses"]),
    ("storage.k8s.io", ["storageclasses"]),
)
"""What somebody who deploys looks up outside of namespaces. No Secret is among it, and no proxy to a Node's kubelet."""


def account_name(tenant_id: TenantId, subject: str) -> str:
    """The name of a subject's service account: a DNS label that tells who it is, and is nobody else's."""
    slug = re.sub(r"[^a-z0-9]+", "-", subject.lower())[:_SLUG_CHARACTERS].strip("-")
    digest = hashlib.sha256(f"{tenant_id}\0{subject}".encode()).hexdigest()[:_HASH_CHARACTERS]
    return "-".join(part for part in ("subject", slug, digest) if part)


def role_manifests(*, owner: Owner) -> tuple[Manifest, ...]:
    """The ClusterRoles, which grant nothing before they are bound. Pure."""
    edit = identity("ClusterRole", EDIT_ROLE, pool_id=owner) | {
        # Kubernetes' own `edit`, and what operators add to it for their own kinds.
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {f"{_RBAC}/aggregate-to-edit": "true"}}]}
    }
    edit_cluster = identity("ClusterRole", EDIT_CLUSTER_ROLE, pool_id=owner) | {
        "rules": [
            {"apiGroups": [group], "resources": resources, "verbs": _READ} for group, resources in _READ_IN_THE_CLUSTER
        ]
    }
    return edit, edit_cluster


def give_access(
    api: ClusterApi, *, owner: Owner, tenant_id: TenantId, subject: str, namespaces: Collection[str], seconds: int
) -> IssuedToken:
    """Let a subject into these namespaces, and into no others, with a token of so long a life.

    Arguments:
        api: with our own credential.
        owner: see objects.Owner.
        namespaces: made where they are missing; none of access_guard.PROTECTED_NAMESPACES.
        seconds: 600 and up.

    Raises:
        GuardUnavailable: the cluster cannot have the guard; nothing was written.
        NotOurs: a namespace or another object of our names stands there without our label.
        ClusterConflict: changed in between, or a namespace is being deleted: come again.
    """
    account = account_name(tenant_id, subject)
    ensure_guard(api, owner=owner)
    for role in role_manifests(owner=owner):
        ensure(api, role, pool_id=owner)
    for namespace in namespaces:
        ensure(api, _namespace(namespace, owner=owner), pool_id=owner)
        binding = _binding("RoleBinding", account, owner=owner, namespace=namespace)
        ensure(api, binding, pool_id=owner, fixed="roleRef")
    ensure(api, _binding("ClusterRoleBinding", account, owner=owner), pool_id=owner, fixed="roleRef")
    _drop_bindings(api, account, owner=owner, but_in=namespaces)
    manifest = identity("ServiceAccount", account, pool_id=owner, namespace=ACCESS_NAMESPACE)
    manifest["metadata"]["annotations"] = {labels.SUBJECT: subject}
    ensure(api, manifest, pool_id=owner)
    return request_token(api, account, seconds=seconds)


def take_access(api: ClusterApi, *, owner: Owner, tenant_id: TenantId, subject: str) -> bool:
    """Take a subject's access: its account first, with which its tokens end, then its bindings. Its namespaces stay.

    Returns:
        Whether there was anything to take.

    Raises:
        NotOurs: an account of its name stands there without our label, and may be in use.
    """
    account = account_name(tenant_id, subject)
    found = False
    for kind, namespace in (("ServiceAccount", ACCESS_NAMESPACE), ("ClusterRoleBinding", None)):
        live = objects.read(api, kind, account, namespace)
        if live is not None:
            objects.require_ours(live, pool_id=owner)
            objects.delete(api, live)
            found = True
    return _drop_bindings(api, account, owner=owner, but_in=()) or found


def has_access(api: ClusterApi, *, tenant_id: TenantId, subject: str) -> bool:
    """Whether the subject has an account. Reads only."""
    return objects.read(api, "ServiceAccount", account_name(tenant_id, subject), ACCESS_NAMESPACE) is not None


def _namespace(name: str, *, owner: Owner) -> Manifest:
    manifest = identity("Namespace", name, pool_id=owner)
    # Baseline: no privileged pod, no host path, no host network. On the hosts lie bcd's identity and join token, and
    # the kubelet's and the machine's own credentials. GPUs need none of it.
    manifest["metadata"]["labels"] |= {labels.TENANTS: "true", "pod-security.kubernetes.io/enforce": "baseline"}
    return manifest


def _binding(kind: str, account: str, *, owner: Owner, namespace: str | None = None) -> Manifest:
    role = EDIT_CLUSTER_ROLE if namespace is None else EDIT_ROLE
    manifest = identity(kind, account, pool_id=owner, namespace=namespace) | {
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": ACCESS_NAMESPACE}],
    }
    manifest["metadata"]["labels"][labels.SUBJECT] = account
    return manifest


def _drop_bindings(api: ClusterApi, account: str, *, owner: Owner, but_in: Collection[str]) -> bool:
    """Delete the account's bindings in other namespaces; whether there were any."""
    dropped = False
    for live in objects.labelled(api, "RoleBinding", labels.SUBJECT, account):
        if live["metadata"]["namespace"] not in but_in and objects.owner(live) == owner:
            objects.delete(api, live)
            dropped = True
    return dropped
