# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One object in a cluster: named, read, created, compared, deleted. Always only what is ours; ensuring.py keeps it so.

Manifests are plain JSON as the API takes it. None as a value means "must not be there". Deletes carry the uid, so that
they never hit a successor of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union

from ..model import labels
from ..model.errors import ClusterObjectMissing, ClusterUnreachable, NotOurs
from ..model.ids import ClusterId, PoolId, is_cluster_id
from .api import ClusterApi
from .names import FIELD_MANAGER

Manifest = dict[str, Any]

Owner = Union[PoolId, ClusterId]  # noqa: UP007 -- sanity's pylint does not know that a NewType has `|`
"""Whose an object is: the pool's that the cluster backs, or, in a cluster of a tenant's own, the cluster's."""

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"

_COLLECTIONS = {
    "Namespace": "/api/v1/namespaces",
    "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps",
    "Secret": "/api/v1/namespaces/{namespace}/secrets",
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "DaemonSet": "/apis/apps/v1/namespaces/{namespace}/daemonsets",
    "ClusterRole": f"{_RBAC}/clusterroles",
    "ClusterRoleBinding": f"{_RBAC}/clusterrolebindings",
    "RoleBinding": f"{_RBAC}/namespaces/{{namespace}}/rolebindings",
    "ValidatingAdmissionPolicy": f"{_ADMISSION}/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": f"{_ADMISSION}/validatingadmissionpolicybindings",
}

_SELECTING = frozenset({"nodeSelector", "matchLabels"})
"""Maps that the API takes as one value (x-kubernetes-map-type: atomic) and fills nothing into."""

_EVERYWHERE = {"RoleBinding": f"{_RBAC}/rolebindings"}
"""The collections of all namespaces together."""


def identity(kind: str, name: str, *, pool_id: Owner, namespace: str | None = None) -> Manifest:
    """The head of a manifest: kind, name and our label.

    Arguments:
        pool_id: the owner, which in a cluster of a tenant's own is the cluster.
    """
    label = labels.CLUSTER if is_cluster_id(pool_id) else labels.SUBSTRATE_POOL
    metadata: Manifest = {"name": name, "labels": {label: str(pool_id)}}
    if namespace is not None:
        metadata["namespace"] = namespace
    return {"apiVersion": _api_version(kind), "kind": kind, "metadata": metadata}


def _api_version(kind: str) -> str:
    """`v1`, `apps/v1`, …, as the collection's path says it."""
    _slash, root, *rest = _COLLECTIONS[kind].split("/")
    return "v1" if root == "api" else "/".join(rest[:2])


def collection(kind: str, namespace: str | None = None) -> str:
    """The path of a kind's collection."""
    return _COLLECTIONS[kind].format(namespace=namespace)


def path(kind: str, name: str, namespace: str | None = None) -> str:
    """The path of one object."""
    return f"{collection(kind, namespace)}/{name}"


def describe(kind: str, name: str, namespace: str | None = None) -> str:
    """How messages name an object: `DaemonSet better-compute/bcd`."""
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def read(api: ClusterApi, kind: str, name: str, namespace: str | None = None) -> Manifest | None:
    """The object as it stands, None when there is none."""
    try:
        return api.request("GET", path(kind, name, namespace))
    except ClusterObjectMissing:
        return None


def labelled(api: ClusterApi, kind: str, label: str, value: str) -> list[Manifest]:
    """The objects of a kind in all namespaces whose label has this value.

    Raises:
        ClusterUnreachable: also for a list without items.
    """
    reply = api.request("GET", _EVERYWHERE[kind], query={"labelSelector": f"{label}={value}"})
    # Some lists of nothing are null.
    items = [] if reply.get("items", 0) is None else reply.get("items")
    if not isinstance(items, list):
        raise ClusterUnreachable(f"the Kubernetes API answered a list of kind {kind} without items")
    # In a list, its items' kind is said once for all.
    return [{**item, "apiVersion": _api_version(kind), "kind": kind} for item in items]


def owner(live: Manifest) -> str | None:
    """The pool's (or, in a tenant's own cluster, the cluster's) id in our label, None on an object without it."""
    found = live["metadata"].get("labels") or {}
    value = found.get(labels.SUBSTRATE_POOL, found.get(labels.CLUSTER))
    return None if value is None else str(value)


def is_going(live: Manifest) -> bool:
    """Whether the object is being deleted."""
    return live["metadata"].get("deletionTimestamp") is not None


def create(api: ClusterApi, manifest: Manifest) -> Manifest:
    """Create the object.

    Raises:
        ClusterConflict: there is one of that name, or its namespace is going away.
    """
    return api.request(
        "POST",
        collection(manifest["kind"], manifest["metadata"].get("namespace")),
        query={"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"},
        body=without_absent(manifest),
    )


def require_ours(live: Manifest, *, pool_id: Owner) -> None:
    """Refuse an object that does not carry this owner's label.

    Raises:
        NotOurs: with what stands there and what a person can do.
    """
    held = owner(live)
    if held != pool_id:
        metadata = live["metadata"]
        name = describe(live["kind"], metadata["name"], metadata.get("namespace"))
        mark = f"labelled for {held}" if held else f"without the label {labels.SUBSTRATE_POOL}"
        raise NotOurs(f"{name} stands in the cluster {mark}: it is left alone; rename or remove it")


def delete(api: ClusterApi, live: Manifest, *, wait_for_dependents: bool = False) -> bool:
    """Delete exactly this object; whose it is has been looked at before.

    Arguments:
        live: as it was read: its uid is the precondition.
        wait_for_dependents: keep the object, marked as going, until all that it owns (a DaemonSet's pods) is gone.

    Returns:
        True when it is gone, False while it is going.

    Raises:
        ClusterConflict: another object has the name now.
    """
    metadata = live["metadata"]
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": metadata["uid"]},
        "propagationPolicy": "Foreground" if wait_for_dependents else "Background",
    }
    try:
        reply = api.request("DELETE", path(live["kind"], metadata["name"], metadata.get("namespace")), body=options)
    except ClusterObjectMissing:
        return True
    # The API answers with a Status when the object is gone (of a service account, with what it was), and with the
    # object, marked as going, while it is.
    return reply.get("kind") == "Status" or not is_going(reply)


def delete_ours(
    api: ClusterApi, kind: str, name: str, namespace: str | None = None, *, pool_id: Owner, dependents: bool = False
) -> bool:
    """Delete the object if it carries this pool's label; True when nothing of ours stands there (any more)."""
    live = read(api, kind, name, namespace)
    if live is None or owner(live) != pool_id:
        return True
    return False if is_going(live) else delete(api, live, wait_for_dependents=dependents)


def stands_in(wanted: Any, live: Any) -> bool:
    """Whether everything wanted stands in the live value.

    Fields that the API's defaults or others added beside ours do not matter; items of our lists, and entries of maps in
    which each narrows what is selected, do.
    """
    if isinstance(wanted, dict):
        return isinstance(live, dict) and all(
            key not in live
            if value is None
            else key in live and (value == live[key] if key in _SELECTING else stands_in(value, live[key]))
            for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(live, list)
            and len(wanted) == len(live)
            and all(stands_in(one, other) for one, other in zip(wanted, live, strict=True))
        )
    return bool(wanted == live)


def without_absent(value: Any) -> Any:
    """A copy of a manifest, or of a part of one, without the keys that must not be there."""
    if isinstance(value, Mapping):
        return {key: without_absent(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_absent(inner) for inner in value]
    return value
