# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adopting, as it is recorded: who was first has the cluster, and nothing else that is called changes it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet as fleets
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.calls import (
    create_cluster,
    delete_cluster,
    list_clusters,
    upgrade_cluster,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.converging import (
    apply_clusters,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.wanted import WantedCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.converging import (
    apply_node_pools,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.deciding import Wish
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.wanted import (
    WantedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

POOL = "gpu-fleet"
SUBSTRATE = "pools.0.policy.substrate"


def adopting(pool: str = POOL, cluster: str = "us-east-1/prod") -> dict[str, Any]:
    """The life's document, its pool under this name on a cluster that stands already."""
    data = put(document(), "pools.0.name", pool) | {"quotas": []}
    result: dict[str, Any] = put(data, f"{SUBSTRATE}.cluster", {"adopt": cluster})
    return result


def test_what_is_recorded_comes_back_and_says_so(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    fleet.apply(adopting())
    cluster, view = fleet.cluster(), fleet.view()
    assert (cluster.name, cluster.location, cluster.adopted, cluster.global_id) == ("prod", "us-east-1", True, None)
    assert view.to_data()["mode"] == "adopt"
    short = view.record.pool_id[-6:]
    assert set(fleet.node_pools()) == {f"bc-{short}-h100", f"bc-{short}-h100-spot"}
    [told] = fleets.describe(fleet.session)["pools"]
    assert {one["name"] for one in told["node_pools"]} == set(fleet.node_pools())
    [own] = list_clusters(fleet.session, tenant_id=PLATFORM_TENANT)
    assert (own.to_data()["name"], own.to_data()["adopted"], own.waits_for) == ("prod", True, "")
    with fleet.session.store.write() as tx:
        clusters.claim_global_id(tx, cluster.id, "arn:prod")
    assert fleet.cluster().global_id == "arn:prod"
    assert not fleet.scene.engine.log.entries(), "a document is recorded without a word to the provider"


def test_a_second_pool_is_refused_and_told_who_was_first(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    fleet.apply(adopting())
    rows = fleet.rows()
    with pytest.raises(OperationError, match=f"it backs pool {POOL} .*archive that pool") as refused:
        fleet.apply(adopting("second", "US-EAST-1/prod"))
    assert refused.value.code == Code.CONFLICT
    assert fleet.rows() == rows


def test_of_two_plans_that_were_made_before_either_was_applied_the_second_is_told_the_same(
    fleet_on_either: Fleet,
) -> None:
    session = fleet_on_either.session
    first, second = (
        fleets.plan_fleet(session, parse_document(adopting(name)), prune=False, refresh=False)
        for name in ("first", "second")
    )
    fleets.apply_fleet(session, first)
    with pytest.raises(OperationError, match=r"pool second is to adopt .*it backs pool first") as refused:
        fleets.apply_fleet(session, second)
    assert refused.value.code == Code.CONFLICT


def test_of_many_that_adopt_at_the_same_moment_one_has_it_and_all_others_are_told_whom(fleet_on_either: Fleet) -> None:
    fleet = fleet_on_either
    names = [f"pool-{number}" for number in range(4)]
    planned = {
        name: fleets.plan_fleet(fleet.session, parse_document(adopting(name)), prune=False, refresh=False)
        for name in names
    }
    with ThreadPoolExecutor(max_workers=len(names)) as threads:
        ended = {name: threads.submit(fleets.apply_fleet, fleet.session, planned[name]) for name in names}
    refusals = {name: error for name, one in ended.items() if (error := one.exception()) is not None}
    [winner] = set(names) - set(refusals)
    for name, error in refusals.items():
        assert isinstance(error, OperationError)
        assert error.code == Code.CONFLICT
        assert f"pool {name} is to adopt cluster us-east-1/prod" in str(error)
        assert f"it backs pool {winner} " in str(error)
    with fleet.session.store.read() as tx:
        assert [row.name for row in clusters.clusters(tx)] == ["prod"]


def test_the_index_decides_also_where_nobody_looked_first(fleet_on_either: Fleet) -> None:
    """The plan is of a moment at which the name was free; in the same moment a tenant makes a cluster of that name."""
    fleet = fleet_on_either
    fleet.apply({**adopting(), "pools": []})
    planned = fleets.plan_fleet(fleet.session, parse_document(adopting()), prune=False, refresh=False)
    wanted = WantedCluster(name="prod", account="managed-k8s", location="us-east-1")
    create_cluster(fleet.session, tenant_id=PLATFORM_TENANT, wanted=wanted)
    rows = fleet.rows()
    with pytest.raises(OperationError, match="tenant platform made it here") as refused:
        fleets.apply_fleet(fleet.session, planned)
    assert refused.value.code == Code.CONFLICT
    assert fleet.rows() == rows


def test_nothing_else_that_is_called_changes_an_adopted_cluster(fleet: Fleet) -> None:
    fleet.apply(adopting())
    session, cluster_id = fleet.session, fleet.cluster().id
    rows = fleet.rows()
    why = "cluster 'prod' was adopted by pool 'gpu-fleet': it is its owner's to change, upgrade or delete"
    wanted = WantedCluster(name="prod", account="managed-k8s", location="us-east-1")
    node_pool = WantedNodePool(pool=POOL, name="extra", machine_type="m7i.large", node_count=1)
    [flavor, *_others] = fleet.node_pools().values()
    calls: list[tuple[Any, str]] = [
        (
            lambda: upgrade_cluster(session, tenant_id=PLATFORM_TENANT, cluster_id=cluster_id, version="1.35"),
            why,
        ),
        (lambda: delete_cluster(session, tenant_id=PLATFORM_TENANT, cluster_id=cluster_id), why),
        (
            lambda: apply_clusters(session, tenant_id=PLATFORM_TENANT, wanted=[wanted], wish=Wish.PRESENT),
            why,
        ),
        (
            lambda: apply_node_pools(session, tenant_id=PLATFORM_TENANT, wanted=[node_pool], wish=Wish.PRESENT),
            "the cluster of pool 'gpu-fleet' was adopted: it gets the flavors of its pool alone",
        ),
        (
            lambda: apply_node_pools(
                session,
                tenant_id=PLATFORM_TENANT,
                wanted=[WantedNodePool(pool=POOL, name=flavor.name)],
                wish=Wish.ABSENT,
            ),
            "is a flavor of pool 'gpu-fleet': change it in the FleetConfig document",
        ),
    ]
    for call, told in calls:
        with pytest.raises(OperationError, match=told) as refused:
            call()
        assert refused.value.code == Code.INVALID_STATE
    assert fleet.rows() == rows


def test_a_tenants_own_cluster_is_meant_where_a_pool_adopted_one_of_the_same_name_elsewhere(fleet: Fleet) -> None:
    own = WantedCluster(name="prod", account="elsewhere", location="eu-west-1")
    data = adopting()
    other = {**data["providerAccounts"][0], "name": "elsewhere"}
    other["config"] = {**other["config"], "region": "eu-west-1", "zones": ["eu-west-1a", "eu-west-1b"]}
    data["providerAccounts"].append(other)
    fleet.apply(data | {"pools": []})
    made = create_cluster(fleet.session, tenant_id=PLATFORM_TENANT, wanted=own)
    fleet.apply(data)
    again = apply_clusters(fleet.session, tenant_id=PLATFORM_TENANT, wanted=[own], wish=Wish.ABSENT)
    assert [entry.after.id if entry.after else None for entry in again.entries] == [made.id]
    assert fleet.cluster().state != "deleting"
