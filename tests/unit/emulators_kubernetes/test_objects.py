# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creating, deleting and refusing, as a kube-apiserver does it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.kubernetes import Change

from .conftest import Caller, manifest

NAMESPACES = "/api/v1/namespaces"
MAPS = "/api/v1/namespaces/default/configmaps"
SECRETS = "/api/v1/namespaces/default/secrets"
SETS = "/apis/apps/v1/namespaces/default/daemonsets"


def daemon_set_spec(**pod: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "run", "image": "registry.example/bcd:1"}]} | pod
    return {
        "selector": {"matchLabels": {"app": "bcd"}},
        "template": {"metadata": {"labels": {"app": "bcd"}}, "spec": spec},
    }


def test_a_created_object_has_uid_version_and_time(caller: Caller) -> None:
    code, created = caller.create(MAPS, "ConfigMap", "a", data={"k": "v"})
    assert code == 201
    assert created["data"] == {"k": "v"}
    assert {"uid", "resourceVersion", "creationTimestamp", "managedFields"} <= set(created["metadata"])
    assert caller.send("GET", f"{MAPS}/a") == (200, created)


def test_every_change_raises_the_resource_version(caller: Caller) -> None:
    versions = [int(caller.create(MAPS, "ConfigMap", name)[1]["metadata"]["resourceVersion"]) for name in "abc"]
    assert versions == sorted(set(versions))


def test_creating_again_is_already_exists(caller: Caller) -> None:
    caller.create(MAPS, "ConfigMap", "a")
    code, status = caller.create(MAPS, "ConfigMap", "a")
    assert (code, status["kind"], status["reason"]) == (409, "Status", "AlreadyExists")
    assert status["message"] == 'configmaps "a" already exists'


def test_what_is_not_there_is_not_found(caller: Caller) -> None:
    code, status = caller.send("GET", f"{SETS}/bcd")
    assert (code, status["reason"], status["message"]) == (404, "NotFound", 'daemonsets.apps "bcd" not found')


def test_creating_in_a_namespace_that_is_not_there_is_refused(caller: Caller) -> None:
    code, status = caller.create(MAPS.replace("default", "nowhere"), "ConfigMap", "a")
    assert (code, status["message"]) == (404, 'namespaces "nowhere" not found')


@pytest.mark.parametrize(
    "change",
    [
        {"surprise": 1},
        {"data": {"k": 1}},
        {"data": []},
        {"metadata": {"name": "a", "namespace": "default", "surprise": "x"}},
        {"metadata": {"name": "a", "namespace": "other"}},
        {"kind": "Secret"},
        {"apiVersion": "v2"},
    ],
)
def test_a_body_that_does_not_decode_is_a_bad_request(caller: Caller, change: dict[str, Any]) -> None:
    code, status = caller.send("POST", MAPS, body=manifest(MAPS, "ConfigMap", "a") | change)
    assert (code, status["reason"]) == (400, "BadRequest")


@pytest.mark.parametrize("body", [[], "x", 1])
def test_a_body_that_is_no_object_is_a_bad_request(caller: Caller, body: object) -> None:
    assert caller.send("POST", MAPS, body=body)[0] == 400


@pytest.mark.parametrize(
    ("path", "kind", "content"),
    [
        (MAPS, "ConfigMap", {"metadata": {"name": "Not_A_Name"}}),
        (MAPS, "ConfigMap", {"metadata": {"labels": {"k": "not a value"}}}),
        (MAPS, "ConfigMap", {"metadata": {"labels": {"not a key": "v"}}}),
        (MAPS, "ConfigMap", {"data": {"not a key": "v"}}),
        (NAMESPACES, "Namespace", {"metadata": {"name": "with.dots"}}),
        (SETS, "DaemonSet", {}),
        (SETS, "DaemonSet", {"spec": daemon_set_spec() | {"selector": {"matchLabels": {"app": "other"}}}}),
        (SETS, "DaemonSet", {"spec": daemon_set_spec() | {"selector": {"matchLabels": {}}}}),
        (SETS, "DaemonSet", {"spec": daemon_set_spec(containers=[])}),
        (SETS, "DaemonSet", {"spec": daemon_set_spec(containers=[{"name": "run"}])}),
        (SETS, "DaemonSet", {"spec": daemon_set_spec(containers=[{"name": "run", "image": "i"}] * 2)}),
        (SETS, "DaemonSet", {"spec": daemon_set_spec(runtimeClassName="")}),
        (SETS, "DaemonSet", {"spec": daemon_set_spec(tolerations=[{"operator": "Equal"}])}),
        (SETS, "DaemonSet", {"spec": daemon_set_spec(volumes=[{"name": "v", "hostPath": {"path": ""}}])}),
        (
            SETS,
            "DaemonSet",
            {
                "spec": daemon_set_spec(
                    containers=[{"name": "run", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]
                )
            },
        ),
    ],
)
def test_an_invalid_object_is_refused(caller: Caller, path: str, kind: str, content: dict[str, Any]) -> None:
    code, status = caller.create(path, kind, "a", **content)
    assert (code, status["reason"]) == (422, "Invalid")


def test_an_unknown_field_deep_in_a_daemon_set_is_refused_with_its_path(caller: Caller) -> None:
    code, status = caller.create(SETS, "DaemonSet", "bcd", spec=daemon_set_spec(nodeSelectors={}))
    assert code == 400
    assert 'unknown field "spec.template.spec.nodeSelectors"' in status["message"]


def test_secret_data_must_be_base64(caller: Caller) -> None:
    code, status = caller.create(SECRETS, "Secret", "s", type="Opaque", data={"token": "no base64!"})
    assert code == 400
    assert "no base64!" not in status["message"]


def test_a_daemon_set_gets_the_apis_defaults(caller: Caller) -> None:
    _code, created = caller.create(SETS, "DaemonSet", "bcd", spec=daemon_set_spec())
    assert created["metadata"]["generation"] == 1
    assert created["spec"]["updateStrategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 0}
    assert created["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent"


def test_deleting_answers_with_a_status_and_the_uid(caller: Caller) -> None:
    _code, created = caller.create(MAPS, "ConfigMap", "a")
    code, status = caller.delete(f"{MAPS}/a", uid=created["metadata"]["uid"])
    assert (code, status["kind"], status["status"]) == (200, "Status", "Success")
    assert status["details"]["uid"] == created["metadata"]["uid"]
    assert caller.delete(f"{MAPS}/a")[0] == 404


def test_deleting_with_another_uid_is_a_conflict(caller: Caller) -> None:
    caller.create(MAPS, "ConfigMap", "a")
    code, status = caller.delete(f"{MAPS}/a", uid="another")
    assert (code, status["reason"]) == (409, "Conflict")
    assert caller.send("GET", f"{MAPS}/a")[0] == 200


def test_a_foreground_deletion_keeps_the_daemon_set_until_its_pods_are_gone(caller: Caller) -> None:
    caller.create(SETS, "DaemonSet", "bcd", spec=daemon_set_spec())
    code, going = caller.delete(f"{SETS}/bcd", policy="Foreground")
    assert (code, going["kind"]) == (200, "DaemonSet")
    assert going["metadata"]["deletionTimestamp"]
    assert caller.cluster.daemon_sets() == ()
    assert caller.delete(f"{SETS}/bcd", policy="Foreground")[1]["kind"] == "DaemonSet"
    caller.clock.advance(10)
    assert caller.send("GET", f"{SETS}/bcd")[0] == 404


def test_a_namespace_goes_with_all_that_is_in_it(caller: Caller) -> None:
    caller.create(NAMESPACES, "Namespace", "n")
    inner = MAPS.replace("default", "n")
    caller.create(inner, "ConfigMap", "a")
    code, going = caller.delete(f"{NAMESPACES}/n")
    assert (code, going["status"]["phase"]) == (200, "Terminating")
    assert caller.send("GET", f"{inner}/a")[0] == 404
    caller.clock.advance(10)
    assert caller.send("GET", f"{NAMESPACES}/n")[0] == 404
    assert caller.engine.inventory.items() == ()


def test_nothing_is_created_in_a_namespace_that_is_going(caller: Caller) -> None:
    caller.create(NAMESPACES, "Namespace", "n")
    caller.delete(f"{NAMESPACES}/n")
    code, status = caller.create(MAPS.replace("default", "n"), "ConfigMap", "a")
    assert (code, status["reason"]) == (403, "Forbidden")
    assert status["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert caller.delete(f"{NAMESPACES}/n")[1]["status"] == {"phase": "Terminating"}


def test_kubernetes_own_namespaces_cannot_be_deleted(caller: Caller) -> None:
    assert caller.delete(f"{NAMESPACES}/kube-system")[0] == 403


def test_what_is_created_stands_in_the_inventory_until_it_is_gone(caller: Caller) -> None:
    caller.create(MAPS, "ConfigMap", "a")
    assert [(item.kind, item.id) for item in caller.engine.inventory.items()] == [("ConfigMap", "c/default/a")]
    caller.delete(f"{MAPS}/a")
    assert caller.engine.inventory.items() == ()


def test_what_stood_in_a_cluster_leaves_the_inventory_with_it(caller: Caller) -> None:
    caller.create(MAPS, "ConfigMap", "a")
    caller.cluster.close()
    assert caller.engine.inventory.items() == ()


def test_changes_are_told_and_can_be_looked_at_from_the_listener(caller: Caller) -> None:
    told: list[tuple[Change, bool]] = []
    stop = caller.cluster.subscribe(
        lambda change: told.append(
            (change, caller.cluster.read(change.kind, change.name, change.namespace) is not None)
        )
    )
    caller.create(SECRETS, "Secret", "s", type="Opaque", data={})
    caller.delete(f"{SECRETS}/s")
    stop()
    caller.create(SECRETS, "Secret", "t", type="Opaque", data={})
    assert told == [
        (Change(kind="Secret", namespace="default", name="s", action="added"), True),
        (Change(kind="Secret", namespace="default", name="s", action="deleted"), False),
    ]


def test_the_log_names_verb_resource_and_target_and_knows_what_changes_something(caller: Caller) -> None:
    caller.create(MAPS, "ConfigMap", "a")
    caller.send("GET", f"{MAPS}/a")
    caller.delete(f"{MAPS}/a")
    assert [(e.call.name, e.call.target, e.call.mutating, e.status) for e in caller.engine.log.entries()] == [
        ("POST configmaps", "c/default/a", True, 201),
        ("GET configmaps", "c/default/a", False, 200),
        ("DELETE configmaps", "c/default/a", True, 200),
    ]
