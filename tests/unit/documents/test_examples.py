# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example that is shipped is taken by the collection and by an editor, and makes the plan that it promises."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # the lock has no stubs for it
import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.hopeless import hopeless
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import load_file, parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.schema import document_schema
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records, plan
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import EXAMPLE

FOLDER = EXAMPLE.parent.resolve()
EXAMPLES = sorted(file.name for file in FOLDER.iterdir())
SIZES = {
    "autoscaling.json": [
        "inference/l4 2 x 2 = 4 (2..16)",
        "inference/l4-burst 0 x 1 = 0 (0..4)",
    ],
    "labels-and-taints.yml": ["research/h100 1 x 2 = 2", "research/h100-spot 2 x 2 = 4 spot"],
    "two-regions.yml": ["l4-us/l4 2 x 2 = 4", "l4-eu/l4 1 x 2 = 2"],
    "versions-and-upgrades.yml": ["steady/l4 1 x 2 = 2"],
    "credentials.json": ["east/l4 1 x 1 = 1", "west/l4 1 x 1 = 1"],
    "fleet.json": [
        "gpu-aws/h100 2 x 2 = 4",
        "gpu-aws/h100-spot 1 x 2 = 2 spot",
        "gpu-gcp/h100 2 x 1 = 2",
        "gpu-gcp/h100-spot 1 x 1 = 1 spot",
        "gpu-digitalocean/h100 2 x None = 2",
        "gpu-digitalocean/h100-spot 1 x None = 1 spot",
    ],
    "fleet-adopt.json": ["gpu-aws/h100 2 x 1 = 2", "gpu-gcp/h100 2 x 1 = 2", "gpu-digitalocean/h100 2 x None = 2"],
    "fleet-aws.json": ["gpu-fleet/h100 2 x 2 = 4", "gpu-fleet/h100-spot 1 x 2 = 2 spot"],
    "fleet-gcp.json": ["gpu-fleet/h100 2 x 1 = 2", "gpu-fleet/h100-spot 1 x 1 = 1 spot"],
    "fleet-digitalocean.json": ["gpu-fleet/h100 2 x None = 2", "gpu-fleet/h100-spot 1 x None = 1 spot"],
    "one-small-pool.json": ["small/l4 1 x 1 = 1"],
    "spot-only.yml": ["batch/a100-spot 2 x 2 = 4 spot"],
    "tenants-and-quotas.yml": ["shared/h100 2 x 2 = 4", "acme:acme-own/l4 4 x 1 = 4"],
    "two-pools-one-account.json": [
        "training/h100 2 x 2 = 4",
        "inference/l4 3 x 2 = 6",
        "inference/l4-spot 1 x 2 = 2 spot",
    ],
    "zone-pinned-flavor.json": ["gpu-fleet/h100-a 2 x 1 = 2", "gpu-fleet/h100-b 1 x 1 = 1"],
}
PER_ZONE = (
    "autoscaling.json",
    "fleet-aws.json",
    "labels-and-taints.yml",
    "spot-only.yml",
    "tenants-and-quotas.yml",
    "two-pools-one-account.json",
    "two-regions.yml",
    "versions-and-upgrades.yml",
)
UNEVEN = {
    "fleet.json": ["flavor h100", "flavor h100-spot"],
    **{name: ["nodes counts per zone at EKS and GKE, and is the total at DOKS"] for name in PER_ZONE},
}
"""What is said of flavors that come to other totals at other providers: an AWS account's subnets are in two zones."""
PROVIDERS = ["aws", "gcp", "digitalocean"]
each_example = pytest.mark.parametrize("name", EXAMPLES)


def data_of(name: str) -> Any:
    return load_file(FOLDER / name)


@each_example
def test_an_example_makes_the_plan_that_it_promises(name: str) -> None:
    config = parse_document(data_of(name))
    zones = {account.name: tuple(account.config.get("zones", ())) for account in config.accounts}
    made = plan(config, Records(), zones={key: known for key, known in zones.items() if known}, prune=False)
    assert (hopeless(config), made.blocked) == ((), ())
    assert [warning.partition(":")[0] for warning in made.warnings] == UNEVEN.get(name, [])
    assert sorted(
        f"{size.pool}/{size.flavor} {size.nodes} x {size.zones} = {size.total}{' spot' if size.spot else ''}"
        + (f" ({size.least}..{size.most})" if size.bounds else "")
        for size in made.sizes
    ) == sorted(SIZES[name])


@each_example
def test_no_example_promises_more_than_its_pools_hold(name: str) -> None:
    config = parse_document(data_of(name))
    zones = {account.name: tuple(account.config.get("zones", ())) for account in config.accounts}
    made = plan(config, Records(), zones={key: known for key, known in zones.items() if known}, prune=False)
    for pool in config.pools:
        held = sum(size.gpus or 0 for size in made.sizes if size.pool.rpartition(":")[2] == pool.name)
        assert 0 < sum(quota.gpus for quota in config.quotas if quota.pool == pool.name) <= held


@each_example
def test_an_example_is_what_the_schema_takes_and_names_the_schema(name: str) -> None:
    jsonschema.Draft202012Validator(document_schema()).validate(data_of(name))
    text = (FOLDER / name).read_text(encoding="utf-8")
    where = json.loads(text)["$schema"] if name.endswith(".json") else text.partition("$schema=")[2].split()[0]
    assert (FOLDER / where).resolve() == FOLDER.parent / "docs" / "schema" / "fleet-config.v1.json"
    assert (FOLDER / where).is_file()


def test_the_three_providers_examples_differ_in_what_the_account_calls_things_and_in_nothing_else() -> None:
    aws, gcp, digitalocean = (_neutral(data_of(f"fleet-{provider}.json")) for provider in PROVIDERS)
    assert aws == gcp == digitalocean


def test_the_example_of_all_three_is_the_three_examples_in_one() -> None:
    whole = data_of("fleet.json")
    assert [account["provider"] for account in whole["providerAccounts"]] == PROVIDERS
    for provider, site, account, pool in zip(
        PROVIDERS, whole["sites"], whole["providerAccounts"], whole["pools"], strict=True
    ):
        one = data_of(f"fleet-{provider}.json")
        assert account["config"] == one["providerAccounts"][0]["config"]
        assert pool["policy"] == _on_account(one["pools"][0]["policy"], account["name"])
        assert site["region"] == one["sites"][0]["region"]


def _neutral(data: dict[str, Any]) -> dict[str, Any]:
    """A document without what its provider has names for."""
    data["sites"][0]["region"] = ""
    data["providerAccounts"] = [data["providerAccounts"][0]["name"]]
    substrate = data["pools"][0]["policy"]["substrate"]
    substrate["cluster"]["create"]["location"] = ""
    for flavor in substrate["flavors"]:
        flavor["machineType"] = flavor["gpus"]["type"] = ""
    return data


def _on_account(policy: dict[str, Any], name: str) -> dict[str, Any]:
    return {**policy, "substrate": {**policy["substrate"], "account": name}}
