# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc-fleetd validate: every problem of every document, for people and for pipelines."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.command_line import main
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import EXAMPLE, example, on_account, put

Printed = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _settings_that_nobody_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BC_FLEET_SETTINGS", str(tmp_path / "there-are-none.toml"))


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A document with two things wrong, one of them between parts."""
    data = example()
    data["sites"][0]["kind"] = "private"
    data["quotas"][0]["pool"] = "gone"
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(data))
    return file


def hand_over(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_a_valid_document_ends_with_zero(capsys: Printed) -> None:
    assert main(["validate", str(EXAMPLE)]) == 0
    assert capsys.readouterr() == (f"{EXAMPLE}: valid\n", "")


def test_every_problem_of_every_document_is_a_line_with_file_and_path(wrong: Path, capsys: Printed) -> None:
    assert main(["validate", str(wrong), str(EXAMPLE)]) == 1
    told = capsys.readouterr()
    assert told.out.splitlines() == [
        f"{wrong}: sites[0].kind: expected 'shared', found the string \"private\"",
        f'{wrong}: quotas[0].pool: there is no pool "gone" among this document\'s pools',
        f"{EXAMPLE}: valid",
    ]
    assert told.err == ""


def test_machines_get_paths_and_messages(wrong: Path, capsys: Printed) -> None:
    assert main(["validate", "--json", str(wrong), str(EXAMPLE)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [problem["path"] for problem in told[str(wrong)]] == ["sites[0].kind", "quotas[0].pool"]
    assert {key for problem in told[str(wrong)] for key in problem} == {"path", "message"}
    assert told[str(EXAMPLE)] == []


def test_a_file_that_cannot_be_read_ends_with_two_and_the_others_are_checked(
    wrong: Path, tmp_path: Path, capsys: Printed
) -> None:
    missing = tmp_path / "none.json"
    assert main(["validate", str(missing), str(tmp_path), str(wrong)]) == 2
    told = capsys.readouterr()
    assert told.out.startswith(
        f"{missing}: cannot be read: No such file or directory\n{tmp_path}: cannot be read: Is a directory\n{wrong}: "
    )
    assert told.err == ""
    assert main(["validate", "--json", str(missing)]) == 2
    assert json.loads(capsys.readouterr().out) == {
        str(missing): [{"path": "", "message": "cannot be read: No such file or directory"}]
    }


@pytest.mark.parametrize("content", [EXAMPLE.read_bytes(), b"version: 1\n"])
def test_standard_input_is_taken_as_json_or_yaml(
    content: bytes, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_over(monkeypatch, content)
    assert main(["validate", "-"]) == 0
    assert capsys.readouterr().out == "standard input: valid\n"


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"\0", b"- 1\n", b"a: &a [*a]\n", b"{" * 100_000, b"version: no\n"]
)
def test_standard_input_that_is_no_document_is_told_so_without_a_traceback(
    content: bytes, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_over(monkeypatch, content)
    assert main(["validate", "-"]) == 1
    told = capsys.readouterr()
    assert all(line.startswith("standard input") for line in told.out.splitlines())
    assert told.out.count("standard input") == len(told.out.splitlines())
    assert told.err == ""


def test_what_a_provider_lacks_is_told_before_any_plan(tmp_path: Path, capsys: Printed) -> None:
    file = tmp_path / "doks.json"
    private = "pools.0.policy.substrate.cluster.create.privateNodes"
    file.write_text(json.dumps(put(on_account("digitalocean", "nyc1", {}), private, True)))
    assert main(["validate", str(file)]) == 1
    assert "cluster.create.privateNodes: pool gpu-fleet: DOKS (digitalocean" in capsys.readouterr().out


def test_an_eleventh_flavor_is_told_before_any_plan(tmp_path: Path, capsys: Printed) -> None:
    data = example()
    flavors = data["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[:] = [flavors[0] | {"name": f"f{number}"} for number in range(11)]
    file = tmp_path / "many.json"
    file.write_text(json.dumps(data))
    assert main(["validate", str(file)]) == 1
    assert (
        "pools[0].policy.substrate.flavors: pool gpu-fleet: 11 flavors; a cluster has at most 10"
        in capsys.readouterr().out
    )


def test_a_name_that_is_no_text_is_printed_all_the_same(tmp_path: Path, capsys: Printed) -> None:
    file = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json")
    Path(file).write_bytes(EXAMPLE.read_bytes())
    assert main(["validate", file]) == 0
    assert capsys.readouterr().out.endswith("\\udcff.json: valid\n")
    assert main(["validate", "--json", file]) == 0
    assert json.loads(capsys.readouterr().out) == {file: []}


def test_validate_takes_files_and_no_settings(capsys: Printed) -> None:
    for arguments in (["validate"], ["validate", "--settings", "x", "y"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
    assert "usage: bc-fleetd validate" in capsys.readouterr().err
