# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A name belongs to its owner: another tenant's thing of that name is another thing, and is never taken over."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records, Scope, plan
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.declared_again import (
    declared_again,
    of_one_pool,
)
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import (
    example,
    put,
)
from ansible_collections.better_compute.fleet.tests.support.fleet_records import converged
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import EMPTY, apply, planned, recorded, told

FLAVOR = "pools.0.policy.substrate.flavors.0"


def owned_by(tenant: str) -> dict[str, Any]:
    """The example with everything of it another tenant's."""
    data = example()
    for section in ("sites", "providerAccounts", "pools", "quotas"):
        data[section][0]["tenantId"] = tenant
    return data


@pytest.fixture
def both(records: Records) -> Records:
    """The example twice: the platform's and acme's, under the same names."""
    return converged(apply(owned_by("acme"), records))


def test_another_tenants_things_of_the_same_names_are_made_beside_those_that_stand(records: Records) -> None:
    made = planned(owned_by("acme"), records)
    assert told(made) == [
        "create site acme:k8s",
        "keep site k8s",
        "create account acme:managed-k8s",
        "keep account managed-k8s",
        "create pool acme:gpu-fleet",
        "create cluster acme:gpu-fleet",
        "create node_pool acme:gpu-fleet/h100",
        "create node_pool acme:gpu-fleet/h100-spot",
        "create quota acme:gpu-fleet/acme",
        "keep pool gpu-fleet",
        "keep quota gpu-fleet/platform",
    ]
    assert "\nPool acme:gpu-fleet\n" in made.render()


def test_both_stand_on_what_is_their_own(both: Records) -> None:
    assert [len(rows) for rows in (both.sites, both.accounts, both.pools, both.clusters, both.quotas)] == [2] * 5
    theirs = next(pool for pool in both.pools if pool.tenant_id == "acme")
    assert next(row.tenant_id for row in both.sites if row.id == theirs.site_id) == "acme"
    cluster = next(row for row in both.clusters if row.substrate_pool_id == theirs.id)
    assert next(row.tenant_id for row in both.accounts if row.id == cluster.account_id) == "acme"
    assert next(row.pool_id for row in both.quotas if row.tenant_id == "acme") == theirs.id


def test_each_document_changes_its_owners_pool_alone(both: Records) -> None:
    for data in (example(), owned_by("acme")):
        assert not planned(data, both).changed
    (change,) = [c for c in planned(put(owned_by("acme"), f"{FLAVOR}.nodes", 5), both).changes if c.kind == "update"]
    assert change.title == "acme:gpu-fleet/h100"
    after = apply(put(owned_by("acme"), f"{FLAVOR}.nodes", 5), both)
    assert sorted(row.shape.nodes for row in after.node_pools if row.name == "h100") == [2, 5]


def test_absent_takes_the_documents_owners_things_alone(both: Records) -> None:
    going = planned(owned_by("acme"), both, prune=True, state="absent")
    deleted = [change.title for change in going.changes if change.kind == "delete"]
    assert deleted
    assert all(title.startswith("acme:") for title in deleted)


def test_prune_of_everything_takes_both(both: Records) -> None:
    after = apply(EMPTY, both, prune=True)
    assert all(pool.archived_at for pool in after.pools)


def test_one_owners_pool_can_be_planned_alone(both: Records) -> None:
    pool = (TenantId("acme"), "gpu-fleet")
    part = of_one_pool(declared_again(both), pool)
    owners = [[item.tenant_id for item in items] for items in (part.sites, part.accounts, part.pools, part.quotas)]
    assert owners == [["acme"]] * 4
    assert plan(part, both, zones={}, prune=True, scope=Scope.of_pool(pool)).changes == ()


def test_a_pool_may_stand_on_the_platforms_site_and_the_quota_be_anothers() -> None:
    data = example()
    data["providerAccounts"][0]["tenantId"] = data["pools"][0]["tenantId"] = "acme"
    data["quotas"] = [{"tenantId": "globex", "pool": "gpu-fleet", "gpus": 1}]
    records = recorded(data)
    assert (records.pools[0].tenant_id, records.pools[0].site_id) == ("acme", records.sites[0].id)
    assert planned(data, records).changes == ()
    assert planned(data, records).to_data()["changes"] == []
