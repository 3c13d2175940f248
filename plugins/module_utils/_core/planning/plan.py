# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan: everything that apply would do, and nothing else, as values and as text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..model.declared import FleetConfig
from .changes import COMING, EFFECTIVE, GOING, Change, ChangeKind, FlavorSize
from .render import render_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What applying a document to the records would do.

    Attributes:
        config: the document it is for; with state absent, an empty one.
        serial: of the records it was made from; apply refuses it when they moved.
        prune: whether what is no longer declared goes.
        changes: grouped: sites, accounts, then pool by pool.
        sizes: of every declared flavor, in the document's order.
        warnings: what is worth knowing beforehand, one sentence each.
    """

    config: FleetConfig
    serial: int
    prune: bool
    changes: tuple[Change, ...]
    sizes: tuple[FlavorSize, ...]
    warnings: tuple[str, ...]

    @property
    def changed(self) -> bool:
        """Exactly what apply will report: whether anything is created, updated or deleted, adopted or given back."""
        return any(change.kind in EFFECTIVE for change in self.changes)

    @property
    def blocked(self) -> tuple[Change, ...]:
        """What cannot be done; with one of these, nothing is."""
        return tuple(change for change in self.changes if change.kind == ChangeKind.BLOCKED)

    @property
    def totals(self) -> dict[str, int]:
        """How many changes there are of each kind."""
        counts = Counter(change.kind for change in self.changes)
        return {str(kind): counts[kind] for kind in ChangeKind}

    def to_data(self) -> dict[str, Any]:
        """The plan as plain values with a stable order: for results and pipelines. It holds no secret."""
        return {
            "changed": self.changed,
            "serial": self.serial,
            "prune": self.prune,
            "changes": [change.to_data() for change in self.changes],
            "flavors": [size.to_data() for size in self.sizes],
            "warnings": list(self.warnings),
            "totals": self.totals,
        }

    def render(self) -> str:
        """The plan as text for a person, at most 120 columns."""
        return render_text(serial=self.serial, changes=self.changes, sizes=self.sizes, warnings=self.warnings)

    def diff(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The fields that change, before and after, by resource: for Ansible's --diff."""
        before: dict[str, dict[str, Any]] = {}
        after: dict[str, dict[str, Any]] = {}
        for change in self.changes:
            if change.kind not in EFFECTIVE:
                continue
            key = f"{change.resource} {change.title}"
            if change.kind not in COMING:
                before[key] = {field.path: field.before for field in change.fields}
            if change.kind not in GOING:
                after[key] = {field.path: field.after for field in change.fields}
        return {"before": before, "after": after}
