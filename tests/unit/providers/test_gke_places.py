# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Regions and zones of Google's, and which of an account's a cluster and its node pools get."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidRequest
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import NodeBounds
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.places import (
    as_observed,
    check_location,
    default_zones,
    in_region,
    region_of,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.settings import GkeSettings
from ansible_collections.better_compute.fleet.tests.support.gke_subject import NODE_POOL

SETTINGS = GkeSettings(project="p", zones=("us-central1-a", "us-central1-b", "us-east4-a"))


@pytest.mark.parametrize(
    ("location", "region"),
    [
        ("us-central1", "us-central1"),
        ("us-central1-a", "us-central1"),
        ("northamerica-northeast1-c", "northamerica-northeast1"),
        ("us-central1-ai1a", "us-central1"),
        ("nowhere-9", None),
        ("us-central1-a-b", None),
        ("US-central1", None),
        ("", None),
    ],
)
def test_the_region_of_a_location(location: str, region: str | None) -> None:
    assert region_of(location) == region


@pytest.mark.parametrize("location", ["us-central1", "us-central1-a", "us-east4", "us-east4-a"])
def test_clusters_stand_in_the_accounts_zones_or_their_regions(location: str) -> None:
    check_location(SETTINGS, cluster="one", location=location)


def test_an_account_without_zones_has_clusters_anywhere_at_google() -> None:
    check_location(GkeSettings(project="p"), cluster="one", location="europe-west4-a")
    with pytest.raises(InvalidRequest):
        check_location(GkeSettings(project="p"), cluster="one", location="elsewhere")


def test_a_cluster_gets_the_accounts_zones_of_its_region() -> None:
    assert default_zones(SETTINGS, "us-central1-b") == ["us-central1-a", "us-central1-b"]
    assert default_zones(SETTINGS, "us-east4") == ["us-east4-a"]
    assert default_zones(GkeSettings(project="p"), "us-east4") == []


def test_totals_go_along_with_the_places_that_are_in_the_region() -> None:
    spec = dataclasses.replace(NODE_POOL, nodes=6, places=SETTINGS.zones, bounds=NodeBounds(least=3, most=9))
    there = in_region(spec, "us-central1")
    assert there.places == ("us-central1-a", "us-central1-b")
    assert (there.nodes, there.bounds) == (4, NodeBounds(least=2, most=6))


def test_without_places_a_node_pool_has_as_many_in_each_zone_that_it_stands_in() -> None:
    spec = dataclasses.replace(NODE_POOL, nodes=2, places=(), bounds=NodeBounds(least=1, most=3))
    assert in_region(spec, "us-central1") == spec
    there = as_observed(spec, {"us-central1-c", "us-central1-a", "us-central1-b"})
    assert there.places == ("us-central1-a", "us-central1-b", "us-central1-c")
    assert (there.nodes, there.bounds) == (6, NodeBounds(least=3, most=9))
    assert as_observed(spec, ()) == spec
