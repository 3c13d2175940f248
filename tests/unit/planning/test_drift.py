# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs at the provider is repaired or told, and what is on its way is neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import CAPABILITIES
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    ObservedCluster,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    ProviderStatus,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import (
    ObservedPool,
    Records,
    desired_rows,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.node_groups import differences
from ansible_collections.better_compute.fleet.plugins.module_utils._core.reconcile.specs import node_pool_spec
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import changed, example
from ansible_collections.better_compute.fleet.tests.support.fleet_records import PLACES, ZONES, written
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import (
    FLAVOR,
    planned,
    recorded,
    told,
)
from ansible_collections.better_compute.fleet.tests.support.rows import START


def observed(records: Records, change: Callable[[ObservedNodePool], ObservedNodePool | None]) -> dict[ids.PoolId, Any]:
    """The provider's view of the converged example, with the first node pool changed or gone."""
    node_pools = [
        ObservedNodePool(
            name=row.name,
            status=ProviderStatus.ACTIVE,
            machine_type=row.shape.machine_type,
            nodes=row.shape.nodes * len(ZONES),
            spot=row.shape.spot,
            disk_gib=20,
            labels={},
            tags={},
        )
        for row in records.node_pools
    ]
    specs = {
        row.name: node_pool_spec(
            row, cluster=records.clusters[0], account=records.accounts[0], capabilities=CAPABILITIES["aws"]
        )
        for row in records.node_pools
    }
    first = change(node_pools[0])
    found = {item.name: item for item in (*([first] if first else []), *node_pools[1:])}
    cluster = ObservedCluster(
        name="c", status=ProviderStatus.ACTIVE, message="", outputs=None, private_nodes=False, tags={}
    )
    seen = ObservedPool(
        cluster=cluster,
        node_pools=found,
        differences={name: differences(specs[name], item) for name, item in found.items()},
    )
    return {records.pools[0].id: seen}


def test_a_provider_that_holds_what_is_recorded_is_no_change(records: Records) -> None:
    made = planned(example(), records, observed=observed(records, lambda pool: pool))
    assert (made.changes, made.warnings) == ((), ())


def test_a_size_that_was_changed_at_the_provider_is_put_back(records: Records) -> None:
    made = planned(example(), records, observed=observed(records, lambda pool: replace(pool, nodes=7)))
    assert told(made) == ["update node_pool gpu-fleet/h100"]
    (field,) = made.changes[0].fields
    assert (field.path, field.before, field.after, field.note) == ("totalNodes", 7, 4, "drift")
    writes = desired_rows(made, records, now=START)
    (change,) = writes.node_pool_changes
    assert (change.shape, change.state) == (records.node_pools[0].shape, NodePoolState.UPDATING)
    assert planned(example(), written(records, writes)).changes == ()


def test_a_size_that_the_document_changes_too_is_told_once(records: Records) -> None:
    seen = observed(records, lambda pool: replace(pool, nodes=7))
    made = planned(changed(f"{FLAVOR}.nodes", 3), records, observed=seen)
    assert [field.path for change in made.changes for field in change.fields] == ["nodes"]


@pytest.mark.parametrize("status", [ProviderStatus.UPDATING, ProviderStatus.DELETING, ProviderStatus.FAILED])
def test_what_is_on_its_way_at_the_provider_is_no_drift(status: ProviderStatus, records: Records) -> None:
    seen = observed(records, lambda pool: replace(pool, nodes=7, status=status))
    assert not planned(example(), records, observed=seen).changed


def test_what_is_still_converging_is_no_drift() -> None:
    records = recorded()
    records = replace(records, accounts=(replace(records.accounts[0], places=PLACES),))
    assert not planned(example(), records, observed=observed(records, lambda _: None)).changed


def test_a_node_pool_that_is_gone_at_the_provider_is_made_again(records: Records) -> None:
    made = planned(example(), records, observed=observed(records, lambda _: None))
    assert told(made) == ["create node_pool gpu-fleet/h100"]
    (change,) = desired_rows(made, records, now=START).node_pool_changes
    assert (change.id, change.state) == (records.node_pools[0].id, NodePoolState.PENDING)


def test_a_cluster_that_is_gone_at_the_provider_is_made_again(records: Records) -> None:
    made = planned(example(), records, observed={records.pools[0].id: ObservedPool(cluster=None)})
    assert told(made) == [
        "create cluster gpu-fleet",
        "create node_pool gpu-fleet/h100",
        "create node_pool gpu-fleet/h100-spot",
    ]
    writes = desired_rows(made, records, now=START)
    assert (writes.clusters, [raised.state for raised in writes.cluster_raises]) == ((), [ClusterState.PENDING])


def test_a_shape_that_differs_at_the_provider_is_told_and_not_repaired(records: Records) -> None:
    made = planned(example(), records, observed=observed(records, lambda pool: replace(pool, machine_type="m1")))
    assert not made.changed
    assert made.warnings[0].startswith("node pool gpu-fleet/h100: machineType is m1 at the provider")
