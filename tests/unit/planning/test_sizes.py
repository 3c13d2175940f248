# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes are nodes times zones, and have limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import (
    Records,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.naming import Declared
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.recorded import index
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.sizes import sizes, zones_of_accounts
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import changed, example, on_account
from ansible_collections.better_compute.fleet.tests.support.fleet_records import ZONES
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import (
    CONFIG,
    FLAVOR,
    planned,
)


def test_sizes_are_nodes_times_zones(records: Records) -> None:
    made = planned(example(), Records(), zones={"managed-k8s": ("us-east-1a", "us-east-1b", "us-east-1b")})
    assert [(size.nodes, size.zones, size.total, size.gpus) for size in made.sizes] == [(2, 2, 4, 32), (1, 2, 2, 16)]
    assert planned(example(), records).sizes == made.sizes
    (one, _other) = planned(changed(f"{FLAVOR}.zones", ["us-east-1a"]), Records()).sizes
    assert (one.zones, one.total) == (1, 2)


def test_two_subnets_in_one_zone_count_once(records: Records) -> None:
    (account,) = records.accounts
    places = dict.fromkeys(account.config["eksSubnetIds"], "us-east-1a")
    made = planned(example(), replace(records, accounts=(replace(account, places=places),)))
    assert [(size.zones, size.total) for size in made.sizes] == [(1, 2), (1, 1)]


@pytest.mark.parametrize(
    ("provider", "location", "flavor", "known", "size"),
    [
        ("gcp", "us-central1", {"zones": ["us-central1-a", "us-central1-b"]}, (), (2, 6)),
        ("gcp", "us-central1", {}, ("us-central1-a", "us-central1-b", "us-central1-f"), (3, 9)),
        ("gcp", "us-central1", {}, ("us-central1-a", "us-central1-b", "us-east1-b"), (2, 6)),
        ("gcp", "us-central1-a", {}, ("us-central1-a", "us-central1-b", "us-east1-b"), (2, 6)),
        ("gcp", "us-central1", {}, (), (None, None)),
        ("digitalocean", "nyc1", {}, (), (None, 3)),
    ],
)
def test_gke_counts_over_the_flavors_zones_else_the_clusters_and_doks_counts_the_total(
    provider: str, location: str, flavor: dict[str, Any], known: tuple[str, ...], size: tuple[int | None, int | None]
) -> None:
    config = parse_document(on_account(provider, location, {"nodes": 3, **flavor}))
    zones = zones_of_accounts(config, index(Records()), zones={"managed-k8s": known} if known else {})
    (made,) = sizes(config, Declared.of(config), index(Records()), zones)
    assert (made.zones, made.total) == size


def test_bounds_of_autoscaling_count_over_the_zones_too(records: Records) -> None:
    data = changed(f"{FLAVOR}.autoscaling", {"minNodes": 1, "maxNodes": 6})
    (one, _other) = planned(data, records).sizes
    assert (one.total, one.least, one.most, one.largest) == (4, 2, 12, 12)
    assert one.to_data()["autoscaling"] == {"min_nodes": 1, "max_nodes": 6, "least": 2, "most": 12}
    (one, _other) = planned(data, Records()).sizes
    assert (one.total, one.least, one.most, one.largest) == (None, None, None, None)


def test_bounds_that_allow_too_many_nodes_exceed_the_quota(records: Records) -> None:
    with pytest.raises(OperationError, match="300 nodes x 2 zones = 600; a node pool has at most 450") as caught:
        planned(changed(f"{FLAVOR}.autoscaling", {"minNodes": 1, "maxNodes": 300}), records)
    assert caught.value.code == Code.QUOTA_EXCEEDED


def test_zones_that_the_subnets_are_not_in_are_warned_of(records: Records) -> None:
    made = planned(changed(f"{CONFIG}.zones", ["us-east-1a"]), records, zones={"managed-k8s": ZONES})
    assert made.warnings == (
        "provider account managed-k8s declares the zones us-east-1a, and its subnets are in us-east-1a, us-east-1b: "
        "flavors without zones of their own are spread over those of the subnets",
    )
    assert [size.zones for size in made.sizes] == [2, 2]
    data = changed(f"{FLAVOR}.zones", ["us-east-1c"])
    del data["providerAccounts"][0]["config"]["zones"]
    warning, _totals = planned(data, Records(), zones={"managed-k8s": ZONES}).warnings
    assert warning.startswith("pool gpu-fleet, flavor h100: provider account managed-k8s has no subnet in us-east-1c")


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
        "pools[0].policy.substrate.flavors: pool gpu-fleet: 11 node pools; a cluster has at most 10",
        "pools[0].policy.substrate.flavors[3]: pool gpu-fleet, flavor f3: 226 nodes x 2 zones = 452; a node pool has "
        "at most 450 nodes at this provider",
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
