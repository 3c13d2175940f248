# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records as the driver is asked for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import CAPABILITIES
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Autoscaling
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    NodeBounds,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import NodePoolSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.reconcile.specs import (
    declared_total,
    node_pool_spec,
    node_pool_totals,
    standing_total,
    zones_without_places,
)
from ansible_collections.better_compute.fleet.tests.support import rows

SUBNETS = {"subnet-1": "a", "subnet-2": "b", "subnet-3": "b"}


def spec(
    provider: str, places: Mapping[str, str], zones: tuple[str, ...] = (), *, adopted: bool = False
) -> NodePoolSpec:
    cluster = rows.cluster(rows.pool().id, adopted=adopted)
    shape = replace(rows.H100, zones=zones, autoscaling=Autoscaling(min_nodes=1, max_nodes=3))
    return node_pool_spec(
        rows.node_pool(cluster.id, shape=shape),
        cluster=cluster,
        account=rows.account(provider=provider, places=places),
        capabilities=CAPABILITIES[provider],
    )


@pytest.mark.parametrize(
    ("provider", "places", "zones", "wanted", "times"),
    [
        ("aws", SUBNETS, (), ("subnet-1", "subnet-2", "subnet-3"), 2),
        ("aws", SUBNETS, ("b",), ("subnet-2", "subnet-3"), 1),
        ("gcp", {"a": "a", "b": "b"}, (), ("a", "b"), 2),
        ("gcp", {"a": "a", "b": "b"}, ("b",), ("b",), 1),
        ("gcp", {}, ("a", "b"), ("a", "b"), 2),
        ("gcp", {}, (), (), 1),
        ("digitalocean", {}, (), (), 1),
    ],
)
def test_totals_are_counts_times_the_zones_that_are_known(
    provider: str, places: Mapping[str, str], zones: tuple[str, ...], wanted: tuple[str, ...], times: int
) -> None:
    made = spec(provider, places, zones)
    assert made.places == wanted
    assert made.nodes == 2 * times
    assert made.bounds == NodeBounds(least=times, most=3 * times)
    assert (made.gpus_per_node, made.gpu_type) == (8, "nvidia-h100")


@pytest.mark.parametrize(
    ("provider", "places", "zones", "wanted", "times"),
    [
        ("gcp", {"a": "a", "b": "b"}, (), (), 1),
        ("gcp", {"a": "a", "b": "b"}, ("b",), ("b",), 1),
        ("gcp", {}, (), (), 1),
        ("aws", SUBNETS, (), ("subnet-1", "subnet-2", "subnet-3"), 2),
        ("digitalocean", {}, (), (), 1),
    ],
)
def test_an_adopted_clusters_own_zones_count_at_gke_and_the_accounts_subnets_at_eks(
    provider: str, places: Mapping[str, str], zones: tuple[str, ...], wanted: tuple[str, ...], times: int
) -> None:
    made = spec(provider, places, zones, adopted=True)
    assert (made.places, made.nodes) == (wanted, 2 * times)


def test_a_zone_is_strange_to_an_account_that_names_others_and_to_no_other() -> None:
    record = rows.node_pool(rows.cluster(None).id, shape=replace(rows.H100, zones=("a", "c")))
    assert zones_without_places(record, rows.account(places=SUBNETS)) == ("c",)
    assert zones_without_places(record, rows.account(places={})) == ()
    assert zones_without_places(record, rows.account(places=None)) == ("a", "c")


def totals(
    provider: str,
    places: Mapping[str, str],
    zones: tuple[str, ...] = (),
    *,
    cluster_zones: tuple[str, ...] = (),
    stands_in: tuple[str, ...] | None = None,
    adopted: bool = False,
    scaling: Autoscaling | None = None,
) -> NodeBounds | None:
    outputs = replace(rows.OUTPUTS, zones=cluster_zones)
    cluster = rows.cluster(rows.pool().id, adopted=adopted, outputs=outputs)
    record = rows.node_pool(cluster.id, shape=replace(rows.H100, zones=zones, autoscaling=scaling))
    found = ObservedNodePool(
        name=record.name,
        status=ProviderStatus.ACTIVE,
        machine_type="p5.48xlarge",
        nodes=2,
        spot=False,
        disk_gib=None,
        labels={},
        tags={},
        places=frozenset(stands_in or ()),
    )
    return node_pool_totals(
        record,
        cluster=cluster,
        account=rows.account(provider=provider, places=places),
        capabilities=CAPABILITIES[provider],
        found=None if stands_in is None else found,
    )


@pytest.mark.parametrize("adopted", [False, True], ids=["created", "adopted"])
@pytest.mark.parametrize(
    ("provider", "places", "zones", "cluster_zones", "stands_in", "times"),
    [
        ("gcp", {}, (), (), None, None),
        ("gcp", {}, (), (), (), None),
        ("gcp", {}, (), ("a", "b", "c"), None, 3),
        ("gcp", {}, (), ("a", "b", "c"), ("a", "b"), 2),
        ("gcp", {"a": "a", "x": "x"}, (), ("a",), None, 1),
        ("gcp", {"a": "a", "x": "x"}, (), ("a",), ("b", "c"), 2),
        ("gcp", {"a": "a", "b": "b"}, ("b",), ("a", "b"), None, 1),
        ("aws", SUBNETS, (), (), None, 2),
        ("aws", SUBNETS, (), (), ("subnet-1", "subnet-2", "subnet-3"), 2),
        ("aws", SUBNETS, ("b",), (), ("subnet-2", "subnet-3"), 1),
        ("digitalocean", {}, (), (), None, 1),
        ("digitalocean", {}, (), (), (), 1),
    ],
)
def test_totals_count_the_zones_that_a_node_pool_stands_in_and_are_not_guessed(
    provider: str,
    places: Mapping[str, str],
    zones: tuple[str, ...],
    cluster_zones: tuple[str, ...],
    stands_in: tuple[str, ...] | None,
    times: int | None,
    adopted: bool,
) -> None:
    fixed = totals(provider, places, zones, cluster_zones=cluster_zones, stands_in=stands_in, adopted=adopted)
    assert fixed == (None if times is None else NodeBounds(least=2 * times, most=2 * times))
    moved = totals(
        provider,
        places,
        zones,
        cluster_zones=cluster_zones,
        stands_in=stands_in,
        adopted=adopted,
        scaling=Autoscaling(min_nodes=0, max_nodes=3),
    )
    assert moved == (None if times is None else NodeBounds(least=0, most=3 * times))


def test_an_account_of_which_nothing_was_read_yet_tells_no_total() -> None:
    assert totals("aws", {}) is None


def test_of_one_total_that_is_not_known_nothing_is_declared_and_nothing_is_waited_for() -> None:
    two, three = NodeBounds(least=2, most=2), NodeBounds(least=0, most=3)
    assert (declared_total([two, three]), standing_total([two, three])) == (5, 2)
    assert (declared_total([two, None]), standing_total([two, None])) == (None, 2)
    assert (declared_total([]), standing_total([])) == (0, 0)
