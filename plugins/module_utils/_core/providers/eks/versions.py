# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes versions as EKS writes them, e.g. `1.34`: which is older, and which comes next. No I/O."""

from __future__ import annotations

import re

_VERSION = re.compile(r"(\d+)\.(\d+)(\..*)?", re.ASCII)


def is_older(held: str, wanted: str) -> bool:
    """Whether `held` is an older minor version than `wanted`. What is no version is not older than anything."""
    before, after = _minor(held), _minor(wanted)
    return before is not None and after is not None and before < after


def next_step(held: str, wanted: str) -> str:
    """What a control plane at `held` is to have next, to get to the newer `wanted`: EKS takes one minor at a time."""
    before, after = _minor(held), _minor(wanted)
    if before is None or after is None or before[0] != after[0]:
        return wanted
    return f"{before[0]}.{min(before[1] + 1, after[1])}"


def _minor(version: str) -> tuple[int, int] | None:
    found = _VERSION.fullmatch(version)
    return (int(found[1]), int(found[2])) if found else None
