# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a subject may try in a cluster that is not for it to do, and by which wall it must be stopped.

The first wall is RBAC. The second, the access guard, is looked at with a subject that somebody made cluster-admin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.better_compute.fleet.tests.support.controlplane.connection import Connection, Reply

MERGE = "application/merge-patch+json"
GUARD = "better-compute-access-guard"

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_BCD = "/api/v1/namespaces/better-compute"
_ACCESS = "/api/v1/namespaces/bc-access"
_OURSELVES = "system:serviceaccount:bc-access:bc-substrate"
_DELETE = {"apiVersion": "v1", "kind": "DeleteOptions"}
_TOKEN = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One request.

    Attributes:
        guarded: whether admission sees it: reads, impersonation and writes of admission policies it does not.
    """

    what: str
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    guarded: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)

    def by(self, connection: Connection) -> Reply:
        """Try it."""
        if self.headers:
            return connection.forward(self.method, self.path, headers=self.headers, body=None)
        kind = MERGE if self.method == "PATCH" else "application/json"
        target, _mark, query = self.path.partition("?")
        pairs = dict(pair.split("=") for pair in query.split("&")) if query else None
        return connection.send(self.method, target, query=pairs, body=self.body, content_type=kind)


def _object(kind: str, version: str, name: str, **content: Any) -> dict[str, Any]:
    namespace = content.pop("namespace", None)
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}


def pod(name: str, *, namespace: str = "training", **spec: Any) -> dict[str, Any]:
    """A pod of one container; more fields of its spec."""
    containers = [{"name": "main", "image": "registry.example/work:1"}]
    return _object("Pod", "v1", name, namespace=namespace, spec={"containers": containers, **spec})


def cluster_admin(name: str, account: str, *, namespace: str | None = None) -> dict[str, Any]:
    """A binding of a subject to cluster-admin."""
    return _object(
        "RoleBinding" if namespace else "ClusterRoleBinding",
        "rbac.authorization.k8s.io/v1",
        name,
        namespace=namespace,
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        subjects=[{"kind": "ServiceAccount", "name": account, "namespace": "bc-access"}],
    )


def attempts(*, account: str, bcd_pod: str, node: str) -> Iterator[Attempt]:
    """Everything.

    Arguments:
        account: the subject's own service account.
        bcd_pod: one of bcd's.
    """
    yield from _reading()
    yield from _on_bcd(bcd_pod)
    yield from _on_access(account)
    yield from _on_the_guard()
    yield from _around(account, node)


def _reading() -> Iterator[Attempt]:
    for what, path in (
        ("read the join token", f"{_BCD}/secrets/bcd-join"),
        ("list bcd's Secrets", f"{_BCD}/secrets"),
        ("list everybody's Secrets", "/api/v1/secrets"),
        ("watch everybody's Secrets", "/api/v1/secrets?watch=true&timeoutSeconds=1"),
        ("list bc-access's Secrets", f"{_ACCESS}/secrets"),
        ("list kube-system's Secrets", "/api/v1/namespaces/kube-system/secrets"),
        ("read bcd's settings", f"{_BCD}/configmaps/bcd"),
        ("read the logs of bcd", f"{_BCD}/pods"),
    ):
        yield Attempt(what=what, method="GET", path=path, guarded=False)


def _on_bcd(bcd_pod: str) -> Iterator[Attempt]:
    daemon_set = "/apis/apps/v1/namespaces/better-compute/daemonsets/bcd"
    for sub in ("exec?command=sh&stdout=true", "attach?stdout=true", "portforward?ports=1", "proxy"):
        yield Attempt(what=f"bcd's pod: {sub}", method="POST", path=f"{_BCD}/pods/{bcd_pod}/{sub}")
    debugger = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "registry.example/sh:1"}]}}
    yield Attempt(
        what="a debugger in bcd's pod",
        method="PATCH",
        path=f"{_BCD}/pods/{bcd_pod}/ephemeralcontainers",
        body=debugger,
    )
    yield Attempt(what="delete bcd's pod", method="DELETE", path=f"{_BCD}/pods/{bcd_pod}", body=_DELETE)
    eviction = _object("Eviction", "policy/v1", bcd_pod, namespace="better-compute")
    yield Attempt(what="evict bcd's pod", method="POST", path=f"{_BCD}/pods/{bcd_pod}/eviction", body=eviction)
    yield Attempt(
        what="a pod beside bcd", method="POST", path=f"{_BCD}/pods", body=pod("x", namespace="better-compute")
    )
    yield Attempt(what="change the DaemonSet", method="PATCH", path=daemon_set, body={"spec": {"minReadySeconds": 1}})
    yield Attempt(what="delete the DaemonSet", method="DELETE", path=daemon_set, body=_DELETE)
    yield Attempt(what="empty bcd's namespace", method="DELETE", path=f"{_BCD}/configmaps", body=_DELETE)
    yield Attempt(what="delete bcd's namespace", method="DELETE", path=_BCD, body=_DELETE)
    yield Attempt(what="relabel bcd's namespace", method="PATCH", path=_BCD, body={"metadata": {"labels": {"a": "b"}}})
    yield Attempt(what="replace the join token", method="PATCH", path=f"{_BCD}/secrets/bcd-join", body={"data": {}})
    claim = "/api/v1/namespaces/kube-system/configmaps/better-compute-substrate"
    yield Attempt(what="delete the claim", method="DELETE", path=claim, body=_DELETE)
    yield Attempt(what="change the claim", method="PATCH", path=claim, body={"metadata": {"labels": {"a": "b"}}})


def _on_access(account: str) -> Iterator[Attempt]:
    for name in ("bc-substrate", account):
        path = f"{_ACCESS}/serviceaccounts/{name}"
        yield Attempt(what=f"a token of {name}", method="POST", path=f"{path}/token", body=_TOKEN)
        yield Attempt(what=f"delete {name}", method="DELETE", path=path, body=_DELETE)
    lasting = _object("Secret", "v1", "lasting", namespace="bc-access", type="kubernetes.io/service-account-token")
    lasting["metadata"]["annotations"] = {"kubernetes.io/service-account.name": "bc-substrate"}
    yield Attempt(what="a token without an end", method="POST", path=f"{_ACCESS}/secrets", body=lasting)
    borrowed = pod("x", namespace="bc-access", serviceAccountName="bc-substrate")
    yield Attempt(what="a pod as bc-substrate", method="POST", path=f"{_ACCESS}/pods", body=borrowed)
    yield Attempt(what="delete bc-access", method="DELETE", path=_ACCESS, body=_DELETE)
    yield Attempt(
        what="be ourselves",
        method="GET",
        path="/api/v1/secrets",
        headers={"Impersonate-User": _OURSELVES},
        guarded=False,
    )
    masters = {"Impersonate-User": "somebody", "Impersonate-Group": "system:masters"}
    yield Attempt(what="be a master", method="GET", path="/api/v1/secrets", headers=masters, guarded=False)


def _on_the_guard() -> Iterator[Attempt]:
    # The API puts no admission policy before writes of admission policies: RBAC stops these alone.
    for plural in ("validatingadmissionpolicies", "validatingadmissionpolicybindings"):
        path = f"{_ADMISSION}/{plural}/{GUARD}"
        yield Attempt(what=f"delete {plural}", method="DELETE", path=path, body=_DELETE, guarded=False)
        loose = {"spec": {"failurePolicy": "Ignore"}}
        yield Attempt(what=f"change {plural}", method="PATCH", path=path, body=loose, guarded=False)
    hook = _object("MutatingWebhookConfiguration", "admissionregistration.k8s.io/v1", "reader", webhooks=[])
    path = f"{_ADMISSION}/mutatingwebhookconfigurations"
    yield Attempt(what="a webhook that reads Secrets", method="POST", path=path, body=hook, guarded=False)


def _around(account: str, node: str) -> Iterator[Attempt]:
    bindings = f"{_RBAC}/clusterrolebindings"
    yield Attempt(what="be cluster-admin", method="POST", path=bindings, body=cluster_admin("mine", account))
    roles = f"{_RBAC}/clusterroles"
    more = {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}
    for name in ("better-compute:edit", "better-compute:edit-cluster"):
        yield Attempt(what=f"more into {name}", method="PATCH", path=f"{roles}/{name}", body=more)
    added = _object("ClusterRole", "rbac.authorization.k8s.io/v1", "more", **more)
    added["metadata"]["labels"] = {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}
    yield Attempt(what="a role that is aggregated", method="POST", path=roles, body=added)
    elsewhere = cluster_admin("mine", account, namespace="better-compute")
    path = f"{_RBAC}/namespaces/better-compute/rolebindings"
    yield Attempt(what="be admin where bcd is", method="POST", path=path, body=elsewhere)
    relabelled = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}}
    yield Attempt(what="loosen its namespace", method="PATCH", path="/api/v1/namespaces/training", body=relabelled)
    own = {"metadata": {"labels": {"better-compute.dev/tenants": "true"}}}
    yield Attempt(what="make default its own", method="PATCH", path="/api/v1/namespaces/default", body=own)
    another = _object("Namespace", "v1", "loose")
    yield Attempt(what="a namespace of its making", method="POST", path="/api/v1/namespaces", body=another)
    settings = _object("ConfigMap", "v1", "x", namespace="default")
    yield Attempt(what="write elsewhere", method="POST", path="/api/v1/namespaces/default/configmaps", body=settings)
    volume = _object(
        "PersistentVolume",
        "v1",
        "host",
        spec={
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/var/lib/bcd"},
        },
    )
    yield Attempt(what="a volume with bcd's state", method="POST", path="/api/v1/persistentvolumes", body=volume)
    yield Attempt(what="a Node's kubelet", method="POST", path=f"/api/v1/nodes/{node}/proxy/run/x")
    cordoned = {"spec": {"unschedulable": True}}
    yield Attempt(what="cordon a Node", method="PATCH", path=f"/api/v1/nodes/{node}", body=cordoned)
    yield Attempt(what="delete a Node", method="DELETE", path=f"/api/v1/nodes/{node}", body=_DELETE)
