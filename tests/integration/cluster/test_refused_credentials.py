# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A credential that is refused on the way: another one is minted, once, and what was refused is sent again."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import (
    access,
    agent,
    claim,
    join_secret,
    node_list,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ClusterAccessDenied,
    ClusterCredentialRefused,
    ClusterUnreachable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import BootstrapAccess
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

from .conftest import LABEL, POOL, SETTINGS, AnyWorld, World

UNAUTHORIZED = Error(status=401, code="Unauthorized", message="Unauthorized")
KUBE_SYSTEM = "/api/v1/namespaces/kube-system"
TOKEN_PATH = "POST serviceaccounts/token gpu/bc-access/bc-substrate"


def opened(world: AnyWorld, again: Callable[[], BootstrapAccess] | None = None) -> ClusterApi:
    api = access.open_cluster(world.bootstrap(), pool_id=POOL, again=again or world.bootstrap)
    world.opened.append(api)
    return api


def at_provider(world: AnyWorld) -> ClusterApi:
    api = access.bootstrap_api(world.bootstrap(), again=world.bootstrap)
    world.opened.append(api)
    return api


def build(api: ClusterApi) -> None:
    """All that a pass does in a cluster."""
    claim.hold_claim(api, pool_id=POOL)
    agent.apply_agent(api, pool_id=POOL, agent=SETTINGS)
    node_list.list_nodes(api, pool_id=POOL)
    join_secret.write_join_token(api, pool_id=POOL, token=Secret("a-join-token"))
    join_secret.delete_join_token(api, pool_id=POOL)


def tear_down(api: ClusterApi) -> None:
    """The first steps of what a teardown does in it."""
    join_secret.delete_join_token(api, pool_id=POOL)
    agent.remove_agent(api, pool_id=POOL)
    claim.drop_claim(api, pool_id=POOL)
    access.remove_access(api, pool_id=POOL)


def test_whatever_call_is_refused_is_sent_again_with_a_new_credential(world: World) -> None:
    plain = opened(world)
    mark = world.engine.log.mark
    build(plain)
    wanted = world.calls(after=mark)
    assert len(wanted) > 10
    for number in range(1, len(wanted) + 1):
        remove_everything(world)
        api = opened(world)
        world.engine.faults.add("kubernetes", "*", UNAUTHORIZED, nth=number)
        mark = world.engine.log.mark
        build(api)
        world.engine.faults.clear()
        refused = wanted[number - 1]
        assert world.calls(after=mark) == [*wanted[:number], TOKEN_PATH, refused, *wanted[number:]]


def remove_everything(world: World) -> None:
    api = at_provider(world)
    while not (agent.remove_agent(api, pool_id=POOL) and access.remove_access(api, pool_id=POOL)):
        world.clock.advance(10)
    claim.drop_claim(api, pool_id=POOL)


def test_a_teardown_asks_the_provider_for_another_token_and_makes_no_access(any_world: AnyWorld) -> None:
    build(opened(any_world))
    asked = []

    def again() -> BootstrapAccess:
        asked.append(any_world.engine.clock.now())
        return any_world.bootstrap()

    with access.bootstrap_api(any_world.bootstrap("an-expired-token"), again=again) as api:
        tear_down(api)
    assert len(asked) == 1
    assert any_world.cluster.read("ConfigMap", "better-compute-substrate", "kube-system") is None


def test_a_credential_that_ended_on_the_way_is_replaced(world: World) -> None:
    api = opened(world)
    world.clock.advance(601)
    assert api.request("GET", KUBE_SYSTEM)["kind"] == "Namespace"


def test_a_list_whose_credential_ends_between_two_pages_is_complete(world: World) -> None:
    for number in range(501):
        world.cluster.put_node(f"ip-10-0-0-{number}.ec2.internal", labels={LABEL: POOL})
    api = opened(world)
    world.engine.faults.add("kubernetes", "LIST nodes", UNAUTHORIZED, nth=2)
    assert len(node_list.list_nodes(api, pool_id=POOL)) == 501


def test_a_service_account_that_somebody_replaced_is_made_use_of_anew(any_world: AnyWorld) -> None:
    api = opened(any_world)
    place = "/api/v1/namespaces/bc-access/serviceaccounts/bc-substrate"
    any_world.admin().request("DELETE", place, body={"apiVersion": "v1", "kind": "DeleteOptions"})
    assert api.request("GET", KUBE_SYSTEM)["kind"] == "Namespace"
    assert any_world.cluster.read("ServiceAccount", "bc-substrate", "bc-access") is not None


@pytest.mark.parametrize("between", [0, 3])
def test_a_second_refusal_is_told_and_nothing_is_minted_again(any_world: AnyWorld, between: int) -> None:
    api = opened(any_world)
    faults = any_world.engine.faults
    faults.add("kubernetes", "GET namespaces", UNAUTHORIZED, times=1)
    if between:
        for _time in range(between):
            api.request("GET", KUBE_SYSTEM)
        faults.add("kubernetes", "GET namespaces", UNAUTHORIZED, times=1)
    else:
        faults.add("kubernetes", "GET namespaces", UNAUTHORIZED, nth=2)
    mark = any_world.engine.log.mark
    with pytest.raises(ClusterCredentialRefused, match=r"401 Unauthorized.*so was the one before it in this pass"):
        api.request("GET", KUBE_SYSTEM)
    assert any_world.calls(after=mark).count(TOKEN_PATH) == (0 if between else 1)


def test_a_403_mints_nothing(any_world: AnyWorld) -> None:
    api = opened(any_world)
    any_world.engine.faults.add("kubernetes", "*", Error(status=403, code="Forbidden", message="no"), times=None)
    mark = any_world.engine.log.mark
    with pytest.raises(ClusterAccessDenied):
        api.request("GET", KUBE_SYSTEM)
    assert len(any_world.calls(after=mark)) == 1


def test_when_no_other_credential_can_be_had_that_is_what_is_told(any_world: AnyWorld) -> None:
    def again() -> BootstrapAccess:
        raise ClusterUnreachable("the provider is away")

    api = opened(any_world, again)
    any_world.engine.faults.add("kubernetes", "*", UNAUTHORIZED, times=1)
    with pytest.raises(ClusterUnreachable, match="the provider is away"):
        api.request("GET", KUBE_SYSTEM)


def test_threads_that_are_refused_together_mint_once(world: World) -> None:
    api = opened(world)
    world.clock.advance(601)
    mark = world.engine.log.mark
    barrier = Barrier(4)

    def ask() -> str:
        barrier.wait()
        return str(api.request("GET", KUBE_SYSTEM)["kind"])

    with ThreadPoolExecutor(4) as threads:
        assert [one.result() for one in [threads.submit(ask) for _thread in range(4)]] == ["Namespace"] * 4
    assert world.calls(after=mark).count(TOKEN_PATH) == 1
