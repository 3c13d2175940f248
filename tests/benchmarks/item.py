# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One line of the report: what was measured, what it must be, and whether it is."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Any, Final

_OF_THE_PRODUCT: Final = ("ansible-core", "boto3", "kubernetes", "pydantic", "sqlalchemy")
"""Whose versions matter to every line."""


class Bar(StrEnum):
    """On which side of the bar a value holds."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One measured value.

    Attributes:
        name: as in docs/benchmarks.md, e.g. `plan.growth`.
        side: which side of the bar is the good one.
        value: None when it was not measured; `note` or `wrong` says why.
        wrong: what else must hold and did not, or what kept it from being measured though it should have been.
        note: what the value was made from, or why it cannot be measured here.
        versions: of what it was measured beside.
    """

    name: str
    unit: str
    side: Bar
    bar: float
    value: float | None = None
    wrong: str = ""
    note: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def holds(self) -> bool | None:
        """Whether it is as it must be; None when it cannot be measured here."""
        if self.wrong:
            return False
        if self.value is None:
            return None
        return self.value <= self.bar if self.side == Bar.AT_MOST else self.value >= self.bar

    def to_data(self) -> dict[str, Any]:
        """The item as it stands in bench.json: complete by itself, whichever list it is put into."""
        return {
            "name": self.name,
            "value": None if self.value is None else round(self.value, 3),
            "unit": self.unit,
            "bar": self.bar,
            "holds": self.holds,
            "side": str(self.side),
            "note": "; ".join(text for text in (self.wrong, self.note) if text),
            "machine": machine(),
            "versions": {**versions(), **self.versions},
        }


def machine() -> dict[str, Any]:
    """What the values were measured on: nothing that names the machine."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": cores(),
    }


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def versions() -> dict[str, str]:
    """What was measured, and with what."""
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in _OF_THE_PRODUCT}}


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
