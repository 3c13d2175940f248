# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long something takes, for a person."""

from __future__ import annotations

from datetime import timedelta

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
"""The largest first: name, seconds."""


def in_words(duration: timedelta, *, parts: int = 2) -> str:
    """Such as `4 min 12 s`; nothing shorter than a second is told, and what is over counts as `0 s`.

    Arguments:
        parts: how many units are told at most: with one it is `4 min`.
    """
    left = max(0, int(duration.total_seconds()))
    told: list[str] = []
    for name, seconds in _UNITS:
        number, rest = divmod(left, seconds)
        if told or number or name == "s":
            told.append(f"{number} {name}" if number or not told else "")
            left = rest
    return " ".join(part for part in told[:parts] if part)
