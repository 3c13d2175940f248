# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/fleet-config.md says every field of a document, what it takes, whether it may change; the schema is current."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # the lock has no stubs for it
import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.schema import document_schema
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.changes import Resource
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.fields import (
    FIELDS,
    OnDrift,
    Rule,
)
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import example
from ansible_collections.better_compute.fleet.tests.support.pages import DOCS, keyed_rows

_SCHEMA_FILE = DOCS / "schema" / "fleet-config.v1.json"
_WRITE_AGAIN = (
    "write it again: .venv/bin/python -c 'import json; from ansible_collections.better_compute.fleet.plugins"
    ".module_utils._core.documents.schema import document_schema; print(json.dumps(document_schema(), indent=2))'"
    " > docs/schema/fleet-config.v1.json"
)
_PREFIX = {
    Resource.SITE: "sites[].",
    Resource.ACCOUNT: "providerAccounts[].",
    Resource.POOL: "pools[].",
    Resource.CLUSTER: "pools[].",
    Resource.NODE_POOL: "pools[].policy.substrate.flavors[].",
    Resource.QUOTA: "quotas[].",
}
_WORDS = {
    Rule.IDENTITY: "identity",
    Rule.FIXED: "fixed",
    Rule.FIXED_IN_USE: "fixed in use",
    Rule.RAISED: "raised",
    Rule.KEY: "key",
    Rule.MUTABLE: "mutable",
}
_DRIFT = {OnDrift.REPAIR: "repaired", OnDrift.REPORT: "reported", OnDrift.IGNORE: "ignored"}
_KEY = "key"
"""What a thing is known by, which the planner never compares."""
_IGNORED = {"$schema": "ignored"}

_RULES = {f"{_PREFIX[kind]}{path}": rule for kind, ways in FIELDS.items() for path, rule in ways.items()}

Leaf = tuple[str, Mapping[str, Any], bool]


def leaves() -> Iterator[Leaf]:
    """Every field that holds no fields of its own: its path, its schema, whether it is required."""
    schema = document_schema()
    yield from _below(schema, schema, "")


def _below(schema: Mapping[str, Any], node: Mapping[str, Any], path: str) -> Iterator[Leaf]:
    for name, field in node["properties"].items():
        below, at = _resolved(schema, field), f"{path}{name}"
        if below.get("type") == "array":
            if "oneOf" in below["items"]:
                yield from _choices(schema, below["items"]["oneOf"], at)
                continue
            item, at = _resolved(schema, below["items"]), f"{at}[]"
            if "properties" in item:
                yield from _below(schema, item, f"{at}.")
                continue
            at = at.removesuffix("[]")
        if "properties" in below:
            yield from _below(schema, below, f"{at}.")
        else:
            yield at, below, name in node.get("required", ())


def _choices(schema: Mapping[str, Any], choices: list[Mapping[str, Any]], path: str) -> Iterator[Leaf]:
    """The fields of models that a field of theirs chooses between: what they share once, their config each."""
    for index, choice in enumerate(choices):
        model = _resolved(schema, choice)
        provider = model["properties"]["provider"]["const"]
        for at, field, required in _below(schema, model, ""):
            if at.startswith("config."):
                yield f"{path}[{provider}].{at}", field, required
            elif index == 0:
                yield f"{path}[].{at}", field, required


def _resolved(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = node.get("$ref")
    return schema["$defs"][reference.rpartition("/")[2]] if reference else node


def _rule_path(path: str) -> str | None:
    """Where the table has a field's rule: at itself, or at the list that it is in; None for what is never compared."""
    own = re.sub(r"^providerAccounts\[\w+\]", "providerAccounts[]", path)
    return next((at for at in (own, own.rpartition("[].")[0]) if at in _RULES), None)


LEAVES = list(leaves())
ROWS = keyed_rows(DOCS / "fleet-config.md")
each_leaf = pytest.mark.parametrize("leaf", LEAVES, ids=[leaf[0] for leaf in LEAVES])


def test_the_page_has_every_field_and_no_other() -> None:
    assert sorted(ROWS) == sorted(path for path, _, _ in LEAVES)


@each_leaf
def test_the_page_says_whether_a_field_is_required_and_its_default(leaf: Leaf) -> None:
    path, field, required = leaf
    told = ROWS[path][0]
    assert (told == "required") == required
    if "default" in field:
        default = field["default"]
        assert told == f"`{default if isinstance(default, str) else json.dumps(default)}`"


@each_leaf
def test_the_page_says_what_a_field_takes(leaf: Leaf) -> None:
    path, field, _ = leaf
    told = ROWS[path][1]
    assert "const" not in field or f"`{field['const']}`" in told
    assert [word for word in field.get("enum", ()) if f"`{word}`" not in told] == []
    for least, most in (("minimum", "maximum"), ("minItems", "maxItems")):
        if most in field and field[least] != field[most]:
            assert f"{field[least]} to {field[most]}" in told


def test_the_page_says_of_every_field_whether_it_may_change() -> None:
    told = {path: cells[2].rstrip(" |") for path, cells in ROWS.items()}
    where = {path: _rule_path(path) for path, _, _ in LEAVES}
    assert told == {path: _WORDS[_RULES[at].rule] if at else _KEY for path, at in where.items()} | _IGNORED
    assert set(where.values()) >= set(_RULES)


def test_the_page_says_of_everything_at_the_provider_what_drift_of_it_means() -> None:
    means = {path: _RULES[at].drift for path, _, _ in LEAVES if (at := _rule_path(path))}
    told = {path: ROWS[path][3].rstrip(" |") for path in means if ".substrate." in path}
    assert told == {path: _DRIFT[drift] for path, drift in means.items() if ".substrate." in path}
    assert {drift for path, drift in means.items() if ".substrate." not in path} == {OnDrift.IGNORE}


def test_the_shipped_schema_is_the_one_of_the_models() -> None:
    assert json.loads(_SCHEMA_FILE.read_text(encoding="utf-8")) == document_schema(), _WRITE_AGAIN


def test_the_shipped_schema_takes_the_example_and_refuses_an_unknown_key() -> None:
    schema = json.loads(_SCHEMA_FILE.read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(example())) == []
    assert list(validator.iter_errors(example() | {"offers": []})) != []
