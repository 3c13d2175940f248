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
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import NodeBounds
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import NodePoolSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.reconcile.specs import (
    node_pool_spec,
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
