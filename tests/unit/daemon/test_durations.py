# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Durations as a person reads them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.daemon.durations import in_words


@pytest.mark.parametrize(
    ("seconds", "parts", "told"),
    [
        (0, 2, "0 s"),
        (-5, 2, "0 s"),
        (59.9, 2, "59 s"),
        (60, 2, "1 min"),
        (252, 2, "4 min 12 s"),
        (252, 1, "4 min"),
        (3_605, 2, "1 h"),
        (7_500, 2, "2 h 5 min"),
        (90_000, 2, "1 d 1 h"),
        (90_000, 1, "1 d"),
    ],
)
def test_a_duration_is_told_in_its_largest_units(seconds: float, parts: int, told: str) -> None:
    assert in_words(timedelta(seconds=seconds), parts=parts) == told
