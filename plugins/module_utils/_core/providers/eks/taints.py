# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taints in EKS's words (`NO_SCHEDULE`) and in Kubernetes' (`NoSchedule`), which are everybody else's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...model.declared import Taint

if TYPE_CHECKING:
    from mypy_boto3_eks.type_defs import TaintTypeDef

_EKS_EFFECT = {"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
_KUBERNETES_EFFECT = {word: effect for effect, word in _EKS_EFFECT.items()}


def in_eks_words(taints: Iterable[Taint]) -> list[dict[str, str]]:
    """As requests have them: without a value where there is none."""
    return [
        {"key": taint.key, "effect": _EKS_EFFECT.get(taint.effect, taint.effect)}
        | ({"value": taint.value} if taint.value else {})
        for taint in taints
    ]


def from_eks_words(taints: Sequence[TaintTypeDef]) -> tuple[Taint, ...]:
    """As the contract has them, sorted. An effect that is new to us stays as it is written."""
    return tuple(
        sorted(
            Taint(
                key=taint.get("key", ""),
                effect=_KUBERNETES_EFFECT.get(taint.get("effect", ""), taint.get("effect", "")),
                value=taint.get("value", ""),
            )
            for taint in taints
        )
    )
