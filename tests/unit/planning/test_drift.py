# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs at the provider is repaired or told, and what is on its way is neither."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    Difference,
    ObservedCluster,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    ProviderStatus,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import ObservedPool, Records
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.desired import desired_rows
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import changed, example
from ansible_collections.better_compute.fleet.tests.support.fleet_records import PLACES, ZONES, written
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import (
    FLAVOR,
    SUBSTRATE,
    planned,
    recorded,
    told,
)
from ansible_collections.better_compute.fleet.tests.support.rows import START

SIZE = Difference(path="totalNodes", held=7, wanted=4, in_place=True)
SHAPE = Difference(path="machineType", held="m1", wanted="p5.48xlarge", in_place=False)


def observed(
    records: Records, *different: Difference, gone: bool = False, status: ProviderStatus = ProviderStatus.ACTIVE
) -> dict[ids.PoolId, ObservedPool]:
    """The provider's view of the converged example, with the first node pool different or gone."""
    first = records.node_pools[0].name
    node_pools = {
        row.name: ObservedNodePool(
            name=row.name,
            status=status,
            machine_type=row.shape.machine_type,
            nodes=row.shape.nodes * len(ZONES),
            spot=row.shape.spot,
            disk_gib=20,
            labels={},
            tags={},
        )
        for row in records.node_pools
        if not (gone and row.name == first)
    }
    return {
        records.pools[0].id: ObservedPool(
            cluster=observed_cluster(),
            node_pools=node_pools,
            differences={name: different if name == first else () for name in node_pools},
        )
    }


def observed_cluster(*, private_nodes: bool = False) -> ObservedCluster:
    return ObservedCluster(
        name="c", status=ProviderStatus.ACTIVE, message="", outputs=None, private_nodes=private_nodes, tags={}
    )


def test_a_provider_that_holds_what_is_recorded_is_no_change(records: Records) -> None:
    made = planned(example(), records, observed=observed(records))
    assert (made.changes, made.warnings) == ((), ())


def test_a_size_that_was_changed_at_the_provider_is_put_back(records: Records) -> None:
    made = planned(example(), records, observed=observed(records, SIZE))
    assert told(made) == ["update node_pool gpu-fleet/h100"]
    (field,) = made.changes[0].fields
    assert (field.path, field.before, field.after, field.note) == ("totalNodes", 7, 4, "drift")
    writes = desired_rows(made, records, now=START)
    (change,) = writes.node_pool_changes
    assert (change.shape, change.state) == (records.node_pools[0].shape, NodePoolState.UPDATING)
    assert planned(example(), written(records, writes)).changes == ()


def test_a_size_that_the_document_changes_too_is_told_once(records: Records) -> None:
    seen = observed(records, SIZE)
    made = planned(changed(f"{FLAVOR}.nodes", 3), records, observed=seen)
    assert [field.path for change in made.changes for field in change.fields] == ["nodes"]


@pytest.mark.parametrize("status", [ProviderStatus.UPDATING, ProviderStatus.DELETING, ProviderStatus.FAILED])
def test_what_is_on_its_way_at_the_provider_is_no_drift(status: ProviderStatus, records: Records) -> None:
    seen = observed(records, SIZE, status=status)
    assert not planned(example(), records, observed=seen).changed


def test_what_is_still_converging_is_no_drift() -> None:
    records = recorded()
    records = replace(records, accounts=(replace(records.accounts[0], places=PLACES),))
    assert not planned(example(), records, observed=observed(records, gone=True)).changed


def test_a_node_pool_that_is_gone_at_the_provider_is_made_again(records: Records) -> None:
    made = planned(example(), records, observed=observed(records, gone=True))
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
    made = planned(example(), records, observed=observed(records, SHAPE))
    assert not made.changed
    assert made.warnings[0].startswith("node pool gpu-fleet/h100: machineType is m1 at the provider")


def test_what_no_provider_changes_in_place_is_told_of_the_cluster_too(records: Records) -> None:
    seen = {records.pools[0].id: ObservedPool(cluster=observed_cluster(private_nodes=True))}
    records = replace(records, node_pools=())
    *_totals, warning = planned(example(), records, observed=seen).warnings
    assert warning.startswith(
        "cluster of pool gpu-fleet: privateNodes is true at the provider and false in the records"
    )


def test_labels_taints_and_bounds_that_were_changed_at_the_provider_are_put_back(records: Records) -> None:
    seen = observed(
        records,
        Difference(path="autoscaling.maxNodes", held=9, wanted=4, in_place=True),
        Difference(path="labels", held={"team": "a"}, wanted={"team": "b"}, in_place=True),
        Difference(path="taints", held=[], wanted=[{"key": "k", "value": "", "effect": "NoExecute"}], in_place=True),
    )
    made = planned(example(), records, observed=seen)
    assert told(made) == ["update node_pool gpu-fleet/h100"]
    assert {field.note for field in made.changes[0].fields} == {"drift"}
    assert made.changes[0].to_data()["drift"] is True
    assert made.render().endswith("\nPlan: 1 to update, 1 of these for drift.\n")
    (change,) = desired_rows(made, records, now=START).node_pool_changes
    assert (change.shape, change.sized) == (records.node_pools[0].shape, False)


def test_drift_of_node_pools_is_told_beside_a_change_of_their_cluster(records: Records) -> None:
    made = planned(changed(f"{SUBSTRATE}.upgrades", "drain"), records, observed=observed(records, SIZE))
    assert told(made) == ["update cluster gpu-fleet", "update node_pool gpu-fleet/h100"]
    writes = desired_rows(made, records, now=START)
    assert ([raised.state for raised in writes.cluster_raises], len(writes.node_pool_changes)) == (["updating"], 1)
