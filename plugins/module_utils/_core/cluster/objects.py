# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeping one object in a cluster as it should be: read, create, compare, apply, delete. Always only what is ours.

Manifests are plain JSON as the API takes it. None as a value means "must not be there".

- First by create, so that nothing of the same name is ever taken over; afterwards by server-side apply, and only when
  something differs. The apply carries the uid and resourceVersion that were compared: if the object changed or was
  replaced in between, the API answers 409 and the next pass looks again.
- The apply forces: the object carries our label, and fields that were set by our own create count as another manager's.
- Deletes carry the uid, so that they never hit a successor of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union

from ..model import labels
from ..model.errors import ClusterConflict, ClusterInvalid, ClusterObjectMissing, ClusterUnreachable, NotOurs
from ..model.ids import ClusterId, PoolId, is_cluster_id
from .api import APPLY_PATCH, ClusterApi
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

_STATUS_CHANGES = 5
"""How many writes of an object's status are let pass before its apply is left to the next pass."""

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
        body=_without_absent(manifest),
    )


def ensure(api: ClusterApi, manifest: Manifest, *, pool_id: Owner, whole: str | None = None) -> bool:
    """Make the object stand as the manifest says; one read and no write where it does already.

    Arguments:
        whole: a field that an apply may be unable to bring about: the API lets nobody change it, or keeps in its lists
            what others put there. Where it does not stand then, the object is made anew.

    Returns:
        Whether anything was written.

    Raises:
        NotOurs: an object of that name does not carry this pool's label; it was left alone.
        ClusterConflict: somebody changed it in between, or it is being deleted: look again later.
    """
    key = (manifest["kind"], manifest["metadata"]["name"], manifest["metadata"].get("namespace"))
    live = read(api, *key)
    if live is None:
        try:
            create(api, manifest)
        except ClusterConflict:
            # Another process may have made it just now.
            live = read(api, *key)
            if live is None:
                raise
        else:
            return True
    require_ours(live, pool_id=pool_id)
    if is_going(live):
        raise ClusterConflict(f"{describe(*key)} is being deleted; it can be made again when it is gone")
    if stands_in(manifest, live):
        return False
    try:
        applied = _apply_while_status_moves(api, manifest, live)
    except ClusterInvalid:
        if whole is None or stands_in(manifest[whole], live.get(whole)):
            raise
        applied = live
    # A field that our create set cannot be unset by an apply, since the create owns it. Rare: start over.
    if _lingers(manifest, applied) or (whole is not None and not stands_in(manifest[whole], applied.get(whole))):
        delete(api, applied)
        create(api, manifest)
    return True


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
    """Whether everything wanted stands in the live value. What the API's defaults or others added does not matter."""
    if isinstance(wanted, dict):
        return isinstance(live, dict) and all(
            key not in live if value is None else key in live and stands_in(value, live[key])
            for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(live, list)
            and len(wanted) == len(live)
            and all(stands_in(one, other) for one, other in zip(wanted, live, strict=True))
        )
    return bool(wanted == live)


def _apply_while_status_moves(api: ClusterApi, manifest: Manifest, live: Manifest) -> Manifest:
    """Apply, and again onto what stands there now as long as nothing but its status has changed in between.

    A DaemonSet's controller writes its status at every step of a rollout, and each write is a new resourceVersion.
    """
    for _turn in range(_STATUS_CHANGES):
        try:
            return _apply(api, manifest, live)
        except ClusterConflict:
            metadata = live["metadata"]
            now = read(api, live["kind"], metadata["name"], metadata.get("namespace"))
            if now is None or _without_status(now) != _without_status(live):
                raise
            live = now
    return _apply(api, manifest, live)


def _without_status(live: Manifest) -> Manifest:
    """The object without what a write of its status changes."""
    metadata = {
        key: value for key, value in live["metadata"].items() if key not in ("resourceVersion", "managedFields")
    }
    return {key: value for key, value in live.items() if key != "status"} | {"metadata": metadata}


def _apply(api: ClusterApi, manifest: Manifest, live: Manifest) -> Manifest:
    """Server-side apply onto exactly the object that was compared."""
    metadata = manifest["metadata"]
    body = _without_absent(manifest)
    body["metadata"] = body["metadata"] | {
        "uid": live["metadata"]["uid"],
        "resourceVersion": live["metadata"]["resourceVersion"],
    }
    return api.request(
        "PATCH",
        path(manifest["kind"], metadata["name"], metadata.get("namespace")),
        query={"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict", "force": "true"},
        body=body,
        content_type=APPLY_PATCH,
    )


def _without_absent(value: Any) -> Any:
    """A copy without the keys that must not be there."""
    if isinstance(value, Mapping):
        return {key: _without_absent(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_absent(inner) for inner in value]
    return value


def _lingers(wanted: Any, live: Any) -> bool:
    """Whether a field that must not be there stands in the live value (in maps only: lists hold no such field)."""
    if not isinstance(wanted, dict) or not isinstance(live, dict):
        return False
    return any(key in live if value is None else _lingers(value, live.get(key)) for key, value in wanted.items())
