# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The conformance plugin: what it makes of cases that pass, fail, and are skipped with a flag and without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.conformance import plugin
from ansible_collections.better_compute.fleet.tests.conformance.cases import CASES
from ansible_collections.better_compute.fleet.tests.conformance.report import Report

_TEST = """
import pytest
from ansible_collections.better_compute.fleet.tests.conformance.cases import CASES
from ansible_collections.better_compute.fleet.tests.conformance.flags import SkippedByFlag

FIRST, SECOND, THIRD, *_OTHERS = CASES

def test_acme(conformance_case):
    if conformance_case is FIRST:
        raise SkippedByFlag("spot", "spot is False at Acme")
    assert conformance_case is not SECOND
    if conformance_case is THIRD:
        pytest.skip("not today")

@pytest.mark.parametrize("case", CASES)
def test_other(case):
    pass

def test_nothing_of_the_sort():
    pytest.skip("nobody minds")
"""


def _run(folder: Path, *options: str) -> tuple[int, str, Any]:
    (folder / "test_it.py").write_text(_TEST, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", plugin.__name__, "-p", "no:cacheprovider", *options],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    file = folder / "report.json"
    return ran.returncode, ran.stdout, json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


@pytest.mark.parametrize("workers", ["0", "2"])
def test_each_case_is_counted_for_its_provider_with_workers_and_without(tmp_path: Path, workers: str) -> None:
    status, told, report = _run(tmp_path, "-n", workers, "--conformance-report", "report.json")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert report == {
        "acme": {"passed": len(CASES) - 3, "failed": 2, "skipped": {CASES[0].__name__: "spot"}},
        "other": {"passed": len(CASES), "failed": 0, "skipped": {}},
    }
    assert f"acme skipped by spot: {CASES[0].__name__}" in told
    assert f"acme failed: {CASES[1].__name__}" in told
    assert f"{CASES[2].__name__} was skipped without a flag" in told


def test_without_the_option_nothing_is_reported_and_the_cases_are_judged_all_the_same(tmp_path: Path) -> None:
    status, told, report = _run(tmp_path, "-n", "0")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert (report, "= conformance =" in told) == (None, False)


def test_a_case_that_passes_and_then_fails_at_its_end_has_failed() -> None:
    report = Report()
    for failed in (False, False, True):
        report.note(provider="acme", case="a", failed=failed, flag=None)
    assert report.as_json() == {"acme": {"passed": 0, "failed": 1, "skipped": {}}}


def test_the_table_names_the_cases_that_were_not_run() -> None:
    report = Report()
    report.note(provider="acme", case="a", failed=False, flag=None)
    _head, row, _empty, missing = report.lines(["a", "b"])
    assert row.split() == ["acme", "1", "0", "0", "1"]
    assert missing == "acme not run: b"


def test_every_case_has_a_name_of_its_own() -> None:
    assert len({case.__name__ for case in CASES}) == len(CASES)
