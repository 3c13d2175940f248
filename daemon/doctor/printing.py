# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The doctor's findings: one line for each, or JSON."""

from __future__ import annotations

import json
from typing import IO

from rich.console import Console
from rich.text import Text

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Check, Verdict

from ..terminal import printable
from .examining import Examination

_STYLES = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.PROBLEM: "bold red", Verdict.NOT_CHECKED: "dim"}
_WIDTH = max(len(verdict) for verdict in Verdict)


def print_json(examination: Examination, *, to: IO[str]) -> None:
    """As `{"checks": […], "problems": 1, "warnings": 0, "not_checked": 2}`."""
    data = {
        "checks": [check.to_data() for check in examination.checks],
        "problems": examination.count(Verdict.PROBLEM),
        "warnings": examination.count(Verdict.WARNING),
        "not_checked": examination.count(Verdict.NOT_CHECKED),
    }
    to.write(json.dumps(data, indent=2) + "\n")


def print_lines(examination: Examination, *, to: IO[str]) -> None:
    """One line for each check, and one for all of them."""
    console = Console(file=to, highlight=False)
    for check in examination.checks:
        line = Text(f"{check.verdict:<{_WIDTH}}", style=_STYLES[check.verdict])
        line.append(f"  {printable(_told(check))}", style="default")
        console.print(line, soft_wrap=True)
    problems, warnings = examination.count(Verdict.PROBLEM), examination.count(Verdict.WARNING)
    well = "" if problems or warnings else "all is well: "
    not_checked = examination.count(Verdict.NOT_CHECKED)
    summary = f"{well}{_counted(problems, 'problem')}, {_counted(warnings, 'warning')}, {not_checked} not checked"
    console.print(Text(summary), soft_wrap=True)


def _told(check: Check) -> str:
    return f"{check.about}: {check.message}" + (f" -- {check.cure}" if check.cure else "")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
