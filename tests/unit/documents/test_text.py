# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON and YAML text become plain data, or are refused where readers would differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.bounds import (
    MAX_DOCUMENT_BYTES,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import load_file, load_text
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import example


def problems(text: str, name: str) -> dict[str, str]:
    """Path -> message of what is wrong with a text."""
    with pytest.raises(InvalidInput) as caught:
        load_text(text, name)
    return {problem.path: problem.message for problem in caught.value.problems}


def test_json_and_yaml_of_one_document_are_the_same_data() -> None:
    data = example()
    assert load_text(json.dumps(data), "fleet.json") == data
    assert load_text(yaml.safe_dump(data), "fleet.yml") == data
    assert load_text(json.dumps(data), "fleet") == data
    assert load_text(yaml.safe_dump(data), "fleet") == data


def test_plain_yaml_values_are_what_they_look_like() -> None:
    text = "a: true\nb: False\nc: 12\nd: -1.5\ne: ~\nf: word\ng: '0123'\nh: |\n  no\ni: us-east-1a\nj: 'no'\n"
    assert load_text(text, "x.yml") == {
        "a": True,
        "b": False,
        "c": 12,
        "d": -1.5,
        "e": None,
        "f": "word",
        "g": "0123",
        "h": "no\n",
        "i": "us-east-1a",
        "j": "no",
    }


@pytest.mark.parametrize(
    "surprise", ["no", "yes", "on", "Off", "0123", "0x1F", "22:22", "1_000", "2026-01-01", ".inf", "+5", "<<", "="]
)
def test_a_plain_value_that_yaml_readers_take_differently_must_be_quoted(surprise: str) -> None:
    (message,) = [problems(f"pools:\n- name: {surprise}\n", "x.yaml")["pools[0].name"]]
    assert message == f"YAML readers differ on a plain {surprise}: put it in quotes if a string is meant (line 2)"


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("a: &x [1]\nb: *x\n", "b", "aliases"),
        ("a: &x [1]\n", "a", "anchors"),
        ("a: !!python/object/apply:os.system ['true']\n", "a", "tags"),
        ("a: !vault x\n", "a", "tags"),
        ("a: 1\na: 2\n", "a", "this key is there twice (line 2)"),
        ("b:\n- a: 1\n  a: 2\n", "b[0].a", "this key is there twice"),
        ("on: 1\n", "", "YAML readers differ"),
        ("1: 1\n", "", "a key must be a string"),
        ("a: 1\n---\na: 2\n", "", "a second document begins"),
        ("", "", "the document is empty"),
        ("a: [1\n", "", "not YAML: "),
        ("a: \x01\n", "", "not YAML: "),
        ("[" * 100 + "]" * 100, "[0]" * 32, "nested more than 32 deep"),
    ],
)
def test_yaml_that_says_more_than_plain_data_is_refused(text: str, path: str, message: str) -> None:
    assert problems(text, "x.yml")[path].startswith(message)


def test_a_bomb_of_aliases_is_not_expanded() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 64)]
    assert len(problems("\n".join(lines), "x.yml")) <= 100


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ('{"a": 1, "a": 2}', "a", "this key is there twice"),
        ('{"b": [{"a": 1}, {"a": 1, "a": 2}]}', "b[1].a", "this key is there twice"),
        ('{"a": NaN}', "", "not JSON that can be read: NaN is no number in JSON"),
        ('{"a": }', "", "not JSON: Expecting value (line 1, column 7)"),
        ("", "", "not JSON: "),
        ('{"a": ' + "1" * 5000 + "}", "", "not JSON that can be read: "),
        ("[" * 200_000, "", "not JSON that can be read: nested too deeply"),
    ],
)
def test_json_that_readers_take_differently_is_refused(text: str, path: str, message: str) -> None:
    assert problems(text, "x.json")[path].startswith(message)


def test_a_text_without_end_is_refused_unread() -> None:
    assert "a document has at most" in problems(" " * (MAX_DOCUMENT_BYTES + 1), "x.yml")[""]


def test_a_file_is_read_as_its_ending_says(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yml"
    file.write_bytes("\ufeffversion: 1\n".encode())
    assert load_file(file) == {"version": 1}


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "fleet.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"fleet\.json"):
        load_file(str(file))
