# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which instance types AWS has, what is in them, and DescribeInstanceTypes.

From the data that moto carries, without importing moto's EC2.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from . import query_protocol
from .errors import AwsError

_PAGE: Final = 100
"""The longest page, and the usual one."""

_FILTERS: Final[Mapping[str, Callable[[Mapping[str, Any]], list[str]]]] = {
    "instance-type": lambda known: [known["InstanceType"]],
    "processor-info.supported-architecture": lambda known: known["ProcessorInfo"]["SupportedArchitectures"],
}


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
    known = catalogue().get(name)
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


def describe(fields: Mapping[str, str]) -> dict[str, Any]:
    """DescribeInstanceTypes, by names and by the filters above, in pages.

    Raises:
        AwsError: a name that does not exist, or a filter that is not emulated.
    """
    names = query_protocol.listed(fields, "InstanceType")
    unknown = [name for name in names if name not in catalogue()]
    if unknown:
        text = f"The following supplied instance types do not exist: [{', '.join(unknown)}]"
        raise AwsError(400, "InvalidInstanceType", text)
    found = {name: catalogue()[name] for name in sorted(names or catalogue())}
    for name, values in query_protocol.filters(fields).items():
        if name not in _FILTERS:
            raise AwsError(400, "InvalidParameterValue", f"The filter '{name}' is invalid")
        found = {key: known for key, known in found.items() if set(_FILTERS[name](known)) & set(values)}
    last = _read_token(fields.get("NextToken", ""))
    rest = [known for key, known in found.items() if key > last]
    shown = rest[: min(int(fields.get("MaxResults", _PAGE)), _PAGE)]
    token = base64.b64encode(shown[-1]["InstanceType"].encode()).decode() if len(shown) < len(rest) else None
    return {"instanceTypeSet": shown, "nextToken": token}


def _read_token(token: str) -> str:
    try:
        return base64.b64decode(token, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise AwsError(400, "InvalidNextToken", "The token is not valid.") from None


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    """All instance types by name, each as DescribeInstanceTypes has it."""
    packed = files("moto").joinpath("ec2/resources/instance_types.json.gz").read_bytes()
    types: dict[str, dict[str, Any]] = json.loads(gzip.decompress(packed))
    return types
