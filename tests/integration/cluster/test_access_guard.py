# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The walls between subjects and what is not theirs, on a real API: each attempt is refused, and by whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import agent, claim, join_secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.tenant_access import (
    account_name,
    give_access,
    take_access,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster
from ansible_collections.better_compute.fleet.tests.support.controlplane.connection import Connection, Reply

from .attempts import GUARD, MERGE, Attempt, attempts, cluster_admin, pod
from .conftest import LABEL, POOL, SETTINGS, AnyWorld

pytestmark = pytest.mark.controlplane

TENANT = TenantId("acme")
ALICE = account_name(TENANT, "alice")
NODE = "gpu-1"
PODS = "/api/v1/namespaces/training/pods"
REFUSED = 403


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A pool's cluster in which all of ours stands, and alice in it.

    Attributes:
        api: ours, as passes have it.
        alice: the API with her token.
    """

    real: RealCluster
    api: ClusterApi
    alice: Connection
    bcd_pod: str

    def attempts(self) -> list[Attempt]:
        return list(attempts(account=ALICE, bcd_pod=self.bcd_pod, node=NODE))

    def make_alice_cluster_admin(self) -> None:
        """What no product does, and somebody may."""
        path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
        assert self.real.admin.send("POST", path, body=cluster_admin("somebodys", ALICE)).status == 201
        self.real.wait_until(
            lambda: self.alice.get("/api/v1/namespaces/better-compute/secrets").status == 200, "alice is cluster-admin"
        )

    def stands(self) -> dict[str, object]:
        """What is ours, as it is."""
        found: dict[str, object] = {}
        for path in (
            "/api/v1/namespaces/better-compute",
            "/api/v1/namespaces/better-compute/secrets/bcd-join",
            "/apis/apps/v1/namespaces/better-compute/daemonsets/bcd",
            "/api/v1/namespaces/bc-access",
            "/api/v1/namespaces/bc-access/serviceaccounts/bc-substrate",
            "/api/v1/namespaces/kube-system/configmaps/better-compute-substrate",
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/better-compute:edit",
            f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{GUARD}",
            f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/{GUARD}",
            "/api/v1/namespaces/training",
        ):
            live = self.real.read(path)
            assert live is not None, path
            found[path] = (live["metadata"]["uid"], live["metadata"].get("generation"), live["metadata"]["labels"])
        return found


@pytest.fixture
def stage(real_world: AnyWorld, real_cluster_api: RealCluster) -> Iterator[Stage]:
    real_cluster_api.make_node(NODE, labels={LABEL: POOL})
    api = real_world.open()
    claim.hold_claim(api, pool_id=POOL)
    agent.apply_agent(api, pool_id=POOL, agent=replace(SETTINGS, runtime_class=None))
    join_secret.write_join_token(api, pool_id=POOL, token=Secret("join-canary-5e1f"))
    issued = give_access(api, owner=POOL, tenant_id=TENANT, subject="alice", namespaces=["training"], seconds=600)
    alice = real_cluster_api.admin.as_bearer(issued.token.reveal())
    pods: list[str] = []

    def settled() -> bool:
        listed = real_cluster_api.read("/api/v1/namespaces/better-compute/pods")
        pods[:] = [one["metadata"]["name"] for one in (listed or {}).get("items", [])]
        role = real_cluster_api.read("/apis/rbac.authorization.k8s.io/v1/clusterroles/better-compute:edit")
        account = real_cluster_api.read("/api/v1/namespaces/training/serviceaccounts/default")
        return bool(pods) and bool((role or {}).get("rules")) and account is not None

    real_cluster_api.wait_until(settled, "bcd has its pod, the role its rules, the namespace its account")
    real_cluster_api.wait_until(lambda: alice.get(PODS).status == 200, "alice is let in")
    yield Stage(real=real_cluster_api, api=api, alice=alice, bcd_pod=pods[0])
    alice.close()


def refusal(reply: Reply) -> str:
    """Who refused: "rbac", "guard", else what was answered."""
    message = str(reply.body.get("message", "")) if reply.content[:1] == b"{" else ""
    if reply.status == REFUSED and f"ValidatingAdmissionPolicy '{GUARD}'" in message:
        return "guard"
    if reply.status == REFUSED and f'User "system:serviceaccount:bc-access:{ALICE}" cannot' in message:
        return "rbac"
    return f"{reply.status} {message or reply.content[:200]!r}"


def guard_is_heeded(stage: Stage) -> bool:
    """Whether the API knows the policy by now."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "namespace": "default"}}
    path = "/api/v1/namespaces/default/configmaps"
    return refusal(stage.alice.send("POST", path, query={"dryRun": "All"}, body=body)) == "guard"


def test_whatever_is_not_hers_is_refused_by_rbac(stage: Stage) -> None:
    before = stage.stands()
    tried = {attempt.what: refusal(attempt.by(stage.alice)) for attempt in stage.attempts()}
    assert {what: by for what, by in tried.items() if by != "rbac"} == {}
    assert len(tried) > 40
    assert stage.stands() == before


def test_a_subject_that_somebody_made_cluster_admin_is_refused_by_the_guard(stage: Stage) -> None:
    stage.make_alice_cluster_admin()
    stage.real.wait_until(lambda: guard_is_heeded(stage), "the guard is heeded")
    before = stage.stands()
    tried = {attempt.what: refusal(attempt.by(stage.alice)) for attempt in stage.attempts() if attempt.guarded}
    assert {what: by for what, by in tried.items() if by != "guard"} == {}
    assert len(tried) > 30
    assert stage.stands() == before
    assert stage.alice.send("POST", PODS, body=pod("hers")).status == 201, "her own namespace is hers still"


def test_a_protected_namespace_stays_one_however_it_is_labelled(stage: Stage) -> None:
    stage.make_alice_cluster_admin()
    labels = {"metadata": {"labels": {"better-compute.dev/tenants": "true"}}}
    for name in ("better-compute", "bc-access", "kube-system"):
        path = f"/api/v1/namespaces/{name}"
        assert stage.real.admin.send("PATCH", path, body=labels, content_type=MERGE).status == 200
    stage.real.wait_until(lambda: guard_is_heeded(stage), "the guard is heeded")
    for attempt in stage.attempts():
        if attempt.guarded and "/namespaces/" in attempt.path:
            assert refusal(attempt.by(stage.alice)) == "guard", attempt.what
    unlabel = {"metadata": {"labels": {"better-compute.dev/tenants": None}}}
    path = "/api/v1/namespaces/kube-system"
    assert stage.real.admin.send("PATCH", path, body=unlabel, content_type=MERGE).status == 200


def test_she_deploys_in_her_namespace_and_looks_up_what_is_there(stage: Stage) -> None:
    sets = "/apis/apps/v1/namespaces/training/daemonsets"
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    container = {"name": "main", "image": "registry.example/work:1", "resources": limits}
    work = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "work", "namespace": "training"},
        "spec": {
            "selector": {"matchLabels": {"app": "work"}},
            "template": {
                "metadata": {"labels": {"app": "work"}},
                "spec": {
                    "nodeSelector": {LABEL: POOL},
                    "tolerations": [{"operator": "Exists"}],
                    "containers": [container],
                },
            },
        },
    }
    assert stage.alice.send("POST", sets, body=work).status == 201
    deployment = {**work, "kind": "Deployment"}
    assert stage.alice.send("POST", "/apis/apps/v1/namespaces/training/deployments", body=deployment).status == 201
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "training"}}
    assert stage.alice.send("POST", "/api/v1/namespaces/training/secrets", body=secret).status == 201
    assert stage.alice.get("/api/v1/namespaces/training/secrets").status == 200
    assert stage.alice.get("/api/v1/nodes").status == 200
    assert stage.alice.get("/api/v1/namespaces").status == 200
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "create", "resource": "pods", "namespace": "training"}},
    }
    asked = stage.alice.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=review)
    assert (asked.status, asked.body["status"]["allowed"]) == (201, True)
    stage.real.wait_until(
        lambda: any(one["metadata"]["labels"].get("app") == "work" for one in stage.alice.get(PODS).body["items"]),
        "a controller made a pod for her",
    )
    assert stage.alice.send("DELETE", f"{sets}/work").status == 200


def test_her_pods_stay_off_the_hosts_and_are_nobody_else(stage: Stage) -> None:
    host = {"volumes": [{"name": "state", "hostPath": {"path": "/var/lib/bcd"}}]}
    privileged = {"containers": [{"name": "a", "image": "b", "securityContext": {"privileged": True}}]}
    for spec in (host, privileged, {"hostNetwork": True}, {"hostPID": True}):
        reply = stage.alice.send("POST", PODS, body=pod("x", **spec))
        assert reply.status == REFUSED
        assert 'violates PodSecurity "baseline' in reply.body["message"]
    for account in ("bc-substrate", ALICE):
        reply = stage.alice.send("POST", PODS, body=pod("x", serviceAccountName=account))
        assert reply.status == REFUSED
        assert f'serviceaccount "{account}" not found' in reply.body["message"]


def test_she_binds_no_one_in_her_namespace(stage: Stage) -> None:
    path = "/apis/rbac.authorization.k8s.io/v1/namespaces/training/rolebindings"
    reply = stage.alice.send("POST", path, body=cluster_admin("mine", ALICE, namespace="training"))
    assert refusal(reply) == "rbac"
    edit = cluster_admin("mine", "default", namespace="training")
    edit["roleRef"]["name"] = "better-compute:edit"
    assert refusal(stage.alice.send("POST", path, body=edit)) == "rbac"


def test_accounts_of_her_namespace_are_no_way_around(stage: Stage) -> None:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}}
    made = stage.alice.send("POST", "/api/v1/namespaces/training/serviceaccounts/default/token", body=body)
    assert made.status == 201
    robot = stage.real.admin.as_bearer(made.body["status"]["token"])
    assert stage.alice.get("/api/v1/nodes").status == 200
    let_in = [attempt.what for attempt in stage.attempts() if attempt.by(robot).status != REFUSED]
    assert let_in == []
    as_robot = {"Impersonate-User": "system:serviceaccount:training:default"}
    for path in ("/api/v1/secrets", "/api/v1/namespaces/better-compute/secrets/bcd-join", PODS):
        assert stage.alice.forward("GET", path, headers=as_robot, body=None).status == REFUSED
    robot.close()


def test_the_guard_is_in_nobody_elses_way(stage: Stage) -> None:
    stage.make_alice_cluster_admin()
    stage.real.wait_until(lambda: guard_is_heeded(stage), "the guard is heeded")
    join_secret.write_join_token(stage.api, pool_id=POOL, token=Secret("join-canary-77aa"))
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "default"}}
    path = "/api/v1/namespaces/default/configmaps"
    assert stage.real.admin.send("POST", path, body=settings).status == 201
    assert stage.real.admin.send("DELETE", f"{path}/x").status == 200


def test_taking_access_ends_her_token_at_once(stage: Stage) -> None:
    assert take_access(stage.api, owner=POOL, tenant_id=TENANT, subject="alice")
    stage.real.wait_until(lambda: stage.alice.get(PODS).status == 401, "her token is nobody's")
    again = give_access(stage.api, owner=POOL, tenant_id=TENANT, subject="alice", namespaces=["jobs"], seconds=600)
    anew = stage.real.admin.as_bearer(again.token.reveal())
    stage.real.wait_until(
        lambda: anew.get("/api/v1/namespaces/jobs/pods").status == 200, "she is let into the other namespace"
    )
    assert refusal(anew.get(PODS)) == "rbac", "what she had before is not hers again"
    anew.close()
