# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan warns where what is declared alike for several providers comes to other totals there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import account_of, example
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import apply, planned

WHERE = {"aws": "us-east-1", "gcp": "us-central1", "digitalocean": "nyc1"}
ZONES = {"aws": ("us-east-1a", "us-east-1b"), "gcp": ("us-central1-a", "us-central1-b", "us-central1-f")}


ALL_ZONES = {"managed-k8s": ("us-east-1a", "us-east-1b")}


def warned(flavors: Mapping[str, Mapping[str, Any]], zones: Mapping[str, tuple[str, ...]] = ZONES) -> list[str]:
    """What is warned of flavors, each by the provider of its pool and account."""
    data = example()
    [pool, *_others] = data["pools"]
    data["providerAccounts"] = [account_of(provider, provider) for provider in flavors]
    data["pools"], data["quotas"] = [], []
    for provider, flavor in flavors.items():
        substrate = {
            "kind": "kubernetes",
            "account": provider,
            "cluster": {"create": {"location": WHERE[provider]}},
            "flavors": [{"name": "gpu", "machineType": "a3-highgpu-8g", "nodes": 2, **flavor}],
        }
        data["pools"].append({**pool, "name": f"on-{provider}", "policy": {**pool["policy"], "substrate": substrate}})
    made = planned(data, Records(), zones=zones)
    return [warning for warning in made.warnings if warning.startswith(("flavor ", "nodes "))]


def test_one_flavor_that_comes_to_other_totals_at_other_providers_is_warned_of_once() -> None:
    assert warned({"aws": {}, "gcp": {}, "digitalocean": {}}) == [
        "flavor gpu: nodes 2 comes to 4 at EKS (pool on-aws), 6 at GKE (pool on-gcp), 2 at DOKS (pool "
        "on-digitalocean). It counts per zone at EKS and GKE: give the flavor one zone there to have as many everywhere"
    ]


def test_flavors_of_one_zone_each_are_as_many_everywhere() -> None:
    pinned = {"aws": {"zones": ["us-east-1a"]}, "gcp": {"zones": ["us-central1-a"]}, "digitalocean": {}}
    assert warned(pinned) == []


def test_flavors_of_another_size_or_name_are_not_compared() -> None:
    apart = "nodes counts per zone at EKS and GKE, and is the total at DOKS: on-aws/gpu comes to 4 here and to 2 there"
    for other in ({"nodes": 3}, {"name": "other"}):
        [warning] = warned({"aws": {}, "digitalocean": other})
        assert warning == f"{apart}. Give a flavor one zone to have as many at every provider"


def test_a_total_that_is_not_known_yet_is_not_compared() -> None:
    assert warned({"aws": {}, "digitalocean": {}}, zones={}) == []
    assert len(warned({"aws": {}, "digitalocean": {}}, zones={"aws": ("us-east-1a", "us-east-1b")})) == 1


def test_a_document_for_one_provider_is_told_what_it_would_come_to_at_another() -> None:
    [warning] = warned({"gcp": {}})
    assert "on-gcp/gpu comes to 6 here and to 2 there" in warning
    assert warned({"digitalocean": {}}) == []
    assert warned({"gcp": {"zones": ["us-central1-a"]}}) == []


def test_of_many_flavors_five_are_named_and_the_others_counted() -> None:
    data = example()
    [pool, *_others] = data["pools"]
    data["quotas"] = []
    substrate = pool["policy"]["substrate"]
    substrate["flavors"] = [{**substrate["flavors"][0], "name": f"gpu{number}"} for number in range(7)]
    data["pools"] = [pool]
    [warning] = [line for line in planned(data, Records(), zones=ALL_ZONES).warnings if line.startswith("nodes ")]
    assert warning.count(" comes to ") == 5
    assert "and 2 more flavors do likewise" in warning


def test_flavors_that_stand_as_declared_are_not_told_again() -> None:
    data = example()
    standing = apply(data, Records(), zones=ALL_ZONES)
    assert planned(data, standing, zones=ALL_ZONES).warnings == ()
    data["pools"][0]["policy"]["substrate"]["flavors"][0]["nodes"] += 1
    [warning] = planned(data, standing, zones=ALL_ZONES).warnings
    assert warning.startswith("nodes counts per zone")
    assert warning.count(" comes to ") == 1
