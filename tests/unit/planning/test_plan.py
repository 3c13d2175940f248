# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan says of each kind of difference between the document and the records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    ObservedCluster,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import NodePoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    Intent,
    NodePoolState,
    ProviderStatus,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import (
    ObservedPool,
    Plan,
    Records,
    desired_rows,
    plan,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.changes import Resource
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.fields import (
    FIELDS,
    account_values,
    flavor_values,
    pool_values,
    site_values,
    substrate_values,
)
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import changed, example, put
from ansible_collections.better_compute.fleet.tests.support.fleet_records import ZONES, converged, written
from ansible_collections.better_compute.fleet.tests.support.rows import START

CONFIG = "providerAccounts.0.config"
SUBSTRATE = "pools.0.policy.substrate"
FLAVOR = f"{SUBSTRATE}.flavors.0"
EMPTY: dict[str, Any] = {"version": 1}


def planned(data: dict[str, Any], records: Records, *, prune: bool = False, **options: Any) -> Plan:
    return plan(parse_document(data), records, zones=options.pop("zones", {}), prune=prune, **options)


def recorded(data: dict[str, Any] | None = None) -> Records:
    """The records of a document, just applied."""
    made = planned(data or example(), Records())
    return written(Records(), desired_rows(made, Records(), now=START))


def apply(data: dict[str, Any], records: Records, **options: Any) -> Records:
    return written(records, desired_rows(planned(data, records, **options), records, now=START))


@pytest.fixture
def records() -> Records:
    """The example's records, all converged."""
    return converged(recorded())


def told(made: Plan) -> list[str]:
    """Each change as `kind resource name`."""
    return [f"{change.kind} {change.resource} {change.title}" for change in made.changes]


def without_flavor(name: str) -> dict[str, Any]:
    data = example()
    flavors = data["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[:] = [flavor for flavor in flavors if flavor["name"] != name]
    return data


def without_substrate() -> dict[str, Any]:
    data = example()
    del data["pools"][0]["policy"]["substrate"]
    return data


def test_a_new_document_creates_everything_it_declares() -> None:
    assert told(planned(example(), Records())) == [
        "create site k8s",
        "create account managed-k8s",
        "create pool gpu-fleet",
        "create cluster gpu-fleet",
        "create node_pool gpu-fleet/h100",
        "create node_pool gpu-fleet/h100-spot",
        "create quota gpu-fleet/platform",
    ]


def test_a_new_pools_cluster_is_named_after_the_pools_id() -> None:
    records = recorded()
    assert records.clusters[0].name == ids.cluster_name(records.pools[0].id)


def test_a_converged_document_changes_nothing(records: Records) -> None:
    made = planned(example(), records, prune=True)
    assert (made.changes, made.changed) == ((), False)
    assert made.render().startswith("Fleet plan at serial 1: no changes\n")


def test_what_is_still_converging_is_no_change() -> None:
    assert planned(example(), recorded()).changes == ()


def test_a_node_pool_in_error_is_no_change(records: Records) -> None:
    broken = replace(records.node_pools[0], state=NodePoolState.ERROR, message="no stock")
    assert planned(example(), replace(records, node_pools=(broken, records.node_pools[1]))).changes == ()


def test_the_order_of_subnets_zones_and_flavors_means_nothing(records: Records) -> None:
    data = example()
    data["providerAccounts"][0]["config"]["eksSubnetIds"].reverse()
    data["providerAccounts"][0]["config"]["zones"].reverse()
    data["pools"][0]["policy"]["substrate"]["flavors"].reverse()
    assert planned(data, records).changes == ()


def test_a_flavors_size_changes_in_place(records: Records) -> None:
    made = planned(changed(f"{FLAVOR}.nodes", 3), records)
    assert told(made) == ["update node_pool gpu-fleet/h100"]
    assert [(field.path, field.before, field.after) for field in made.changes[0].fields] == [("nodes", 2, 3)]
    writes = desired_rows(made, records, now=START)
    (change,) = writes.node_pool_changes
    assert (change.shape.nodes, change.state) == (3, NodePoolState.UPDATING)
    assert [raised.state for raised in writes.cluster_raises] == [ClusterState.UPDATING]
    assert [pool.generation for pool in writes.pools] == [2]
    assert [substrate.state for substrate in writes.substrates] == [SubstrateState.UPDATING]
    assert writes.due == (records.pools[0].id,)


def test_a_change_while_the_cluster_is_made_leaves_its_state() -> None:
    records = recorded()
    writes = desired_rows(planned(changed(f"{FLAVOR}.nodes", 3), records), records, now=START)
    assert [raised.state for raised in writes.cluster_raises] == [ClusterState.PENDING]
    assert writes.substrates == ()


@pytest.mark.parametrize(
    ("path", "value", "change", "field", "remedy"),
    [
        ("sites.0.region", "eu-west-1", "blocked site k8s", "region", "create a new site instead"),
        ("pools.0.gpuModel", "H200", "blocked pool gpu-fleet", "gpuModel", "create a new pool instead"),
        (
            f"{SUBSTRATE}.cluster.create.privateNodes",
            True,
            "blocked cluster gpu-fleet",
            "policy.substrate.cluster.create.privateNodes",
            "create a new pool instead",
        ),
        (
            f"{FLAVOR}.machineType",
            "p4d.24xlarge",
            "blocked node_pool gpu-fleet/h100",
            "machineType",
            "add another flavor instead",
        ),
        (f"{FLAVOR}.spot", True, "blocked node_pool gpu-fleet/h100", "spot", "add another flavor instead"),
        (f"{FLAVOR}.zones", ["us-east-1a"], "blocked node_pool gpu-fleet/h100", "zones", "add another flavor instead"),
        (f"{FLAVOR}.diskGiB", 200, "blocked node_pool gpu-fleet/h100", "diskGiB", "add another flavor instead"),
        (f"{FLAVOR}.gpus.count", 4, "blocked node_pool gpu-fleet/h100", "gpus.count", "add another flavor instead"),
        (
            f"{CONFIG}.eksNodeRoleArn",
            "arn:aws:iam::111111111111:role/other",
            "blocked account managed-k8s",
            "config.eksNodeRoleArn",
            "add another provider account",
        ),
    ],
)
def test_what_cannot_change_in_place_is_blocked_with_what_to_do_instead(
    path: str, value: Any, change: str, field: str, remedy: str, records: Records
) -> None:
    made = planned(changed(path, value), records)
    assert told(made) == [change]
    assert made.blocked[0].note.startswith(f"{field} cannot change in place: {remedy}")
    with pytest.raises(OperationError, match="blocked") as caught:
        desired_rows(made, records, now=START)
    assert caught.value.code == Code.INVALID_STATE


def test_a_new_region_of_the_account_is_blocked_at_account_and_cluster(records: Records) -> None:
    data = put(changed(f"{SUBSTRATE}.cluster.create.location", "eu-west-1"), f"{CONFIG}.region", "eu-west-1")
    del data["providerAccounts"][0]["config"]["zones"]
    assert told(planned(data, records)) == ["blocked account managed-k8s", "blocked cluster gpu-fleet"]


@pytest.mark.parametrize(
    ("path", "value", "change"),
    [
        (f"{CONFIG}.credential", {"env": "FLEET"}, "update account managed-k8s"),
        ("pools.0.policy.kubernetes.platformOperated", False, "update pool gpu-fleet"),
        ("quotas.0.gpus", 8, "update quota gpu-fleet/platform"),
    ],
)
def test_what_is_mutable_changes_in_place(path: str, value: Any, change: str, records: Records) -> None:
    data = changed(path, value)
    assert told(planned(data, records)) == [change]
    assert planned(data, apply(data, records)).changes == ()


def test_a_new_credential_makes_the_accounts_pools_due(records: Records) -> None:
    made = planned(changed(f"{CONFIG}.credential", {"env": "FLEET"}), records)
    writes = desired_rows(made, records, now=START)
    assert writes.due == (records.pools[0].id,)
    assert [account.zones for account in writes.accounts] == [ZONES]


def test_subnets_may_change_while_no_substrate_stands_on_the_account_and_its_zones_are_read_again() -> None:
    data = example() | {"pools": [], "quotas": []}
    records = converged(recorded(data))
    other = put(data, f"{CONFIG}.eksSubnetIds", ["subnet-0000000c", "subnet-0000000d"])
    made = planned(other, records)
    assert told(made) == ["update account managed-k8s"]
    assert [account.zones for account in desired_rows(made, records, now=START).accounts] == [None]


def test_a_disk_size_that_is_left_out_is_left_alone() -> None:
    records = converged(recorded(changed(f"{FLAVOR}.diskGiB", 200)))
    assert planned(example(), records).changes == ()
    after = apply(changed(f"{FLAVOR}.nodes", 3), records)
    substrate = after.pools[0].substrate
    assert substrate is not None
    assert [flavor.disk_gib for flavor in substrate.flavors] == [200, None]
    assert after.node_pools[0].shape.disk_gib == 200


def test_a_flavor_is_added_in_place(records: Records) -> None:
    records = converged(apply(without_flavor("h100-spot"), records, prune=True))
    made = planned(example(), records)
    assert told(made) == ["create node_pool gpu-fleet/h100-spot"]
    (row,) = desired_rows(made, records, now=START).node_pools
    assert (row.name, row.cluster_id, row.version) == ("h100-spot", records.clusters[0].id, 1)


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


def test_a_flavor_cannot_take_the_name_of_a_node_pool_that_a_caller_added(records: Records) -> None:
    theirs = NodePoolRecord(
        id=ids.new_node_pool_id(START),
        cluster_id=records.clusters[0].id,
        name="mine",
        shape=replace(records.node_pools[0].shape, name="mine"),
        state=NodePoolState.READY,
        of_flavor=False,
    )
    records = replace(records, node_pools=(*records.node_pools, theirs))
    assert not planned(example(), records, prune=True).changes
    data = example()
    flavors = data["pools"][0]["policy"]["substrate"]["flavors"]
    flavors.append(flavors[0] | {"name": "mine"})
    assert told(planned(data, records)) == ["blocked node_pool gpu-fleet/mine"]


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


def test_sizes_are_nodes_times_zones(records: Records) -> None:
    made = planned(example(), Records(), zones={"managed-k8s": ("us-east-1a", "us-east-1b", "us-east-1b")})
    assert [(size.nodes, size.zones, size.total, size.gpus) for size in made.sizes] == [(2, 2, 4, 32), (1, 2, 2, 16)]
    assert planned(example(), records).sizes == made.sizes
    (one, _) = planned(changed(f"{FLAVOR}.zones", ["us-east-1a"]), Records()).sizes
    assert (one.zones, one.total) == (1, 2)


def test_zones_that_are_not_known_are_told_once() -> None:
    made = planned(example(), Records())
    assert [size.total for size in made.sizes] == [None, None]
    (warning,) = made.warnings
    assert warning.startswith("the zones of provider account managed-k8s are not known yet")


def test_an_eleventh_flavor_and_too_many_nodes_exceed_the_quota() -> None:
    data = example()
    flavors = data["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[:] = [flavors[0] | {"name": f"f{number}"} for number in range(11)]
    flavors[3]["nodes"] = 226
    with pytest.raises(OperationError) as caught:
        planned(data, Records(), zones={"managed-k8s": ZONES})
    assert caught.value.code == Code.QUOTA_EXCEEDED
    assert str(caught.value).splitlines() == [
        "pool gpu-fleet: 11 node pools; a cluster has at most 10",
        "pool gpu-fleet, flavor f3: 226 nodes x 2 zones = 452; a node pool has at most 450 nodes at this provider",
    ]


def test_node_pools_that_are_still_there_count(records: Records) -> None:
    data = example()
    flavors = data["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[:] = [flavors[0] | {"name": f"f{number}"} for number in range(9)]
    with pytest.raises(OperationError, match="11 node pools, those that are kept or still to be deleted included"):
        planned(data, records, prune=True)


def test_a_quota_below_what_is_held_is_warned_of(records: Records) -> None:
    records = replace(records, quotas=(replace(records.quotas[0], used=16),))
    (warning,) = planned(changed("quotas.0.gpus", 8), records).warnings
    assert warning.startswith("tenant platform holds 16 GPUs of pool gpu-fleet, more than its new quota of 8")


def test_a_plan_of_records_that_moved_is_refused(records: Records) -> None:
    made = planned(changed("quotas.0.gpus", 8), records)
    with pytest.raises(OperationError, match="plan again") as caught:
        desired_rows(made, replace(records, serial=records.serial + 1), now=START)
    assert caught.value.code == Code.CONFLICT


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
    first = change(node_pools[0])
    cluster = ObservedCluster(
        name="c", status=ProviderStatus.ACTIVE, message="", outputs=None, private_nodes=False, tags={}
    )
    seen = ObservedPool(cluster=cluster, node_pools=(*([first] if first else []), *node_pools[1:]))
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
    records = replace(records, accounts=(replace(records.accounts[0], zones=ZONES),))
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


def test_every_declared_field_has_a_rule() -> None:
    config = parse_document(put(changed(f"{CONFIG}.credential", {"env": "A"}), f"{CONFIG}.endpointUrl", "https://x"))
    config_with_file = parse_document(changed(f"{CONFIG}.caFile", "/ca.pem"))
    (pool,) = config.pools
    assert pool.substrate is not None
    accounts = {**account_values(config.accounts[0]), **account_values(config_with_file.accounts[0])}
    assert set(site_values(config.sites[0])) == set(FIELDS[Resource.SITE])
    assert set(accounts) == set(FIELDS[Resource.ACCOUNT])
    assert set(pool_values(pool, site=pool.site)) == set(FIELDS[Resource.POOL])
    assert set(substrate_values(pool.substrate)) == set(FIELDS[Resource.CLUSTER])
    assert set(flavor_values(pool.substrate.flavors[0])) == set(FIELDS[Resource.NODE_POOL])
