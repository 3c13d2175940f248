# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes of server-side apply: who owns what, what is taken over and taken away, and what is refused."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from .creating import LABELS
from .observation import Told, stored, told
from .subject import APPLY, APPLY_PATCH, CREATE, NAMESPACES, ApiSubject, Reply, at, exactly, manifest

UNFORCED = {key: value for key, value in APPLY.items() if key != "force"}


def apply(api: ApiSubject, path: str, body: object, query: Mapping[str, str] = APPLY) -> Reply:
    """Send an apply."""
    return api.send("PATCH", path, body, query=query, content_type=APPLY_PATCH)


class _Map:
    """A ConfigMap `a` in a namespace of the probe's own."""

    def __init__(self, api: ApiSubject, **data: str) -> None:
        self.api = api
        self.namespace = api.namespace()
        self.path = at(self.namespace, "configmaps", "a")
        body = manifest("ConfigMap", "a", self.namespace, metadata=LABELS, data=data)
        self.live = api.send("POST", at(self.namespace, "configmaps"), body, query=CREATE)

    def body(self, preconditions: Mapping[str, str] | None = None, **content: Any) -> dict[str, Any]:
        metadata = (exactly(self.live) if preconditions is None else dict(preconditions)) | content.pop("metadata", {})
        return manifest("ConfigMap", "a", self.namespace, metadata=metadata, **content)

    def apply(self, query: Mapping[str, str] = APPLY, **content: Any) -> Reply:
        """Apply onto the object as it last was."""
        reply = apply(self.api, self.path, self.body(**content), query)
        if reply.code == 200:
            self.live = reply
        return reply


def our_own_create_counts_as_another_managers_fields(api: ApiSubject) -> Told:
    one = _Map(api, k="v", l="w")
    refused = one.apply(UNFORCED, data={"k": "new", "l": "newer"})
    return {"refused": told(api, refused), "stored": stored(api, one.path)}


def force_takes_the_fields_over(api: ApiSubject) -> Told:
    one = _Map(api, k="v", l="w")
    return {"applied": told(api, one.apply(data={"k": "new"})), "stored": stored(api, one.path)}


def all_of_a_managers_fields_can_be_taken_over(api: ApiSubject) -> Told:
    one = _Map(api, k="v")
    labels = {"labels": {"better-compute.dev/substrate-pool": "another"}}
    return {"applied": told(api, one.apply(metadata=labels, data={"k": "new"}))}


def the_same_value_is_shared(api: ApiSubject) -> Told:
    one = _Map(api, k="v", l="w")
    return {"applied": told(api, one.apply(UNFORCED, data={"k": "v"}))}


def applying_the_same_again_changes_nothing(api: ApiSubject) -> Told:
    one = _Map(api, k="v")
    once = one.apply(data={"k": "new"})
    again = one.apply(data={"k": "new"})
    return {"once": told(api, once), "again": told(api, again), "same version": once.version == again.version}


def a_field_no_longer_applied_goes(api: ApiSubject) -> Told:
    one = _Map(api, k="v", l="w")
    one.apply(data={"k": "new", "m": "x"}, metadata={"labels": {"extra": "yes"}})
    fewer = one.apply(data={"k": "new"})
    return {"fewer": told(api, fewer), "stored": stored(api, one.path)}


def a_field_of_the_create_stays_when_it_is_not_applied(api: ApiSubject) -> Told:
    one = _Map(api, k="v", l="w")
    one.apply(data={"k": "new"})
    none = one.apply(data={})
    return {"none": told(api, none)}


def another_appliers_field_is_a_conflict(api: ApiSubject) -> Told:
    one = _Map(api)
    stranger = UNFORCED | {"fieldManager": "stranger"}
    theirs = one.apply(stranger, data={"k": "theirs", "l": "theirs"})
    refused = one.apply(UNFORCED, data={"k": "ours", "l": "theirs"})
    forced = one.apply(data={"k": "ours", "l": "theirs"})
    return {"theirs": told(api, theirs), "refused": told(api, refused), "forced": told(api, forced)}


def two_managers_in_the_way_are_both_named(api: ApiSubject) -> Told:
    one = _Map(api, k="v")
    one.apply(UNFORCED | {"fieldManager": "stranger"}, data={"l": "theirs"})
    return {"refused": told(api, one.apply(UNFORCED, data={"k": "ours", "l": "ours"}))}


def an_apply_hits_exactly_the_object_it_means(api: ApiSubject) -> Told:
    one = _Map(api, k="v")
    former = exactly(one.live)
    other = "00000000-0000-4000-8000-000000000000"
    one.apply(data={"k": "new"})
    attempts = {
        "stale version": one.body(former, data={"k": "newer"}),
        "stale version, same content": one.body(former, data={"k": "new"}),
        "another uid": one.body(exactly(one.live) | {"uid": other}, data={"k": "newer"}),
        "both": one.body(former | {"uid": other}, data={"k": "newer"}),
    }
    said = {what: told(api, apply(api, one.path, body)) for what, body in attempts.items()}
    return said | {"stored": stored(api, one.path)}


def an_apply_with_a_uid_never_creates(api: ApiSubject) -> Told:
    one = _Map(api, k="v")
    gone = manifest("ConfigMap", "b", one.namespace, metadata=exactly(one.live), data={"k": "v"})
    path = at(one.namespace, "configmaps", "b")
    return {"refused": told(api, apply(api, path, gone)), "stored": stored(api, path)}


def a_malformed_apply_is_refused(api: ApiSubject) -> Told:
    one = _Map(api, k="v")
    no_manager = {key: value for key, value in APPLY.items() if key != "fieldManager"}
    renamed = one.body() | {"metadata": {**one.body()["metadata"], "name": "b"}}
    moved = one.body() | {"metadata": {**one.body()["metadata"], "namespace": "default"}}
    attempts = {
        "no manager": apply(api, one.path, one.body(), no_manager),
        "another name": apply(api, one.path, renamed),
        "another namespace": apply(api, one.path, moved),
        "unknown field": apply(api, one.path, one.body(surprise=1)),
        "wrong type": apply(api, one.path, one.body(data={"k": 1})),
        "bad label": apply(api, one.path, one.body(metadata={"labels": {"k": "not a value"}})),
        "bad key": apply(api, one.path, one.body(data={"not a key": "v"})),
        "cut off": apply(api, one.path, b'{"apiVersion": "v1", "kind": "Conf'),
        "no object": apply(api, one.path, b'"x"'),
        "unknown content type": api.send("PATCH", one.path, one.body(), query=APPLY, content_type="text/plain"),
    }
    return {what: told(api, reply) for what, reply in attempts.items()} | {"stored": stored(api, one.path)}


def a_secret_is_replaced(api: ApiSubject) -> Told:
    namespace = api.namespace()
    path = at(namespace, "secrets", "s")
    old, new = (base64.b64encode(word).decode() for word in (b"old", b"new"))
    body = manifest("Secret", "s", namespace, metadata=LABELS, type="Opaque", data={"token": old})
    live = api.send("POST", at(namespace, "secrets"), body, query=CREATE)
    body = body | {"metadata": body["metadata"] | exactly(live)}
    typed = apply(api, path, body | {"type": "example.com/other"})
    undecodable = apply(api, path, body | {"data": {"token": "no base64!"}})
    applied = apply(api, path, body | {"data": {"token": new}})
    return {
        "another type": told(api, typed),
        "no base64": told(api, undecodable),
        "applied": told(api, applied),
        "stored": stored(api, path),
    }


def a_namespaces_labels_are_restored(api: ApiSubject) -> Told:
    name = api.name()
    labels = {"pod-security.kubernetes.io/enforce": "privileged"} | LABELS["labels"]
    body = manifest("Namespace", name, metadata={"labels": {"other": "yes"}})
    live = api.send("POST", NAMESPACES, body, query=CREATE | {"fieldManager": "stranger"})
    ours = manifest("Namespace", name, metadata={"labels": labels} | exactly(live))
    return {"applied": told(api, apply(api, f"{NAMESPACES}/{name}", ours))}


APPLYING = (
    our_own_create_counts_as_another_managers_fields,
    force_takes_the_fields_over,
    all_of_a_managers_fields_can_be_taken_over,
    the_same_value_is_shared,
    applying_the_same_again_changes_nothing,
    a_field_no_longer_applied_goes,
    a_field_of_the_create_stays_when_it_is_not_applied,
    another_appliers_field_is_a_conflict,
    two_managers_in_the_way_are_both_named,
    an_apply_hits_exactly_the_object_it_means,
    an_apply_with_a_uid_never_creates,
    a_malformed_apply_is_refused,
    a_secret_is_replaced,
    a_namespaces_labels_are_restored,
)
