# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a real kube-apiserver answered to every probe: data, written by record.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .observation import Told

_FILE = Path(__file__).with_name("answers.json")


def answers() -> dict[str, Told]:
    """By the probe's name."""
    recorded: dict[str, Told] = json.loads(_FILE.read_text(encoding="utf-8"))
    return recorded


def write_answers(recorded: dict[str, Any]) -> None:
    """Keep what was answered."""
    _FILE.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")
