# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan says of what is new, changed, and not to be changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import ids
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import NodePoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    NodePoolState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.desired import desired_rows
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import changed, example, put
from ansible_collections.better_compute.fleet.tests.support.fleet_records import ZONES, converged
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import (
    CONFIG,
    FLAVOR,
    SUBSTRATE,
    apply,
    planned,
    recorded,
    told,
    without_flavor,
)
from ansible_collections.better_compute.fleet.tests.support.rows import START


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


def test_a_pools_cluster_says_which_pool_it_backs() -> None:
    records = recorded()
    assert [row.substrate_pool_id for row in records.clusters] == [row.id for row in records.pools]


def test_of_what_has_one_value_yet_the_class_is_identity_and_the_kind_is_not(records: Records) -> None:
    (pool,), (site,) = records.pools, records.sites
    made = planned(example(), replace(records, pools=(replace(pool, class_="virtual"),)))
    assert told(made) == ["blocked pool gpu-fleet"]
    assert made.blocked[0].note == "class cannot change in place: create a new pool instead"
    assert told(planned(example(), replace(records, sites=(replace(site, kind="own"),)))) == ["update site k8s"]


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


def test_a_flavor_is_added_in_place(records: Records) -> None:
    records = converged(apply(without_flavor("h100-spot"), records, prune=True))
    made = planned(example(), records)
    assert told(made) == ["create node_pool gpu-fleet/h100-spot"]
    (row,) = desired_rows(made, records, now=START).node_pools
    assert (row.name, row.cluster_id, row.version) == ("h100-spot", records.clusters[0].id, 1)


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


def test_a_plan_of_records_that_moved_is_refused(records: Records) -> None:
    made = planned(changed("quotas.0.gpus", 8), records)
    with pytest.raises(OperationError, match="plan again") as caught:
        desired_rows(made, replace(records, serial=records.serial + 1), now=START)
    assert caught.value.code == Code.CONFLICT
