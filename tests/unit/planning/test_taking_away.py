# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing goes without prune, and with it in the right order."""

from __future__ import annotations

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    Intent,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.changes import Resource
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.desired import desired_rows
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import changed, example, put
from ansible_collections.better_compute.fleet.tests.support.fleet_records import converged, written
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import (
    EMPTY,
    FLAVOR,
    apply,
    planned,
    recorded,
    told,
    without_flavor,
    without_substrate,
)
from ansible_collections.better_compute.fleet.tests.support.rows import START


def test_a_flavor_that_is_taken_out_is_kept_without_prune(records: Records) -> None:
    data = without_flavor("h100-spot")
    made = planned(data, records)
    assert told(made) == ["keep node_pool gpu-fleet/h100-spot"]
    assert made.changes[0].note == "not in the document: kept, needs prune"
    put(data, f"{FLAVOR}.nodes", 5)
    substrate = apply(data, records).pools[0].substrate
    assert substrate is not None
    assert [flavor.name for flavor in substrate.flavors] == ["h100", "h100-spot"]


def test_a_flavor_named_like_a_tenant_whose_quota_is_kept_is_recorded_once() -> None:
    data = changed(f"{FLAVOR}.name", "acme")
    records = recorded(data | {"quotas": [{"tenantId": "acme", "pool": "gpu-fleet", "gpus": 1}]})
    substrate = apply(put(data, f"{FLAVOR}.nodes", 3) | {"quotas": []}, records).pools[0].substrate
    assert substrate is not None
    assert [flavor.name for flavor in substrate.flavors] == ["acme", "h100-spot"]


def test_a_flavor_that_is_taken_out_goes_with_prune_and_its_name_is_free_when_it_is_gone(records: Records) -> None:
    made = planned(without_flavor("h100-spot"), records, prune=True)
    assert told(made) == ["delete node_pool gpu-fleet/h100-spot"]
    records = written(records, desired_rows(made, records, now=START))
    assert records.node_pools[1].state == NodePoolState.DELETING
    assert told(planned(example(), records)) == ["blocked node_pool gpu-fleet/h100-spot"]
    assert told(planned(example(), converged(records))) == ["create node_pool gpu-fleet/h100-spot"]


def test_everything_that_is_taken_out_is_kept_without_prune(records: Records) -> None:
    made = planned(EMPTY, records)
    assert told(made) == [
        "keep site k8s",
        "keep account managed-k8s",
        "keep pool gpu-fleet",
        "keep quota gpu-fleet/platform",
    ]
    assert not made.changed
    assert desired_rows(made, records, now=START).empty


def test_with_prune_a_pool_goes_first_and_what_it_stands_on_when_it_is_gone(records: Records) -> None:
    made = planned(EMPTY, records, prune=True)
    assert told(made) == [
        "keep site k8s",
        "keep account managed-k8s",
        "delete pool gpu-fleet",
        "delete cluster gpu-fleet",
        "delete node_pool gpu-fleet/h100",
        "delete node_pool gpu-fleet/h100-spot",
        "delete quota gpu-fleet/platform",
    ]
    assert "until nothing of pool gpu-fleet is left on it" in made.changes[1].note
    records = written(records, desired_rows(made, records, now=START))
    assert (records.pools[0].intent, records.pools[0].archived_at) == (Intent.TEAR_DOWN, START)
    assert records.substrates[0].state == SubstrateState.DELETING
    assert records.quotas == ()
    assert not planned(EMPTY, records, prune=True).changed
    assert told(planned(EMPTY, converged(records), prune=True)) == ["delete site k8s", "delete account managed-k8s"]


def test_the_pass_decides_when_the_cluster_goes(records: Records) -> None:
    writes = desired_rows(planned(EMPTY, records, prune=True), records, now=START)
    assert (writes.cluster_raises, writes.node_pool_changes) == ((), ())
    assert writes.due == (records.pools[0].id,)


def test_a_pool_without_a_substrate_goes_with_its_site_at_once() -> None:
    records = converged(recorded(without_substrate()))
    made = planned(EMPTY, records, prune=True)
    assert {change.kind for change in made.changes} == {"delete"}
    assert desired_rows(made, records, now=START).due == ()


def test_a_substrate_that_is_taken_out_of_a_pool_that_stays_is_kept_without_prune(records: Records) -> None:
    made = planned(without_substrate(), records)
    assert told(made) == ["keep cluster gpu-fleet"]
    data = put(without_substrate(), "pools.0.policy.kubernetes.platformOperated", False)
    assert apply(data, records).pools[0].substrate == records.pools[0].substrate


def test_a_substrate_that_is_taken_out_goes_with_prune_and_can_come_back_when_it_is_gone(records: Records) -> None:
    made = planned(without_substrate(), records, prune=True)
    assert told(made) == [
        "delete cluster gpu-fleet",
        "delete node_pool gpu-fleet/h100",
        "delete node_pool gpu-fleet/h100-spot",
    ]
    records = written(records, desired_rows(made, records, now=START))
    assert (records.pools[0].intent, records.pools[0].archived_at) == (Intent.TEAR_DOWN, None)
    assert planned(without_substrate(), records, prune=True).changes == ()
    made = planned(example(), records)
    assert told(made) == ["blocked cluster gpu-fleet"]
    assert "still being torn down (deleting)" in made.blocked[0].note
    records = apply(example(), converged(records))
    assert records.pools[0].intent == Intent.RUN
    assert [row.state for row in records.clusters] == [ClusterState.DELETED, ClusterState.PENDING]


def test_a_pool_of_an_archived_ones_name_is_a_new_pool_and_says_so(records: Records) -> None:
    earlier = records.pools[0].id
    records = apply(EMPTY, records, prune=True)
    made = planned(example(), records)
    (pool,) = [change for change in made.changes if change.resource == Resource.POOL]
    assert pool.note == f"a new pool: the earlier one of this name ({earlier}) is still being torn down"
    records = written(records, desired_rows(made, records, now=START))
    assert len({row.id for row in records.pools}) == 2
    assert planned(example(), records).changes == ()


def test_absent_takes_away_what_the_document_names_and_nothing_else() -> None:
    data = example()
    data["pools"].append(data["pools"][0] | {"name": "other"})
    records = converged(recorded(data))
    only = planned(example(), records, prune=True, state="absent")
    assert [line for line in told(only) if "other" in line] == []
    assert "delete pool gpu-fleet" in told(only)
    assert not planned(example(), records, state="absent").changed


def test_without_prune_what_is_to_be_absent_is_not_said_to_be_missing_in_the_document(records: Records) -> None:
    made = planned(example(), records, state="absent")
    assert {change.note for change in made.changes} == {"asked to be absent: kept, needs prune"}
    assert told(made) == told(planned(EMPTY, records))
