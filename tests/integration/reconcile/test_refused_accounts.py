# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passes whose account cannot be used: substrate, cluster and node pools say why, until it can."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Never

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import PermissionDenied
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import work
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools

SAID = "the provider account cannot be used: "


def no_credential(_account: AccountRecord) -> Never:
    raise PermissionDenied("the variable of its credential is not set")


def no_library(_account: AccountRecord) -> Never:
    raise ModuleNotFoundError("No module named 'boto3'", name="boto3")


def no_module_of_ours(_account: AccountRecord) -> Never:
    raise ModuleNotFoundError("No module named 'lost'", name="lost")


def without(fleet: Fleet, open_driver: Callable[[AccountRecord], Never]) -> Fleet:
    """The same fleet, run by a process that cannot use its accounts."""
    return replace(fleet, session=replace(fleet.session, open_driver=open_driver))


@pytest.mark.parametrize(
    ("opening", "reason"),
    [
        (no_credential, "the variable of its credential is not set"),
        (no_library, "the library for aws is not installed here: boto3"),
    ],
)
def test_an_account_that_cannot_be_used_is_said_by_all_that_stands_on_it(
    fleet: Fleet, opening: Callable[[AccountRecord], Never], reason: str
) -> None:
    fleet.apply(document())
    with contextlib.suppress(ModuleNotFoundError):  # that one is told by whoever runs the pass, too
        without(fleet, opening).one_pass()
    record = fleet.view().record
    assert (record.state, record.message) == (SubstrateState.ERROR, SAID + reason)
    assert (fleet.cluster().state, fleet.cluster().message) == (ClusterState.ERROR, SAID + reason)
    assert {(one.state, one.message) for one in fleet.node_pools().values()} == {(NodePoolState.PENDING, SAID + reason)}
    [event] = fleet.events("kubernetes.cluster.error")
    assert event.data["message"] == SAID + reason


def test_it_is_told_once_and_forgotten_when_the_account_can_be_used(fleet: Fleet) -> None:
    fleet.apply(document())
    broken = without(fleet, no_credential)
    broken.one_pass()
    broken.one_pass()
    assert len(fleet.events("kubernetes.cluster.error")) == 1
    assert fleet.join_all(document()).record.message == ""
    assert (fleet.cluster().state, fleet.cluster().message) == (ClusterState.READY, "")
    assert {one.message for one in fleet.node_pools().values()} == {""}


def test_node_pools_that_run_are_none_the_worse(fleet: Fleet) -> None:
    fleet.join_all(document())
    without(fleet, no_credential).one_pass()
    assert {(one.state, one.message) for one in fleet.node_pools().values()} == {(NodePoolState.READY, "")}
    assert fleet.cluster().message == f"{SAID}the variable of its credential is not set"


def test_what_is_torn_down_goes_when_the_account_can_be_used_again(fleet: Fleet) -> None:
    fleet.join_all(document())
    fleet.apply(without_pools(), prune=True)
    without(fleet, no_credential).run_due()
    fleet.live(until=fleet.has_nothing_to_do, minutes=30)
    assert fleet.scene.engine.inventory.items() == ()


def test_a_library_that_is_missing_is_told_by_whoever_runs_the_pass_and_the_next_one_comes_in_time(
    fleet: Fleet,
) -> None:
    fleet.apply(document())
    with pytest.raises(ModuleNotFoundError, match="boto3"):
        without(fleet, no_library).run_due()
    with fleet.session.store.read() as tx:
        due, held = work.standing(tx, [fleet.pool_id])
        assert (due[fleet.pool_id] - tx.now, held) == (timedelta(minutes=5), frozenset())


def test_a_fault_of_our_own_is_not_taken_for_a_library_that_is_missing(fleet: Fleet) -> None:
    fleet.apply(document())
    with pytest.raises(ModuleNotFoundError, match="lost"):
        without(fleet, no_module_of_ours).one_pass()
    assert fleet.cluster().message == ""
