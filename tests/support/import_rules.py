# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract type `only_from` of .importlinter: what may be imported directly by whom, and by nobody else.

It is import-linter's own `protected` type, which refuses to run while one of the names is imported by nobody or
not written yet. Here that is no fault: what nobody imports, nobody imports wrongly. A name of this tree that is not
there is warned of, so that a misspelt one does not pass in silence.
"""

from __future__ import annotations

import grimp
from importlinter import ContractCheck
from importlinter.contracts.protected import ProtectedContract

_COLLECTION = "ansible_collections.better_compute.fleet."
_TESTS = _COLLECTION + "tests"  # never looked at, so never known, unless somebody imports them


class OnlyFrom(ProtectedContract):
    """`protected_modules` are imported directly by `allowed_importers` (and below them) only."""

    type_name = "only_from"

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        """Check the names that the graph knows; warn of names of ours that it does not."""
        warnings = []
        for option in ("protected_modules", "allowed_importers"):
            known = []
            for expression in getattr(self, option):
                if expression.expression in graph.modules:
                    known.append(expression)
                elif expression.expression.startswith(_COLLECTION) and expression.expression != _TESTS:
                    warnings.append(f"There is no {expression.expression} (yet).")
            setattr(self, option, known)
        checked = super().check(graph, verbose)
        checked.warnings.extend(warnings)
        return checked
