# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever two documents say: what the plan says is what apply does, and afterwards there is nothing left to do."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import FleetConfig
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import (
    Plan,
    Records,
    desired_rows,
    plan,
)
from ansible_collections.better_compute.fleet.tests.support.fleet_records import ZONES, converged, written
from ansible_collections.better_compute.fleet.tests.support.rows import START

REGION = "us-east-1"


def _named(names: str, item: Any) -> Any:
    """A list of items under some of these names, in any order."""
    return st.lists(st.sampled_from(names.split()), unique=True).flatmap(
        lambda chosen: st.tuples(*(item(name) for name in chosen)).map(list)
    )


def _site(name: str) -> Any:
    return st.fixed_dictionaries({"name": st.just(name), "kind": st.just("shared"), "region": st.sampled_from("ab")})


def _account(name: str) -> Any:
    role = st.sampled_from(["arn:aws:iam::111111111111:role/a", "arn:aws:iam::111111111111:role/b"])
    config = st.fixed_dictionaries(
        {
            "region": st.just(REGION),
            "eksClusterRoleArn": role,
            "eksNodeRoleArn": st.just("arn:aws:iam::111111111111:role/n"),
            "eksSubnetIds": st.permutations(["subnet-0000000a", "subnet-0000000b"]),
        },
        optional={"credential": st.sampled_from(["ambient", {"env": "A"}, {"env": "B"}])},
    )
    return st.fixed_dictionaries({"name": st.just(name), "provider": st.just("aws"), "config": config})


def _flavor(name: str) -> Any:
    return st.fixed_dictionaries(
        {
            "name": st.just(name),
            "machineType": st.sampled_from(["m1", "m1", "m1", "m2"]),
            "nodes": st.integers(0, 3),
        },
        optional={
            "gpus": st.just({"type": "x", "count": 8}),
            "diskGiB": st.sampled_from([100, 100, 200]),
            "zones": st.permutations(ZONES),
        },
    )


def _pool(name: str) -> Any:
    substrate = st.fixed_dictionaries(
        {
            "kind": st.just("kubernetes"),
            "account": st.sampled_from(["acct-a", "acct-a", "acct-b"]),
            "cluster": st.just({"create": {"location": REGION}}),
            # A flavor's name that is also a tenant's must not be mistaken for it.
            "flavors": _named("f1 f2 platform", _flavor).filter(bool),
        }
    )
    policy = st.fixed_dictionaries(
        {}, optional={"substrate": substrate, "kubernetes": st.fixed_dictionaries({"platformOperated": st.booleans()})}
    )
    return st.fixed_dictionaries(
        {
            "name": st.just(name),
            "site": st.sampled_from(["s1", "s1", "s2"]),
            "class": st.just("metal-host"),
            "gpuModel": st.just("H100"),
        },
        optional={"policy": policy},
    )


@st.composite
def documents(draw: st.DrawFn) -> FleetConfig:
    """Any valid document of a few names."""
    pools = draw(_named("p1 p2 p3", _pool))
    substrates = [pool.get("policy", {}).get("substrate") for pool in pools]
    sites = {"s1", *draw(st.sets(st.just("s2")))} | {pool["site"] for pool in pools}
    accounts = draw(st.sets(st.sampled_from(["acct-a", "acct-b"]))) | {item["account"] for item in substrates if item}
    quotas = [
        {"tenantId": tenant, "pool": pool["name"], "gpus": draw(st.integers(0, 2))}
        for pool in pools
        for tenant in draw(st.sets(st.sampled_from(["platform", "acme"])))
    ]
    return parse_document(
        {
            "version": 1,
            "sites": [draw(_site(name)) for name in draw(st.permutations(sorted(sites)))],
            "providerAccounts": [draw(_account(name)) for name in draw(st.permutations(sorted(accounts)))],
            "pools": pools,
            "quotas": quotas,
        }
    )


def planned(
    config: FleetConfig, records: Records, *, prune: bool, state: Literal["present", "absent"] = "present"
) -> Plan:
    """A plan with the zones of both accounts known."""
    return plan(config, records, zones={"acct-a": ZONES, "acct-b": ZONES}, prune=prune, state=state)


def is_settled(made: Plan) -> bool:
    """Whether a plan has nothing to do, and nothing that it cannot do."""
    return not made.changed and not made.blocked


def applied(made: Plan, records: Records) -> Records:
    """The records after applying a plan, which writes something if and only if it says so."""
    writes = desired_rows(made, records, now=START)
    assert made.changed == (not writes.empty)
    return written(records, writes)


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
