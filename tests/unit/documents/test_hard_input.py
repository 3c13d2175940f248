# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever is handed over as a document is answered in words and with a place, in little memory and time."""

from __future__ import annotations

import io
import json
import os
import re
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.bounds import MAX_DOCUMENT_BYTES
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.hopeless import hopeless
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import (
    load_file,
    load_stream,
    load_text,
    parse_document,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput, Problem
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import changed, example, put

SUBSTRATE = "pools.0.policy.substrate"
FLAVOR = f"{SUBSTRATE}.flavors.0"
SPELT = "pools[0].policy.substrate"
MEBIBYTE = 1024 * 1024


def refused(call: Callable[[], object]) -> tuple[Problem, ...]:
    with pytest.raises(InvalidInput) as caught:
        call()
    return caught.value.problems


def only(call: Callable[[], object]) -> tuple[str, str]:
    (problem,) = refused(call)
    return problem.path, problem.message


@pytest.mark.parametrize("path", ["sites.0.name", "quotas.0.tenantId", f"{FLAVOR}.machineType", f"{FLAVOR}.gpus.type"])
@pytest.mark.parametrize("text", ["abc\n", "\nabc", "h\u00b2", "\u0663", "a\0b", "\ufeffabc", "a\u200bb", "\ud800"])
def test_a_name_with_what_only_looks_like_one_is_refused_at_its_place(path: str, text: str) -> None:
    spelt = path.replace(".0", "[0]")
    told = {problem.path: problem.message for problem in refused(lambda: parse_document(changed(path, text)))}
    assert text not in told[spelt]
    assert told[spelt].startswith("expected ")


def test_a_number_that_is_written_in_other_digits_is_refused() -> None:
    path, message = only(lambda: parse_document(load_text('{"version": 1, "quotas": "\u0661"}', "x.json")))
    assert (path, message) == ("quotas", "expected a list, found a string")
    assert only(lambda: parse_document({"version": "\u0661"})) == (
        "version",
        'expected 1, found the string "\\u0661"',
    )


def test_a_flavors_name_of_forty_characters_is_the_longest() -> None:
    assert parse_document(changed(f"{FLAVOR}.name", "a" * 40)).pools[0].substrate is not None
    assert only(lambda: parse_document(changed(f"{FLAVOR}.name", "a" * 41)))[0] == f"{SPELT}.flavors[0].name"


def flavors(count: int) -> dict[str, Any]:
    data = example()
    one = data["pools"][0]["policy"]["substrate"]["flavors"][0]
    data["pools"][0]["policy"]["substrate"]["flavors"] = [one | {"name": f"f{n}"} for n in range(count)]
    return data


def test_an_eleventh_flavor_has_a_place_where_only_the_document_is_looked_at() -> None:
    assert hopeless(parse_document(flavors(10))) == ()
    (problem,) = hopeless(parse_document(flavors(11)))
    assert str(problem) == f"{SPELT}.flavors: pool gpu-fleet: 11 flavors; a cluster has at most 10 node pools"


def test_of_very_many_problems_the_first_hundred_are_told_and_the_rest_is_counted() -> None:
    data = {"version": 2, "quotas": [{"pool": "gone", "gpus": 1, "tenantId": f"t{n}"} for n in range(250)]}
    told = refused(lambda: parse_document(data))
    assert len(told) == 101
    assert (told[0].path, told[1].path, told[99].path) == ("version", "quotas[0].pool", "quotas[98].pool")
    assert str(told[100]) == "… and 151 more"


def test_a_hundred_problems_are_told_whole() -> None:
    data = {"version": 1, "quotas": [{"pool": "gone", "gpus": 1, "tenantId": f"t{n}"} for n in range(100)]}
    assert len(refused(lambda: parse_document(data))) == 100


@pytest.mark.parametrize(
    "data",
    [
        {"version": 1, "pools": [{}] * 100_000},
        {"version": 1, "quotas": [{"tenantId": "x" * MEBIBYTE, "pool": "y" * MEBIBYTE, "gpus": 1}] * 20_000},
        {"version": 1, "pools": [{"z" * MEBIBYTE: 1, "name": "z" * MEBIBYTE}] * 2_000},
    ],
    ids=["empty entries", "long names", "long keys"],
)
def test_a_document_with_nothing_right_in_it_costs_little_memory(data: dict[str, Any]) -> None:
    tracemalloc.start()
    try:
        told = refused(lambda: parse_document(data))
        _now, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(told), told[-1].message.startswith("… and ")) == (101, True)
    assert sum(len(str(problem)) for problem in told) < 100_000
    assert most < 32 * MEBIBYTE


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ("pools", [{}] * 100_001, "pools"),
        (f"{SUBSTRATE}.flavors", [1] * 101, f"{SPELT}.flavors"),
        ("providerAccounts.0.config.zones", ["us-east-1a"] * 101, "providerAccounts[0].config.zones"),
        ("sites.0", {f"key{n}": 1 for n in range(101)}, "sites[0]"),
    ],
)
def test_what_is_wider_than_any_fleet_is_refused_without_a_look_at_it(path: str, value: Any, place: str) -> None:
    told = only(lambda: parse_document(changed(path, value)))
    assert told[0] == place
    assert told[1].startswith(f"{len(value)} entries; nothing in a FleetConfig has more than ")


def test_a_names_text_is_never_told_raw() -> None:
    data = put(changed("providerAccounts.0.tenantId", "\x1b[31mred\n"), "providerAccounts.0.config.region", "\n" * 500)
    told = "".join(str(problem) for problem in refused(lambda: parse_document(data)))
    assert "\n" not in told
    assert "\x1b" not in told


def test_a_number_too_long_to_be_written_out_is_refused() -> None:
    assert only(lambda: parse_document(changed("quotas.0.gpus", 16**5000)))[0] == "quotas[0].gpus"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.json", b"\xff\xfe{\0}\0", "x.json is not UTF-8 text"),
        ("x.yml", b"version: \xc3\x28\n", "x.yml is not UTF-8 text"),
        ("x.json", b"\0" * 64, "not JSON: "),
        ("x.yml", b"version: 1\n\0\0\0", "not YAML: a character that YAML does not allow"),
        ("x.json", b'{"version": 1\0}', "not JSON: "),
        ("x.json", b"[" * MEBIBYTE, "not JSON that can be read: nested too deeply"),
        ("x.json", b'{"a":' * MEBIBYTE, "not JSON that can be read: nested too deeply"),
        ("x.json", b'{"version": ' + b"1" * 5000 + b"}", "not JSON that can be read: a number is too long"),
        ("x.json", b"", "not JSON: "),
        ("x.yml", b"", "the document is empty"),
    ],
)
def test_a_file_that_is_no_document_is_told_so(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    path, told = only(lambda: load_file(file))
    assert (path, told.replace(f"{tmp_path}/", "").startswith(message)) == ("", True)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[" * MEBIBYTE, ""),
        ("[" * 500, "[0]" * 32),
        ("{" * MEBIBYTE, ""),
        ("a: {" * MEBIBYTE, "a" + ".a" * 31),
        ("? " * MEBIBYTE, ""),
        ("- " * MEBIBYTE, "[0]" * 32),
    ],
)
def test_yaml_without_end_is_left_at_once(text: str, place: str) -> None:
    assert place in {problem.path for problem in refused(lambda: load_text(text, "x.yml"))}


@pytest.mark.parametrize("depth", [10, 300, 900, 5000])
def test_repeated_keys_deep_down_are_told_or_too_deep(depth: int) -> None:
    text = '{"b": ' * depth + '{"a": 1, "a": 2}' + "}" * depth
    assert re.search("there twice|too deeply", only(lambda: load_text(text, "x.json"))[1])


def test_a_key_that_is_given_a_million_times_is_told_a_hundred_times_at_most() -> None:
    text = "{" + ",".join(['"a":1'] * 1_000_000) + "}"
    assert 0 < len(refused(lambda: load_text(text, "x.json"))) <= 100


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    for name, text in (("x.json", json.dumps(example())), ("x.yml", "version: 1\n")):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
        parse_document(load_file(tmp_path / name))


def test_a_file_of_fifty_megabytes_is_refused_by_its_size(tmp_path: Path) -> None:
    file = tmp_path / "large.json"
    with file.open("wb") as stream:
        stream.truncate(50 * MEBIBYTE)
    tracemalloc.start()
    try:
        path, message = only(lambda: load_file(file))
        _now, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (path, message) == ("", f"{file} is too large: a document has at most 16 MiB")
    assert most < MEBIBYTE


def test_a_pipe_without_end_is_read_as_far_as_a_document_may_go(tmp_path: Path) -> None:
    assert "too large" in only(lambda: load_file("/dev/zero"))[1]
    assert "too large" in only(lambda: load_stream(io.BytesIO(b" " * (MAX_DOCUMENT_BYTES + 1)), "-"))[1]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text('{"version": 1}'))
    writer.start()
    assert load_file(pipe) == {"version": 1}
    writer.join()


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    assert only(lambda: load_file(tmp_path)) == ("", f"{tmp_path} cannot be read: Is a directory")
    missing = tmp_path / "none.json"
    assert only(lambda: load_file(missing)) == ("", f"{missing} cannot be read: No such file or directory")
    assert only(lambda: load_file("a\0b")) == ("", "no file's name has a NUL in it")
    assert "cannot be read: File name too long" in only(lambda: load_file("x" * 5000))[1]


def test_the_schema_that_a_document_names_is_passed_over() -> None:
    assert parse_document(example() | {"$schema": "https://example/x.json"}) == parse_document(example())
    assert only(lambda: parse_document(example() | {"$schema": 1})) == (
        "$schema",
        "expected a string, found the number 1: put it in quotes",
    )
