# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a node pool's record, and when its provider may be asked again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InvalidRequest,
    OperationInProgress,
    ProviderError,
    ProviderQuotaExceeded,
    StockedOut,
    Throttled,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ObservedNodePool
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import NodePoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    NodePoolState,
    ProviderStatus,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.reconcile import node_pool_rules as rules
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import START

SOON, LATER = START + timedelta(minutes=4, seconds=59), START + timedelta(minutes=5)

FINAL = (InvalidRequest, ProviderQuotaExceeded, StockedOut)
PASSING = (Throttled, Unavailable, OperationInProgress)


def record(**different: Any) -> NodePoolRecord:
    """A node pool that was ready once, in its first version."""
    values: dict[str, Any] = {"state": NodePoolState.READY, "observed_version": 1, "last_create_at": START}
    return rows.node_pool(ids.new_cluster_id(START), **(values | different))


def seen(status: ProviderStatus, failure: ProviderError | None = None, **different: Any) -> ObservedNodePool:
    """A node group as its provider describes it."""
    made = ObservedNodePool(
        name="h100",
        status=status,
        machine_type="p5.48xlarge",
        nodes=2,
        spot=False,
        disk_gib=None,
        labels={},
        tags={},
        failure=failure,
    )
    return replace(made, **different)


@pytest.mark.parametrize("kind", FINAL)
def test_a_refused_change_is_an_error_and_its_id_is_forgotten(kind: type[ProviderError]) -> None:
    sent = record(state=NodePoolState.UPDATING, update_id="u", last_update_at=START)
    after = rules.change_refused(sent, kind("no"), LATER)
    assert (after.state, after.message, after.update_id, after.last_update_at) == (
        NodePoolState.ERROR,
        "no",
        None,
        LATER,
    )


@pytest.mark.parametrize("kind", PASSING)
def test_a_change_whose_fate_is_not_known_is_asked_about_for_five_minutes_and_then_sent_again(
    kind: type[ProviderError],
) -> None:
    sent = record(state=NodePoolState.UPDATING, update_id="u", last_update_at=START)
    early, late = (rules.change_refused(sent, kind("busy"), now) for now in (SOON, LATER))
    assert (early.state, early.message, early.update_id) == (NodePoolState.UPDATING, "busy", "u")
    assert (late.state, late.message, late.update_id) == (NodePoolState.UPDATING, "busy", None)
    assert rules.may_change(late, LATER)


def test_a_refused_change_waits_five_minutes_and_a_throttled_one_does_not() -> None:
    refused = record(state=NodePoolState.ERROR, last_update_at=START)
    assert not rules.may_change(refused, SOON)
    assert rules.may_change(refused, LATER)
    assert rules.may_change(record(state=NodePoolState.UPDATING, last_update_at=START), SOON)
    assert rules.may_change(record(state=NodePoolState.ERROR), SOON), "nothing was sent yet"


def test_one_in_error_keeps_its_reason_until_it_is_ready() -> None:
    broken = record(state=NodePoolState.ERROR, message="why", last_update_at=START)
    assert rules.change_intent(broken, LATER).state == NodePoolState.ERROR
    assert rules.settled(broken, seen(ProviderStatus.UPDATING)) == broken
    assert rules.refused(broken, Throttled("busy")) == broken
    ready = rules.settled(broken, seen(ProviderStatus.ACTIVE))
    assert (ready.state, ready.message, ready.last_update_at) == (NodePoolState.READY, "", None)


@pytest.mark.parametrize("kind", [*FINAL, Throttled, Unavailable])
def test_a_create_that_failed_is_an_error_unless_its_reason_passes(kind: type[ProviderError]) -> None:
    pending = record(state=NodePoolState.PENDING, observed_version=0)
    after = rules.create_failed(pending, seen(ProviderStatus.FAILED, kind("why")))
    assert after.state == (NodePoolState.ERROR if kind in FINAL else NodePoolState.PENDING)
    assert after.message == "why"
    assert not rules.may_clear_away(after, SOON)
    assert rules.may_clear_away(after, LATER)


def test_one_of_which_a_node_joined_is_never_cleared_away() -> None:
    assert not rules.may_clear_away(record(state=NodePoolState.ERROR, ever_joined=True), LATER)
    assert not rules.create_intent(record(ever_joined=True), LATER).ever_joined, "the next one is another group"


def test_what_failed_before_a_change_is_cleared_away_at_once_and_is_no_error_of_it() -> None:
    changed = record(state=NodePoolState.UPDATING, version=2, last_create_at=None)
    after = rules.create_failed(changed, seen(ProviderStatus.FAILED, StockedOut("none")))
    assert after.state == NodePoolState.UPDATING
    assert "none" in after.message
    assert rules.may_clear_away(changed, SOON)


def test_a_degraded_one_is_an_error_unless_it_is_only_throttled() -> None:
    ready = record()
    assert rules.settled(ready, seen(ProviderStatus.DEGRADED, StockedOut("none"))).state == NodePoolState.ERROR
    assert rules.settled(ready, seen(ProviderStatus.DEGRADED, Unavailable("gone"))).state == NodePoolState.ERROR
    assert rules.settled(ready, seen(ProviderStatus.DEGRADED, Throttled("busy"))).state == NodePoolState.UPDATING


def test_the_id_of_a_change_is_kept_until_it_is_ready() -> None:
    sent = rules.settled(record(), seen(ProviderStatus.UPDATING, update_id="u"))
    assert (sent.state, sent.update_id) == (NodePoolState.UPDATING, "u")
    assert rules.settled(sent, seen(ProviderStatus.UPDATING)).update_id == "u"
    assert rules.settled(sent, seen(ProviderStatus.ACTIVE)).update_id is None


def test_a_refused_delete_stays_on_its_way() -> None:
    after = rules.refused(record(state=NodePoolState.DELETING), InvalidRequest("a hook holds it"))
    assert (after.state, after.message) == (NodePoolState.DELETING, "a hook holds it")
