# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our own way into a cluster: made once, marked as ours, 600 s at a time, and taken away again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Call, Error, Hook, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access import (
    bootstrap_api,
    make_access,
    open_cluster,
    remove_access,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ClusterAccessDenied,
    ClusterUnreachable,
    NotOurs,
)

from .conftest import LABEL, OTHER_POOL, POOL, STRANGER_TOKEN, AnyWorld, World

TOKEN_PATH = "POST serviceaccounts/token gpu/bc-access/bc-substrate"


@pytest.fixture
def world(any_world: AnyWorld) -> AnyWorld:
    return any_world


def test_the_first_pass_makes_namespace_binding_and_then_the_service_account(world: AnyWorld) -> None:
    world.open()
    assert world.writes(after=0) == [
        "POST namespaces gpu/bc-access",
        "POST clusterrolebindings gpu/bc-substrate",
        "POST serviceaccounts gpu/bc-access/bc-substrate",
    ]


def test_what_it_makes_carries_our_label(world: AnyWorld) -> None:
    world.open()
    for kind, name, namespace in (
        ("Namespace", "bc-access", None),
        ("ClusterRoleBinding", "bc-substrate", None),
        ("ServiceAccount", "bc-substrate", "bc-access"),
    ):
        live = world.cluster.read(kind, name, namespace)
        assert live is not None
        assert live["metadata"]["labels"][LABEL] == POOL


def test_a_later_pass_sends_one_token_request_and_nothing_else(world: AnyWorld) -> None:
    world.open()
    mark = world.engine.log.mark
    world.open()
    assert world.calls(after=mark) == [TOKEN_PATH]


def test_the_credential_works_for_ten_minutes_and_no_longer(emulated_world: World) -> None:
    api = emulated_world.open()
    emulated_world.clock.advance(599)
    api.request("GET", "/api/v1/namespaces/kube-system")
    emulated_world.clock.advance(1)
    with pytest.raises(ClusterAccessDenied):
        api.request("GET", "/api/v1/namespaces/kube-system")


def test_two_processes_at_once_both_succeed(world: AnyWorld) -> None:
    barrier = Barrier(2)

    def come_in() -> None:
        barrier.wait()
        with open_cluster(world.bootstrap(), pool_id=POOL) as api:
            api.request("GET", "/api/v1/namespaces/kube-system")

    with ThreadPoolExecutor(2) as threads:
        for running in [threads.submit(come_in), threads.submit(come_in)]:
            running.result()


@pytest.mark.parametrize("call", ["POST namespaces", "POST clusterrolebindings", "POST serviceaccounts"])
def test_being_overtaken_at_any_create_is_no_failure(world: AnyWorld, call: str) -> None:
    def overtake(_call: Call) -> None:
        world.engine.faults.clear()
        world.open()

    world.engine.faults.add("kubernetes", call, Hook(on_before=overtake))
    world.open().request("GET", "/api/v1/namespaces/kube-system")


@pytest.mark.parametrize("call", ["POST namespaces", "POST clusterrolebindings", "POST serviceaccounts"])
def test_a_lost_reply_is_healed_by_the_next_pass(world: AnyWorld, call: str) -> None:
    world.engine.faults.add("kubernetes", call, LostReply())
    with pytest.raises(ClusterUnreachable):
        world.open()
    world.open().request("GET", "/api/v1/namespaces/kube-system")


def test_a_refused_deployment_may_have_made_the_identity_before(world: AnyWorld) -> None:
    world.put("Namespace", "/api/v1/namespaces", "bc-access", labels={LABEL: OTHER_POOL})
    world.open().request("GET", "/api/v1/namespaces/kube-system")


def test_a_strangers_namespace_is_never_used(world: AnyWorld) -> None:
    world.put("Namespace", "/api/v1/namespaces", "bc-access")
    mark = world.engine.log.mark
    with pytest.raises(NotOurs, match="Namespace bc-access"):
        world.open()
    assert world.writes(after=mark) == []


def test_a_strangers_binding_is_never_used(world: AnyWorld) -> None:
    world.put(
        "ClusterRoleBinding",
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        "bc-substrate",
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
    )
    with pytest.raises(NotOurs, match="ClusterRoleBinding bc-substrate"):
        world.open()
    assert world.cluster.read("ServiceAccount", "bc-substrate", "bc-access") is None


def test_a_principal_without_rights_is_told_so(world: AnyWorld) -> None:
    with pytest.raises(ClusterAccessDenied, match="stranger"):
        open_cluster(world.bootstrap(STRANGER_TOKEN), pool_id=POOL)


def test_an_unknown_token_is_told_so(world: AnyWorld) -> None:
    with pytest.raises(ClusterAccessDenied, match="401"):
        open_cluster(world.bootstrap("never-issued"), pool_id=POOL)


def test_a_binding_that_somebody_deleted_can_be_made_again(world: AnyWorld) -> None:
    world.open()
    with bootstrap_api(world.bootstrap()) as api:
        binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/bc-substrate"
        api.request("DELETE", binding, body={"apiVersion": "v1", "kind": "DeleteOptions"})
        with pytest.raises(ClusterAccessDenied):
            world.open().request("GET", "/api/v1/namespaces/kube-system")
        make_access(api, pool_id=POOL)
    world.open().request("GET", "/api/v1/namespaces/kube-system")


def test_removing_takes_everything_that_was_made(world: AnyWorld) -> None:
    world.open()
    api = world.admin()
    assert not remove_access(api, pool_id=POOL)
    world.settle()
    assert remove_access(api, pool_id=POOL)
    assert world.leftovers() == []


def test_removing_twice_or_what_was_never_made_is_no_error(world: AnyWorld) -> None:
    mark = world.engine.log.mark
    assert remove_access(world.admin(), pool_id=POOL)
    assert world.writes(after=mark) == []


def test_removing_ends_the_credential(world: AnyWorld) -> None:
    api = world.open()
    remove_access(world.admin(), pool_id=POOL)
    with pytest.raises(ClusterAccessDenied):
        api.request("GET", "/api/v1/namespaces/kube-system")


def test_removing_leaves_the_namespace_to_another_subject(world: AnyWorld) -> None:
    world.open()
    world.put("ServiceAccount", "/api/v1/namespaces/bc-access/serviceaccounts", "kubeconfig-of-a-tenant")
    assert remove_access(world.admin(), pool_id=POOL)
    assert world.cluster.read("Namespace", "bc-access") is not None
    assert world.cluster.read("ServiceAccount", "bc-substrate", "bc-access") is None


def test_removing_leaves_a_strangers_namespace(world: AnyWorld) -> None:
    world.put("Namespace", "/api/v1/namespaces", "bc-access")
    assert remove_access(world.admin(), pool_id=POOL)
    assert world.cluster.read("Namespace", "bc-access") is not None


def test_a_server_error_while_asking_for_the_token_makes_nothing(world: AnyWorld) -> None:
    fault = Error(status=503, code="ServiceUnavailable", message="etcd is away")
    world.engine.faults.add("kubernetes", "POST serviceaccounts/token", fault)
    with pytest.raises(ClusterUnreachable, match="etcd is away"):
        world.open()
    assert world.writes(after=0) == []


def test_removing_leaves_a_strangers_binding_and_service_account(world: AnyWorld) -> None:
    bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    world.put("ClusterRoleBinding", bindings, "bc-substrate", roleRef=role)
    world.put("Namespace", "/api/v1/namespaces", "bc-access")
    world.put("ServiceAccount", "/api/v1/namespaces/bc-access/serviceaccounts", "bc-substrate")
    mark = world.engine.log.mark
    assert remove_access(world.admin(), pool_id=POOL)
    assert world.writes(after=mark) == []
