# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What subjects get in a cluster, and what it takes to give it to them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import objects
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access_guard import (
    GuardUnavailable,
    guard_manifests,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.tenant_access import (
    account_name,
    role_manifests,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ClusterConflict,
    NotOurs,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import ClusterId, TenantId

from .conftest import LABEL, OTHER_POOL, POOL, AnyWorld
from .subjects import ALICE, TENANT, give

CLUSTER = ClusterId("kcl_01k00000000000000000000000")


@pytest.fixture
def world(any_world: AnyWorld) -> AnyWorld:
    return any_world


def test_the_guard_stands_before_roles_and_they_before_namespaces_the_account_and_its_token(world: AnyWorld) -> None:
    api = world.open()
    mark = world.engine.log.mark
    issued = give(api, namespaces=("training", "jobs"))
    assert world.writes(mark) == [
        "POST validatingadmissionpolicies gpu/better-compute-access-guard",
        "POST validatingadmissionpolicybindings gpu/better-compute-access-guard",
        "POST clusterroles gpu/better-compute:edit",
        "POST clusterroles gpu/better-compute:edit-cluster",
        "POST namespaces gpu/training",
        f"POST rolebindings gpu/training/{ALICE}",
        "POST namespaces gpu/jobs",
        f"POST rolebindings gpu/jobs/{ALICE}",
        f"POST clusterrolebindings gpu/{ALICE}",
        f"POST serviceaccounts gpu/bc-access/{ALICE}",
    ]
    assert world.calls(mark)[-1] == f"POST serviceaccounts/token gpu/bc-access/{ALICE}"
    assert abs(issued.expires_at - world.engine.clock.now() - timedelta(hours=1)) < timedelta(seconds=10)


def test_a_second_call_writes_nothing_and_asks_for_a_token(world: AnyWorld) -> None:
    api = world.open()
    first = give(api)
    mark = world.engine.log.mark
    second = give(api, seconds=600)
    assert world.writes(mark) == []
    assert [call for call in world.calls(mark) if call.startswith("POST")] == [
        f"POST serviceaccounts/token gpu/bc-access/{ALICE}"
    ]
    assert first.token != second.token


def test_a_subject_is_bound_to_edit_in_its_namespaces_and_to_reading_alone_in_the_cluster(world: AnyWorld) -> None:
    give(world.open())
    everywhere = world.cluster.read("ClusterRoleBinding", ALICE)
    inside = world.cluster.read("RoleBinding", ALICE, "training")
    assert everywhere is not None
    assert inside is not None
    assert everywhere["roleRef"]["name"] == "better-compute:edit-cluster"
    assert inside["roleRef"]["name"] == "better-compute:edit"
    subjects = [{"kind": "ServiceAccount", "name": ALICE, "namespace": "bc-access"}]
    assert everywhere["subjects"] == inside["subjects"] == subjects


def test_what_is_read_beyond_namespaces_holds_no_secret_and_no_verb_that_writes() -> None:
    _edit, beyond = role_manifests(owner=POOL)
    assert {verb for rule in beyond["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    resources = {resource for rule in beyond["rules"] for resource in rule["resources"]}
    assert not {one for one in resources if "/" in one or one in ("secrets", "configmaps", "pods", "*")}


def test_namespaces_of_tenants_keep_pods_off_the_hosts(world: AnyWorld) -> None:
    give(world.open())
    namespace = world.cluster.read("Namespace", "training")
    assert namespace is not None
    assert namespace["metadata"]["labels"] == {
        LABEL: POOL,
        "better-compute.dev/tenants": "true",
        "kubernetes.io/metadata.name": "training",
        "pod-security.kubernetes.io/enforce": "baseline",
    }


def test_the_account_says_whose_it_is_and_is_nobody_elses(world: AnyWorld) -> None:
    give(world.open(), subject="Alice Ä. <alice@acme.example>")
    name = account_name(TENANT, "Alice Ä. <alice@acme.example>")
    account = world.cluster.read("ServiceAccount", name, "bc-access")
    assert account is not None
    assert account["metadata"]["annotations"] == {"better-compute.dev/subject": "Alice Ä. <alice@acme.example>"}
    assert name.startswith("subject-alice-alice-acme-example-")
    others = ("alice", "Alice", "a.lice", "ali/ce", "a" * 200, "ä", "-", "alice\u200b")
    names = {account_name(TENANT, other) for other in others} | {account_name(TenantId("beta"), "alice"), name}
    assert len(names) == len(others) + 2
    assert all(len(one) <= 63 and one.strip("-") == one and one.isascii() for one in names)


def test_access_to_a_namespace_that_is_not_named_any_more_is_taken_and_the_namespace_stays(world: AnyWorld) -> None:
    api = world.open()
    give(api, namespaces=("training", "jobs"))
    give(api, namespaces=("jobs",), subject="bob")
    mark = world.engine.log.mark
    give(api, namespaces=("training",))
    assert world.writes(mark) == [f"DELETE rolebindings gpu/jobs/{ALICE}"]
    assert world.cluster.read("Namespace", "jobs") is not None
    assert world.cluster.read("RoleBinding", account_name(TENANT, "bob"), "jobs") is not None


GUARD = "better-compute-access-guard"
NEVER = {"name": "never", "expression": "false"}


@pytest.mark.parametrize(
    ("kind", "name", "namespace", "field", "value"),
    [
        ("ValidatingAdmissionPolicy", GUARD, None, ("spec", "failurePolicy"), "Ignore"),
        ("ValidatingAdmissionPolicy", GUARD, None, ("spec", "matchConditions", 1), NEVER),
        ("ValidatingAdmissionPolicyBinding", GUARD, None, ("spec", "validationActions"), ["Deny", "Audit"]),
        ("ValidatingAdmissionPolicyBinding", GUARD, None, ("spec", "policyName"), "another"),
        ("ClusterRole", "better-compute:edit-cluster", None, ("rules",), []),
        ("RoleBinding", ALICE, "training", ("subjects",), []),
        ("ClusterRoleBinding", ALICE, None, ("subjects",), []),
        ("Namespace", "training", None, ("metadata", "labels", "pod-security.kubernetes.io/enforce"), "privileged"),
        ("ServiceAccount", ALICE, "bc-access", ("metadata", "annotations", "better-compute.dev/subject"), "eve"),
    ],
)
def test_what_somebody_changed_is_put_back(
    world: AnyWorld, kind: str, name: str, namespace: str | None, field: tuple[Any, ...], value: object
) -> None:
    api = world.open()
    give(api)
    before = world.cluster.read(kind, name, namespace)
    changed = world.cluster.read(kind, name, namespace)
    assert before is not None
    assert changed is not None
    at: Any = changed
    for key in field[:-1]:
        at = at[key]
    if isinstance(field[-1], int):
        at.append(value)
    else:
        at[field[-1]] = value
    for key in ("managedFields", "creationTimestamp", "generation"):
        changed["metadata"].pop(key, None)
    changed.pop("status", None)
    if kind == "Namespace":
        del changed["spec"]
    api.request(
        "PATCH",
        objects.path(kind, name, namespace),
        query={"fieldManager": "somebody", "force": "true"},
        body=changed,
        content_type="application/apply-patch+yaml",
    )
    mark = world.engine.log.mark
    give(api)
    in_a_list = field[-1] in (1, "validationActions")
    assert [write.split()[0] for write in world.writes(mark)] == ["PATCH"] * (2 if in_a_list else 1)
    mark = world.engine.log.mark
    give(api)
    assert world.writes(mark) == []
    after = world.cluster.read(kind, name, namespace)
    assert after is not None
    for one in (before, after):
        one.pop("status", None)
        for key in ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"):
            one["metadata"].pop(key, None)
    assert after == before


def test_a_guard_that_somebody_had_only_warn_denies_again_and_was_never_gone(world: AnyWorld) -> None:
    api = world.open()
    give(api)
    live = objects.read(api, "ValidatingAdmissionPolicyBinding", GUARD)
    assert live is not None
    exactly = {key: live["metadata"][key] for key in ("name", "uid", "resourceVersion")}
    loose = {key: live[key] for key in ("apiVersion", "kind")} | {
        "metadata": exactly,
        "spec": {"validationActions": ["Warn"]},
    }
    api.request(
        "PATCH",
        objects.path("ValidatingAdmissionPolicyBinding", GUARD),
        query={"fieldManager": "somebody"},
        body=loose,
        content_type="application/merge-patch+json",
    )
    give(api)
    after = objects.read(api, "ValidatingAdmissionPolicyBinding", GUARD)
    assert after is not None
    assert after["spec"]["validationActions"] == ["Deny"]
    assert after["metadata"]["uid"] == live["metadata"]["uid"]
    mark = world.engine.log.mark
    give(api)
    assert world.writes(mark) == []


def test_a_binding_to_another_role_is_made_anew(world: AnyWorld) -> None:
    api = world.open()
    give(api)
    live = objects.read(api, "RoleBinding", ALICE, "training")
    assert live is not None
    objects.delete(api, live)
    wrong = {key: live[key] for key in ("apiVersion", "kind", "subjects")} | {
        "metadata": {key: live["metadata"][key] for key in ("name", "namespace", "labels")},
        "roleRef": {**live["roleRef"], "name": "cluster-admin"},
    }
    objects.create(api, wrong)
    give(api)
    after = objects.read(api, "RoleBinding", ALICE, "training")
    assert after is not None
    assert after["roleRef"] == live["roleRef"]


@pytest.mark.parametrize(
    ("kind", "path", "name", "content"),
    [
        ("Namespace", "/api/v1/namespaces", "training", {}),
        ("ServiceAccount", "/api/v1/namespaces/bc-access/serviceaccounts", ALICE, {}),
        (
            "ClusterRoleBinding",
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            ALICE,
            {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}},
        ),
    ],
)
def test_a_strangers_object_of_our_names_is_refused_and_left_alone(
    world: AnyWorld, kind: str, path: str, name: str, content: dict[str, object]
) -> None:
    api = world.open()
    world.put(kind, path, name, **content)
    before = api.request("GET", f"{path}/{name}")
    with pytest.raises(NotOurs, match=name):
        give(api)
    assert api.request("GET", f"{path}/{name}") == before
    assert "POST serviceaccounts/token" not in "".join(world.calls(0)[-3:]), "no token was asked for"


def test_another_pools_namespace_is_refused(world: AnyWorld) -> None:
    api = world.open()
    world.put("Namespace", "/api/v1/namespaces", "training", labels={LABEL: OTHER_POOL})
    with pytest.raises(NotOurs, match=OTHER_POOL):
        give(api)


def test_a_namespace_that_is_being_deleted_is_waited_for(world: AnyWorld) -> None:
    api = world.open()
    give(api)
    live = objects.read(api, "Namespace", "training")
    assert live is not None
    objects.delete(api, live)
    with pytest.raises(ClusterConflict, match="being deleted"):
        give(api)
    world.settle()
    give(api)


def test_a_tenants_own_cluster_has_its_own_id_on_everything(world: AnyWorld) -> None:
    give(world.open(), owner=CLUSTER)
    for kind, name, namespace in (
        ("ValidatingAdmissionPolicy", "better-compute-access-guard", None),
        ("ClusterRole", "better-compute:edit", None),
        ("Namespace", "training", None),
        ("ServiceAccount", ALICE, "bc-access"),
    ):
        live = world.cluster.read(kind, name, namespace)
        assert live is not None
        assert live["metadata"]["labels"]["better-compute.dev/cluster"] == CLUSTER
        assert LABEL not in live["metadata"]["labels"]


def test_without_admission_policies_nobody_is_let_in_and_nothing_is_written(world: AnyWorld) -> None:
    api = world.open()
    gone = Error(status=404, code="NotFound", message="the server could not find the requested resource")
    world.engine.faults.add("kubernetes", "*validatingadmissionpolicies", gone, times=None)
    mark = world.engine.log.mark
    with pytest.raises(GuardUnavailable):
        give(api)
    assert world.writes(mark) == []
    assert world.cluster.read("ServiceAccount", ALICE, "bc-access") is None


def test_the_guard_lets_ourselves_pass_and_knows_subjects_by_their_group() -> None:
    policy, binding = guard_manifests(owner=POOL)
    [condition] = policy["spec"]["matchConditions"]
    assert "'system:serviceaccounts:bc-access' in request.userInfo.groups" in condition["expression"]
    assert "request.userInfo.username != 'system:serviceaccount:bc-access:bc-substrate'" in condition["expression"]
    [rule] = policy["spec"]["matchConstraints"]["resourceRules"]
    assert (rule["operations"], rule["resources"], rule["scope"]) == (["*"], ["*/*"], "*")
    assert policy["spec"]["failurePolicy"] == "Fail"
    assert binding["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}
