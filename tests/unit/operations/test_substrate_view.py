# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a substrate counts as settled."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import (
    PLATFORM_TENANT,
    AccountId,
    ClusterId,
    PoolId,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import SubstrateRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import SubstrateView


def view(state: SubstrateState, *, ready: bool = False, in_time: bool = True) -> SubstrateView:
    record = SubstrateRecord(
        pool_id=PoolId("pool_01kb5c0000000000000000000a"),
        tenant_id=PLATFORM_TENANT,
        account_id=AccountId("acct_01kb5c0000000000000000000a"),
        cluster_id=ClusterId("kcl_01kb5c0000000000000000000a"),
        mode="create",
        state=state,
    )
    return SubstrateView(pool="p", provider="aws", account="a", record=record, ready=ready, in_time=in_time)


@pytest.mark.parametrize("state", [SubstrateState.ERROR, SubstrateState.DELETED])
def test_failed_and_gone_are_final(state: SubstrateState) -> None:
    assert view(state).settled


def test_ready_is_final_for_the_generation_that_was_declared_last_only() -> None:
    assert view(SubstrateState.READY, ready=True).settled
    assert not view(SubstrateState.READY).settled


@pytest.mark.parametrize("state", [SubstrateState.PROVISIONING, SubstrateState.UPDATING, SubstrateState.DELETING])
def test_what_still_moves_is_not_settled(state: SubstrateState) -> None:
    assert not view(state).settled


def test_an_error_that_no_pass_has_looked_into_is_not_settled() -> None:
    assert not view(SubstrateState.ERROR, in_time=False).settled


def test_an_upgrade_that_waits_is_told_with_its_version_and_since_when() -> None:
    told = view(SubstrateState.READY).to_data()
    assert told["upgrade"] is None
    waiting = replace(
        view(SubstrateState.READY).record,
        upgrade_version="1.35",
        upgrade_since=datetime(2026, 11, 2, 9, 30, tzinfo=UTC),
    )
    told = replace(view(SubstrateState.READY), record=waiting).to_data()
    assert told["upgrade"] == {"version": "1.35", "since": "2026-11-02T09:30:00Z"}


def test_where_a_pool_stands_is_told_in_one_line() -> None:
    ready = view(SubstrateState.READY, ready=True)
    assert ready.standing == "pool p: ready, no Nodes yet"
    assert view(SubstrateState.READY).standing == "pool p: ready, changing, no Nodes yet"
    joining = replace(ready, record=replace(ready.record, nodes_listed=3, nodes_joined=1, message="one is slow"))
    assert joining.standing == "pool p: ready, 1 of 3 Nodes joined (one is slow)"
    assert view(SubstrateState.DELETED).standing == "pool p: nothing stands behind it any more"
