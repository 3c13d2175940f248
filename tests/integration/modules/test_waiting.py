# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long bc_fleet waits, for whom, what it says when that was in vain, and how it is stopped."""

from __future__ import annotations

import signal

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import AGENT_MISSING
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import work
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

from .conftest import MakeModules

REFUSED = Error(status=400, code="InvalidParameterException", message="the launch template is not to our taste")


def test_a_run_that_does_not_wait_runs_one_pass_and_says_where_that_left_the_pool(modules: Modules) -> None:
    begun = modules.fleet.scene.clock.now()
    result = modules.run("bc_fleet", config=document(), wait=False)
    assert (result["failed"], result["changed"]) == (False, True)
    assert [one["state"] for one in result["substrates"]] == ["provisioning"]
    assert "is being created" in result["substrates"][0]["message"]
    assert modules.fleet.scene.clock.now() == begun


def test_a_wait_that_runs_out_fails_the_task_and_the_next_run_goes_on(modules: Modules) -> None:
    late = modules.run("bc_fleet", config=document(), wait_timeout=5)
    assert (late["failed"], late["changed"], late["code"]) == (True, True, "INVALID_STATE")
    assert "pool gpu-fleet: still provisioning after 5 s" in late["msg"]
    assert "another run goes on from here" in late["msg"]
    again = modules.run("bc_fleet", config=document())
    assert (again["failed"], again["changed"]) == (False, False)
    assert [one["state"] for one in again["substrates"]] == ["ready"]


def test_what_the_provider_refuses_fails_the_task_with_its_reason_until_it_is_mended(modules: Modules) -> None:
    fault = modules.fleet.scene.engine.faults.add("aws", "eks.CreateCluster", REFUSED, times=None)
    refused = modules.run("bc_fleet", config=document())
    assert (refused["failed"], refused["changed"]) == (True, True)
    assert "pool gpu-fleet: cluster" in refused["msg"]
    assert "the launch template is not to our taste" in refused["msg"]
    again = modules.run("bc_fleet", config=document())
    assert (again["failed"], again["changed"]) == (True, False)
    modules.fleet.scene.engine.faults.remove(fault)
    mended = modules.run("bc_fleet", config=document())
    assert (mended["failed"], mended["changed"]) == (False, False)


def test_a_provider_that_knows_nothing_of_what_an_account_names_fails_the_plan(modules: Modules) -> None:
    unknown = put(document(), "providerAccounts.0.config.eksSubnetIds.0", "subnet-00000000000000bad")
    refused = modules.run("bc_fleet", config=unknown)
    assert refused["failed"]
    assert "provider account managed-k8s: " in refused["msg"]
    assert "subnet-00000000000000bad" in refused["msg"]
    assert modules.run("bc_fleet_info")["pools"] == []


def test_a_provider_that_does_not_answer_a_plan_is_named_in_a_warning(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    modules.fleet.scene.engine.faults.add("aws", "eks.DescribeCluster", REFUSED, times=None)
    blind = modules.run("bc_fleet", config=document())
    assert (blind["failed"], blind["changed"]) == (False, False)
    assert any("pool gpu-fleet: drift is not known" in str(warning) for warning in blind["warnings"])


def test_a_plan_that_is_not_to_look_asks_no_provider(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    calls = len(modules.fleet.scene.engine.log.entries(cloud="aws"))
    assert not modules.run("bc_fleet", config=document(), refresh=False)["changed"]
    assert len(modules.fleet.scene.engine.log.entries(cloud="aws")) == calls


def test_a_plan_without_agent_settings_warns_before_anything_is_applied(make_modules: MakeModules) -> None:
    modules = make_modules(BC_FLEET_AGENT_IMAGE="", BC_FLEET_AGENT_GATEWAY_URL="", BC_FLEET_AGENT_PINS="")
    planned = modules.run("bc_fleet", check=True, config=document())
    assert not planned["failed"]
    assert any(f"pool gpu-fleet: {AGENT_MISSING}" in str(one) for one in planned["warnings"])


def test_without_agent_settings_nothing_is_created_and_the_task_says_why(make_modules: MakeModules) -> None:
    modules = make_modules(BC_FLEET_AGENT_IMAGE="", BC_FLEET_AGENT_GATEWAY_URL="", BC_FLEET_AGENT_PINS="")
    refused = modules.run("bc_fleet", config=document())
    assert refused["failed"]
    assert "kubernetes.substrate-agent-missing" in refused["msg"]
    assert modules.writes() == 0


def test_a_credential_that_is_missing_fails_the_task_with_what_is_missing(
    modules: Modules, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = put(document(), "providerAccounts.0.config.credential", {"env": "FLEET"})
    refused = modules.run("bc_fleet", config=account, refresh=False)
    assert refused["failed"]
    assert "the provider account cannot be used: " in refused["msg"]
    assert "FLEET" in refused["msg"]
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"FLEET_{name}", modules.fleet.scene.environment[f"AWS_{name}"])
    assert not modules.run("bc_fleet", config=account)["failed"]


def test_a_pool_that_another_process_works_on_is_watched_and_not_fought_for(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    pool_id, store = modules.fleet.pool_id, modules.fleet.scene.store
    with store.write() as tx:
        lease = work.acquire(tx, pool_id, "another process")
    assert lease is not None
    calls = modules.writes()

    def hold() -> None:
        nonlocal lease
        assert lease is not None
        with store.write(lease=lease) as tx:
            lease = work.renew(tx, lease)

    modules.before_sleep = hold
    resized = put(document(), "pools.0.policy.substrate.flavors.0.nodes", 2)
    late = modules.run("bc_fleet", config=resized, wait_timeout=120)
    assert "pool gpu-fleet: still updating after 120 s" in late["msg"]
    assert modules.writes() == calls

    def give_back() -> None:
        nonlocal lease
        if lease is not None:
            with store.write(lease=lease) as tx:
                work.release(tx, lease, tx.now)
            lease = None

    modules.before_sleep = give_back
    done = modules.run("bc_fleet", config=resized)
    assert (done["failed"], done["changed"]) == (False, False)
    assert modules.fleet.node_pools()["h100"].shape.nodes == 2
    assert modules.writes() > calls


def test_a_process_that_died_with_the_lease_is_followed_when_it_lapses(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    with modules.fleet.scene.store.write() as tx:
        assert work.acquire(tx, modules.fleet.pool_id, "one that died") is not None
    done = modules.run("bc_fleet", config=document())
    assert (done["failed"], done["changed"]) == (False, False)


def test_an_old_error_is_looked_into_before_it_is_told(modules: Modules) -> None:
    fault = modules.fleet.scene.engine.faults.add("aws", "eks.CreateCluster", REFUSED, times=None)
    modules.run("bc_fleet", config=document())
    modules.fleet.scene.engine.faults.remove(fault)
    with modules.fleet.scene.store.write() as tx:
        assert work.acquire(tx, modules.fleet.pool_id, "another process") is not None
    late = modules.run("bc_fleet", config=document(), wait_timeout=20)
    assert "pool gpu-fleet: still error after 20 s" in late["msg"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_and_the_lease_is_free_for_the_next(modules: Modules, number: signal.Signals) -> None:
    before = signal.getsignal(number)
    modules.before_sleep = lambda: signal.raise_signal(number)
    stopped = modules.run("bc_fleet", config=document())
    assert "stopped by a signal" in stopped["msg"]
    assert "exception" not in stopped
    assert signal.getsignal(number) == before
    with modules.fleet.scene.store.read() as tx:
        assert work.lease_of(tx, modules.fleet.pool_id) is None
    modules.before_sleep = lambda: None
    done = modules.run("bc_fleet", config=document())
    assert (done["failed"], done["changed"]) == (False, False)
