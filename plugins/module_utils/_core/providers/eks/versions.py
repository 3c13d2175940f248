# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Kubernetes version comes next at EKS. No I/O."""

from __future__ import annotations

from ...model.versions import minor_version


def next_step(held: str, wanted: str) -> str:
    """What a control plane at `held` is to have next, to get to the newer `wanted`: EKS takes one minor at a time."""
    before, after = minor_version(held), minor_version(wanted)
    if before is None or after is None or before[0] != after[0]:
        return wanted
    return f"{before[0]}.{min(before[1] + 1, after[1])}"
