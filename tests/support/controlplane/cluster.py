# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real cluster as a test sees it: empty, with Nodes put in by hand, and what stands in it to look at."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.better_compute.fleet.emulators.kubernetes import kinds

from .connection import Connection, Reply
from .token_reviews import Judge, TokenReviews

_KUBERNETES_OWN = ("default", "kube-system", "kube-public", "kube-node-lease")
_KUBE_SYSTEM_CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"
_OWN_CONFIG_MAPS = (
    "extension-apiserver-authentication",
    "kube-apiserver-legacy-service-account-token-tracking",
    "kube-root-ca.crt",
)
_IN_A_NAMESPACE = (
    "/apis/apps/v1/namespaces/{}/daemonsets",
    "/apis/apps/v1/namespaces/{}/controllerrevisions",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
    "/api/v1/namespaces/{}/pods",
    "/api/v1/namespaces/{}/configmaps",
    "/api/v1/namespaces/{}/secrets",
    "/api/v1/namespaces/{}/serviceaccounts",
)
"""What tests put into namespaces."""

_CLUSTER_WIDE = (
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/api/v1/nodes",
)
_NOT_KUBERNETES_OWN = "kubernetes.io/bootstrapping!=rbac-defaults"

_AT_ONCE = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "propagationPolicy": "Background"}
_SETTLED_LIMIT_SECONDS = 60.0
"""Idle, a namespace takes its five seconds' grace and one more."""

_LEFT_ALONE_SECONDS = 3.0
"""Of the five that the namespace controller waits. From then on it may be at work in a namespace, which it knows by its
name alone: were that taken away under it, it would go on in the next one of that name."""

_POLL_SECONDS = 0.05


class RealCluster:
    """A cluster whose API is a real one.

    Attributes:
        endpoint, ca_pem: where it is, and what its certificate is to be checked against.
        admin_token: a bearer token of `system:masters`.
        admin: requests with that token.
    """

    def __init__(self, *, admin: Connection, admin_token: str, reviews: TokenReviews) -> None:
        """Arguments: reviews: judges the bearer tokens that the API does not know itself."""
        self.endpoint, self.ca_pem = admin.endpoint, admin.ca_pem
        self.admin_token = admin_token
        self.admin = admin
        self._reviews = reviews

    def let_judge(self, judge: Judge) -> None:
        """Let a cloud say who the bearer tokens are that the API does not know itself, until `empty`."""
        self._reviews.judge = judge

    def empty(self) -> None:
        """Take everything away that Kubernetes did not put there itself, and let nobody judge tokens."""
        self._reviews.judge = lambda _token: None
        for collection in _CLUSTER_WIDE:
            self._delete_all(collection, labelSelector=_NOT_KUBERNETES_OWN)
        for namespace in self._foreign_namespaces():
            self._empty_namespace(namespace)
        for name in self._foreign_config_maps():
            self._require(self.admin.send("DELETE", f"{_KUBE_SYSTEM_CONFIG_MAPS}/{name}"), 200, 404)

    def leftovers(self) -> list[str]:
        """What stands in it (Nodes apart) that Kubernetes did not put there itself."""
        wide = [
            f"{collection.rpartition('/')[2]} {name}"
            for collection in _CLUSTER_WIDE[:-1]
            for name in self._names(collection, labelSelector=_NOT_KUBERNETES_OWN)
        ]
        namespaces = [f"namespace {name}" for name in self._foreign_namespaces()]
        return [*wide, *namespaces, *(f"configmap kube-system/{name}" for name in self._foreign_config_maps())]

    def make_node(
        self,
        name: str,
        *,
        labels: Mapping[str, str],
        provider_id: str = "",
        taints: Sequence[Mapping[str, str]] = (),
        ready: bool = True,
    ) -> str:
        """Register a Node, as its kubelet would; returns its uid, which the API gives."""
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
            "spec": {"providerID": provider_id, "taints": [dict(taint) for taint in taints]},
            "status": {"conditions": [{"type": "Ready", "status": "True" if ready else "Unknown"}]},
        }
        made = self._require(self.admin.send("POST", "/api/v1/nodes", body=node), 201).body
        return str(made["metadata"]["uid"])

    def remove_node(self, name: str, *, uid: str | None = None) -> None:
        """Take a Node out, with a uid only if it is that one; one that is not there is no error."""
        only = None if uid is None else {**_AT_ONCE, "preconditions": {"uid": uid}}
        expected = (200, 404) if uid is None else (200, 404, 409)
        self._require(self.admin.send("DELETE", f"/api/v1/nodes/{name}", body=only), *expected)

    def everything(self) -> dict[tuple[str, str, str], str]:
        """The resource version of each object that Kubernetes did not put there itself, by kind, namespace and name.

        Of the kinds that the product writes: Nodes, pods and what controllers note for themselves are not among them.
        """
        found = {}
        for kind in kinds.KINDS:
            if kind is kinds.NODE:
                continue
            query = {"labelSelector": _NOT_KUBERNETES_OWN}
            for one in self._require(self.admin.get(f"{kind.root}/{kind.plural}", **query), 200).body["items"]:
                metadata = one["metadata"]
                if metadata["name"] not in (*_KUBERNETES_OWN, *_OWN_CONFIG_MAPS):
                    key = (kind.name, metadata.get("namespace", ""), metadata["name"])
                    found[key] = metadata["resourceVersion"]
        return found

    def read(self, path: str) -> dict[str, Any] | None:
        """One object, None when there is none."""
        reply = self._require(self.admin.get(path), 200, 404)
        body: dict[str, Any] = reply.body
        return body if reply.status == 200 else None

    def settle(self) -> None:
        """Wait until Kubernetes' controllers have ended everything that is being deleted."""
        self.wait_until(lambda: not any(self._going()), "everything deleted is gone")

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Look until it is so.

        Raises:
            AssertionError: it is not so after a minute.
        """
        deadline = time.monotonic() + _SETTLED_LIMIT_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"after {_SETTLED_LIMIT_SECONDS:g} s it is not so that {what}")
            time.sleep(_POLL_SECONDS)

    def _going(self) -> list[str]:
        collections = ("/api/v1/namespaces", "/apis/apps/v1/daemonsets", "/api/v1/pods")
        return [
            one["metadata"]["name"]
            for collection in collections
            for one in self._require(self.admin.get(collection), 200).body["items"]
            if one["metadata"].get("deletionTimestamp")
        ]

    def _names(self, collection: str, **query: str) -> list[str]:
        listed = self._require(self.admin.get(collection, **query), 200).body
        return [one["metadata"]["name"] for one in listed["items"]]

    def _foreign_namespaces(self) -> list[str]:
        return [name for name in self._names("/api/v1/namespaces") if name not in _KUBERNETES_OWN]

    def _foreign_config_maps(self) -> list[str]:
        return [name for name in self._names(_KUBE_SYSTEM_CONFIG_MAPS) if name not in _OWN_CONFIG_MAPS]

    def _delete_all(self, collection: str, **query: str) -> None:
        self._require(self.admin.send("DELETE", collection, query=query, body=_AT_ONCE), 200)

    def _empty_namespace(self, name: str) -> None:
        """Do what the namespace controller does, without the five seconds that it waits first; wait where it began."""
        for collection in _IN_A_NAMESPACE:
            self._delete_all(collection.format(name))
        self._require(self.admin.send("DELETE", f"/api/v1/namespaces/{name}", body=_AT_ONCE), 200, 404, 409)
        namespace = self.read(f"/api/v1/namespaces/{name}")
        if namespace is not None and not _may_be_at_work(namespace):
            namespace["spec"]["finalizers"] = []
            path = f"/api/v1/namespaces/{name}/finalize"
            self._require(self.admin.send("PUT", path, body=namespace), 200, 404, 409)
        self.wait_until(lambda: self.read(f"/api/v1/namespaces/{name}") is None, f"namespace {name} is gone")

    @staticmethod
    def _require(reply: Reply, *expected: int) -> Reply:
        assert reply.status in expected, (reply.status, reply.content[:500])
        return reply


def _may_be_at_work(namespace: dict[str, Any]) -> bool:
    """Whether the namespace controller may be deleting what is in a namespace."""
    since = namespace["metadata"].get("deletionTimestamp")
    age = timedelta() if since is None else datetime.now(UTC) - datetime.fromisoformat(since)
    return age >= timedelta(seconds=_LEFT_ALONE_SECONDS)
