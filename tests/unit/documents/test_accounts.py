# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Accounts of the three providers, and what their substrates may say: the spec's table of provider differences."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # the lock has no stubs for it
import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.hopeless import hopeless
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.schema import document_schema
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import account_of, on_account, put

CONFIG = "providerAccounts[0].config"
SUBSTRATE = "pools[0].policy.substrate"
FLAVOR = f"{SUBSTRATE}.flavors[0]"
SPOT = {"allowSpot": True, "previews": True}


def told(data: dict[str, Any]) -> dict[str, str]:
    """Path -> message of everything that is wrong with a document; at least one thing must be."""
    with pytest.raises(InvalidInput) as caught:
        parse_document(data)
    return {problem.path: problem.message for problem in caught.value.problems}


def only(data: dict[str, Any]) -> tuple[str, str]:
    """The one problem of a document."""
    (problem,) = told(data).items()
    return problem


def alone(provider: str, **config: Any) -> dict[str, Any]:
    """A document that has only an account."""
    return {"version": 1, "providerAccounts": [account_of(provider, "one", **config)]}


@pytest.mark.parametrize(
    ("provider", "config"),
    [
        ("gcp", {}),
        ("gcp", {"projectId": "example.com:old-project", "zones": ["us-central1-a", "us-central1-ai1a"]}),
        ("gcp", {"credential": {"file": "/etc/key.json"}, "endpointUrl": "http://127.0.0.1:1", "caFile": "/ca.pem"}),
        ("gcp", {"credential": {"env": "GOOGLE_KEY"}}),
        ("digitalocean", {}),
        ("digitalocean", {"credential": {"file": "/etc/token"}, **SPOT}),
        ("digitalocean", {"endpointUrl": "https://127.0.0.1:1", "caFile": "/ca.pem"}),
    ],
)
def test_an_account_of_each_provider_is_taken_and_its_config_kept(provider: str, config: dict[str, Any]) -> None:
    data = alone(provider, **config)
    (account,) = parse_document(data).accounts
    assert account.provider == provider
    assert config.items() <= account.config.items()
    assert hopeless(parse_document(data)) == ()
    jsonschema.Draft202012Validator(document_schema()).validate(data)


def test_an_ambient_google_credential_is_the_same_as_none() -> None:
    assert parse_document(alone("gcp", credential="ambient")) == parse_document(alone("gcp"))


@pytest.mark.parametrize(
    ("provider", "key", "value", "message"),
    [
        ("gcp", "projectId", "My-Project", "expected a Google Cloud project's id"),
        ("gcp", "projectId", "my-project\n", "expected a Google Cloud project's id"),
        ("gcp", "projectId", "123456789", "expected a Google Cloud project's id"),
        ("gcp", "region", "us-central1", "unknown key; "),
        ("gcp", "eksSubnetIds", [], "unknown key; "),
        ("gcp", "zones", [], "expected at least 1 items, found 0"),
        ("gcp", "zones", ["us-central1-a"] * 11, "expected at most 10 items, found 11"),
        ("digitalocean", "region", "NYC1", "expected a DigitalOcean region, e.g. nyc1"),
        ("digitalocean", "zones", ["nyc1"], "unknown key; "),
        ("digitalocean", "allowSpot", "yes", "expected true or false"),
        ("digitalocean", "previews", 1, "expected true or false"),
        ("digitalocean", "credential", "ambient", "a secret never stands in a document"),
        ("digitalocean", "token", "dop_v1_CANARY", "unknown key; a secret never stands in a document"),
        ("digitalocean", "credential", "dop_v1_CANARY", "a secret never stands in a document"),
        ("gcp", "credential", {"file": "key.json"}, "file must be an absolute path"),
        ("gcp", "credential", {"private_key": "CANARY"}, "a secret never stands in a document"),
        ("gcp", "endpointUrl", "https://user:CANARY@x", "expected an https URL"),
    ],
)
def test_a_config_is_its_providers_own_and_closed(provider: str, key: str, value: Any, message: str) -> None:
    said = told(alone(provider, **{key: value}))
    assert said[f"{CONFIG}.{key}"].startswith(message)
    assert "CANARY" not in json.dumps(said)


def test_a_digitalocean_account_says_where_its_token_is() -> None:
    data = alone("digitalocean")
    del data["providerAccounts"][0]["config"]["credential"]
    assert only(data) == (f"{CONFIG}.credential", "is required, and is not there")


@pytest.mark.parametrize("zone", ["us-central1", "us-central1-A", "us-east-1a", "a"])
def test_a_google_accounts_zones_are_zones(zone: str) -> None:
    assert only(alone("gcp", zones=[zone]))[0] == f"{CONFIG}.zones[0]"


@pytest.mark.parametrize("location", ["us-central1", "us-central1-a"])
def test_a_gke_cluster_stands_in_a_region_or_a_zone(location: str) -> None:
    flavor = {"zones": ["us-central1-a"], "diskType": "pd-ssd", "diskGiB": 100, "nodes": 0, "spot": True}
    parse_document(on_account("gcp", location, flavor))
    parse_document(on_account("gcp", location, flavor, zones=["us-central1-a", "us-central1-b"]))


@pytest.mark.parametrize(
    ("location", "config", "message"),
    [
        ("us-east-1", {}, "expected a region or zone, e.g. us-central1 or us-central1-a"),
        ("nyc1", {}, "expected a region or zone"),
        ("europe-west4", {"zones": ["us-central1-a"]}, "expected one of the account's zones, or their region"),
        ("us-central1-b", {"zones": ["us-central1-a"]}, "expected one of the account's zones, or their region"),
    ],
)
def test_a_gke_cluster_stands_where_its_account_is(location: str, config: dict[str, Any], message: str) -> None:
    place, said = only(on_account("gcp", location, {}, **config))
    assert (place, said.startswith(message)) == (f"{SUBSTRATE}.cluster.create.location", True)


@pytest.mark.parametrize("location", ["us-central1", "us-central1-b"])
@pytest.mark.parametrize(
    ("zone", "message"),
    [
        ("europe-west4-a", "expected a zone of the cluster's region us-central1"),
        ("us-central1", "expected a zone of the cluster's region us-central1"),
        ("us-central1-f", "expected one of the account's zones"),
    ],
)
def test_a_gke_flavors_zones_are_its_clusters_and_its_accounts(location: str, zone: str, message: str) -> None:
    data = on_account("gcp", location, {"zones": [zone]}, zones=["us-central1-a", "us-central1-b"])
    place, said = only(data)
    assert (place, said.startswith(message)) == (f"{FLAVOR}.zones[0]", True)


def test_a_doks_cluster_stands_in_its_accounts_region() -> None:
    parse_document(on_account("digitalocean", "nyc1", {}))
    assert only(on_account("digitalocean", "ams3", {})) == (
        f"{SUBSTRATE}.cluster.create.location",
        'expected the account\'s region nyc1, found the string "ams3"',
    )


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("zones", ["nyc1"], "DOKS node pools are regional: leave zones out"),
        ("diskGiB", 100, "DOKS node pools take the disk of their machine type: leave diskGiB out"),
        ("diskType", "ssd", "DOKS node pools have no disk type to choose: leave diskType out"),
        ("nodes", 0, "expected at least 1, found the number 0: a DOKS node pool has no nodes only with autoscaling"),
        ("spot", True, "Spot is a preview at DigitalOcean: the account's config needs allowSpot and previews true"),
    ],
)
def test_a_doks_flavor_has_what_doks_gives(key: str, value: Any, message: str) -> None:
    place, said = only(on_account("digitalocean", "nyc1", {key: value}))
    assert (place, said.startswith(message)) == (f"{FLAVOR}.{key}", True)


def test_a_doks_flavor_has_no_nodes_with_autoscaling_from_zero() -> None:
    parse_document(on_account("digitalocean", "nyc1", {"nodes": 0, "autoscaling": {"minNodes": 0, "maxNodes": 2}}))
    data = on_account("digitalocean", "nyc1", {"nodes": 0, "autoscaling": {"minNodes": 1, "maxNodes": 2}})
    assert f"{FLAVOR}.nodes" in told(data)


@pytest.mark.parametrize("missing", ["allowSpot", "previews"])
def test_a_doks_flavor_is_spot_where_the_account_says_so_twice(missing: str) -> None:
    parse_document(on_account("digitalocean", "nyc1", {"spot": True}, **SPOT))
    data = on_account("digitalocean", "nyc1", {"spot": True}, **(SPOT | {missing: False}))
    assert only(data)[1].endswith(f"needs {missing} true")


def test_every_account_is_checked_by_its_own_providers_model() -> None:
    data = {
        "version": 1,
        "providerAccounts": [account_of("gcp", "a", region="x"), account_of("digitalocean", "b", projectId="x")],
    }
    assert told(data).keys() == {
        "providerAccounts[0].config.region",
        "providerAccounts[1].config.projectId",
    }


def test_an_account_without_a_provider_is_told_so() -> None:
    data = alone("aws")
    del data["providerAccounts"][0]["provider"]
    assert only(data) == ("providerAccounts[0].provider", "is required, and is not there")


def test_private_nodes_mean_nothing_at_digitalocean() -> None:
    data = put(on_account("digitalocean", "nyc1", {}), "pools.0.policy.substrate.cluster.create.privateNodes", True)
    paths = [problem.path for problem in hopeless(parse_document(data))]
    assert f"{SUBSTRATE}.cluster.create.privateNodes" in paths


def resolved(schema: dict[str, Any], field: dict[str, Any]) -> dict[str, Any]:
    """The model that a field is, or an empty one."""
    model: dict[str, Any] = schema["$defs"].get(field.get("$ref", "").rpartition("/")[2], {})
    return model


def test_every_field_of_the_schema_says_what_it_is_for() -> None:
    schema = document_schema()
    silent = [
        f"{name}.{key}"
        for name, model in {"FleetConfig": schema, **schema["$defs"]}.items()
        for key, field in model.get("properties", {}).items()
        if "description" not in field | resolved(schema, field) and not name.endswith(("Env", "File"))
    ]
    assert silent == []
