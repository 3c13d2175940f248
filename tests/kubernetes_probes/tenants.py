# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes of what lets a tenant's subject in: roles, bindings and the access guard, as the product builds them."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access_guard import guard_manifests
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.tenant_access import role_manifests
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId

from .creating import LABELS, binding
from .observation import Told, stored, told
from .subject import APPLY, APPLY_PATCH, BINDINGS, CREATE, RBAC, ApiSubject, Reply, at, deletion, exactly, manifest

ROLES = f"{RBAC}/clusterroles"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
POLICIES = f"{_ADMISSION}/validatingadmissionpolicies"
POLICY_BINDINGS = f"{_ADMISSION}/validatingadmissionpolicybindings"

_OWNER = PoolId("pool_01k00000000000000000000000")


class _Kept:
    """An object of the probe's own, made as the product makes it and then kept as it should be."""

    def __init__(self, api: ApiSubject, collection: str, body: dict[str, Any], name: str) -> None:
        self.api = api
        self.body = body | {"metadata": body["metadata"] | {"name": name}}
        self.path = f"{collection}/{name}"
        self.collection = collection
        self.made = api.send("POST", collection, self.body, query=CREATE)

    def changed(self, **content: Any) -> dict[str, Any]:
        return copy.deepcopy(self.body) | content

    def apply(self, body: dict[str, Any], manager: str = "better-compute") -> Reply:
        """Apply onto the object as it stands."""
        live = self.api.send("GET", self.path)
        sent = body | {"metadata": body["metadata"] | exactly(live)}
        query = APPLY | {"fieldManager": manager}
        return self.api.send("PATCH", self.path, sent, query=query, content_type=APPLY_PATCH)

    def life(self, drifted: dict[str, Any]) -> Told:
        """What was made, made again, changed by a stranger, restored, and what stands at last."""
        return {
            "made": told(self.api, self.made),
            "again": told(self.api, self.api.send("POST", self.collection, self.body, query=CREATE)),
            "drifted": told(self.api, self.apply(drifted, "stranger")),
            "restored": told(self.api, self.apply(self.body)),
            "stored": stored(self.api, self.path),
        }


def _role(api: ApiSubject, *, aggregated: bool) -> _Kept:
    body = next(role for role in role_manifests(owner=_OWNER) if ("aggregationRule" in role) is aggregated)
    if aggregated:
        # Nothing has this label: what Kubernetes' own controller gathers under the product's changes with its version.
        body = body | {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"probe": api.name()}}]}}
    return _Kept(api, ROLES, body, f"{api.name()}:edit")


def a_cluster_role_is_made_and_kept(api: ApiSubject) -> Told:
    role = _role(api, aggregated=False)
    less = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}
    return role.life(role.changed(rules=[less]))


def a_role_that_gathers_others_is_made_and_kept(api: ApiSubject) -> Told:
    role = _role(api, aggregated=True)
    theirs = {"clusterRoleSelectors": [{"matchLabels": {"probe": "other"}}]}
    return role.life(role.changed(aggregationRule=theirs))


def a_role_binding_is_made_and_kept(api: ApiSubject) -> Told:
    kept = _role_binding(api)
    return kept.life(kept.changed(subjects=[])) | {
        "by another uid": told(api, api.send("DELETE", kept.path, deletion("00000000-0000-4000-8000-000000000000"))),
        "deleted": told(api, api.send("DELETE", kept.path, deletion(api.send("GET", kept.path).uid))),
        "gone": stored(api, kept.path),
    }


def a_cluster_role_binding_is_kept(api: ApiSubject) -> Told:
    kept = _Kept(api, BINDINGS, binding(api), api.name())
    return kept.life(kept.changed(subjects=[]))


def the_role_of_a_binding_stays(api: ApiSubject) -> Told:
    one = _role_binding(api)
    other = _Kept(api, BINDINGS, binding(api), api.name())
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    return {
        "in a namespace": told(api, one.apply(one.changed(roleRef=reference))),
        "in the cluster": told(api, other.apply(other.changed(roleRef=reference))),
    }


def bindings_are_listed_in_all_namespaces(api: ApiSubject) -> Told:
    labels = {"labels": {"probe": api.name()}}
    for name in ("b", "a"):
        space = api.namespace(name)
        for inner, metadata in (("ours", labels), ("other", {})):
            body = _binding_body(space) | {"metadata": {"name": inner, "namespace": space, **metadata}}
            assert api.send("POST", _bindings(space), body, query=CREATE).code == 201
    everywhere = f"{RBAC}/rolebindings"
    return {
        "listed": told(api, api.send("GET", everywhere, query={"labelSelector": f"probe={api.name()}"})),
        "none": told(api, api.send("GET", everywhere, query={"labelSelector": f"probe={api.name('none')}"})),
    }


def a_service_account_is_kept(api: ApiSubject) -> Told:
    namespace = api.namespace()
    annotated = LABELS | {"annotations": {"better-compute.dev/subject": "ci@example.com"}}
    body = manifest("ServiceAccount", "robot", namespace, metadata=annotated)
    kept = _Kept(api, at(namespace, "serviceaccounts"), body, "robot")
    return kept.life(
        kept.changed(metadata=kept.body["metadata"] | {"annotations": {"better-compute.dev/subject": "other"}})
    )


def the_access_guard_is_made_and_kept(api: ApiSubject) -> Told:
    policy, in_force = guard_manifests(owner=_OWNER)
    kept = _Kept(api, POLICIES, policy, api.name())
    bound = _Kept(api, POLICY_BINDINGS, in_force | {"spec": in_force["spec"] | {"policyName": api.name()}}, api.name())
    weaker = kept.changed(spec=policy["spec"] | {"failurePolicy": "Ignore"})
    idle = bound.changed(spec=bound.body["spec"] | {"policyName": api.name("none")})
    # A set: who applies another action adds it, and these two do not go together.
    warning = bound.changed(spec=bound.body["spec"] | {"validationActions": ["Warn"]})
    return {
        "policy": kept.life(weaker),
        "binding": bound.life(idle),
        "binding with two actions": told(api, bound.apply(warning, "stranger")),
    }


def invalid_roles_and_bindings_are_refused(api: ApiSubject) -> Told:
    space = api.namespace()
    bound = _binding_body(space)
    role = _role(api, aggregated=False)
    rule = role.body["rules"][0]
    robot = bound["subjects"][0]
    bindings = {
        "no role": bound | {"roleRef": bound["roleRef"] | {"name": ""}},
        "another kind of role": bound | {"roleRef": bound["roleRef"] | {"kind": "Secret"}},
        "another group": bound | {"roleRef": bound["roleRef"] | {"apiGroup": "apps"}},
        "nameless subject": bound | {"subjects": [robot | {"name": ""}]},
        "subject of no namespace": bound | {"subjects": [{key: robot[key] for key in ("kind", "name")}]},
        "bad name": bound | {"metadata": bound["metadata"] | {"name": "a/b"}},
    }
    roles = {
        "no verbs": role.changed(rules=[rule | {"verbs": []}]),
        "no resources": role.changed(rules=[rule | {"resources": []}]),
        "gathers by nothing": role.changed(aggregationRule={"clusterRoleSelectors": []}),
    }
    for body in roles.values():
        body["metadata"]["name"] = f"{api.name()}:other"
    return {
        **{what: told(api, api.send("POST", _bindings(space), body, query=CREATE)) for what, body in bindings.items()},
        **{what: told(api, api.send("POST", ROLES, body, query=CREATE)) for what, body in roles.items()},
    }


def _bindings(namespace: str) -> str:
    return f"{RBAC}/namespaces/{namespace}/rolebindings"


def _binding_body(namespace: str) -> dict[str, Any]:
    return manifest(
        "RoleBinding",
        "robot",
        namespace,
        metadata=LABELS,
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        subjects=[{"kind": "ServiceAccount", "name": "robot", "namespace": namespace}],
    )


def _role_binding(api: ApiSubject) -> _Kept:
    namespace = api.namespace()
    return _Kept(api, _bindings(namespace), _binding_body(namespace), "robot")


TENANTS = (
    a_cluster_role_is_made_and_kept,
    a_role_that_gathers_others_is_made_and_kept,
    a_role_binding_is_made_and_kept,
    a_cluster_role_binding_is_kept,
    the_role_of_a_binding_stays,
    bindings_are_listed_in_all_namespaces,
    a_service_account_is_kept,
    the_access_guard_is_made_and_kept,
    invalid_roles_and_bindings_are_refused,
)
