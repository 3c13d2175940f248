# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of the cases at each provider: as a table, and as plain JSON values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class Outcome:
    """One provider's.

    Attributes:
        skipped: the cases that a flag ruled out, and which.
    """

    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    skipped: dict[str, str] = field(default_factory=dict)


class Report:
    """All providers'. A case is told of in several steps, before, in and after its test, and passes only with all."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self._outcomes: defaultdict[str, Outcome] = defaultdict(Outcome)

    def note(self, *, provider: str, case: str, failed: bool, flag: str | None) -> None:
        """One step of a case's test has ended."""
        outcome = self._outcomes[provider]
        if failed:
            outcome.failed.add(case)
        elif flag is not None:
            outcome.skipped[case] = flag
        else:
            outcome.passed.add(case)
        outcome.passed -= outcome.failed | outcome.skipped.keys()

    def as_json(self) -> dict[str, Any]:
        """`{provider: {passed, failed, skipped: {case: flag}}}`; the first two are counts."""
        return {
            provider: {
                "passed": len(outcome.passed),
                "failed": len(outcome.failed),
                "skipped": dict(sorted(outcome.skipped.items())),
            }
            for provider, outcome in sorted(self._outcomes.items())
        }

    def lines(self, cases: Sequence[str]) -> list[str]:
        """A table with a row for each provider, and below it what failed, what was skipped by which flag, or not run.

        Arguments:
            cases: all that there are.
        """
        table = [f"{'provider':<12}{'passed':>8}{'failed':>8}{'skipped by flag':>17}{'not run':>9}"]
        details: list[str] = []
        for provider, outcome in sorted(self._outcomes.items()):
            not_run = [name for name in cases if name not in outcome.passed | outcome.failed | outcome.skipped.keys()]
            counts = (len(outcome.passed), len(outcome.failed), len(outcome.skipped), len(not_run))
            table.append("{:<12}{:>8}{:>8}{:>17}{:>9}".format(provider, *counts))
            details += [f"{provider} failed: {name}" for name in cases if name in outcome.failed]
            details += [f"{provider} skipped by {flag}: {name}" for name, flag in sorted(outcome.skipped.items())]
            details += [f"{provider} not run: {name}" for name in not_run]
        return [*table, *([""] if details else []), *details]
