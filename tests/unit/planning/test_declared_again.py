# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records as the document that they amount to: planned again it changes nothing; edited, only what was edited."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.written import (
    document_data,
    edited_substrate,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import FleetConfig
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records, Scope, plan
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.declared_again import (
    declared_again,
    of_one_pool,
)
from ansible_collections.better_compute.fleet.tests.support.any_fleet import documents
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import example
from ansible_collections.better_compute.fleet.tests.support.fleet_records import converged
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import recorded, told

from .test_plan_properties import applied, is_settled, planned

SUBSTRATE = example()["pools"][0]["policy"]["substrate"]
OTHER = (PLATFORM_TENANT, "other")
POOL = example()["pools"][0]["name"]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(first=documents(), second=documents(), prune=st.booleans())
def test_whatever_is_recorded_declared_again_changes_nothing(
    *, first: FleetConfig, second: FleetConfig, prune: bool
) -> None:
    records = converged(applied(planned(first, Records(), prune=False), Records()))
    made = planned(second, records, prune=prune)
    if not made.blocked:
        records = applied(made, records)
    again = declared_again(records)
    assert is_settled(planned(again, records, prune=True))
    assert declared_again(applied(planned(again, Records(), prune=False), Records())) == again


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(config=documents())
def test_a_document_that_is_written_out_and_read_is_the_same(config: FleetConfig) -> None:
    assert parse_document(document_data(config)) == config


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(first=documents(), nodes=st.integers(0, 3), prune=st.booleans(), data=st.data())
def test_an_edit_of_one_pool_leaves_nothing_to_do_for_the_document_that_says_the_same(
    *, first: FleetConfig, nodes: int, prune: bool, data: st.DataObject
) -> None:
    records = applied(planned(first, Records(), prune=False), Records())
    backed = [pool for pool in declared_again(records).pools if pool.substrate is not None]
    if not backed:
        return
    pool = data.draw(st.sampled_from(backed))
    assert pool.substrate is not None
    name = data.draw(st.sampled_from([*(flavor.name for flavor in pool.substrate.flavors), "new"]))
    edit: dict[str, Any] = {
        "flavors": [{"name": name, "nodes": nodes} | ({"machineType": "m1"} if name == "new" else {})]
    }

    written = document_data(of_one_pool(declared_again(records), (pool.tenant_id, pool.name)))
    policy = written["pools"][0]["policy"]
    policy["substrate"] = edited_substrate(policy["substrate"], edit)
    made = plan(
        parse_document(written), records, zones={}, prune=prune, scope=Scope.of_pool((pool.tenant_id, pool.name))
    )
    assert {change.name for change in made.changes} <= {pool.name}
    records = applied(made, records)

    same = document_data(first)
    whole = next(one for one in same["pools"] if one["name"] == pool.name)["policy"]["substrate"]
    others = [flavor for flavor in whole["flavors"] if flavor["name"] != name and not prune]
    whole["flavors"] = [*others, *edited_substrate(whole, edit)["flavors"]]
    assert is_settled(planned(parse_document(same), records, prune=False))


def test_the_part_of_one_pool_is_all_that_it_needs_and_no_more() -> None:
    data = example()
    data["sites"].append({**data["sites"][0], "name": "elsewhere"})
    data["providerAccounts"].append({**data["providerAccounts"][0], "name": "another"})
    data["pools"].append({**data["pools"][0], "name": "other", "site": "elsewhere"})
    part = of_one_pool(parse_document(data), OTHER)
    assert [site.name for site in part.sites] == ["elsewhere"]
    assert ([account.name for account in part.accounts], [pool.name for pool in part.pools]) == (
        [SUBSTRATE["account"]],
        ["other"],
    )
    assert part.quotas == ()
    assert parse_document(document_data(part)) == part


def test_a_plan_of_one_pool_takes_nothing_else_away() -> None:
    data = example()
    data["pools"].append({**data["pools"][0], "name": "other"})
    records = recorded(data)
    part = of_one_pool(declared_again(records), OTHER)
    assert told(plan(part, records, zones={}, prune=True, scope=Scope.of_pool(OTHER))) == []


def test_an_edit_says_only_what_it_says() -> None:
    standing = {**SUBSTRATE, "flavors": [{"name": "a", "nodes": 1, "autoscaling": {"minNodes": 1, "maxNodes": 2}}]}
    assert edited_substrate(standing, {}) == standing
    assert edited_substrate(standing, {"upgrades": "drain"})["upgrades"] == "drain"
    assert edited_substrate(standing, {"cluster": {"create": {"version": "1.34"}}})["cluster"] == {
        "create": {**SUBSTRATE["cluster"]["create"], "version": "1.34"}
    }
    assert edited_substrate(standing, {"flavors": [{"name": "a", "autoscaling": {"maxNodes": 4}}]})["flavors"] == [
        {"name": "a", "nodes": 1, "autoscaling": {"minNodes": 1, "maxNodes": 4}}
    ]
    off = {"name": "a", "autoscaling": {"enabled": False}}
    assert edited_substrate(standing, {"flavors": [off]})["flavors"] == [{"name": "a", "nodes": 1}]
    assert edited_substrate(None, {"account": "x"}) == {"kind": "kubernetes", "account": "x"}
