# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running passes until pools settle: what one pool's trouble does to the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import passes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Driver
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.statements import statements

AN_HOUR = timedelta(hours=1)


def on_two_accounts() -> dict[str, Any]:
    """The example with a second pool on an account of its own, by its name the first to be worked on."""
    data = document()
    data["providerAccounts"].append({**data["providerAccounts"][0], "name": "a-faulty-one"})
    other = {**data["pools"][0], "name": "a-faulty-pool"}
    substrate = {**other["policy"]["substrate"], "account": "a-faulty-one"}
    data["pools"].append({**other, "policy": {**other["policy"], "substrate": substrate}})
    return data


def faulty(session: Session) -> Session:
    """The session, with a fault of ours at one of the accounts."""

    def open_driver(account: AccountRecord) -> Driver:
        if account.name == "a-faulty-one":
            raise ZeroDivisionError
        return session.open_driver(account)

    return replace(session, open_driver=open_driver)


def test_a_fault_in_one_pools_pass_is_raised_when_the_others_have_settled(fleet: Fleet) -> None:
    pools = fleet.apply(on_two_accounts())
    with pytest.raises(ZeroDivisionError):
        passes.run_until_settled(faulty(fleet.session), pools, timeout=AN_HOUR)
    assert fleet.view().ready


def test_a_fault_in_one_pools_pass_costs_no_other_its_single_pass(fleet: Fleet) -> None:
    pools = fleet.apply(on_two_accounts())
    with pytest.raises(ZeroDivisionError):
        passes.run_once(faulty(fleet.session), pools)
    assert fleet.view().record.state == "provisioning"


def test_a_pass_that_the_database_failed_is_run_again_when_its_lease_lapses(fleet: Fleet) -> None:
    pools = fleet.apply(document())
    commits = 0

    def fail_once(moment: str) -> None:
        nonlocal commits
        commits += moment == "before"
        if commits == 4 and moment == "before":  # well within the first pass
            raise StoreUnavailable("a restart of the database")

    fleet.session.store.on_commit.append(fail_once)
    begun = fleet.session.clock.now()
    [view] = passes.run_until_settled(fleet.session, pools, timeout=AN_HOUR)
    assert view.ready
    assert fleet.session.clock.now() - begun > timedelta(minutes=1)


def test_a_process_that_is_told_to_stop_begins_no_pass(fleet: Fleet) -> None:
    pools = fleet.apply(document())
    fleet.session.stopping.set()
    passes.run_once(fleet.session, pools)
    assert fleet.view().record.state == "pending"


@pytest.mark.parametrize("count", [2, 30])
def test_a_look_at_many_pools_takes_as_many_statements_as_at_few(fleet: Fleet, count: int) -> None:
    data = document()
    [pool] = data["pools"]
    data["pools"] = [{**pool, "name": f"pool-{number}"} for number in range(count)]
    pools = fleet.apply({**data, "quotas": []})
    with statements(fleet.session.store) as sent:
        views = passes.run_until_settled(fleet.session, pools, timeout=timedelta(0))
    assert len(views) == count
    assert sorted(one.split()[0] for one in sent) == [
        "BEGIN",
        "BEGIN",
        "SELECT",
        "SELECT",
        "SELECT",
        "SELECT",
        "UPDATE",
    ]
