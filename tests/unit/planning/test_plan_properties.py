# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever two documents say: what the plan says is what apply does, and afterwards there is nothing left to do."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import AdoptCluster, FleetConfig
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ClusterState, NodePoolState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Plan, Records, plan
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.changes import (
    EFFECTIVE,
    GOING,
    Resource,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.desired import desired_rows
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.naming import key, titled
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.recorded import Observed
from ansible_collections.better_compute.fleet.tests.support.any_fleet import documents, drift
from ansible_collections.better_compute.fleet.tests.support.fleet_records import ZONES, converged, written
from ansible_collections.better_compute.fleet.tests.support.rows import START

Row = tuple[str, str, str]
"""What a plan calls a row: its kind and title; and its id."""


def planned(
    config: FleetConfig,
    records: Records,
    *,
    prune: bool,
    state: Literal["present", "absent"] = "present",
    observed: Observed | None = None,
) -> Plan:
    """A plan with the zones of both accounts known; where somebody has a cluster to adopt, there is none."""
    zones = {"acct-a": ZONES, "acct-b": ZONES}
    if state == "present" and _adopts_what_is_taken(config, records):
        with pytest.raises(OperationError) as refused:
            plan(config, records, zones=zones, prune=prune, state=state, observed=observed)
        assert refused.value.code == Code.CONFLICT
        reject()
    return plan(config, records, zones=zones, prune=prune, state=state, observed=observed)


def _adopts_what_is_taken(config: FleetConfig, records: Records) -> bool:
    """Whether a document has a pool adopt what another one, or an earlier one of its name, has not given back."""
    accounts = {row.id: row for row in records.accounts}
    pools = {row.id: row for row in records.pools}
    held = {
        (key(accounts[row.account_id]), f"{row.location}/{row.name}"): pools[row.substrate_pool_id]
        for row in records.clusters
        if row.adopted and row.state != ClusterState.DELETED and row.substrate_pool_id is not None
    }
    standing = {key(row) for row in held.values() if row.archived_at is None}
    return any(
        ((pool.tenant_id, pool.substrate.account), pool.substrate.cluster.id) in held and key(pool) not in standing
        for pool in config.pools
        if pool.substrate is not None and isinstance(pool.substrate.cluster, AdoptCluster)
    )


def is_settled(made: Plan) -> bool:
    """Whether a plan has nothing to do, and nothing that it cannot do."""
    return not made.changed and not made.blocked


def applied(made: Plan, records: Records) -> Records:
    """The records after applying a plan, which writes something if and only if it says so, and just that."""
    writes = desired_rows(made, records, now=START)
    assert made.changed == (not writes.empty)
    after = written(records, writes)
    before = _rows(records, after)
    now = _rows(after, after)
    assert {row[:2] for row in before.keys() | now.keys() if before.get(row) != now.get(row)} == _told_of(made)
    return after


def _told_of(made: Plan) -> set[tuple[str, str]]:
    """What a plan says it changes; of clusters only what is to be seen in their own rows.

    Not the cluster and node pools of a substrate that goes: the pass takes those away.
    """
    effective = [change for change in made.changes if change.kind in EFFECTIVE]
    going = {
        change.key
        for change in effective
        if change.kind in GOING and change.resource in (Resource.POOL, Resource.CLUSTER)
    }
    return {
        (str(change.resource), change.title)
        for change in effective
        if change.resource != Resource.CLUSTER and not (change.resource == Resource.NODE_POOL and change.key in going)
    }


def _rows(records: Records, after: Records) -> dict[Row, object]:
    """The rows that a plan has a name for, clusters aside."""
    pools = {row.id: titled(key(row)) for row in after.pools}
    pool_of = {row.id: pools[row.substrate_pool_id] for row in after.clusters if row.substrate_pool_id is not None}
    rows: dict[Row, object] = {}
    rows |= {("site", titled(key(row)), row.id): row for row in records.sites}
    rows |= {("account", titled(key(row)), row.id): row for row in records.accounts}
    # A pool's row also keeps the wishes of its cluster and flavors: those have names of their own.
    rows |= {("pool", pools[row.id], row.id): (row.platform_operated, row.archived_at) for row in records.pools}
    rows |= {("quota", f"{pools[row.pool_id]}/{row.tenant_id}", row.pool_id): row for row in records.quotas}
    return rows | {
        ("node_pool", f"{pool_of[row.cluster_id]}/{row.shape.name}", row.id): row
        for row in records.node_pools
        if row.state != NodePoolState.DELETED
    }


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(first=documents(), second=documents(), prune=st.booleans(), settled=st.booleans(), absent=st.booleans())
def test_after_a_plan_is_applied_the_same_document_changes_nothing(
    *, first: FleetConfig, second: FleetConfig, prune: bool, settled: bool, absent: bool
) -> None:
    records = applied(planned(first, Records(), prune=False), Records())
    assert is_settled(planned(first, records, prune=True))
    if settled:
        records = converged(records)
        assert is_settled(planned(first, records, prune=True))
    state: Literal["present", "absent"] = "absent" if absent else "present"
    made = planned(second, records, prune=prune, state=state)
    if made.blocked:
        with pytest.raises(OperationError, match="blocked"):
            desired_rows(made, records, now=START)
        return
    records = applied(made, records)
    assert is_settled(planned(second, records, prune=prune, state=state))
    # What was kept until something else is gone goes then, and after that there is nothing left to do.
    records = converged(records)
    records = applied(planned(second, records, prune=prune, state=state), records)
    assert is_settled(planned(second, records, prune=prune, state=state))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(first=documents(), second=documents(), prune=st.booleans(), data=st.data())
def test_drift_is_planned_and_written_as_told_and_gone_when_it_was_put_back(
    *, first: FleetConfig, second: FleetConfig, prune: bool, data: st.DataObject
) -> None:
    records = converged(applied(planned(first, Records(), prune=False), Records()))
    seen = data.draw(drift(records))
    made = planned(second, records, prune=prune, observed=seen)
    assert made.to_data() == planned(second, records, prune=prune, observed=seen).to_data()
    if made.blocked:
        with pytest.raises(OperationError, match="blocked"):
            desired_rows(made, records, now=START)
        return
    records = applied(made, records)
    # What is on its way is no drift, though the provider has not changed yet.
    assert is_settled(planned(second, records, prune=prune, observed=seen))
    records = converged(records)
    left = planned(second, records, prune=prune)
    assert {change.resource for change in left.changes if change.kind == "delete"} <= {"site", "account"}
    assert is_settled(planned(second, applied(left, records), prune=prune))


@settings(deadline=None, max_examples=25)
@given(first=documents())
def test_an_empty_document_with_prune_leaves_no_row_but_archived_ones(first: FleetConfig) -> None:
    records = converged(applied(planned(first, Records(), prune=False), Records()))
    for _time in range(2):
        records = converged(applied(planned(FleetConfig(), records, prune=True), records))
    assert (records.sites, records.accounts, records.quotas) == ((), (), ())
    assert all(pool.archived_at == START for pool in records.pools)


@settings(deadline=None, max_examples=25)
@given(first=documents(), second=documents())
def test_nothing_is_deleted_without_prune(first: FleetConfig, second: FleetConfig) -> None:
    records = converged(applied(planned(first, Records(), prune=False), Records()))
    made = planned(second, records, prune=False)
    assert made.totals["delete"] == 0
    if not made.blocked:
        writes = desired_rows(made, records, now=START)
        assert (writes.dropped_sites, writes.dropped_accounts, writes.dropped_quotas) == ((), (), ())
        assert all(pool.archived_at is None and pool.intent == "run" for pool in writes.pools)


@settings(deadline=None, max_examples=25)
@given(first=documents(), second=documents(), prune=st.booleans())
def test_a_plan_is_rendered_within_120_columns(*, first: FleetConfig, second: FleetConfig, prune: bool) -> None:
    records = applied(planned(first, Records(), prune=False), Records())
    text = planned(second, records, prune=prune).render()
    assert max(len(line) for line in text.splitlines()) <= 120
    assert text == text.rstrip() + "\n"
