# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The OpenAPI document by itself: valid, whole, and with examples that its own schemas take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # comes without types
from schemathesis.openapi import from_dict

from ansible_collections.better_compute.fleet.daemon.api.calls import CALLS
from ansible_collections.better_compute.fleet.daemon.api.openapi import document
from ansible_collections.better_compute.fleet.daemon.web.answers import STATUS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code
from ansible_collections.better_compute.fleet.tests.support.api_client import described


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for below in node:
            yield from references(below)


def test_it_is_valid_openapi() -> None:
    from_dict(described()).validate()


def test_every_reference_leads_somewhere() -> None:
    for reference in references(described()):
        node: Any = described()
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]


def test_every_schema_is_one_and_is_used() -> None:
    schemas = described()["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    used = {reference.rpartition("/")[2] for reference in references(described())}
    assert set(schemas) - used == set()


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.resource}.{call.method}")
def test_an_example_is_one_that_its_schema_takes(call: Any) -> None:
    content = described()["paths"][call.path]["post"]["requestBody"]["content"]["application/json"]
    judge = Draft202012Validator({**content["schema"], "components": described()["components"]})
    assert [error.message for error in judge.iter_errors(content["example"])] == []


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.resource}.{call.method}")
def test_each_call_tells_its_refusals_and_its_permission(call: Any) -> None:
    operation = described()["paths"][call.path]["post"]
    assert {
        str(STATUS[code]) for code in (Code.INVALID_INPUT, Code.UNAUTHENTICATED, Code.FORBIDDEN, *call.codes)
    } <= set(operation["responses"])
    assert str(call.permission) in operation["description"]
    assert described()["security"] == [{"token": []}]


def test_it_is_the_same_each_time_and_json() -> None:
    assert json.dumps(document(CALLS)) == json.dumps(document(CALLS))
