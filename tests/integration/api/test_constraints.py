# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each call takes: every row of the spec's tables, the spec's sentences, and everything that is wrong at once."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.api.bodies import read
from ansible_collections.better_compute.fleet.daemon.api.calls import CALLS
from ansible_collections.better_compute.fleet.daemon.api.spelling import as_api_spells
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput
from ansible_collections.better_compute.fleet.tests.support.api_client import ApiClient, described
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk

from .spec_tables import MISSING, TABLES, Wrong, forbidden

TAKES = {f"{call.resource}/{call.method}": call.takes for call in CALLS}
EXAMPLES = {f"{call.resource}/{call.method}": call.example for call in CALLS}
CREATE = "kubernetesNodePools/create"
WHOLE: dict[str, Any] = {
    "autoscaling": {"minNodes": 1, "maxNodes": 4},
    "accelerators": {"type": "nvidia-l4", "count": 1},
    "taints": [{"key": "gpu", "effect": "NoSchedule"}],
}


def valid(call: str) -> dict[str, Any]:
    body: dict[str, Any] = copy.deepcopy(dict(EXAMPLES[call]))
    return {**body, **copy.deepcopy(WHOLE)} if call == CREATE else body


def problems(call: str, body: object) -> list[str]:
    """The paths of what is wrong, as the body's reader and the operations' own checks find it."""
    try:
        found = list(as_api_spells(read(TAKES[call], json.dumps(body).encode()).problems()))
    except InvalidInput as wrong:
        found = list(wrong.problems)
    return [problem.path for problem in found]


def put(body: dict[str, Any], field: str, value: Any) -> str:
    """Set a field of a table; its path as problems name it."""
    *above, last = field.split(".")
    holder: Any = body
    for part in above:
        holder = holder[part.removesuffix("[]")]
        holder = holder[0] if part.endswith("[]") else holder
    if value is MISSING:
        del holder[last]
    else:
        holder[last] = value
    return field.replace("[]", "[0]")


@pytest.mark.parametrize("call", TABLES)
def test_a_whole_request_is_taken(call: str) -> None:
    assert problems(call, valid(call)) == []


@pytest.mark.parametrize("wrong", list(forbidden()), ids=str)
def test_what_a_row_of_the_spec_forbids_is_refused_where_it_stands(wrong: Wrong) -> None:
    body = valid(wrong.call)
    path = put(body, wrong.field, wrong.value)
    told = problems(wrong.call, body)
    assert told
    assert all(one.startswith(path) for one in told)


@pytest.mark.parametrize("call", TABLES)
def test_the_description_says_what_the_spec_says(call: str) -> None:
    schemas = described()["components"]["schemas"]
    reference = described()["paths"][f"/api/compute/{call}"]["post"]["requestBody"]["content"]["application/json"]
    root = schemas[reference["schema"]["$ref"].rpartition("/")[2]]
    assert {field for field, *_ in TABLES[call] if "." not in field} == set(root["properties"])
    for field, kind, required, constraints in TABLES[call]:
        holder = root
        *above, last = field.split(".")
        for part in above:
            holder = _resolved(holder["properties"][part.removesuffix("[]")], schemas)
        said = _resolved(holder["properties"][last], schemas)
        assert (last in holder.get("required", [])) == bool(required), field
        if kind in ("string", "integer", "boolean", "object"):
            assert said["type"] == kind, field
        if "-" in constraints and kind == "integer":
            least, _, most = constraints.partition("-")
            assert (said["minimum"], said["maximum"]) == (int(least), int(most)), field
        if "matches " in constraints:
            assert said["pattern"] == constraints.rpartition("matches ")[2], field
        if constraints.startswith("at most") and "matches" in constraints:
            assert said["maxLength"] == int(constraints.split()[2]), field
        if constraints.endswith("items"):
            assert said["maxItems"] == int(constraints.split()[0].partition("-")[2]), field
        if kind.startswith("one of"):
            assert said["enum"] == kind.removeprefix("one of ").split(", "), field
    assert root["additionalProperties"] is False


def _resolved(node: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    if "items" in node and "$ref" in node["items"]:
        return {**schemas[node["items"]["$ref"].rpartition("/")[2]], **node}
    chosen = node["oneOf"][0] if "oneOf" in node else node
    found: dict[str, Any] = schemas[chosen["$ref"].rpartition("/")[2]] if "$ref" in chosen else node
    return found


@pytest.mark.parametrize(
    ("different", "paths"),
    [
        ({"autoscaling": {"minNodes": 5, "maxNodes": 4}}, ["autoscaling.minNodes"]),
        ({"nodeCount": 9}, ["nodeCount"]),
        ({"labels": {f"k{n}": "v" for n in range(33)}}, ["labels"]),
        ({"labels": {"better-compute.dev/x": "v"}}, ["labels.better-compute.dev/x"]),
        ({"labels": {"min_nodes": "no value!"}}, ["labels.min_nodes"]),
        ({"taints": [{"key": "a", "effect": "NoSchedule"}] * 2}, ["taints[1].key"]),
        ({"zones": ["No Zone"]}, ["zones[0]"]),
        ({"nodecount": 2}, ["nodecount"]),
        ({"disk_gib": 20}, ["disk_gib"]),
    ],
)
def test_what_the_spec_says_in_sentences_holds_too(different: dict[str, Any], paths: list[str]) -> None:
    assert problems(CREATE, {**valid(CREATE), **different}) == paths


def test_an_update_names_at_least_one_thing() -> None:
    body = valid("kubernetesNodePools/update")
    del body["nodeCount"], body["autoscaling"]
    assert problems("kubernetesNodePools/update", {**body, "nodePoolId": "x"}) == ["nodePoolId", ""]


def test_everything_that_is_wrong_is_told_at_once_in_the_callers_spelling(caller: ApiClient, desk: Desk) -> None:
    body = {
        "tenantId": "platform",
        "clusterId": desk.cluster.id,
        "name": "Upper",
        "nodeCount": 1001,
        "autoscaling": {"minNodes": 3, "maxNodes": 2},
        "diskGiB": 9,
        "taints": [{"key": "a", "effect": "Never"}],
        "machinetype": "m7i.large",
    }
    reply = caller.call(CREATE, body)
    assert reply.told == (400, "INVALID_INPUT")
    told = ["name", "machineType", "nodeCount", "diskGiB", "machinetype", "autoscaling.minNodes", "taints[0].effect"]
    assert reply.paths == told
    assert "found the number 1001" in reply.body["message"]


def test_the_operations_own_problems_are_told_in_the_callers_spelling(caller: ApiClient, desk: Desk) -> None:
    body = {"tenantId": "platform", "clusterId": desk.cluster.id, "name": "a", "machineType": "b", "nodeCount": 1}
    reply = caller.call(CREATE, {**body, "diskType": "pd-balanced"})
    assert reply.body["problems"] == [
        {
            "path": "diskType",
            "message": "EKS node pools have no disk type to choose: leave it out (diskGiB can be chosen)",
        }
    ]


def test_of_very_many_problems_a_hundred_are_told(caller: ApiClient, desk: Desk) -> None:
    body = {"tenantId": "platform", "clusterId": desk.cluster.id, "name": "a", "machineType": "b", "nodeCount": 1}
    reply = caller.call(CREATE, {**body, "labels": {f"-{n}": "v" for n in range(500)}})
    assert len(reply.body["problems"]) == 101
    assert reply.body["problems"][-1]["message"] == "… and 401 more"


@pytest.mark.parametrize("field", ["labels", "zones", "taints", "unknown"])
def test_what_has_more_entries_than_any_request_is_not_looked_at_further(field: str) -> None:
    many: Any = {f"k{n}": "v" for n in range(5_000)} if field == "labels" else [["x", "y"]] * 2_500
    assert problems(CREATE, {**valid(CREATE), field: many}) == [""]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"a"', b"null", b"{\xff}", b'{"a": NaN}', b"[" * 10_000])
def test_what_is_no_json_object_is_invalid(caller: ApiClient, content: bytes) -> None:
    assert caller.call(CREATE, content).told == (400, "INVALID_INPUT")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "an empty body"),
        (b"tenantId=acme", "what is no JSON: expected "),
        (b"[]", "a list"),
    ],
)
def test_a_body_that_is_no_object_is_told_what_was_expected(caller: ApiClient, content: bytes, found: str) -> None:
    reply = caller.call("kubernetesClusters/get", content)
    assert reply.told == (400, "INVALID_INPUT")
    assert reply.body["message"].startswith(f"expected a JSON object with tenantId, clusterId; found {found}")
