# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each verb does to the objects: create, apply, merge, delete, read. Called with the cluster's lock held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import defaults, managed_fields, merging
from .access import AccessControl, forbidden
from .kinds import CLUSTER_ROLE, CONFIG_MAP, DAEMON_SET, NAMESPACE, NODE, SERVICE_ACCOUNT, Kind, Route
from .node_pages import NodePages, selected
from .objects import Object, ObjectStore
from .requests import (
    APPLY_PATCH,
    JSON,
    MERGE_PATCH,
    Request,
    delete_options,
    is_forced,
    named_object,
    token_seconds,
)
from .statuses import ApiRefusal, already_exists, conflict, invalid, not_emulated, not_found
from .validation import validate, validate_change

_PERMANENT_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_SAID_ONCE = ("apiVersion", "kind")
_STALE = "the object has been modified; please apply your changes to the latest version and try again"


class Verbs:
    """Carries requests out on one cluster's objects."""

    def __init__(
        self,
        *,
        store: ObjectStore,
        access: AccessControl,
        pages: NodePages,
        when_pods_are_gone: Callable[[Object], None],
    ) -> None:
        """Arguments: when_pods_are_gone: sees that `finish_deletion` is called for an object after a while."""
        self._store = store
        self._access = access
        self._pages = pages
        self._when_pods_are_gone = when_pods_are_gone
        for name in _PERMANENT_NAMESPACES:
            self.add_namespace({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def carry_out(self, route: Route, request: Request) -> tuple[int, dict[str, Any]]:
        """Do what was asked: HTTP status and body.

        Raises:
            ApiRefusal: as the real API refuses.
        """
        if not route.is_answered:
            raise not_emulated(f"{request.method} {request.path}")
        if route.kind is not NODE:
            request.require_accept(JSON)
        if route.subresource is not None:
            return 201, self._token(route, request)
        if route.verb == "LIST":
            return 200, self._list(route, request)
        if route.verb == "GET":
            request.query()
            return 200, self._standing(route)
        if route.verb == "POST":
            return 201, self._create(route, request)
        if route.verb == "PATCH":
            merges = route.kind.merged and request.headers.get("content-type") == MERGE_PATCH
            return 200, self._merge(route, request) if merges else self._apply(route, request)
        return 200, self._delete(route, request)

    def add_namespace(self, namespace: Object) -> Object:
        """Store a namespace and what Kubernetes' controllers put into each."""
        defaults.fill(NAMESPACE, namespace)
        stored = self._store.add(namespace)
        name = namespace["metadata"]["name"]
        for kind, inner, content in (
            (SERVICE_ACCOUNT, "default", {}),
            (CONFIG_MAP, "kube-root-ca.crt", {"data": {"ca.crt": ""}}),
        ):
            metadata = {"name": inner, "namespace": name}
            self._store.add({"apiVersion": "v1", "kind": kind.name, "metadata": metadata} | content)
        return stored

    def finish_deletion(self, obj: Object) -> None:
        """Take an object out whose pods have ended by now."""
        self._store.remove(obj)

    def _standing(self, route: Route) -> Object:
        assert route.name is not None
        standing = self._store.get(route.kind, route.namespace, route.name)
        if standing is None:
            raise not_found(route.kind.qualified, route.name)
        return standing

    def _list(self, route: Route, request: Request) -> dict[str, Any]:
        kind = route.kind
        if kind is NODE:
            return self._pages.answer(request)
        items = self._store.all_of(kind, route.namespace)
        if kind.listed_everywhere:
            items = selected(items, request.query("labelSelector").get("labelSelector", ""))
        else:
            request.query()
        return {
            "kind": f"{kind.name}List",
            "apiVersion": kind.api_version,
            "metadata": {"resourceVersion": self._store.version},
            # In a list, its items' kind is said once for all.
            "items": [{key: value for key, value in item.items() if key not in _SAID_ONCE} for item in items],
        }

    def _token(self, route: Route, request: Request) -> dict[str, Any]:
        request.query()
        assert route.namespace is not None
        assert route.name is not None
        self._require_living_namespace(route, route.name)
        seconds = token_seconds(request)
        issued = self._access.issue(route.namespace, route.name, seconds=seconds)
        return {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {
                "name": route.name,
                "namespace": route.namespace,
                "uid": issued.account_uid,
                "creationTimestamp": self._store.time(),
            },
            "spec": {"expirationSeconds": seconds, "boundObjectRef": None},
            "status": {"token": issued.token, "expirationTimestamp": issued.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ")},
        }

    def _create(self, route: Route, request: Request) -> Object:
        kind = route.kind
        query = request.query("fieldManager", "fieldValidation")
        obj = named_object(request, route, JSON)
        name = obj["metadata"]["name"]
        if "uid" in obj["metadata"]:
            raise not_emulated("a create with a uid")
        if "resourceVersion" in obj["metadata"]:
            raise ApiRefusal(500, "resourceVersion should not be set on objects to be created", reason="")
        self._require_living_namespace(route, name)
        defaults.fill(kind, obj)
        validate(kind, obj)
        standing = self._store.get(kind, route.namespace, name)
        if standing is not None:
            raise already_exists(kind.qualified, name, is_going="deletionTimestamp" in standing["metadata"])
        manager = query.get("fieldManager", "unknown")
        managed_fields.own_all(kind, obj, manager=manager, time=self._store.time())
        if kind is CLUSTER_ROLE:
            # The one list that is shown without being there.
            obj.setdefault("rules", None)
        return self.add_namespace(obj) if kind is NAMESPACE else self._store.add(obj)

    def _apply(self, route: Route, request: Request) -> Object:
        kind = route.kind
        query = request.query("fieldManager", "fieldValidation", "force")
        force = is_forced(query)
        wanted = named_object(request, route, APPLY_PATCH)
        name = wanted["metadata"]["name"]
        if not query.get("fieldManager"):
            raise invalid(
                "PatchOptions.meta.k8s.io", "", [("fieldManager", "Required value: is required for apply patch")]
            )
        uid, version = wanted["metadata"].get("uid"), wanted["metadata"].get("resourceVersion")
        if not uid or not version:
            raise not_emulated("an apply without uid and resourceVersion as preconditions")
        live = self._store.get(kind, route.namespace, name)
        if live is None:
            raise conflict(
                kind.qualified,
                name,
                f"uid mismatch: the provided object specified uid {uid}, and no existing object was found",
            )
        assert kind.schema is not None
        changed = managed_fields.apply(
            kind.schema, live, wanted, manager=query["fieldManager"], force=force, time=self._store.time()
        )
        defaults.fill(kind, changed)
        return self._replace(kind, live, changed, wanted["metadata"])

    def _merge(self, route: Route, request: Request) -> Object:
        kind = route.kind
        query = request.query("fieldManager", "fieldValidation")
        patch = merging.sent_patch(request)
        live = self._standing(route)
        changed = merging.merged(route, live, patch)
        defaults.fill(kind, changed)
        manager = query.get("fieldManager", "unknown")
        managed_fields.own_changes(kind, live, changed, manager=manager, time=self._store.time())
        return self._replace(kind, live, changed, patch["metadata"])

    def _replace(self, kind: Kind, live: Object, changed: Object, preconditions: dict[str, Any]) -> Object:
        """Store a changed object if what stands there is still what was meant."""
        name = live["metadata"]["name"]
        if live["metadata"]["resourceVersion"] != preconditions["resourceVersion"]:
            raise conflict(kind.qualified, name, _STALE)
        if live["metadata"]["uid"] != preconditions["uid"]:
            raise invalid(kind.title, name, [("metadata.uid", "Invalid value: field is immutable")])
        validate(kind, changed)
        validate_change(kind, live, changed)
        if changed == live:
            return live
        defaults.count_change(kind, live, changed)
        return self._store.replace(changed)

    def _delete(self, route: Route, request: Request) -> dict[str, Any]:
        request.query()
        options = delete_options(request)
        live = self._standing(route)
        metadata = live["metadata"]
        if options.uid is not None and options.uid != metadata["uid"]:
            raise _another_uid(route, live, options.uid)
        if route.kind is NAMESPACE:
            return self._delete_namespace(route, live)
        if metadata.get("deletionTimestamp"):
            return live
        if route.kind is DAEMON_SET and options.foreground:
            metadata |= {
                "deletionTimestamp": self._store.time(),
                "deletionGracePeriodSeconds": 0,
                "finalizers": ["foregroundDeletion"],
                "generation": metadata["generation"] + 1,
            }
            stored = self._store.replace(live)
            self._when_pods_are_gone(stored)
            return stored
        self._store.remove(live)
        if route.kind is SERVICE_ACCOUNT:
            # One of the kinds of which a delete returns the object, though it is gone.
            return live
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {**route.kind.details(metadata["name"]), "uid": metadata["uid"]},
        }

    def _delete_namespace(self, route: Route, live: Object) -> Object:
        name = live["metadata"]["name"]
        if name in _PERMANENT_NAMESPACES:
            raise forbidden(route, "this namespace may not be deleted")
        if live["metadata"].get("deletionTimestamp"):
            return live
        live["metadata"]["deletionTimestamp"] = self._store.time()
        live["status"] = {"phase": "Terminating"}
        stored = self._store.replace(live)
        for inner in self._store.in_namespace(name):
            self._store.remove(inner)
        self._when_pods_are_gone(stored)
        return stored

    def _require_living_namespace(self, route: Route, name: str) -> None:
        if route.namespace is None:
            return
        namespace = self._store.get(NAMESPACE, None, route.namespace)
        if namespace is None:
            raise not_found("namespaces", route.namespace)
        if namespace["metadata"].get("deletionTimestamp"):
            message = f"namespace {route.namespace} is being terminated"
            raise forbidden(
                replace(route, name=name),
                f"unable to create new content in namespace {route.namespace} because it is being terminated",
                causes=[{"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"}],
            )


def _another_uid(route: Route, live: Object, uid: str) -> ApiRefusal:
    """409 for a delete of an object that is another one."""
    kind, name, standing = route.kind, live["metadata"]["name"], live["metadata"]["uid"]
    if kind is NAMESPACE:
        message = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {standing}"
        return conflict(kind.qualified, name, message)
    return conflict(
        kind.title,
        name,
        f"the UID in the precondition ({uid}) does not match the UID in record ({standing}). "
        "The object might have been deleted and then recreated",
    )
