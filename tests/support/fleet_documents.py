# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shipped example document as plain data, changed at one place or another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[2] / "examples" / "fleet.json"


def example() -> dict[str, Any]:
    """The example document, fresh for each caller."""
    data: dict[str, Any] = json.loads(EXAMPLE.read_text())
    return data


def put(data: Any, path: str, value: Any) -> Any:
    """Set what stands at a dotted path (numbers are indexes) and return the whole."""
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = data
    for step in steps:
        place = place[step]
    place[last] = value
    return data


def changed(path: str, value: Any) -> dict[str, Any]:
    """The example with one value put at a dotted path."""
    result: dict[str, Any] = put(example(), path, value)
    return result
