# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes versions as providers write them (`1.34`, `1.34.9-gke.1`), compared by what decides: the minor version."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:[.-].*)?", re.ASCII)


def is_older(held: str, wanted: str) -> bool:
    """Whether `held` is of an older minor version than `wanted`. What is no version is not older than anything."""
    before, after = minor_version(held), minor_version(wanted)
    return before is not None and after is not None and before < after


def minor_version(version: str) -> tuple[int, int] | None:
    """Of `1.34` and `1.34.9-gke.1` (1, 34); None of what is no version."""
    found = _VERSION.fullmatch(version)
    return (int(found[1]), int(found[2])) if found else None


def next_step(held: str, wanted: str) -> str:
    """What a control plane at `held` is to have next, to get to the newer `wanted`: providers take one minor at a time.

    EKS and GKE alike (their pages on upgrades).
    """
    before, after = minor_version(held), minor_version(wanted)
    if before is None or after is None or before[0] != after[0]:
        return wanted
    return f"{before[0]}.{min(before[1] + 1, after[1])}"
