# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taints as DOKS writes them, which is as Kubernetes does; and those that it puts on node pools by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...model.declared import Taint

_AUTOMATIC = frozenset({"nvidia.com/gpu", "amd.com/gpu"})
"""DOKS taints node pools with GPUs by itself: nobody declared that, and nobody asks for its end."""


def from_doks(taints: Iterable[Mapping[str, Any]] | None) -> tuple[Taint, ...]:
    """As the contract has them, sorted."""
    return tuple(
        sorted(
            Taint(key=taint.get("key") or "", effect=taint.get("effect") or "", value=taint.get("value") or "")
            for taint in taints or ()
        )
    )


def to_doks(taints: Iterable[Taint]) -> list[dict[str, str]]:
    """As requests have them."""
    return [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in taints]


def is_automatic(taint: Taint) -> bool:
    """Whether it is one that DOKS sets by itself."""
    return taint.key in _AUTOMATIC
