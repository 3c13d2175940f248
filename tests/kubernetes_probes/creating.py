# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes of creates and reads: each kind as the product makes it, and why it may be refused."""

from __future__ import annotations

import base64

from .observation import Told, stored, told
from .subject import BINDINGS, CREATE, NAMESPACES, ApiSubject, at, manifest

LABELS = {"labels": {"better-compute.dev/substrate-pool": "pool_01k00000000000000000000000"}}
_MEBIBYTE = 1024 * 1024


def a_namespace_is_created(api: ApiSubject) -> Told:
    name = api.name()
    labels = {"labels": LABELS["labels"] | {"pod-security.kubernetes.io/enforce": "privileged"}}
    made = api.send("POST", NAMESPACES, manifest("Namespace", name, metadata=labels), query=CREATE)
    again = api.send("POST", NAMESPACES, manifest("Namespace", name, metadata=labels), query=CREATE)
    return {"made": told(api, made), "again": told(api, again), "stored": stored(api, f"{NAMESPACES}/{name}")}


def a_config_map_is_created(api: ApiSubject) -> Told:
    maps = at(api.namespace(), "configmaps")
    body = manifest("ConfigMap", "a", api.name(), metadata=LABELS, data={"BCD_PINS": "", "B": "two"})
    made = api.send("POST", maps, body, query=CREATE)
    again = api.send("POST", maps, body, query=CREATE)
    return {"made": told(api, made), "again": told(api, again), "stored": stored(api, f"{maps}/a")}


def a_claim_holds_no_data(api: ApiSubject) -> Told:
    maps = at(api.namespace(), "configmaps")
    made = api.send("POST", maps, manifest("ConfigMap", "claim", api.name(), metadata=LABELS), query=CREATE)
    return {"made": told(api, made)}


def a_secret_is_created(api: ApiSubject) -> Told:
    secrets = at(api.namespace(), "secrets")
    data = {"token": base64.b64encode(b"t0ken").decode()}
    body = manifest("Secret", "s", api.name(), metadata=LABELS, type="Opaque", data=data)
    made = api.send("POST", secrets, body, query=CREATE)
    again = api.send("POST", secrets, body, query=CREATE)
    return {"made": told(api, made), "again": told(api, again), "stored": stored(api, f"{secrets}/s")}


def a_service_account_is_created(api: ApiSubject) -> Told:
    accounts = at(api.namespace(), "serviceaccounts")
    body = manifest("ServiceAccount", "robot", api.name(), metadata=LABELS)
    made = api.send("POST", accounts, body, query=CREATE)
    again = api.send("POST", accounts, body, query=CREATE)
    return {"made": told(api, made), "again": told(api, again), "stored": stored(api, f"{accounts}/robot")}


def a_binding_is_created(api: ApiSubject) -> Told:
    body = binding(api)
    made = api.send("POST", BINDINGS, body, query=CREATE)
    again = api.send("POST", BINDINGS, body, query=CREATE)
    return {"made": told(api, made), "again": told(api, again), "stored": stored(api, f"{BINDINGS}/{api.name()}")}


def a_binding_without_a_role_is_refused(api: ApiSubject) -> Told:
    body = binding(api) | {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ""}}
    return {"refused": told(api, api.send("POST", BINDINGS, body, query=CREATE))}


def what_is_not_there_is_not_found(api: ApiSubject) -> Told:
    namespace = api.namespace()
    paths = {
        "namespace": f"{NAMESPACES}/{api.name('none')}",
        "binding": f"{BINDINGS}/{api.name('none')}",
        **{plural: at(namespace, plural, "none") for plural in ("configmaps", "secrets", "serviceaccounts")},
        "daemonsets": at(namespace, "daemonsets", "none"),
        "in no namespace": at(api.name("nowhere"), "configmaps", "none"),
        "bad name": at(namespace, "configmaps", "Not_A_Name"),
    }
    return {what: stored(api, path) for what, path in paths.items()}


def nothing_is_created_in_a_namespace_that_is_not_there(api: ApiSubject) -> Told:
    nowhere = api.name("nowhere")
    return {
        kind: told(api, api.send("POST", at(nowhere, plural), manifest(kind, "a", nowhere), query=CREATE))
        for kind, plural in (("ConfigMap", "configmaps"), ("ServiceAccount", "serviceaccounts"))
    }


def nothing_is_created_in_a_namespace_that_is_going(api: ApiSubject) -> Told:
    going = api.stuck_namespace()
    body = manifest("ConfigMap", "a", going)
    again = manifest("Namespace", going)
    return {
        "inside": told(api, api.send("POST", at(going, "configmaps"), body, query=CREATE)),
        "the namespace again": told(api, api.send("POST", NAMESPACES, again, query=CREATE)),
    }


def a_bad_name_is_refused(api: ApiSubject) -> Told:
    namespace = api.namespace()
    said = {}
    for name in ("Not_A_Name", "-a", "a.b", "a" * 254, ""):
        made = api.send("POST", at(namespace, "configmaps"), manifest("ConfigMap", name, namespace), query=CREATE)
        said[f"config map {name[:10]}"] = told(api, made) if made.code != 201 else {"code": made.code}
    for name in ("with.dots", "a" * 64):
        said[f"namespace {name[:10]}"] = told(
            api, api.send("POST", NAMESPACES, manifest("Namespace", name), query=CREATE)
        )
    return said


def bad_labels_and_keys_are_refused(api: ApiSubject) -> Told:
    namespace = api.namespace()
    maps = at(namespace, "configmaps")
    bodies = {
        "label value": manifest("ConfigMap", "a", namespace, metadata={"labels": {"k": "not a value"}}),
        "long label value": manifest("ConfigMap", "a", namespace, metadata={"labels": {"k": "v" * 64}}),
        "label key": manifest("ConfigMap", "a", namespace, metadata={"labels": {"not a key": "v"}}),
        "two faults": manifest(
            "ConfigMap", "a", namespace, metadata={"labels": {"k": "not a value"}}, data={"not a key": "v"}
        ),
        "data key": manifest("ConfigMap", "a", namespace, data={"not a key": "v"}),
        "too much data": manifest("ConfigMap", "a", namespace, data={"k": "v" * 2 * _MEBIBYTE}),
    }
    said = {what: told(api, api.send("POST", maps, body, query=CREATE)) for what, body in bodies.items()}
    secret = manifest("Secret", "s", namespace, type="Opaque", data={"token": "no base64!"})
    said["secret data"] = told(api, api.send("POST", at(namespace, "secrets"), secret, query=CREATE))
    return said


def an_unknown_field_is_refused(api: ApiSubject) -> Told:
    namespace = api.namespace()
    maps = at(namespace, "configmaps")
    bodies = {
        "top": manifest("ConfigMap", "a", namespace, surprise=1),
        "metadata": manifest("ConfigMap", "a", namespace, metadata={"surprise": "x"}),
        "wrong type": manifest("ConfigMap", "a", namespace, data={"k": 1}),
        "list for a map": manifest("ConfigMap", "a", namespace, data=[]),
    }
    said = {what: told(api, api.send("POST", maps, body, query=CREATE)) for what, body in bodies.items()}
    return said | {"stored": stored(api, f"{maps}/a")}


def what_only_the_api_gives_cannot_be_created(api: ApiSubject) -> Told:
    namespace = api.namespace()
    maps = at(namespace, "configmaps")
    elsewhere = manifest("ConfigMap", "a", "default")
    versioned = manifest("ConfigMap", "a", namespace, metadata={"resourceVersion": "1"})
    return {
        "resourceVersion": told(api, api.send("POST", maps, versioned, query=CREATE)),
        "another namespace": told(api, api.send("POST", maps, elsewhere, query=CREATE)),
    }


def a_body_that_does_not_decode_is_refused(api: ApiSubject) -> Told:
    namespace = api.namespace()
    maps = at(namespace, "configmaps")
    body = manifest("ConfigMap", "a", namespace)
    huge = b'{"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "' + b"v" * (3 * _MEBIBYTE) + b'"}}'
    return {
        "cut off": told(api, api.send("POST", maps, b'{"apiVersion": "v1", "kind": "Conf', query=CREATE)),
        "no object": told(api, api.send("POST", maps, b'"x"', query=CREATE)),
        "empty": told(api, api.send("POST", maps, b"", query=CREATE)),
        "too large": told(api, api.send("POST", maps, huge, query=CREATE)),
        "unknown content type": told(api, api.send("POST", maps, body, query=CREATE, content_type="text/plain")),
        "stored": stored(api, f"{maps}/a"),
    }


def binding(api: ApiSubject, *, role: str = "cluster-admin") -> dict[str, object]:
    """A binding of a service account `robot` in the probe's namespace."""
    return manifest(
        "ClusterRoleBinding",
        api.name(),
        metadata=LABELS,
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        subjects=[{"kind": "ServiceAccount", "name": "robot", "namespace": api.name()}],
    )


CREATING = (
    a_namespace_is_created,
    a_config_map_is_created,
    a_claim_holds_no_data,
    a_secret_is_created,
    a_service_account_is_created,
    a_binding_is_created,
    a_binding_without_a_role_is_refused,
    what_is_not_there_is_not_found,
    nothing_is_created_in_a_namespace_that_is_not_there,
    nothing_is_created_in_a_namespace_that_is_going,
    a_bad_name_is_refused,
    bad_labels_and_keys_are_refused,
    an_unknown_field_is_refused,
    what_only_the_api_gives_cannot_be_created,
    a_body_that_does_not_decode_is_refused,
)
