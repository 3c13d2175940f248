# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine types have: the accelerator-optimised ones by name, others by the pattern of their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineType:
    """A machine type.

    Attributes:
        accelerator: the type of the accelerators that belong to it; empty when it has none of its own.
        gpus: how many.
        takes: whether accelerators can be attached to it.
    """

    name: str
    accelerator: str = ""
    gpus: int = 0
    takes: bool = False


_WITH_GPUS: Final = {
    "a2-highgpu-1g": ("nvidia-tesla-a100", 1),
    "a2-highgpu-2g": ("nvidia-tesla-a100", 2),
    "a2-highgpu-4g": ("nvidia-tesla-a100", 4),
    "a2-highgpu-8g": ("nvidia-tesla-a100", 8),
    "a2-megagpu-16g": ("nvidia-tesla-a100", 16),
    "a2-ultragpu-1g": ("nvidia-a100-80gb", 1),
    "a2-ultragpu-2g": ("nvidia-a100-80gb", 2),
    "a2-ultragpu-4g": ("nvidia-a100-80gb", 4),
    "a2-ultragpu-8g": ("nvidia-a100-80gb", 8),
    "a3-highgpu-1g": ("nvidia-h100-80gb", 1),
    "a3-highgpu-2g": ("nvidia-h100-80gb", 2),
    "a3-highgpu-4g": ("nvidia-h100-80gb", 4),
    "a3-highgpu-8g": ("nvidia-h100-80gb", 8),
    "a3-megagpu-8g": ("nvidia-h100-mega-80gb", 8),
    "a3-ultragpu-8g": ("nvidia-h200-141gb", 8),
    "a4-highgpu-8g": ("nvidia-b200", 8),
    "g2-standard-4": ("nvidia-l4", 1),
    "g2-standard-8": ("nvidia-l4", 1),
    "g2-standard-12": ("nvidia-l4", 1),
    "g2-standard-16": ("nvidia-l4", 1),
    "g2-standard-24": ("nvidia-l4", 2),
    "g2-standard-32": ("nvidia-l4", 1),
    "g2-standard-48": ("nvidia-l4", 4),
    "g2-standard-96": ("nvidia-l4", 8),
}
"""Compute Engine, "GPU machine types"."""

ATTACHABLE: Final = frozenset({"nvidia-tesla-t4", "nvidia-tesla-p4", "nvidia-tesla-p100", "nvidia-tesla-v100"})
"""What N1 machines take."""

_OTHERS: Final = re.compile(
    r"e2-(micro|small|medium)|(e2|n1|n2|n2d|n4|c2|c2d|c3|c3d|c4|t2d)-(standard|highmem|highcpu)-[1-9][0-9]*"
)


def machine_type(name: str) -> MachineType | None:
    """What a machine type has, or None when there is no such type."""
    if name in _WITH_GPUS:
        accelerator, gpus = _WITH_GPUS[name]
        return MachineType(name=name, accelerator=accelerator, gpus=gpus)
    if _OTHERS.fullmatch(name) is None:
        return None
    return MachineType(name=name, takes=name.startswith("n1-"))


def gpu_model(accelerator: str) -> str:
    """H100 for nvidia-h100-80gb; empty for none."""
    parts = accelerator.removeprefix("nvidia-").removeprefix("tesla-").split("-")
    return parts[0].upper()
