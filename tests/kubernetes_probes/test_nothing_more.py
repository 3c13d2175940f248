# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the product does not send, the emulated API refuses: with 501, naming it, and without any effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.kubernetes.kinds import KINDS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access_guard import guard_manifests
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId

from .emulated import emulated_subject
from .requests_sent import requests_sent
from .subject import (
    APPLY,
    APPLY_PATCH,
    CREATE,
    MERGE_PATCH,
    METADATA_ONLY,
    NAMESPACES,
    NODES,
    ApiSubject,
    Reply,
    at,
    deletion,
    exactly,
    manifest,
)
from .tenants import POLICY_BINDINGS
from .tokens import token_request

MAPS = at("default", "configmaps")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
def subject() -> Iterator[ApiSubject]:
    with emulated_subject() as made:
        yield made


def require_refused(reply: Reply, *, naming: str) -> None:
    assert (reply.code, reply.body["reason"]) == (501, "NotImplemented")
    assert "the emulated Kubernetes API does not answer" in reply.body["message"]
    assert naming in reply.body["message"]


def every_request() -> Iterator[tuple[str, str, str]]:
    """Each method at each path that the emulated API has a kind for: method, path, and its form in the list."""
    for kind in KINDS:
        spaces = ("", "namespaces/default/") if kind.namespaced else ("",)
        for method in METHODS:
            for space in spaces:
                for below in ("", "/a", "/a/status", "/a/token", "/a/finalize", "/a/surprise"):
                    form = f"{kind.root}/{space.replace('default', '{namespace}')}{kind.plural}"
                    form += below.replace("/a", "/{name}", 1)
                    yield method, f"{kind.root}/{space}{kind.plural}{below}", f"{method} {form}"


def test_every_method_and_path_beside_the_list_is_refused(subject: ApiSubject) -> None:
    listed = {form.request for form in requests_sent()}
    found = set()
    for method, path, form in every_request():
        reply = subject.send(method, path, {})
        if reply.code == 501:
            require_refused(reply, naming=method if method != "GET" else "")
        else:
            found.add(form)
    assert found - listed == set()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/version",
        "/healthz",
        "/api/v1",
        "/openapi/v3",
        "/api/v1/namespaces/default/pods",
        "/api/v1/namespaces/default/pods/a/exec",
        "/apis/apps/v1beta1/namespaces/default/daemonsets/a",
        "/apis/apps/v1/namespaces/default/deployments/a",
        "/api/v1/configmaps",
        "/api/v1/configmaps/a",
        "/api/v1/watch/nodes",
    ],
)
def test_another_path_is_refused_by_name(subject: ApiSubject, path: str) -> None:
    require_refused(subject.send("GET", path), naming=path)


@pytest.mark.parametrize(
    "query", [{"dryRun": "All"}, {"pretty": "true"}, {"watch": "1"}, {"fieldSelector": "metadata.name=a"}]
)
def test_a_parameter_that_is_never_sent_is_refused_by_name(subject: ApiSubject, query: dict[str, str]) -> None:
    live = subject.send("POST", MAPS, manifest("ConfigMap", "a", "default"), query=CREATE)
    name = next(iter(query))
    body = manifest("ConfigMap", "b", "default")
    require_refused(subject.send("POST", MAPS, body, query=CREATE | query), naming=name)
    require_refused(subject.send("GET", f"{MAPS}/a", query=query), naming=name)
    applied = manifest("ConfigMap", "a", "default", metadata=exactly(live), data={"k": "v"})
    reply = subject.send("PATCH", f"{MAPS}/a", applied, query=APPLY | query, content_type=APPLY_PATCH)
    require_refused(reply, naming=name)
    require_refused(subject.send("DELETE", f"{MAPS}/a", deletion(), query=query), naming=name)
    nodes = subject.send("GET", NODES, query={"labelSelector": "a=b"} | query, accept=METADATA_ONLY)
    require_refused(nodes, naming=name)
    assert subject.send("GET", f"{MAPS}/b").code == 404
    assert subject.send("GET", f"{MAPS}/a").body == live.body


@pytest.mark.parametrize(
    "content_type",
    ["application/merge-patch+json", "application/strategic-merge-patch+json", "application/json-patch+json"],
)
def test_another_kind_of_patch_is_refused_by_name(subject: ApiSubject, content_type: str) -> None:
    subject.send("POST", MAPS, manifest("ConfigMap", "a", "default"), query=CREATE)
    reply = subject.send("PATCH", f"{MAPS}/a", {"data": {"k": "v"}}, content_type=content_type)
    require_refused(reply, naming=content_type)


@pytest.mark.parametrize("missing", ["uid", "resourceVersion", "name"])
def test_a_merge_patch_without_preconditions_is_refused(subject: ApiSubject, missing: str) -> None:
    _policy, binding = guard_manifests(owner=PoolId("pool_x"))
    live = subject.send("POST", POLICY_BINDINGS, binding, query=CREATE)
    metadata = {**binding["metadata"], **exactly(live)}
    del metadata[missing]
    body = binding | {"metadata": metadata, "spec": {"validationActions": ["Audit"]}}
    path = f"{POLICY_BINDINGS}/{binding['metadata']['name']}"
    reply = subject.send("PATCH", path, body, query=CREATE, content_type=MERGE_PATCH)
    require_refused(reply, naming="a merge patch without")
    assert subject.send("GET", path).body == live.body


@pytest.mark.parametrize("content_type", ["application/yaml", "application/vnd.kubernetes.protobuf"])
def test_another_form_of_a_body_is_refused_by_name(subject: ApiSubject, content_type: str) -> None:
    reply = subject.send("POST", MAPS, manifest("ConfigMap", "a", "default"), content_type=content_type)
    require_refused(reply, naming=content_type)


@pytest.mark.parametrize(
    "accept",
    [
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
        "application/json;as=Table;g=meta.k8s.io;v=v1",
        METADATA_ONLY,
    ],
)
def test_another_form_of_an_answer_is_refused_by_name(subject: ApiSubject, accept: str) -> None:
    require_refused(subject.send("GET", f"{MAPS}/kube-root-ca.crt", accept=accept), naming=accept)


def test_whole_nodes_are_not_to_be_had(subject: ApiSubject) -> None:
    require_refused(subject.send("GET", NODES, query={"labelSelector": "a=b"}), naming="application/json")


@pytest.mark.parametrize("selector", ["", "k", "!k", "k!=v", "k in (v)", "k=v,l=w", "k==v"])
def test_another_selector_is_refused(subject: ApiSubject, selector: str) -> None:
    reply = subject.send("GET", NODES, query={"labelSelector": selector}, accept=METADATA_ONLY)
    require_refused(reply, naming=repr(selector))


@pytest.mark.parametrize(
    "options",
    [
        {"propagationPolicy": "Orphan"},
        {"gracePeriodSeconds": 0},
        {"orphanDependents": True},
        {"dryRun": ["All"]},
        {"preconditions": {"resourceVersion": "1"}},
    ],
)
def test_a_delete_with_other_options_is_refused(subject: ApiSubject, options: dict[str, Any]) -> None:
    subject.send("POST", MAPS, manifest("ConfigMap", "a", "default"), query=CREATE)
    require_refused(subject.send("DELETE", f"{MAPS}/a", deletion() | options), naming="a delete")
    assert subject.send("GET", f"{MAPS}/a").code == 200


def test_a_delete_without_options_is_refused(subject: ApiSubject) -> None:
    subject.send("POST", MAPS, manifest("ConfigMap", "a", "default"), query=CREATE)
    require_refused(subject.send("DELETE", f"{MAPS}/a"), naming="DELETE")
    assert subject.send("GET", f"{MAPS}/a").code == 200


@pytest.mark.parametrize("more", [{"audiences": ["x"]}, {"boundObjectRef": {"kind": "Pod", "name": "p"}}])
def test_a_token_for_something_else_is_refused(subject: ApiSubject, more: dict[str, Any]) -> None:
    body = token_request()
    path = f"{at('default', 'serviceaccounts', 'default')}/token"
    require_refused(subject.send("POST", path, body | {"spec": body["spec"] | more}), naming=next(iter(more)))


@pytest.mark.parametrize("missing", ["uid", "resourceVersion"])
def test_an_apply_without_preconditions_is_refused(subject: ApiSubject, missing: str) -> None:
    live = subject.send("POST", MAPS, manifest("ConfigMap", "a", "default"), query=CREATE)
    conditions = exactly(live)
    del conditions[missing]
    body = manifest("ConfigMap", "a", "default", metadata=conditions, data={"k": "v"})
    reply = subject.send("PATCH", f"{MAPS}/a", body, query=APPLY, content_type=APPLY_PATCH)
    require_refused(reply, naming="preconditions")
    assert subject.send("GET", f"{MAPS}/a").body == live.body


def test_a_create_without_a_name_is_refused(subject: ApiSubject) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "a-"}}
    assert subject.send("POST", NAMESPACES, body, query=CREATE).code == 400
