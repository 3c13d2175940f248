# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/check-your-provider.md: its test runs as it stands, and its tables have all that a subject is asked for."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import Capabilities
from ansible_collections.better_compute.fleet.tests.conformance import plugin, subject
from ansible_collections.better_compute.fleet.tests.support.pages import CHECKOUT, DOCS, blocks, code, keyed_rows

_PAGE = DOCS / "check-your-provider.md"
_CASES = sorted((CHECKOUT / "tests" / "conformance").glob("*.py"))
_CLOUD_ONLY = {"title", "has_driver", "max_nodes_per_pool"}
"""Of Capabilities, what no case goes by."""


def _members(protocol: type) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")}


def _optional() -> set[str]:
    protocols = [
        found
        for found in vars(subject).values()
        if isinstance(found, type) and getattr(found, "_is_protocol", False) and found.__module__ == subject.__name__
    ]
    return {name for protocol in protocols for name in _members(protocol)} - _members(subject.Subject)


def _flags_that_rule_cases_out() -> set[str]:
    return {flag for file in _CASES for flag in re.findall(r"@needs\((\w+)=", file.read_text(encoding="utf-8"))}


def test_the_test_on_the_page_runs_and_reports_as_the_page_says(tmp_path: Path) -> None:
    (test,) = blocks(_PAGE, "python")
    (shown,) = (json.loads(text) for text in blocks(_PAGE, "json"))
    (tmp_path / "test_mine.py").write_text(test, encoding="utf-8")
    report = ["--conformance-report", "build/conformance.json"]
    cases = ["-k", "a_cluster_carries_the_owners_marks or a_label_may_have_no_value"]
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", plugin.__name__, "-p", "no:cacheprovider", *report, *cases],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    ).stdout
    assert json.loads((tmp_path / "build" / "conformance.json").read_text(encoding="utf-8")) == shown
    assert "eks skipped by empty_label_values: a_label_may_have_no_value" in told


def test_the_page_has_every_member_of_a_subject_and_says_which_are_optional() -> None:
    flags = {field.name for field in dataclasses.fields(Capabilities)}
    assert set(keyed_rows(_PAGE)) - flags == (_members(subject.Subject) | _optional()) - {"restock"}
    assert "restock" in code(_PAGE)


def test_the_page_has_every_flag_that_rules_a_case_out_and_names_the_others() -> None:
    flags = {field.name for field in dataclasses.fields(Capabilities)}
    assert set(keyed_rows(_PAGE)) & flags == _flags_that_rule_cases_out()
    assert flags - _flags_that_rule_cases_out() - _CLOUD_ONLY <= set(code(_PAGE))


@pytest.mark.parametrize("breakage", subject.Breakage)
def test_the_page_names_every_breakage(breakage: subject.Breakage) -> None:
    (told,) = keyed_rows(_PAGE)["break_call"]
    assert breakage.value in told.replace("its reply lost", "lost reply")
