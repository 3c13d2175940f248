# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A FleetConfig is taken whole or refused with everything that is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # the lock has no stubs for it
import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import load_file, parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.schema import document_schema
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import (
    Account,
    CreateCluster,
    Flavor,
    FleetConfig,
    Gpus,
    Pool,
    Quota,
    Site,
    Substrate,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import EXAMPLE, changed, example, put

ACCOUNT = "providerAccounts.0"
CONFIG = f"{ACCOUNT}.config"
POOL = "pools.0"
SUBSTRATE = f"{POOL}.policy.substrate"
FLAVOR = f"{SUBSTRATE}.flavors.0"
SPELT = "pools[0].policy.substrate"


def problems(data: object) -> dict[str, str]:
    """Path -> message of everything that is wrong with a document; at least one thing must be."""
    with pytest.raises(InvalidInput) as caught:
        parse_document(data)
    return {problem.path: problem.message for problem in caught.value.problems}


def problem(path: str, value: Any) -> tuple[str, str]:
    """The one problem of the example with one value put in."""
    (found,) = problems(changed(path, value)).items()
    return found


def test_the_example_is_read_whole() -> None:
    gpus = Gpus(type="nvidia-h100", count=8)
    assert parse_document(load_file(EXAMPLE)) == FleetConfig(
        sites=(Site(name="k8s", kind="shared", region="us-east-1"),),
        accounts=(
            Account(
                name="managed-k8s",
                provider="aws",
                config={
                    "region": "us-east-1",
                    "zones": ["us-east-1a", "us-east-1b"],
                    "eksClusterRoleArn": "arn:aws:iam::111111111111:role/eks-cluster",
                    "eksNodeRoleArn": "arn:aws:iam::111111111111:role/eks-node",
                    "eksSubnetIds": ["subnet-0000000000000000a", "subnet-0000000000000000b"],
                },
            ),
        ),
        pools=(
            Pool(
                name="gpu-fleet",
                site="k8s",
                class_="metal-host",
                gpu_model="H100",
                platform_operated=True,
                substrate=Substrate(
                    account="managed-k8s",
                    cluster=CreateCluster(location="us-east-1"),
                    flavors=(
                        Flavor(name="h100", machine_type="p5.48xlarge", nodes=2, gpus=gpus),
                        Flavor(name="h100-spot", machine_type="p5.48xlarge", nodes=1, gpus=gpus, spot=True),
                    ),
                ),
            ),
        ),
        quotas=(Quota(pool="gpu-fleet", gpus=16),),
    )


def test_an_empty_document_declares_nothing() -> None:
    assert parse_document({"version": 1}) == FleetConfig()


def test_all_problems_are_told_at_once_those_between_parts_too() -> None:
    data = example()
    put(data, f"{FLAVOR}.nodes", "2")
    put(data, f"{SUBSTRATE}.account", "nobody")
    put(data, "sites.0.kind", "private")
    data["pools"].append(data["pools"][0] | {"site": "nowhere"})
    data["quotas"].append({"pool": "gone", "gpus": 1, "unit": "h"})
    assert {
        f"{SPELT}.flavors[0].nodes",
        f"{SPELT}.account",
        "sites[0].kind",
        "pools[1].site",
        "pools[1].name",
        "quotas[1].pool",
        "quotas[1].unit",
    } <= problems(data).keys()


@pytest.mark.parametrize("value", [None, [], "text", 1, True])
def test_what_is_no_mapping_is_no_document(value: object) -> None:
    assert "expected a FleetConfig (a mapping)" in problems(value)[""]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (f"{FLAVOR}.nodes", "2", 'expected a whole number, found the string "2"'),
        (f"{FLAVOR}.nodes", True, "expected a whole number, found true"),
        (f"{FLAVOR}.nodes", 2.0, "expected a whole number, found the number 2.0"),
        (f"{FLAVOR}.nodes", -1, "expected at least 0, found the number -1"),
        (f"{FLAVOR}.nodes", 1001, "expected at most 1000, found the number 1001"),
        (f"{FLAVOR}.spot", "yes", 'expected true or false, found the string "yes"'),
        (f"{FLAVOR}.spot", 1, "expected true or false, found the number 1"),
        (f"{FLAVOR}.gpus.count", 17, "expected at most 16, found the number 17"),
        (f"{FLAVOR}.diskGiB", 9, "expected at least 10, found the number 9"),
        (f"{SUBSTRATE}.flavors", {}, "expected a list, found a mapping"),
        (f"{SUBSTRATE}.flavors", [], "expected at least 1 items, found 0"),
        (f"{POOL}.policy", [], "expected a mapping, found a list"),
        (f"{POOL}.gpuModel", 100, "expected a string, found the number 100: put it in quotes"),
        (f"{POOL}.class", "vm", "expected 'metal-host', found the string \"vm\""),
        (f"{POOL}.policy.kubernetes.platformOperated", "no", 'expected true or false, found the string "no"'),
        ("sites.0.kind", "own", "expected 'shared', found the string \"own\""),
        ("version", True, "expected 1, found true"),
        ("version", 2, "expected 1, found the number 2"),
        (f"{POOL}.policy.kubernetes", None, "null is no value: leave the key out"),
        (f"{FLAVOR}.gpus", None, "null is no value: leave the key out"),
    ],
)
def test_a_wrong_value_is_told_with_what_was_expected_and_what_was_found(path: str, value: Any, message: str) -> None:
    assert problem(path, value)[1] == message


def test_a_path_is_spelt_as_the_document_spells_it() -> None:
    assert problem(f"{FLAVOR}.nodes", -1)[0] == "pools[0].policy.substrate.flavors[0].nodes"


@pytest.mark.parametrize("name", ["h100\n", "h\u00b2", "h\u0663", "H100", "-h", "h-", "", "a" * 41, "h 1", "h\ud800"])
def test_a_flavor_has_a_whole_ascii_name(name: str) -> None:
    assert problem(f"{FLAVOR}.name", name)[0] == f"{SPELT}.flavors[0].name"


@pytest.mark.parametrize("name", ["abc\n", "fl\u00e4che", "\u0663", "", "a" * 129, "a/b"])
def test_a_tenant_has_a_whole_ascii_name(name: str) -> None:
    for section in ("sites", "providerAccounts", "pools", "quotas"):
        assert f"{section}[0].tenantId" in problems(changed(f"{section}.0.tenantId", name))


def test_what_names_no_owner_is_the_platforms_and_a_whole_name_is_taken() -> None:
    for owner in ("platform", "A.b_c:d-9" + "x" * 119):
        data = example()
        for section in ("sites", "providerAccounts", "pools", "quotas"):
            data[section][0] |= {} if owner == "platform" else {"tenantId": owner}
        config = parse_document(data)
        for items in (config.sites, config.accounts, config.pools, config.quotas):
            assert [item.tenant_id for item in items] == [owner]


@pytest.mark.parametrize("region", ["", "US East", "us-east-1\n", "r" * 64, "\u00e4"])
def test_a_region_is_a_plain_name(region: str) -> None:
    assert problem("sites.0.region", region)[0] == "sites[0].region"


@pytest.mark.parametrize("model", ["", "H 100", "H100\n", "-H100", "H" * 64, "H\u00b2"])
def test_a_gpu_model_is_a_plain_name(model: str) -> None:
    assert problem("pools.0.gpuModel", model)[0] == "pools[0].gpuModel"


@pytest.mark.parametrize(
    ("path", "key", "message"),
    [
        (FLAVOR, "machine_type", "unknown key; did you mean machineType?"),
        (FLAVOR, "node", "unknown key; did you mean nodes?"),
        ("sites.0", "zzz", "unknown key; known here: kind, name, region, tenantId"),
    ],
)
def test_an_unknown_key_is_refused_with_a_hint(path: str, key: str, message: str) -> None:
    assert problem(f"{path}.{key}", "x")[1].startswith(message)


@pytest.mark.parametrize("section", ["offers", "sandboxTemplates", "loadBalancers"])
def test_a_section_of_another_product_is_refused_by_name(section: str) -> None:
    data = example() | {section: []}
    assert "belongs to another product of the platform" in problems(data)[section]


def test_a_key_that_is_no_string_is_refused() -> None:
    assert problems({"version": 1, 5: []}) == {"": "a key must be a string, found the number 5"}


def test_a_provider_that_is_none_is_told_once_with_those_that_there_are() -> None:
    data = put(changed(f"{ACCOUNT}.provider", "azure"), CONFIG, {"subscription": "mine"})
    assert problems(data) == {
        "providerAccounts[0].provider": "expected one of 'aws', 'gcp', 'digitalocean', found the string \"azure\""
    }


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (f"{POOL}.site", "nowhere", "pools[0].site"),
        (f"{SUBSTRATE}.account", "nobody", f"{SPELT}.account"),
        ("quotas.0.pool", "gone", "quotas[0].pool"),
    ],
)
def test_a_name_that_refers_to_nothing_is_refused(path: str, value: str, place: str) -> None:
    found, message = problem(path, value)
    assert (found, message.startswith("there is no ")) == (place, True)


@pytest.mark.parametrize("section", ["sites", "providerAccounts", "pools"])
def test_a_name_is_there_once(section: str) -> None:
    data = example()
    (item,) = data[section]
    data[section].append(item)
    told = f'the string "{item["name"]}" is there twice: also at {section}[0]'
    assert problems(data) == {f"{section}[1].name": told}


def test_a_flavor_a_zone_a_subnet_and_a_quota_are_there_once() -> None:
    data = example()
    flavors = data["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[1]["name"] = flavors[0]["name"]
    flavors[0]["zones"] = ["us-east-1a", "us-east-1a"]
    put(data, f"{CONFIG}.eksSubnetIds", ["subnet-0000000000000000a"] * 2)
    data["quotas"].append({"pool": "gpu-fleet", "gpus": 1})
    assert problems(data).keys() == {
        f"{SPELT}.flavors[1].name",
        f"{SPELT}.flavors[0].zones[1]",
        "providerAccounts[0].config.eksSubnetIds[1]",
        "quotas[1]",
    }


def test_two_tenants_may_each_have_a_quota_on_one_pool() -> None:
    data = example()
    data["quotas"].append({"tenantId": "acme", "pool": "gpu-fleet", "gpus": 1})
    assert len(parse_document(data).quotas) == 2


def test_an_account_of_another_tenant_is_refused() -> None:
    path, message = problem(f"{ACCOUNT}.tenantId", "acme")
    assert (path, message.startswith("the account belongs to tenant acme, the pool to platform")) == (
        f"{SPELT}.account",
        True,
    )


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("us-east-1a", "an EKS cluster stands in a region, not in a zone"),
        ("eu-west-1", "expected the account's region us-east-1"),
    ],
)
def test_an_eks_cluster_stands_in_its_accounts_region(location: str, message: str) -> None:
    path, told = problem(f"{SUBSTRATE}.cluster.create.location", location)
    assert (path, message in told) == (f"{SPELT}.cluster.create.location", True)


@pytest.mark.parametrize("zone", ["us-east-1c", "us-west-2a", "us-east-1"])
def test_a_flavors_zones_are_its_accounts(zone: str) -> None:
    assert problem(f"{FLAVOR}.zones", [zone])[0] == f"{SPELT}.flavors[0].zones[0]"


def test_an_accounts_zones_are_its_regions() -> None:
    assert problem(f"{CONFIG}.zones", ["us-west-2a"])[0] == "providerAccounts[0].config.zones[0]"


@pytest.mark.parametrize("credential", [{"env": "FLEET_AWS"}, {"file": "/etc/better-compute/aws"}])
def test_a_document_says_where_a_credential_is(credential: dict[str, str]) -> None:
    (account,) = parse_document(changed(f"{CONFIG}.credential", credential)).accounts
    assert account.config["credential"] == credential


def test_an_ambient_credential_is_the_same_as_none() -> None:
    assert parse_document(changed(f"{CONFIG}.credential", "ambient")) == parse_document(example())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("credential", "CANARY"),
        ("credential", {"secretAccessKey": "CANARY"}),
        ("credential", {"env": "CANARY CANARY"}),
        ("credential", {"file": "CANARY"}),
        ("secretAccessKey", "CANARY"),
        ("aws_session_token", "CANARY"),
        ("endpointUrl", "https://user:CANARY@example.com"),
        ("endpointUrl", "https://example.com:CANARY"),
        ("zones", "CANARY"),
    ],
)
def test_a_secret_in_a_document_is_refused_and_not_repeated(key: str, value: Any) -> None:
    told = problems(changed(f"{CONFIG}.{key}", value))
    assert "CANARY" not in json.dumps(told)


def test_an_inline_secret_is_answered_with_what_to_do() -> None:
    assert problem(f"{CONFIG}.secretAccessKey", "x")[1].startswith("unknown key; a secret never stands in a document")


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("http://127.0.0.1:4566", True),
        ("https://eks.example.com/v1", True),
        ("http://eks.example.com", False),
        ("https://", False),
        ("file:///etc/passwd", False),
        ("https://eks.example.com\n", False),
    ],
)
def test_an_endpoint_is_https_or_on_this_machine(url: str, *, taken: bool) -> None:
    data = changed(f"{CONFIG}.endpointUrl", url)
    if taken:
        assert parse_document(data).accounts[0].config["endpointUrl"] == url
    else:
        assert problems(data).keys() == {"providerAccounts[0].config.endpointUrl"}


def test_a_document_nested_without_end_is_refused() -> None:
    deep: list[Any] = []
    for _level in range(100_000):
        deep = [deep]
    assert problems({"version": 1, "sites": deep}) == {"sites" + "[0]" * 31: "nested more than 32 deep"}


def test_the_schema_takes_the_example_and_refuses_an_unknown_key() -> None:
    schema = document_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(example())
    assert not validator.is_valid(changed(f"{FLAVOR}.node", 1))
    assert not validator.is_valid(changed(f"{FLAVOR}.gpus", None))
    assert not validator.is_valid(changed(f"{FLAVOR}.nodes", 1001))
