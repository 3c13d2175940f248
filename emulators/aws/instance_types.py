# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which instance types AWS has, and what is in them: from the data that moto carries, without importing moto's EC2."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """What an instance type has.

    Attributes:
        architectures: `x86_64`, `arm64`.
        gpus: how many GPUs.
        gpu_model: e.g. `H100`; empty without.
        nvidia: whether they are NVIDIA's.
    """

    name: str
    architectures: frozenset[str]
    gpus: int
    gpu_model: str
    nvidia: bool


def instance_type(name: str) -> InstanceType | None:
    """What an instance type has, or None when AWS has no such type."""
    known = _catalogue().get(name)
    if known is None:
        return None
    gpus = known.get("GpuInfo", {}).get("Gpus", [])
    return InstanceType(
        name=name,
        architectures=frozenset(known["ProcessorInfo"]["SupportedArchitectures"]),
        gpus=sum(gpu["Count"] for gpu in gpus),
        gpu_model=gpus[0]["Name"] if gpus else "",
        nvidia=bool(gpus) and gpus[0]["Manufacturer"].upper() == "NVIDIA",
    )


@cache
def _catalogue() -> dict[str, dict[str, Any]]:
    packed = files("moto").joinpath("ec2/resources/instance_types.json.gz").read_bytes()
    catalogue: dict[str, dict[str, Any]] = json.loads(gzip.decompress(packed))
    return catalogue
