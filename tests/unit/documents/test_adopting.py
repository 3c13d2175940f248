# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ids of clusters to adopt: what each provider's look like, their one spelling, and what lies beside them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.hopeless import hopeless
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.written import document_data
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import AdoptCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import on_account, put

ADOPT = "pools[0].policy.substrate.cluster.adopt"
UUID = "bd5f5959-5e1e-4205-a714-a914373942af"


def adopting(provider: str, text: object, flavor: dict[str, Any] | None = None, **config: Any) -> dict[str, Any]:
    """The example on an account of a provider's, with a cluster to adopt."""
    data = on_account(provider, "", flavor or {}, **config)
    result: dict[str, Any] = put(data, "pools.0.policy.substrate.cluster", {"adopt": text})
    return result


def problems(data: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        parse_document(data)
    return {problem.path: problem.message for problem in caught.value.problems}


@pytest.mark.parametrize(
    ("provider", "text", "known_as"),
    [
        ("aws", "us-east-1/prod", "us-east-1/prod"),
        ("aws", "US-East-1/Prod_9-x", "us-east-1/Prod_9-x"),
        ("aws", f"us-east-1/{'a' * 100}", f"us-east-1/{'a' * 100}"),
        ("gcp", "us-central1/prod", "us-central1/prod"),
        ("gcp", "us-central1-a/prod", "us-central1-a/prod"),
        ("gcp", "US-CENTRAL1-A/prod", "us-central1-a/prod"),
        ("gcp", f"us-central1/{'p' * 40}", f"us-central1/{'p' * 40}"),
        ("digitalocean", UUID, UUID),
        ("digitalocean", UUID.upper(), UUID),
    ],
)
def test_an_id_is_recorded_in_one_spelling_and_written_again(provider: str, text: str, known_as: str) -> None:
    config = parse_document(adopting(provider, text))
    substrate = config.pools[0].substrate
    assert substrate is not None
    assert substrate.cluster == AdoptCluster(id=known_as)
    assert parse_document(document_data(config)) == config


@pytest.mark.parametrize(
    ("provider", "text"),
    [
        *(("aws", text) for text in ("prod", "us-east-1", "us-east-1/", "/prod", "us-east-1/a/b", "us-east-1a/prod")),
        *(
            ("aws", text)
            for text in ("us-east-1/-a", "us-east-1/a b", f"us-east-1/{'a' * 101}", "us-east-1/prod\n", "")
        ),
        ("aws", "arn:aws:eks:us-east-1:111111111111:cluster/prod"),
        *(("gcp", text) for text in ("prod", "us-central1/Prod", "us-central1/9", "us/prod", "us-central1-a-b/prod")),
        *(("gcp", text) for text in (f"us-central1/{'a' * 41}", "us-central1/prod-", "us-\u212aentral1/prod")),
        *(("digitalocean", text) for text in ("prod", UUID[:-1], f"{UUID}\n", UUID.replace("-", ""), f"nyc1/{UUID}")),
    ],
)
def test_what_is_no_id_at_the_provider_is_refused_with_what_one_looks_like(provider: str, text: str) -> None:
    told = problems(adopting(provider, text))
    assert list(told) == [ADOPT]
    looks = {"aws": "<region>/<cluster name>", "gcp": "<location>/<cluster name>", "digitalocean": "UUID"}
    assert looks[provider] in told[ADOPT]


@pytest.mark.parametrize(
    ("provider", "text", "config"),
    [
        ("aws", "eu-west-1/prod", {}),
        ("gcp", "us-east1/prod", {"zones": ["us-central1-a"]}),
        ("gcp", "us-central1-b/prod", {"zones": ["us-central1-a"]}),
    ],
)
def test_an_adopted_cluster_stands_where_its_account_is(provider: str, text: str, config: dict[str, Any]) -> None:
    assert list(problems(adopting(provider, text, **config))) == [ADOPT]


def test_a_flavors_zones_are_the_adopted_clusters() -> None:
    told = problems(adopting("gcp", "us-central1/prod", {"zones": ["us-east1-b"]}))
    assert list(told) == ["pools[0].policy.substrate.flavors[0].zones[0]"]


@pytest.mark.parametrize(
    ("cluster", "told"),
    [
        ({}, {"cluster": "expected one of create and adopt, found neither"}),
        (
            {"create": {"location": "us-east-1"}, "adopt": "us-east-1/a"},
            {"cluster": "expected one of create and adopt, found both"},
        ),
        ({"adopt": None}, {"cluster.adopt": "null is no value: leave the key out"}),
        ({"adopt": 5}, {"cluster.adopt": "expected a string, found the number 5: put it in quotes"}),
    ],
)
def test_a_cluster_is_made_or_adopted(cluster: dict[str, Any], told: dict[str, str]) -> None:
    data = put(adopting("aws", "us-east-1/a"), "pools.0.policy.substrate.cluster", cluster)
    assert problems(data) == {f"pools[0].policy.substrate.{path}": message for path, message in told.items()}


def test_an_adoption_is_told_beside_all_other_problems() -> None:
    told = problems(put(adopting("aws", "prod"), "pools.0.gpuModel", "-"))
    assert set(told) == {ADOPT, "pools[0].gpuModel"}


def test_two_pools_of_a_document_do_not_adopt_one_cluster() -> None:
    data = adopting("gcp", "us-central1-a/prod")
    data["pools"].append(copy.deepcopy(data["pools"][0]) | {"name": "second"})
    put(data, "pools.1.policy.substrate.cluster.adopt", "US-Central1-A/prod")
    told = problems(data)
    assert told == {
        "pools[1].policy.substrate.cluster.adopt": "one cluster backs one pool, and cluster us-central1-a/prod of "
        f"account managed-k8s is adopted already: {ADOPT}"
    }
    put(data, "pools.1.policy.substrate.cluster.adopt", "us-central1/prod")
    adopted = [pool.substrate.cluster for pool in parse_document(data).pools if pool.substrate]
    assert adopted == [AdoptCluster(id="us-central1-a/prod"), AdoptCluster(id="us-central1/prod")], "two clusters"


@pytest.mark.parametrize(("provider", "text"), [("gcp", "us-central1/prod"), ("digitalocean", UUID)])
def test_the_name_of_a_flavors_node_pool_on_an_adopted_cluster_must_fit(provider: str, text: str) -> None:
    longest, longer = "f" * 30, "f" * 31
    assert not hopeless(parse_document(adopting(provider, text, {"name": longest})))
    (problem,) = hopeless(parse_document(adopting(provider, text, {"name": longer})))
    assert problem.path == "pools[0].policy.substrate.flavors[0].name"
    assert f"the node pool's name at the provider, bc-??????-{longer}, has 41 characters" in problem.message
    assert "at most 40" in problem.message
    assert not hopeless(parse_document(adopting("aws", "us-east-1/prod", {"name": "f" * 40}))), "EKS takes 63"
