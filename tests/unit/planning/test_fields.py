# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every declared field has a rule, and the plan goes by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ClusterState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.changes import Change, Resource
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.desired import desired_rows
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.fields import (
    FIELDS,
    OnDrift,
    account_values,
    flavor_values,
    pool_values,
    site_values,
    substrate_values,
)
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import (
    account_of,
    changed,
    example,
    put,
)
from ansible_collections.better_compute.fleet.tests.support.fleet_records import converged
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import (
    CONFIG,
    FLAVOR,
    SUBSTRATE,
    apply,
    planned,
    recorded,
    told,
)
from ansible_collections.better_compute.fleet.tests.support.rows import OUTPUTS, START

CREATE = f"{SUBSTRATE}.cluster.create"
VERSION = "policy.substrate.cluster.create.version"
TAINT = {"key": "gpu", "value": "h100", "effect": "NoSchedule"}


def only_change(data: dict[str, Any], records: Records) -> Change:
    (change,) = planned(data, records).changes
    return change


def test_every_declared_field_has_a_rule() -> None:
    everything = {"credential": {"env": "A"}, "endpointUrl": "https://x", "caFile": "/ca.pem"}
    accounts = [account_of(provider, f"a-{provider}", **everything) for provider in ("aws", "gcp", "digitalocean")]
    accounts[1]["config"]["zones"] = ["us-central1-a"]
    config = parse_document(example() | {"providerAccounts": [*example()["providerAccounts"], *accounts]})
    (pool,) = config.pools
    assert pool.substrate is not None
    assert set(site_values(config.sites[0])) == set(FIELDS[Resource.SITE])
    assert {path for account in config.accounts for path in account_values(account)} == set(FIELDS[Resource.ACCOUNT])
    assert set(pool_values(pool, site=pool.site)) == set(FIELDS[Resource.POOL])
    assert set(substrate_values(pool.substrate)) == set(FIELDS[Resource.CLUSTER])
    assert set(flavor_values(pool.substrate.flavors[0])) == set(FIELDS[Resource.NODE_POOL])


def test_drift_means_something_only_for_what_stands_at_the_provider() -> None:
    meant = {(kind, path) for kind, ways in FIELDS.items() for path, way in ways.items() if way.drift != OnDrift.IGNORE}
    assert {kind for kind, _path in meant} == {Resource.CLUSTER, Resource.NODE_POOL}
    repaired = {path for path, way in FIELDS[Resource.NODE_POOL].items() if way.drift == OnDrift.REPAIR}
    assert repaired == {"nodes", "autoscaling.minNodes", "autoscaling.maxNodes", "labels", "taints"}


@pytest.mark.parametrize(
    ("path", "value", "change"),
    [
        (f"{CONFIG}.credential", {"env": "FLEET"}, "update account managed-k8s"),
        ("pools.0.policy.kubernetes.platformOperated", False, "update pool gpu-fleet"),
        ("quotas.0.gpus", 8, "update quota gpu-fleet/platform"),
        (f"{FLAVOR}.autoscaling", {"minNodes": 1, "maxNodes": 4}, "update node_pool gpu-fleet/h100"),
        (f"{SUBSTRATE}.upgrades", "drain", "update cluster gpu-fleet"),
        (f"{CREATE}.version", "1.34", "update cluster gpu-fleet"),
    ],
)
def test_what_is_mutable_changes_in_place(path: str, value: Any, change: str, records: Records) -> None:
    data = changed(path, value)
    assert told(planned(data, records)) == [change]
    assert planned(data, apply(data, records)).changes == ()


@pytest.mark.parametrize("value", [{"team": "ml"}, {}])
def test_labels_are_set_once(value: dict[str, str], records: Records) -> None:
    change = only_change(changed(f"{FLAVOR}.labels", value), records)
    assert (change.kind, change.note) == ("blocked", "labels cannot change in place: add another flavor instead")


@pytest.mark.parametrize("taints", [[TAINT | {"value": "other"}], [TAINT, TAINT | {"effect": "NoExecute"}], []])
def test_taints_are_set_once(taints: list[dict[str, str]]) -> None:
    records = converged(recorded(changed(f"{FLAVOR}.taints", [TAINT])))
    change = only_change(changed(f"{FLAVOR}.taints", taints), records)
    assert (change.kind, change.note) == ("blocked", "taints cannot change in place: add another flavor instead")


def test_labels_and_taints_in_another_order_are_the_same() -> None:
    other = TAINT | {"key": "another"}
    data = put(changed(f"{FLAVOR}.labels", {"a": "1", "b": "2"}), f"{FLAVOR}.taints", [TAINT, other])
    again = put(changed(f"{FLAVOR}.labels", {"b": "2", "a": "1"}), f"{FLAVOR}.taints", [other, TAINT])
    assert planned(again, converged(recorded(data))).changes == ()


def test_what_is_left_out_is_left_alone_and_stays_recorded() -> None:
    data = put(changed(f"{FLAVOR}.labels", {"a": "1"}), f"{FLAVOR}.taints", [TAINT])
    put(put(data, f"{FLAVOR}.diskGiB", 200), f"{CREATE}.version", "1.33")
    records = converged(recorded(data))
    assert planned(example(), records).changes == ()
    after = apply(changed(f"{FLAVOR}.nodes", 3), records)
    substrate, before = after.pools[0].substrate, records.pools[0].substrate
    assert substrate is not None
    assert before is not None
    assert substrate.cluster == before.cluster
    assert substrate.flavors == (replace(before.flavors[0], nodes=3), before.flavors[1])
    assert after.node_pools[0].shape == substrate.flavors[0]
    assert after.clusters[0].version == "1.33"


def test_autoscaling_that_is_left_out_is_turned_off() -> None:
    records = converged(recorded(changed(f"{FLAVOR}.autoscaling", {"minNodes": 1, "maxNodes": 4})))
    change = only_change(example(), records)
    assert [(field.path, field.before, field.after) for field in change.fields] == [
        ("autoscaling.minNodes", 1, None),
        ("autoscaling.maxNodes", 4, None),
    ]
    (written,) = desired_rows(planned(example(), records), records, now=START).node_pool_changes
    assert (written.shape.autoscaling, written.sized) == (None, False)


def test_a_size_is_asked_for_anew_only_when_it_changes() -> None:
    data = changed(f"{FLAVOR}.autoscaling", {"minNodes": 1, "maxNodes": 4})
    records = converged(recorded(data))
    for nodes, bounds, sized in ((3, {"minNodes": 1, "maxNodes": 4}, True), (2, {"minNodes": 0, "maxNodes": 9}, False)):
        other = put(changed(f"{FLAVOR}.autoscaling", bounds), f"{FLAVOR}.nodes", nodes)
        (change,) = desired_rows(planned(other, records), records, now=START).node_pool_changes
        assert change.sized is sized


def test_a_version_is_raised_by_as_many_minors_as_are_wanted() -> None:
    records = converged(recorded(changed(f"{CREATE}.version", "1.29")))
    writes = desired_rows(planned(changed(f"{CREATE}.version", "1.34"), records), records, now=START)
    assert [(raised.version, raised.state) for raised in writes.cluster_raises] == [("1.34", ClusterState.UPDATING)]
    assert writes.node_pool_changes == ()
    assert writes.due == (records.pools[0].id,)


@pytest.mark.parametrize(("before", "after"), [("1.34", "1.33"), ("1.30", "1.29")])
def test_a_version_is_never_lowered(before: str, after: str) -> None:
    records = converged(recorded(changed(f"{CREATE}.version", before)))
    change = only_change(changed(f"{CREATE}.version", after), records)
    assert (change.kind, change.note) == (
        "blocked",
        f"{VERSION} is never lowered: leave it at {before} or above, or create a new pool instead",
    )
    with pytest.raises(OperationError) as caught:
        desired_rows(planned(changed(f"{CREATE}.version", after), records), records, now=START)
    assert caught.value.code == Code.INVALID_STATE


def test_a_first_version_below_the_one_that_runs_is_blocked(records: Records) -> None:
    records = replace(records, clusters=(replace(records.clusters[0], outputs=OUTPUTS),))
    change = only_change(changed(f"{CREATE}.version", "1.33"), records)
    assert (change.kind, change.fields[0].before) == ("blocked", "1.34")
    assert told(planned(changed(f"{CREATE}.version", "1.34"), records)) == ["update cluster gpu-fleet"]


def test_a_version_that_the_provider_moved_on_is_no_change() -> None:
    data = changed(f"{CREATE}.version", "1.33")
    records = converged(recorded(data))
    records = replace(records, clusters=(replace(records.clusters[0], outputs=OUTPUTS),))
    assert planned(data, records).changes == ()


def test_the_policy_of_upgrades_is_recorded_and_touches_no_node_pool(records: Records) -> None:
    writes = desired_rows(planned(changed(f"{SUBSTRATE}.upgrades", "drain"), records), records, now=START)
    (pool,) = writes.pools
    assert pool.substrate is not None
    assert pool.substrate.upgrades == "drain"
    assert (writes.node_pool_changes, writes.cluster_raises) == ((), ())
    assert writes.due == (pool.id,)
