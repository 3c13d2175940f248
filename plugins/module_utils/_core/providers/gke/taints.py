# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taints in GKE's words (`NO_SCHEDULE`) and in Kubernetes' (`NoSchedule`), which are everybody else's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...model.declared import Taint

GPU_TAINT = Taint(key="nvidia.com/gpu", effect="NoSchedule", value="present")
"""GKE's own mark on a node pool with GPUs, unless all of the cluster's have some. Not among what people declare."""

SPOT_TAINT = Taint(key="cloud.google.com/gke-spot", effect="NoSchedule", value="true")
"""Nobody knows whether GKE puts it on Spot node pools. Where it stands it stays: taking it away replaces all nodes."""

GOOGLES_OWN = frozenset({GPU_TAINT, SPOT_TAINT})

_GKE_EFFECT = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
_KUBERNETES_EFFECT = {word: effect for effect, word in _GKE_EFFECT.items()}


def in_gke_words(taints: Iterable[Taint]) -> list[dict[str, str]]:
    """As requests have them."""
    return [
        {"key": taint.key, "value": taint.value, "effect": _GKE_EFFECT.get(taint.effect, taint.effect)}
        for taint in taints
    ]


def from_gke_words(taints: Iterable[Any]) -> tuple[Taint, ...]:
    """As the contract has them, sorted. An effect that is new to us stays as it is written."""
    return tuple(sorted(Taint(key=taint.key, effect=_effect(taint.effect), value=taint.value) for taint in taints))


def _effect(effect: Any) -> str:
    name = str(getattr(effect, "name", effect))
    return _KUBERNETES_EFFECT.get(name, name)
