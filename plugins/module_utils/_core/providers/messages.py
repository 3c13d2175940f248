# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A provider's own words, in a form that can be shown and stored."""

from __future__ import annotations

_LONGEST_TEXT_CHARACTERS = 600
"""EC2 encodes a refusal's details in kilobytes that nobody can read."""


def bounded(text: str) -> str:
    """The text on one line, cut where it gets too long to read."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_TEXT_CHARACTERS else text[: _LONGEST_TEXT_CHARACTERS - 1] + "…"
