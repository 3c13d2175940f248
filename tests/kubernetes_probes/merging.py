# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes of JSON merge patches: what of others an apply leaves, they take out; who owns what then; what is refused."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access_guard import guard_manifests
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId

from .daemon_sets import DaemonSet
from .observation import Told, stored, told
from .subject import APPLY, APPLY_PATCH, CREATE, MERGE_PATCH, ApiSubject, Reply, exactly
from .tenants import POLICIES, POLICY_BINDINGS

_POD = ("spec", "template", "spec")
_ELSEWHERE = "00000000-0000-4000-8000-000000000000"


def merge(
    api: ApiSubject, path: str, body: Mapping[str, Any], *, manager: str = "better-compute", apply: bool = False
) -> Reply:
    """Send a merge patch, or an apply, onto the object as it stands; a controller may write its status in between."""
    reply: Reply | None = None

    def sent() -> bool:
        nonlocal reply
        metadata = {**body["metadata"], **exactly(api.send("GET", path))}
        query = (APPLY if apply else CREATE) | {"fieldManager": manager}
        form = APPLY_PATCH if apply else MERGE_PATCH
        reply = api.send("PATCH", path, {**body, "metadata": metadata}, query=query, content_type=form)
        return not (reply.code == 409 and "has been modified" in reply.body["message"])

    api.keeper.wait_until(sent)
    assert reply is not None
    return reply


def _small(api: ApiSubject) -> DaemonSet:
    """bcd's DaemonSet with no more in its lists than it takes to look at them."""

    def less(body: dict[str, Any]) -> None:
        pod = body["spec"]["template"]["spec"]
        del pod["initContainers"]
        (container,) = pod["containers"]
        container["env"] = container["env"][:2]
        pod["volumes"], container["volumeMounts"] = pod["volumes"][:1], container["volumeMounts"][:1]

    return DaemonSet(api, but=less)


def _with_theirs(one: DaemonSet) -> dict[str, Any]:
    """bcd's DaemonSet, and in each of its lists something of a stranger's."""
    body = copy.deepcopy(one.manifest)
    pod = body["spec"]["template"]["spec"]
    pod["containers"][0]["env"].append({"name": "THEIRS", "value": "1"})
    pod["containers"][0]["volumeMounts"].append({"name": "theirs", "mountPath": "/theirs"})
    pod["containers"].append({"name": "theirs", "image": "registry.example/theirs:1"})
    pod["volumes"].append({"name": "theirs", "hostPath": {"path": "/theirs"}})
    pod["tolerations"].append({"key": "theirs", "operator": "Exists"})
    pod["nodeSelector"]["theirs"] = "yes"
    return body


def _restored(api: ApiSubject, one: DaemonSet) -> Told:
    applied = one.apply(one.manifest)
    merged = merge(api, one.path, one.manifest)
    again = merge(api, one.path, one.manifest)
    template = one.live.body["spec"]["template"]
    return {
        "applied": told(api, applied),
        "merged": told(api, merged),
        "template is what it was": merged.body["spec"]["template"] == template,
        "again changes nothing": told(api, again) == told(api, merged),
    }


def what_a_stranger_applied_goes_with_a_merge(api: ApiSubject) -> Told:
    one = _small(api)
    theirs = one.apply(_with_theirs(one), manager="stranger")
    return {"theirs": told(api, theirs)} | _restored(api, one)


def what_a_stranger_merged_goes_with_a_merge(api: ApiSubject) -> Told:
    one = _small(api)
    theirs = merge(api, one.path, _with_theirs(one), manager="stranger")
    return {"theirs": told(api, theirs)} | _restored(api, one)


def what_our_create_set_goes_with_a_merge(api: ApiSubject) -> Told:
    one = _small(api)
    env = one.manifest["spec"]["template"]["spec"]["containers"][0]["env"]
    less = one.changed(*_POD, "containers", 0, "env", to=env[:1])
    nulled = copy.deepcopy(less)
    del less["spec"]["template"]["spec"]["runtimeClassName"]
    nulled["spec"]["template"]["spec"]["runtimeClassName"] = None
    return {
        "applied": told(api, one.apply(less)),
        "merged": told(api, merge(api, one.path, nulled)),
        "applied again": told(api, one.apply(less)),
        "merged again": told(api, merge(api, one.path, nulled)),
    }


def a_merge_owns_what_it_sets(api: ApiSubject) -> Told:
    one = _small(api)
    changed = one.changed(*_POD, "containers", 0, "image", to="registry.example/other:2")
    changed["metadata"]["labels"] = changed["metadata"]["labels"] | {"more": "yes"}
    changed["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"memory": "1Gi"}}
    changed["spec"]["template"]["spec"]["containers"][0]["securityContext"] = None
    return {
        "theirs": told(api, merge(api, one.path, changed, manager="stranger")),
        "ours": told(api, merge(api, one.path, one.manifest)),
    }


def a_value_in_the_way_makes_an_apply_invalid_and_not_a_merge(api: ApiSubject) -> Told:
    one = _small(api)
    env = copy.deepcopy(one.manifest["spec"]["template"]["spec"]["containers"][0]["env"])
    env[0] = {"name": env[0]["name"], "value": "theirs"}
    theirs = one.changed(*_POD, "containers", 0, "env", to=env)
    return {
        "theirs": told(api, merge(api, one.path, theirs, manager="stranger")),
        "applied": told(api, one.apply(one.manifest)),
        "merged": told(api, merge(api, one.path, one.manifest)),
    }


def a_merge_hits_exactly_the_object_it_means(api: ApiSubject) -> Told:
    policy, _binding = guard_manifests(owner=PoolId("pool_01k00000000000000000000000"))
    path = f"{POLICIES}/{api.name()}"
    body = policy | {"metadata": policy["metadata"] | {"name": api.name()}}
    former = exactly(api.send("POST", POLICIES, body, query=CREATE))
    weaker = body | {"spec": body["spec"] | {"failurePolicy": "Ignore"}}
    now = exactly(merge(api, path, weaker))
    attempts = {
        "stale version": (former, body),
        "stale version, same content": (former, weaker),
        "another uid": (now | {"uid": _ELSEWHERE}, body),
        "both": (former | {"uid": _ELSEWHERE}, body),
    }
    return {
        what: told(api, _patch(api, path, sent | {"metadata": sent["metadata"] | conditions}))
        for what, (conditions, sent) in attempts.items()
    } | {"stored": stored(api, path), "gone": told(api, _patch(api, f"{path}-2", _named(body, f"{api.name()}-2", now)))}


def a_malformed_merge_is_refused(api: ApiSubject) -> Told:
    one = _small(api)
    pod = copy.deepcopy(one.manifest["spec"]["template"]["spec"])
    selector = {"matchLabels": {"better-compute.dev/substrate-pool": None}}
    bodies: dict[str, dict[str, Any]] = {
        "another name": one.manifest | {"metadata": one.manifest["metadata"] | {"name": "other"}},
        "another namespace": one.manifest | {"metadata": one.manifest["metadata"] | {"namespace": "default"}},
        "another kind": one.manifest | {"kind": "Deployment"},
        "unknown field": one.changed(*_POD, "nodeSelectors", to={}),
        "unknown field in a list": one.changed(*_POD, "containers", 0, "imaged", to="x"),
        "wrong type": one.changed(*_POD, "enableServiceLinks", to="no"),
        "bad quantity": one.changed(*_POD, "containers", 0, "resources", "requests", "cpu", to="much"),
        "another selector": one.changed("spec", "selector", to=selector),
        "bad runtime class": one.changed(*_POD, "runtimeClassName", to="Not A Name"),
        "twice the same container": one.changed(*_POD, "containers", to=pod["containers"] * 2),
        "mount of no volume": one.changed(*_POD, "volumes", to=[]),
        "no containers": one.changed(*_POD, "containers", to=[]),
        "bad label": one.manifest | {"metadata": one.manifest["metadata"] | {"labels": {"k": "not a value"}}},
    }
    said = {what: told(api, merge(api, one.path, body)) for what, body in bodies.items()}
    said["cut off"] = told(api, _patch(api, one.path, b'{"apiVersion": "apps/v1", "kind": "Daem'))
    said["no object"] = told(api, _patch(api, one.path, b'"x"'))
    said["unknown content type"] = told(
        api, api.send("PATCH", one.path, one.manifest, query=CREATE, content_type="text/plain")
    )
    return said | {"stored": {"generation": api.send("GET", one.path).body["metadata"]["generation"]}}


def what_loosens_the_guard_goes_with_a_merge(api: ApiSubject) -> Told:
    policy, bound = guard_manifests(owner=PoolId("pool_01k00000000000000000000000"))
    policy, bound = (_named(one, api.name()) for one in (policy, bound))
    bound["spec"]["policyName"] = api.name()
    never = {"name": "never", "expression": "false"}
    loose = copy.deepcopy(policy)
    loose["spec"]["matchConditions"].append(never)
    audit = bound | {"spec": bound["spec"] | {"validationActions": ["Audit"]}}
    warn = bound | {"spec": bound["spec"] | {"validationActions": ["Warn"]}}
    said: Told = {}
    for what, collection, body, theirs, by_apply in (
        ("condition applied", POLICIES, policy, loose, True),
        ("condition merged", POLICIES, policy, loose, False),
        ("action applied", POLICY_BINDINGS, bound, audit, True),
        ("action merged", POLICY_BINDINGS, bound, warn, False),
    ):
        # The second of each stands already, as the first left it.
        api.send("POST", collection, body, query=CREATE)
        path = f"{collection}/{api.name()}"
        said[what] = {
            "theirs": told(api, merge(api, path, theirs, manager="stranger", apply=by_apply)),
            "applied": told(api, merge(api, path, body, apply=True)),
            "merged": told(api, merge(api, path, body)),
        }
    return said


def _named(body: Mapping[str, Any], name: str, conditions: Mapping[str, str] | None = None) -> dict[str, Any]:
    named = copy.deepcopy(dict(body))
    named["metadata"] |= {"name": name, **(conditions or {})}
    return named


def _patch(api: ApiSubject, path: str, body: object) -> Reply:
    return api.send("PATCH", path, body, query=CREATE, content_type=MERGE_PATCH)


MERGING = (
    what_a_stranger_applied_goes_with_a_merge,
    what_a_stranger_merged_goes_with_a_merge,
    what_our_create_set_goes_with_a_merge,
    a_merge_owns_what_it_sets,
    a_value_in_the_way_makes_an_apply_invalid_and_not_a_merge,
    a_merge_hits_exactly_the_object_it_means,
    a_malformed_merge_is_refused,
    what_loosens_the_guard_goes_with_a_merge,
)
