# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a subject's access ends: with its token's time, and when it is taken; and that failures on the way are healed."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import objects
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access import remove_access
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.tenant_access import (
    has_access,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.token_request import IssuedToken
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ClusterAccessDenied,
    ClusterError,
    NotOurs,
)

from .conftest import POOL, AnyWorld, World
from .subjects import ALICE, TENANT, give, take


@pytest.fixture
def world(any_world: AnyWorld) -> AnyWorld:
    return any_world


def reach(world: AnyWorld, issued: IssuedToken) -> ClusterApi:
    """The cluster with a subject's token."""
    return ClusterApi(endpoint=world.url, ca_pem=world.ca_pem, token=issued.token)


def test_a_token_ends_with_its_time(emulated_world: World) -> None:
    api = emulated_world.open()
    with reach(emulated_world, give(api, seconds=600)) as alice:
        with pytest.raises(ClusterAccessDenied, match="403"):
            alice.request("GET", "/api/v1/namespaces/better-compute/secrets/bcd-join")
        emulated_world.clock.advance(601)
        with pytest.raises(ClusterAccessDenied, match="401"):
            alice.request("GET", "/api/v1/namespaces/training")


def test_a_token_ends_with_its_account(emulated_world: World) -> None:
    api = emulated_world.open()
    with reach(emulated_world, give(api)) as alice:
        assert take(api)
        with pytest.raises(ClusterAccessDenied, match="401"):
            alice.request("GET", "/api/v1/namespaces/training")


def test_taking_access_leaves_the_namespaces_and_everybody_elses(world: AnyWorld) -> None:
    api = world.open()
    give(api, namespaces=("training", "jobs"))
    give(api, namespaces=("training",), subject="bob")
    assert has_access(api, tenant_id=TENANT, subject="alice")
    mark = world.engine.log.mark
    assert take(api)
    assert world.writes(mark) == [
        f"DELETE serviceaccounts gpu/bc-access/{ALICE}",
        f"DELETE clusterrolebindings gpu/{ALICE}",
        f"DELETE rolebindings gpu/jobs/{ALICE}",
        f"DELETE rolebindings gpu/training/{ALICE}",
    ]
    assert not has_access(api, tenant_id=TENANT, subject="alice")
    assert has_access(api, tenant_id=TENANT, subject="bob")
    assert not take(api)
    mark = world.engine.log.mark
    give(api, namespaces=("training",), subject="bob")
    assert world.writes(mark) == []


def test_a_strangers_account_of_a_subjects_name_is_not_called_taken(world: AnyWorld) -> None:
    api = world.open()
    world.put("ServiceAccount", "/api/v1/namespaces/bc-access/serviceaccounts", ALICE)
    with pytest.raises(NotOurs):
        take(api)


def test_our_own_access_leaves_the_namespace_to_subjects(world: AnyWorld) -> None:
    give(world.open())
    admin = world.admin()
    assert remove_access(admin, pool_id=POOL) or remove_access(admin, pool_id=POOL)
    assert world.cluster.read("Namespace", "bc-access") is not None
    assert world.cluster.read("ServiceAccount", "bc-substrate", "bc-access") is None
    assert world.cluster.read("ServiceAccount", ALICE, "bc-access") is not None


@pytest.mark.parametrize("fault", [LostReply(), Error(status=500, code="InternalError", message="it broke")])
def test_whatever_call_fails_another_run_gives_and_takes_the_same(world: AnyWorld, fault: LostReply | Error) -> None:
    api = world.open()
    give(api)
    take(api)
    mark = world.engine.log.mark
    give(api)
    take(api)
    calls = len(world.calls(mark))
    failed = 0
    for nth in range(1, calls + 1):
        added = world.engine.faults.add("kubernetes", "*", fault, nth=nth)
        for work in (give, take):
            try:
                work(api)
            except ClusterError:
                failed += 1
                work(api)
        world.engine.faults.remove(added)
        assert not has_access(api, tenant_id=TENANT, subject="alice")
        assert objects.labelled(api, "RoleBinding", "better-compute.dev/subject", ALICE) == []
        assert world.cluster.read("ClusterRoleBinding", ALICE) is None
    assert failed == calls
