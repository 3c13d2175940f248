# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first claim: a plan that adopts what another pool has through the same account is refused, and says by whom."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import account_of, changed, on_account, put
from ansible_collections.better_compute.fleet.tests.support.fleet_records import converged
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import (
    SUBSTRATE,
    apply,
    planned,
    recorded,
    told,
)

UUID = "bd5f5959-5e1e-4205-a714-a914373942af"
CLUSTER = f"{SUBSTRATE}.cluster"


def of_pool(name: str, adopt: str = "us-east-1/prod") -> dict[str, Any]:
    """A document with one pool of that name, which adopts a cluster."""
    data = changed(CLUSTER, {"adopt": adopt}) | {"quotas": []}
    result: dict[str, Any] = put(data, "pools.0.name", name)
    return result


@pytest.fixture
def held() -> Records:
    """The records once pool `first` has the cluster."""
    return converged(recorded(of_pool("first")))


def refusal(data: dict[str, Any], records: Records, **options: Any) -> str:
    with pytest.raises(OperationError) as caught:
        planned(data, records, **options)
    assert caught.value.code == Code.CONFLICT
    return str(caught.value)


@pytest.mark.parametrize("spelling", ["us-east-1/prod", "US-East-1/prod"])
def test_a_second_pool_is_refused_and_told_who_has_the_cluster_and_what_to_do(held: Records, spelling: str) -> None:
    (pool,) = held.pools
    assert refusal(of_pool("second", spelling), held) == (
        "pools[0].policy.substrate.cluster.adopt: pool second is to adopt cluster us-east-1/prod, and one cluster "
        f"backs one pool: it backs pool first ({pool.id}): archive that pool (bc_fleet with prune, or bc_substrate "
        "with state absent), and apply again when its substrate is deleted"
    )


def test_prune_in_the_same_document_does_not_hand_it_over(held: Records) -> None:
    assert "it backs pool first" in refusal(of_pool("second"), held, prune=True)


def test_it_is_held_until_it_was_given_back_and_free_then(held: Records) -> None:
    nobody = of_pool("first") | {"pools": []}
    going = apply(nobody, held, prune=True)
    (pool,) = going.pools
    for name in ("second", "first"):
        assert f"pool first ({pool.id}) is still giving it back: apply again when" in refusal(of_pool(name), going)
    gone = converged(going)
    assert "adopt cluster second" in told(planned(of_pool("second"), gone))


def test_the_pool_that_has_it_is_not_refused_also_while_its_substrate_goes(held: Records) -> None:
    assert planned(of_pool("first"), held).changes == ()
    bare = of_pool("first")
    del bare["pools"][0]["policy"]["substrate"]
    going = apply(bare, held, prune=True)
    assert told(planned(of_pool("first"), going)) == ["blocked cluster first"]


def test_another_cluster_or_another_account_is_free(held: Records) -> None:
    assert planned(of_pool("second", "us-east-1/other"), held).changed
    data = of_pool("second")
    data["providerAccounts"].append(account_of("aws", "other"))
    put(data, f"{SUBSTRATE}.account", "other")
    assert planned(data, held).changed, "who has it through another account is known once the cluster was read"


def test_what_this_fleet_made_is_not_adopted(records: Records) -> None:
    (cluster,) = records.clusters
    data = of_pool("second", f"us-east-1/{cluster.name}")
    assert "it was made for pool gpu-fleet, which it backs" in refusal(data, records)
    own = replace(cluster, substrate_pool_id=None, tenant_id=TenantId("acme"))
    told_of = refusal(data, replace(records, pools=(), substrates=(), node_pools=(), clusters=(own,)))
    assert "tenant acme made it here (bc_cluster)" in told_of


def test_what_doks_calls_by_its_uuid_is_known_by_it() -> None:
    data = on_account("digitalocean", "nyc1", {"machineType": "m"}) | {"quotas": []}
    records = converged(recorded(data))
    (cluster,) = records.clusters
    records = replace(records, clusters=(replace(cluster, global_id=UUID),))
    second = put(copy.deepcopy(data), "pools.0.name", "second")
    put(second, CLUSTER, {"adopt": UUID.upper()})
    assert "it was made for pool gpu-fleet" in refusal(second, records)


def test_every_pool_that_is_refused_is_named(held: Records) -> None:
    both = converged(apply(of_pool("other", "us-east-1/spare"), held))
    data = of_pool("second")
    data["pools"].append(of_pool("third", "us-east-1/spare")["pools"][0])
    lines = refusal(data, both).splitlines()
    assert [line.partition(" is to adopt")[0] for line in lines] == [
        "pools[0].policy.substrate.cluster.adopt: pool second",
        "pools[1].policy.substrate.cluster.adopt: pool third",
    ]
