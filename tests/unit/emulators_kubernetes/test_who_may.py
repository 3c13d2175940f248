# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is let in, and what the others learn: nothing."""

from __future__ import annotations

import pytest

from .conftest import Caller

MAPS = "/api/v1/namespaces/default/configmaps"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
TOKEN_REQUEST = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}}


def service_account(caller: Caller, *, seconds: int = 600) -> Caller:
    body = TOKEN_REQUEST | {"spec": {"expirationSeconds": seconds}}
    code, reply = caller.send("POST", f"{ACCOUNTS}/robot/token", body=body)
    assert code == 201
    return caller.as_user(reply["status"]["token"])


def bind(caller: Caller, role: str = "cluster-admin") -> None:
    caller.create(
        BINDINGS,
        "ClusterRoleBinding",
        "robot",
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        subjects=[{"kind": "ServiceAccount", "name": "robot", "namespace": "default"}],
    )


@pytest.mark.parametrize("path", [MAPS, f"{MAPS}/there", "/no/such/path", "/api/v1/namespaces"])
@pytest.mark.parametrize("token", [None, "", "unknown"])
def test_an_unknown_caller_gets_401_whatever_is_asked(caller: Caller, path: str, token: str | None) -> None:
    code, status = caller.as_user(token).send("GET", path)
    assert (code, status["reason"], status["message"]) == (401, "Unauthorized", "Unauthorized")


@pytest.mark.parametrize("name", ["there", "missing"])
def test_a_user_without_rights_does_not_learn_what_exists(caller: Caller, name: str) -> None:
    caller.create(MAPS, "ConfigMap", "there")
    code, status = caller.as_user("nobody").send("GET", f"{MAPS}/{name}")
    assert code == 403
    assert 'User "nobody" cannot get resource "configmaps"' in status["message"]


def test_a_user_without_rights_does_not_learn_which_paths_exist(caller: Caller) -> None:
    assert caller.as_user("nobody").send("GET", "/no/such/path")[0] == 403


def test_a_service_account_may_do_everything_while_it_is_bound_to_cluster_admin(caller: Caller) -> None:
    caller.create(ACCOUNTS, "ServiceAccount", "robot")
    robot = service_account(caller)
    assert robot.send("GET", f"{MAPS}/kube-root-ca.crt")[0] == 403
    bind(caller)
    assert robot.send("GET", f"{MAPS}/kube-root-ca.crt")[0] == 200
    caller.delete(f"{BINDINGS}/robot")
    assert robot.send("GET", f"{MAPS}/kube-root-ca.crt")[0] == 403


def test_another_role_grants_nothing(caller: Caller) -> None:
    caller.create(ACCOUNTS, "ServiceAccount", "robot")
    bind(caller, role="view")
    assert service_account(caller).send("GET", f"{MAPS}/kube-root-ca.crt")[0] == 403


def test_a_token_ends_on_the_engines_clock(caller: Caller) -> None:
    caller.create(ACCOUNTS, "ServiceAccount", "robot")
    bind(caller)
    robot = service_account(caller)
    caller.clock.advance(599)
    assert robot.send("GET", f"{MAPS}/kube-root-ca.crt")[0] == 200
    caller.clock.advance(1)
    assert robot.send("GET", f"{MAPS}/kube-root-ca.crt")[0] == 401


def test_a_token_ends_with_its_account_even_when_the_name_comes_again(caller: Caller) -> None:
    caller.create(ACCOUNTS, "ServiceAccount", "robot")
    bind(caller)
    robot = service_account(caller)
    caller.delete(f"{ACCOUNTS}/robot")
    assert robot.send("GET", f"{MAPS}/kube-root-ca.crt")[0] == 401
    caller.create(ACCOUNTS, "ServiceAccount", "robot")
    assert robot.send("GET", f"{MAPS}/kube-root-ca.crt")[0] == 401


def test_a_token_for_less_than_ten_minutes_is_refused(caller: Caller) -> None:
    caller.create(ACCOUNTS, "ServiceAccount", "robot")
    body = TOKEN_REQUEST | {"spec": {"expirationSeconds": 599}}
    code, status = caller.send("POST", f"{ACCOUNTS}/robot/token", body=body)
    assert code == 422
    assert "may not specify a duration less than 10 minutes" in status["message"]


def test_a_token_for_an_account_that_is_not_there_is_refused(caller: Caller) -> None:
    code, status = caller.send("POST", f"{ACCOUNTS}/robot/token", body=TOKEN_REQUEST)
    assert (code, status["message"]) == (404, 'serviceaccounts "robot" not found')
