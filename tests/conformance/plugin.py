# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pytest plugin: gives a test the cases one by one, and reports what came of them at each provider.

A test that takes `conformance_case` is run once for each case. It is named `test_<provider>`, makes a fresh subject and
calls the case with it; one with a parameter of its own that takes its values from CASES counts as well. The checkout's
tests/conftest.py loads the plugin; elsewhere pytest is told so: -p ansible_collections.….tests.conformance.plugin.

A case is skipped by a flag or not at all: any other skip counts as failed.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_CASE = "conformance_case"
_PROPERTY = "conformance"

# Before they are imported, so that a case that fails says what it saw.
_MODULES = ("cases", "changes", "clusters", "faults", "life", "limits", "node_pools", "strangers")
pytest.register_assert_rewrite(*(f"{__package__}.{module}" for module in _MODULES))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the report goes."""
    parser.addoption(
        "--conformance-report",
        metavar="FILE",
        type=Path,
        help="print what came of the conformance cases at each provider, and write it into a JSON file",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Report in the one process that hears of all tests."""
    file = config.getoption("--conformance-report")
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Reporter(file))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that takes a case all of them."""
    if _CASE in metafunc.fixturenames:
        from .cases import CASES

        metafunc.parametrize(_CASE, CASES, ids=[case.__name__ for case in CASES])


def _case_of(item: pytest.Item) -> str | None:
    """The case that a test is about; None when it is about none."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return None
    functions = [value for value in item.callspec.params.values() if inspect.isfunction(value)]
    of_this_suite = [function for function in functions if function.__module__.startswith(f"{__package__}.")]
    return next((function.__name__ for function in of_this_suite), None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note on the report which provider and case it is about, so that it is there in whichever process hears of it."""
    report = yield
    case = _case_of(item)
    if case is None:
        return report
    from .flags import SkippedByFlag

    assert isinstance(item, pytest.Function)
    flag = call.excinfo.value.flag if call.excinfo and isinstance(call.excinfo.value, SkippedByFlag) else None
    if report.skipped and flag is None:
        report.outcome = "failed"
        report.longrepr = f"{case} was skipped without a flag: {report.longrepr}"
    about = {"provider": item.originalname.removeprefix("test_"), "case": case, "flag": flag}
    report.user_properties.append((_PROPERTY, about))
    return report


class _Reporter:
    """Gathers what is noted on the reports, also those that other processes send."""

    def __init__(self, file: Path) -> None:
        from .report import Report

        self._file = file
        self._report = Report()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One step of a test has ended."""
        for name, about in report.user_properties:
            if name == _PROPERTY:
                noted: Any = about
                self._report.note(**noted, failed=report.failed)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table and write the file."""
        from .cases import CASES

        terminalreporter.section("conformance")
        for line in self._report.lines([case.__name__ for case in CASES]):
            terminalreporter.write_line(line)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self._report.as_json(), indent=2) + "\n", encoding="utf-8")
