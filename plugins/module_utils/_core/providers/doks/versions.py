# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DOKS's versions (`1.34.1-do.0`): which of those that it offers is the next step."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...model.versions import is_older

_NUMBERS = re.compile(r"\d+", re.ASCII)


def next_step(held: str, wanted: str, offered: Iterable[str]) -> str | None:
    """The offered version that leads from `held` furthest towards `wanted`, its newest patch; None if none does."""
    fitting = [slug for slug in offered if is_older(held, slug) and not is_older(wanted, slug)]
    if wanted in fitting:
        return wanted
    return max(fitting, key=_numbers, default=None)


def _numbers(slug: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _NUMBERS.findall(slug))
